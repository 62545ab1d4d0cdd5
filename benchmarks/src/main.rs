//! Reads a JSON Lines file with one of several parsers, and prints the number of records.
//!
//! Usage: `benchmarks READER FILE`. `cargo xtask bench` runs it and measures its processor time. It is a separate crate,
//! so that building toolcheck does not build the parsers that it is compared with.

mod readers;

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result, ensure};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (name, path) = arguments.next().zip(arguments.next()).context("usage: benchmarks READER FILE")?;
    let reader = readers::ALL.iter().find(|reader| name.to_str() == Some(reader.name));
    let reader = reader.with_context(|| format!("there is no reader `{}`", name.display()))?;
    let bytes = std::fs::read(Path::new(&path)).with_context(|| path.display().to_string())?;
    let mut lines = Lines { bytes: &bytes };
    let records = (reader.read)(&mut lines).with_context(|| reader.name)?;
    ensure!(records > 0, "no records");
    println!("{}", black_box(records));
    Ok(())
}

/// The non-empty lines of a file.
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
