//! The tests of the servers, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod common;
mod corpus;
mod http;
mod provider;
mod proxy;
mod recording;
mod state;
#[cfg(feature = "tls")]
mod tls;
mod turns;
