//! The tests of the corpus and of what holds for all crates together, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod check;
mod common;
mod corpus;
mod detection;
mod explained;
#[cfg(feature = "proptest")]
mod fix;
#[cfg(feature = "proptest")]
mod fix_and_diff;
#[cfg(feature = "proptest")]
mod fix_sessions;
#[cfg(feature = "proptest")]
mod fuzz;
mod next_request;
mod plant;
mod planted;
mod promises;
#[cfg(feature = "proptest")]
mod properties;
mod refusals;
mod shapes;
#[path = "../../toolcheck-core/tests/testing.rs"]
mod testing;
