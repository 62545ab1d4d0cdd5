//! The tests of the parser, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod differential;
mod edit;
mod faults;
#[path = "../../../fuzz/src/json.rs"]
#[allow(unreachable_pub, reason = "it is also a module of another crate")]
mod fuzz;
mod json_texts;
mod records;
mod values;
