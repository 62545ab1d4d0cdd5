//! The user's own rules about what tools may be called with.

use std::sync::Arc;

use toolcheck_core::Level;

use crate::schema::Schema;
use crate::settings::ToolNames;

/// A rule of the user's own: a schema that the arguments of some tools must match.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its id, which its findings show.
    pub id: String,
    /// The tools that it applies to.
    pub tools: ToolNames,
    /// The user's message for arguments that violate it.
    pub message: Option<String>,
    /// The level of its findings.
    pub level: Level,
    /// The schema that the arguments must match.
    pub(crate) schema: Arc<Schema>,
}

impl Policy {
    /// A policy from its parts.
    #[must_use]
    pub fn new(id: String, tools: ToolNames, schema: Schema, message: Option<String>, level: Level) -> Self {
        Self { id, tools, message, level, schema: Arc::new(schema) }
    }
}
