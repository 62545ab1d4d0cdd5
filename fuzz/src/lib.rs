//! What must hold of any bytes: one file a fuzz target, each with `run`, which panics where it does not hold.
//!
//! The workspace's tests have this file as a module, so that what fuzzing found once is tried with every test run.

pub mod config;
pub mod exchanges;
pub mod explain;
pub mod json;
pub mod lint;
pub mod seeds;

/// A fuzz target.
pub struct Target {
    /// Its name, which the binary and the folders of its inputs bear.
    pub name: &'static str,
    /// Tries one input.
    pub run: fn(&[u8]),
}

/// All fuzz targets.
pub static ALL: [Target; 5] = [
    Target { name: "json", run: json::run },
    Target { name: "lint", run: lint::run },
    Target { name: "exchanges", run: exchanges::run },
    Target { name: "explain", run: explain::run },
    Target { name: "config", run: config::run },
];

/// Takes the first byte off, for what an input has to choose; 0 where there is none.
fn take(data: &mut &[u8]) -> usize {
    let Some((first, rest)) = data.split_first() else { return 0 };
    *data = rest;
    usize::from(*first)
}
