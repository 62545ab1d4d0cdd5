//! The tests of the parser, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod differential;
mod edit;
mod expanded;
mod faults;
#[path = "../../../fuzz/src/json.rs"]
#[allow(unreachable_pub, reason = "it is also a module of another crate")]
mod fuzz;
mod json_texts;
mod layouts;
mod limits;
mod order;
mod places;
mod records;
mod strings;
mod values;

// Modules of the library itself, with their tests: what they do can't be seen from outside.
#[allow(unreachable_pub, reason = "the library exports it")]
#[path = "../src/block.rs"]
mod block;
#[allow(unreachable_pub, reason = "the library exports it")]
#[path = "../src/head.rs"]
mod head;

use toolcheck_json::{Span, sort_by_position};
