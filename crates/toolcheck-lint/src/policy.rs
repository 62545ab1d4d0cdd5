//! The user's own policies for the arguments of tools.

use std::sync::Arc;

use toolcheck_core::Error;
use toolcheck_core::Level;
use toolcheck_schema::Schema;

use crate::settings::ToolNames;

/// A user's own policy: a schema that the arguments of some tools must match.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policy {
    /// Its id, which its findings show.
    pub id: String,
    /// The tools that it applies to.
    pub tools: ToolNames,
    /// The user's message for arguments that violate it.
    pub message: Option<String>,
    /// The level of its findings.
    pub level: Level,
    pub(crate) schema: Arc<Schema>,
}

impl Policy {
    /// A policy for these tools, with a JSON Schema as text. Its findings are errors, without a message of their own.
    ///
    /// # Errors
    ///
    /// The schema is not valid or not supported, and why.
    pub fn new(id: impl Into<String>, tools: ToolNames, schema: &str) -> Result<Self, Error> {
        let schema = serde_json::from_str(schema)
            .map_err(|error| Error::new(format!("the schema is not valid JSON: {error}")))?;
        let schema = Schema::of(&schema).map_err(|why| Error::new(format!("the schema {why}")))?;
        Ok(Self { id: id.into(), tools, message: None, level: Level::Error, schema: Arc::new(schema) })
    }
}
