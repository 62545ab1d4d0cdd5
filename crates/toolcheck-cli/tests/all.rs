//! The tests of the program, in one binary: they run side by side, and the program is linked once.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod architecture;
mod bombs;
mod cases;
mod cli;
#[cfg(all(unix, feature = "serve"))]
mod clients;
mod command_line;
mod common;
mod configuration;
#[cfg(all(unix, feature = "serve"))]
mod conform;
mod corpus;
mod diff;
mod docs;
mod files;
mod fix;
#[cfg(unix)]
mod hostile;
mod long;
#[cfg(target_os = "linux")]
mod names;
mod packaging;
#[cfg(unix)]
mod pipes;
mod recordings;
mod runners;
mod shapes;
mod site;
#[cfg(unix)]
mod streams;
mod summary;
mod supply_chain;
mod tokens;
mod workflows;
mod writing;
