//! Reads a file of JSON Lines with one of several readers, and prints how many records there were.
//!
//! `cargo xtask bench` runs it and measures the processor time of the process: `benchmarks READER FILE`. A program of its
//! own with dependencies of its own, so that nobody who builds toolcheck has to build what it is compared with.

mod readers;

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result, ensure};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (name, path) = arguments.next().zip(arguments.next()).context("usage: benchmarks READER FILE")?;
    let reader = readers::ALL.iter().find(|reader| name.to_str() == Some(reader.name));
    let reader = reader.with_context(|| format!("no reader is named {}", name.display()))?;
    let bytes = std::fs::read(Path::new(&path)).with_context(|| path.display().to_string())?;
    let mut lines = Lines { bytes: &bytes };
    let records = (reader.read)(&mut lines).with_context(|| reader.name)?;
    ensure!(records > 0, "no records");
    println!("{}", black_box(records));
    Ok(())
}

/// The lines of a file that hold anything.
struct Lines<'s> {
    bytes: &'s [u8],
}

impl<'s> Iterator for Lines<'s> {
    type Item = &'s [u8];

    fn next(&mut self) -> Option<&'s [u8]> {
        while !self.bytes.is_empty() {
            let end = memchr::memchr(b'\n', self.bytes).unwrap_or(self.bytes.len());
            let (line, rest) = self.bytes.split_at(end);
            self.bytes = rest.get(1..).unwrap_or_default();
            if !line.is_empty() {
                return Some(line);
            }
        }
        None
    }
}
