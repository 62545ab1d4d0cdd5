//! `cargo xtask budgets`: what toolcheck may cost, and whether it does.
//!
//! `benchmarks/budgets.toml` has what runs of the program may cost in instructions, and how large the program and its source
//! may be. Instructions are counted by valgrind: the same program reads the same bytes in the same number of them, whatever
//! else the machine does. A cost over its budget is an error, and so is a budget that is far too high, so that what was
//! once reached is not lost again.

mod bodies;
mod inputs;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use self::inputs::Input;
use crate::root;

/// How much more than its budget something may cost, in per cent: hash tables are seeded anew in each run.
const TOLERANCE: u64 = 3;
/// How much less than its budget something may cost before the budget must be lowered, in per cent.
const SLACK: u64 = 10;
/// The size of an input of the build that is released, in bytes.
const LARGE: usize = 3_000_000;
/// The size of an input of the debug build.
const SMALL: usize = 60_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Budgets {
    /// The compiler whose code was counted. That of another has other instructions.
    compiler: String,
    /// Thousands of instructions of the build that is tested.
    debug: BTreeMap<String, u64>,
    /// Thousands of instructions of the build that is released.
    dist: BTreeMap<String, u64>,
    /// Kilobytes (1,000 bytes) of what is delivered.
    size: BTreeMap<String, u64>,
    /// Seconds of processor time that a build takes. They depend on the machine, so nothing is compared with them.
    #[serde(rename = "build-seconds")]
    _build_seconds: BTreeMap<String, u64>,
    lines: BTreeMap<String, u64>,
}

struct Cost {
    name: String,
    costs: u64,
}

/// `cargo xtask budgets [quick | lower]`.
pub(crate) fn run(how: Option<&str>) -> Result<()> {
    let (is_quick, lowers) = match how {
        None => (false, false),
        Some("quick") => (true, false),
        Some("lower") => (false, true),
        Some(other) => bail!("`{other}` is unknown: cargo xtask budgets [quick | lower]"),
    };
    let path = root().join("benchmarks/budgets.toml");
    let mut text = fs::read_to_string(&path).context("benchmarks/budgets.toml")?;
    let budgets: Budgets = toolcheck_toml::from_str(&text).map_err(|error| anyhow::anyhow!("{error}"))?;
    let mut faults = Vec::new();
    let mut compare = |table: &str, known: &BTreeMap<String, u64>, costs: &[Cost]| {
        println!("\n[{table}]");
        for cost in costs {
            let fault = judge(table, known.get(&cost.name).copied(), cost);
            faults.extend(fault);
            // A limit of lines has some room: they are counted exactly.
            let reached = if table == "lines" { cost.costs.next_multiple_of(100) } else { cost.costs };
            if lowers && known.get(&cost.name).is_none_or(|budget| reached < *budget) {
                text = with(&text, table, &cost.name, reached);
            }
        }
        let is_gone = |name: &&String| !costs.iter().any(|cost| cost.name == **name);
        faults.extend(
            known.keys().filter(is_gone).map(|name| format!("`{name}` of [{table}] is not measured")),
        );
    };
    compare("lines", &budgets.lines, &lines()?);
    if compiler()? != budgets.compiler {
        println!("instructions are not compared: the budgets are for {}", budgets.compiler);
    } else if !has_valgrind() {
        println!("instructions are not counted: valgrind is not installed");
    } else {
        if lowers || is_quick {
            compare("debug", &budgets.debug, &instructions(&program("debug")?, SMALL)?);
        }
        if !is_quick {
            let dist = crate::dist()?;
            let costs = instructions(&dist, LARGE)?;
            compare("dist", &budgets.dist, &costs);
            yardstick(&costs)?;
            compare("size", &budgets.size, &sizes(&dist)?);
        }
    }
    if lowers {
        return Ok(fs::write(&path, text)?);
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// What is wrong with a cost, and its line for people.
fn judge(table: &str, budget: Option<u64>, cost: &Cost) -> Option<String> {
    let Cost { name, costs } = cost;
    let Some(budget) = budget else {
        println!("{name:20} {costs:>10}");
        return Some(format!("`{name}` has no budget in [{table}]; it costs {costs}"));
    };
    let percent = (*costs as f64 / budget.max(1) as f64 - 1.0) * 100.0;
    println!("{name:20} {costs:>10} of {budget:>10} ({percent:+.1} %)");
    // Lines are exact, and change with each commit: they have a limit, and no aim.
    let is_exact = table == "lines";
    let limit = if is_exact { budget } else { budget + budget * TOLERANCE / 100 };
    if *costs > limit {
        return Some(format!("[{table}] `{name}` costs {costs}, and may cost {budget} ({percent:+.1} %)"));
    }
    let is_far_below = !is_exact && *costs < budget - budget * SLACK / 100;
    is_far_below.then(|| {
        format!("[{table}] `{name}` costs {costs}, {percent:.1} % of its budget: `cargo xtask budgets lower`")
    })
}

fn with(text: &str, table: &str, name: &str, number: u64) -> String {
    let mut written = String::new();
    let (mut is_here, mut is_done) = (false, false);
    for line in text.lines() {
        let is_header = line.starts_with('[');
        if is_here && is_header && !is_done {
            // The table ends without it. A comment above the next one belongs to that.
            let mut at = written.trim_end().len();
            while let Some(line) =
                written[..at].rfind('\n').filter(|line| written[line + 1..].starts_with('#'))
            {
                at = written[..line].trim_end().len();
            }
            written.insert_str(at, &format!("\n{name} = {number}"));
            is_done = true;
        }
        is_here = if is_header { line.trim() == format!("[{table}]") } else { is_here };
        let (key, rest) = line.split_once('=').unwrap_or((line, ""));
        if is_here && !is_done && key.trim() == name {
            let comment = rest.split_once('#').map_or(String::new(), |(_, comment)| format!(" #{comment}"));
            writeln!(written, "{name} = {number}{comment}").expect("a string takes everything");
            is_done = true;
        } else {
            writeln!(written, "{line}").expect("a string takes everything");
        }
    }
    if is_here && !is_done {
        writeln!(written, "{name} = {number}").expect("a string takes everything");
    }
    written
}

fn compiler() -> Result<String> {
    let version = Command::new("rustc").arg("--version").current_dir(root()).output()?.stdout;
    Ok(String::from_utf8(version)?.split(" (").next().unwrap_or_default().to_owned())
}

fn has_valgrind() -> bool {
    let run = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

/// A program that was built before; the debug build is that of `cargo test`, which `cargo build` overwrites.
fn program(profile: &str) -> Result<PathBuf> {
    let path =
        crate::target().join(profile).join("toolcheck").with_extension(std::env::consts::EXE_EXTENSION);
    ensure!(path.is_file(), "{} is missing: cargo test --workspace --no-run", path.display());
    Ok(path)
}

/// What a program costs for each input, in thousands of instructions. Two run at a time.
fn instructions(program: &Path, bytes: usize) -> Result<Vec<Cost>> {
    let inputs = inputs::write(&root().join("target/budgets"), bytes)?;
    let next = Mutex::new(inputs.iter().enumerate());
    let counted = Mutex::new(vec![0_u64; inputs.len()]);
    std::thread::scope(|scope| {
        let count_all = || -> Result<()> {
            loop {
                let Some((number, input)) = next.lock().expect("nobody panics").next() else { return Ok(()) };
                let count = count(program, input)?;
                counted.lock().expect("nobody panics")[number] = count / 1_000;
            }
        };
        let other = scope.spawn(count_all);
        let own = count_all();
        other.join().expect("nobody panics").and(own)
    })?;
    let counted = counted.into_inner().expect("nobody panics");
    let mut costs: Vec<Cost> = inputs
        .iter()
        .zip(&counted)
        .map(|(input, costs)| Cost { name: input.name.clone(), costs: *costs })
        .collect();
    // A hundred files more.
    let of = |name: &str| costs.iter().find(|cost| cost.name == name).map_or(0, |cost| cost.costs);
    let a_file = of("files-110").saturating_sub(of("files-10")) / 100;
    costs.retain(|cost| !cost.name.starts_with("files-"));
    costs.push(Cost { name: "one-more-file".to_owned(), costs: a_file });
    Ok(costs)
}

/// Prints how many times the instructions are that a JSON parser takes to read the same bytes.
fn yardstick(costs: &[Cost]) -> Result<()> {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--locked", "--manifest-path", "benchmarks/Cargo.toml"]);
    ensure!(build.current_dir(root()).status()?.success(), "the JSON parsers can't be built");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("benchmarks/target"), PathBuf::from);
    let parser = target.join("release/toolcheck-benchmarks").with_extension(std::env::consts::EXE_EXTENSION);
    println!("\nTimes the instructions of parsing into `serde_json::Value`:");
    for input in inputs::write(&root().join("target/budgets"), LARGE)?.iter().filter(|input| input.is_json) {
        let parsed = counted(&parser, &["serde_json"], input)?;
        let lint = costs.iter().find(|cost| cost.name == input.name).map_or(0, |cost| cost.costs * 1_000);
        println!("{:20} {:>10.2}", input.name, lint as f64 / parsed as f64);
    }
    Ok(())
}

fn count(program: &Path, input: &Input) -> Result<u64> {
    let lint = ["lint", "--isolated", "--exit-zero", "-j", "1", "--output-format", "json"];
    counted(program, &[&lint, input.arguments].concat(), input)
}

/// The instructions of a program that reads an input.
fn counted(program: &Path, arguments: &[&str], input: &Input) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]).arg(program);
    let output =
        command.args(arguments).arg(&input.path).stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", input.name);
    let count = said.lines().find_map(|line| line.split_once("refs:")).context("valgrind counts nothing")?.1;
    Ok(count.trim().replace(',', "").parse()?)
}

/// The size of what is delivered, in kilobytes: the program without symbols.
fn sizes(dist: &Path) -> Result<Vec<Cost>> {
    let stripped = root().join("target/budgets/stripped");
    let done = Command::new("strip").arg("-o").arg(&stripped).arg(dist).status()?;
    ensure!(done.success(), "strip failed");
    Ok(vec![Cost { name: "program".to_owned(), costs: fs::metadata(&stripped)?.len() / 1_000 }])
}

fn lines() -> Result<Vec<Cost>> {
    // With files that are not added yet.
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"];
    let listed = Command::new("git").args(list).current_dir(root()).output()?;
    ensure!(listed.status.success(), "git lists no files");
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for path in String::from_utf8(listed.stdout)?.lines() {
        // What was deleted and not committed yet is still listed.
        let Ok(text) = fs::read_to_string(root().join(path)) else { continue };
        let mut parts = path.split('/');
        let first = parts.next().unwrap_or_default();
        let name =
            if matches!(first, "crates" | "bindings") { parts.next().unwrap_or_default() } else { first };
        let name = if first == "bindings" { format!("bindings-{name}") } else { name.to_owned() };
        let lines = text.lines().count() as u64;
        *counts.entry(name).or_default() += lines;
        *counts.entry("all".to_owned()).or_default() += lines;
    }
    Ok(counts.into_iter().map(|(name, costs)| Cost { name, costs }).collect())
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn a_new_budget_is_written_above_the_comment_of_the_next_table() {
        let text = "[dist]\n\n# Kilobytes.\n[size]\nprogram = 2 # why\n";
        let added = with(text, "dist", "rows", 1);
        assert_eq!(added, "[dist]\nrows = 1\n\n# Kilobytes.\n[size]\nprogram = 2 # why\n");
        assert_eq!(
            with(&added, "size", "program", 1),
            "[dist]\nrows = 1\n\n# Kilobytes.\n[size]\nprogram = 1 # why\n"
        );
    }
}
