//! Runs a program and measures its time and memory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use wait4::Wait4;

/// The time and memory of a run of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    /// Processor time, including system time.
    pub(super) cpu: Duration,
    /// Wall-clock time.
    pub(super) wall: Duration,
    /// Peak resident memory, in bytes.
    pub(super) memory: u64,
}

/// A program to measure. Its output is discarded.
pub(super) struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl Program {
    pub(super) fn new(path: &Path, arguments: &[&str]) -> Self {
        Self { path: path.to_owned(), arguments: arguments.iter().map(OsString::from).collect() }
    }

    /// The program with one more argument.
    pub(super) fn and(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Runs it once, from a small process: the memory of the parent process would count as its own.
    fn run(&self) -> Result<Taken> {
        let mut launcher = Command::new(std::env::current_exe()?);
        let output = launcher.arg(LAUNCHER).arg(&self.path).args(&self.arguments).output()?;
        ensure!(output.status.success(), "{:?}: {}", self.arguments, String::from_utf8_lossy(&output.stderr));
        let figures = String::from_utf8(output.stdout)?;
        let figures: Vec<u64> = figures.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [cpu, wall, memory] = figures[..] else { bail!("expected three figures, not {figures:?}") };
        Ok(Taken { cpu: Duration::from_nanos(cpu), wall: Duration::from_nanos(wall), memory })
    }
}

/// The command of this program that runs and measures another one.
pub(crate) const LAUNCHER: &str = "measure";

/// Runs the program that the arguments name, and prints its processor time and wall-clock time (in nanoseconds) and its
/// memory. An exit status of 1 or 2 is accepted: linters use it for findings.
pub(crate) fn launch(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let program = arguments.next().context("missing program")?;
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| program.display().to_string())?;
    let used = child.wait4()?;
    let wall = begin.elapsed();
    ensure!(matches!(used.status.code(), Some(0..=2)), "{}: {}", program.display(), used.status);
    let cpu = used.rusage.utime + used.rusage.stime;
    println!("{} {} {}", cpu.as_nanos(), wall.as_nanos(), used.rusage.maxrss);
    Ok(())
}

/// Measures programs in turns, so that other load affects all of them, and returns the minimum of each: load only adds.
pub(super) fn in_turns(programs: &[Program], rounds: usize) -> Result<Vec<Taken>> {
    let mut least: Vec<Option<Taken>> = vec![None; programs.len()];
    for _ in 0..rounds {
        for (program, least) in programs.iter().zip(&mut least) {
            let taken = program.run()?;
            let known = least.get_or_insert(taken);
            known.cpu = known.cpu.min(taken.cpu);
            known.wall = known.wall.min(taken.wall);
            known.memory = known.memory.min(taken.memory);
        }
    }
    least.into_iter().collect::<Option<_>>().context("nothing was measured")
}

/// A duration for people, with about three significant digits.
pub(super) fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        0.9995.. => format!("{seconds:.2} s"),
        0.01.. => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{:.1} ms", seconds * 1e3),
    }
}

/// A number of bytes for people.
pub(super) fn size(bytes: u64) -> String {
    let of = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        1_000_000_000.. => format!("{:.1} GB", of(1_000_000_000)),
        10_000_000.. => format!("{:.0} MB", of(1_000_000)),
        1_000_000.. => format!("{:.1} MB", of(1_000_000)),
        _ => format!("{:.1} kB", of(1_000)),
    }
}

pub(super) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
