//! What several readers need: parts of messages, lists of messages in a document, what holds for all of them.

pub(crate) mod answers;
pub(crate) mod bare_calls;
pub(crate) mod broken;
pub(crate) mod columns;
pub(crate) mod described;
mod event_calls;
mod event_history;
pub(crate) mod event_log;
mod event_owners;
mod event_results;
pub(crate) mod event_session;
mod event_shapes;
pub(crate) mod events;
pub(crate) mod file_style;
pub(crate) mod flattened;
mod forms;
pub(crate) mod lists;
pub(crate) mod literal;
pub(crate) mod nested;
pub(crate) mod next;
pub(crate) mod parts;
mod paused;
pub(crate) mod policy;
pub(crate) mod postprocess;
pub(crate) mod prefilter;
pub(crate) mod python;
pub(crate) mod python_calls;
pub(crate) mod search;
mod sentences;
mod shortened;
pub(crate) mod spans;
pub(crate) mod steps;
pub(crate) mod tagged;
pub(crate) mod threads;
pub(crate) mod traces;
pub(crate) mod turns;
pub(crate) mod unknown;

use super::{
    Columns, Conversation, ConversationEnd, LOOKED_AT, LeftOut, Policy, Reader, Reading, SourceKind, Unit,
    framework_messages, is_of_grader, message_lines, trl, vercel_ai,
};
