//! The tests of the parser, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod differential;
mod edit;
mod faults;
mod json_texts;
mod records;
mod values;
