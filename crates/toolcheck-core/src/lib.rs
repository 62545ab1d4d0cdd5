//! From JSON to one representation of a conversation, and what each provider enforces on it.
//!
//! - [`formats`]: one file a wire format; each reads a [`toolcheck_json::Document`] into a [`Transcript`].
//! - [`conversation`] and [`mod@write`]: a conversation without a wire format, which every format reads and writes.
//! - [`readers`]: logs, histories and data sets, which hold conversations and are not requests.
//! - [`detection`]: which of them a document is written in.
//! - [`mod@diff`]: what a change to a conversation lost.
//! - [`unsupported`]: what else a file may be, by name.
//! - [`ir`]: that representation. Neutral words, every part with its place in the file.
//! - [`pairing`]: which result answers which call.
//! - [`exchange`] and [`response`]: requests with what the model answered to them, streamed or at once.
//! - [`protocols`]: how agents call tools in plain text, where the API knows nothing of it.
//! - [`shape`]: which keys the objects of a request have, and what a provider enforces of that, as data.
//! - [`targets`]: what a provider refuses and tolerates, as data with its evidence.
//! - [`models`]: what pages and tables say of models.
//! - [`translate`]: messages in the form of another API.
//! - [`tools`]: definitions of tools that stand in a file of their own.
//! - [`recognise`]: from an error that an API answered back to the rule.
//! - [`suggest`]: the known name that is most similar to a mistyped one.
//! - [`text`]: names from a file as messages may show them.

mod assembly;
pub mod call_marks;
pub mod choice;
mod claim;
pub mod conversation;
mod details;
pub mod detection;
pub mod diff;
pub mod endpoint;
pub mod entries;
mod error;
pub mod exchange;
pub mod fix;
pub mod fix_style;
pub mod formats;
pub mod framework;
mod input_format;
pub mod ir;
mod keys;
mod level;
mod matching;
pub mod missing_result;
pub mod models;
mod names;
pub mod pairing;
pub mod parsers;
pub mod protocols;
mod read;
pub mod readers;
pub mod recognise;
pub mod reply;
pub mod response;
pub mod route;
mod rule_id;
pub mod suggest;
mod tables;
pub mod targets;
pub mod text;
pub mod tools;
pub mod translate;
mod unread;
pub mod unsupported;
pub mod write;

pub use conversation::Conversation;
pub use error::Error;
pub use formats::Format;
pub use input_format::InputFormat;
pub use ir::{Place, Transcript};
pub use level::Level;
pub use rule_id::RuleId;
pub use targets::{Target, shape};
