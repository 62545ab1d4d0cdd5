//! What help, `lint`, `fix` and `diff` say of a request is one truth, in every case of the corpus.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

#[path = "../common/mod.rs"]
mod common;
mod diffs;
mod harm;
mod losses;
mod marks;
mod printed;
mod reasons;
mod renames;
mod roles;
