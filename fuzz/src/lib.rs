//! Properties of any input: one file per fuzz target, each with a function `run`, which panics if a property is violated.
//!
//! The workspace's tests include this file as a module, so that every test run tries the seeds and past regressions.

pub mod archive;
pub mod baseline;
pub mod body;
pub mod config;
pub mod containers;
pub mod diff;
pub mod exchanges;
pub mod expectation;
pub mod explain;
pub mod fix;
pub mod json;
pub mod lint;
pub mod schemas;
pub mod seeds;
pub mod target;
pub mod tools;

/// A fuzz target.
pub struct Target {
    /// Its name, also of the binary and of the folders of its inputs.
    pub name: &'static str,
    /// Tries one input.
    pub run: fn(&[u8]),
}

/// All fuzz targets.
pub static ALL: [Target; 15] = [
    Target { name: "json", run: json::run },
    Target { name: "lint", run: lint::run },
    Target { name: "exchanges", run: exchanges::run },
    Target { name: "explain", run: explain::run },
    Target { name: "config", run: config::run },
    Target { name: "schemas", run: schemas::run },
    Target { name: "target", run: target::run },
    Target { name: "baseline", run: baseline::run },
    Target { name: "expectation", run: expectation::run },
    Target { name: "tools", run: tools::run },
    Target { name: "archive", run: archive::run },
    Target { name: "containers", run: containers::run },
    Target { name: "fix", run: fix::run },
    Target { name: "diff", run: diff::run },
    Target { name: "body", run: body::run },
];

/// Takes the first byte, which makes a choice for the input; 0 if there is none.
fn take(data: &mut &[u8]) -> usize {
    let Some((first, rest)) = data.split_first() else { return 0 };
    *data = rest;
    usize::from(*first)
}
