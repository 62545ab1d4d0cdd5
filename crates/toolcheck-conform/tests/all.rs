//! The tests of the checks of agent loops, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod adapters;
mod loops;
mod tables;
