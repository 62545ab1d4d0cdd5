//! The tests of the language server, in one binary.

mod client;
mod drafts;
mod edits;
mod files;
mod pulls;
mod session;
mod settings;
