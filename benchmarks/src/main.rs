//! Reads a JSON Lines file with one of several parsers, and prints the number of records.
//!
//! Usage: `benchmarks READER FILE`, or `benchmarks measure PROGRAM [ARGUMENTS]`, which prints what a run of a program takes.
//! `scripts/bench.py` runs both. It is a separate crate, so that building toolcheck does not build the parsers that it is
//! compared with.

mod readers;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use wait4::Wait4;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (name, path) = arguments.next().zip(arguments.next()).context("usage: benchmarks READER FILE")?;
    if name == "measure" {
        return measure(Command::new(path).args(arguments));
    }
    let reader = readers::ALL.iter().find(|reader| name.to_str() == Some(reader.name));
    let reader = reader.with_context(|| format!("there is no reader `{}`", name.display()))?;
    let bytes = std::fs::read(Path::new(&path)).with_context(|| path.display().to_string())?;
    let mut lines = Lines { bytes: &bytes };
    let records = (reader.read)(&mut lines).with_context(|| reader.name)?;
    ensure!(records > 0, "no records");
    println!("{}", black_box(records));
    Ok(())
}

/// Runs a program, and prints its processor time and wall-clock time (in nanoseconds) and its memory. An exit status of 1 or 2
/// is accepted: linters use it for findings.
fn measure(command: &mut Command) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let used = command.spawn().with_context(|| format!("{command:?}"))?.wait4()?;
    let wall = begin.elapsed();
    ensure!(matches!(used.status.code(), Some(0..=2)), "{command:?}: {}", used.status);
    let cpu = used.rusage.utime + used.rusage.stime;
    println!("{} {} {}", cpu.as_nanos(), wall.as_nanos(), used.rusage.maxrss);
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
