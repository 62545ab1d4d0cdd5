//! The tests of the readers, writers and tables, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod classes;
mod diff;
mod histories;
mod protocols;
mod recognise;
mod round_trip;
mod tables;
