//! The tests of the language server, in one binary.

mod client;
mod edits;
mod files;
mod pulls;
