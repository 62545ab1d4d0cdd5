//! The tests of the outputs, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod conform;
mod json_text;
mod outputs;
mod show;
#[path = "../../toolcheck-core/tests/testing.rs"]
mod testing;
mod unified;
