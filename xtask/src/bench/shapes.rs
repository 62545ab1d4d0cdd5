//! `cargo xtask bench shapes`: how the time of each shape of the budget test grows with its size.
//!
//! The figures are printed and nothing depends on them: times differ from run to run, and the test counts what does not.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::inputs;
use super::measure::{Program, in_turns, ratio, shown};

#[path = "../../../crates/toolcheck-cli/tests/budget/shapes/mod.rs"]
#[allow(unreachable_pub, dead_code, reason = "it is also part of the test, which needs all of it")]
mod budget;

use budget::{Run, Shape};

/// How often each size is run; the lowest value counts.
const ROUNDS: usize = 3;
/// How much larger the files are than in the test: a start of the program takes as long as the smallest.
const LARGER: usize = 8;

/// Measures each shape at two sizes, one four times the other, and prints the exponents.
pub(crate) fn run() -> Result<()> {
    let toolcheck = crate::dist()?;
    for shape in budget::all() {
        let (few, small) = program(&toolcheck, &shape, 1)?;
        let (many, large) = program(&toolcheck, &shape, 4)?;
        let taken = in_turns(&[few, many], ROUNDS)?;
        let [few, many] = taken[..] else { continue };
        let exponent = ratio(many.cpu, few.cpu).ln() / (large as f64 / small as f64).ln();
        println!("{exponent:5.2}  {:>8} at {:5} kB  {}", shown(many.cpu), large >> 10, shape.name);
    }
    Ok(())
}

/// The program that reads a shape of a size, and the size.
fn program(toolcheck: &Path, shape: &Shape, times: usize) -> Result<(Program, usize)> {
    let folder = inputs::folder()?.join(format!("shape-{times}"));
    let _ = fs::remove_dir_all(&folder);
    let mut size = 0;
    for file in (shape.make)(shape.from * LARGER * times) {
        let path = folder.join(&file.name);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(path, &file.bytes)?;
        size += file.read;
    }
    ensure!(size > 0, "{} is empty", shape.name);
    let at = |name: &str| folder.join(name).display().to_string();
    let mut words: Vec<String> = match shape.run {
        Run::Show => vec!["show".into(), "--all".into(), "--text".into(), at("input.json")],
        Run::Explain => {
            let text = fs::read_to_string(folder.join("error.txt"))?;
            // The system limits how long an argument may be.
            let text: String = text.chars().take(100_000).collect();
            vec!["explain".into(), "--error".into(), text]
        }
        Run::Test => vec!["test".into(), at("")],
        Run::Diff => vec!["diff".into(), at("before.json"), at("after.json")],
        _ => ["lint", "-j", "1", "--output-format", "concise"].map(str::to_owned).to_vec(),
    };
    match shape.run {
        Run::Show | Run::Explain | Run::Test | Run::Diff => {}
        Run::Dataset => words.extend(["--kind".into(), "dataset".into()]),
        Run::AllRules => {
            words.extend(["--extend-select".into(), "shell-file-write,oversized-command".into()])
        }
        Run::WriteBaseline => {
            words.extend(["--baseline".into(), at("written.json"), "--write-baseline".into()]);
        }
        Run::Lint => {}
    }
    let options = [
        ("--target", "target.toml"),
        ("--tools", "tools.json"),
        ("--files-from", "list.txt"),
        ("--baseline", "baseline.json"),
    ];
    for (option, name) in options.iter().filter(|(_, name)| folder.join(name).exists()) {
        words.extend([(*option).to_owned(), at(name)]);
    }
    if words[0] == "lint" && !folder.join("list.txt").exists() {
        words.push(at(""));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok((Program::new(toolcheck, &words), size))
}
