//! The user's own rules about what tools may be called with.

use std::sync::Arc;

use toolcheck_core::Level;

use crate::schemas::Schema;
use crate::settings::ToolNames;

/// A rule of the user's own: what the arguments of some tools have to be like.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its name, which findings bear.
    pub id: String,
    /// The tools that it is for.
    pub tools: ToolNames,
    /// What is wrong with arguments that break it, in the user's words.
    pub message: Option<String>,
    /// How bad that is.
    pub level: Level,
    /// What the arguments have to be like.
    pub(crate) schema: Arc<Schema>,
}

impl Policy {
    pub(crate) fn new(
        id: String,
        tools: ToolNames,
        schema: Schema,
        message: Option<String>,
        level: Level,
    ) -> Self {
        Self { id, tools, message, level, schema: Arc::new(schema) }
    }
}
