//! The tests of the parser of tables, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod as_toml;
mod packed;
