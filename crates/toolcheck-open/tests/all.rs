//! The tests of files that hold requests, in one binary.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

#[cfg(all(feature = "compress", feature = "yaml", feature = "zip"))]
mod hostile;
mod printed;
mod properties;
