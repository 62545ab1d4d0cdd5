//! The tests of the servers, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod common;
mod corpus;
mod http;
mod mock;
mod proxy;
mod recording;
#[path = "../../toolcheck-core/tests/testing.rs"]
mod testing;
#[cfg(feature = "tls")]
mod tls;
