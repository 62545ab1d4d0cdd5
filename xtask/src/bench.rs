//! The benchmarks as ratios to `serde_json::Value` on the same bytes in the same run.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::root;

pub(crate) fn run() -> Result<()> {
    let status = Command::new(env!("CARGO"))
        .args(["bench", "--package", "toolcheck-lint", "--bench", "speed"])
        .current_dir(root())
        .status()?;
    ensure!(status.success(), "the benchmarks failed");
    println!(
        "\n{:12} {:>10} {:>10} {:>10}   read and lint, times as fast as serde_json::Value",
        "", "serde_json", "read", "lint"
    );
    for input in ["generated", "tau-bench"] {
        let (Ok(baseline), Ok(read), Ok(lint)) =
            (median(input, "serde_json"), median(input, "read"), median(input, "lint"))
        else {
            continue;
        };
        let ms = |nanoseconds: f64| format!("{:.2} ms", nanoseconds / 1e6);
        println!(
            "{input:12} {:>10} {:>10} {:>10}   {:.2}  {:.2}",
            ms(baseline),
            ms(read),
            ms(lint),
            baseline / read,
            baseline / lint
        );
    }
    let (few, many) = (median("calls", "lint/10000")?, median("calls", "lint/100000")?);
    println!("ten times the calls in one transcript: {:.1} times the time", many / few);
    Ok(())
}

/// The median time of a benchmark's last run, in nanoseconds.
fn median(group: &str, name: &str) -> Result<f64> {
    let path = root().join("target/criterion").join(group).join(name).join("new/estimates.json");
    let text = std::fs::read(&path).with_context(|| format!("no estimate in {}", path.display()))?;
    let estimates: Value = serde_json::from_slice(&text)?;
    estimates["median"]["point_estimate"].as_f64().context("an estimate holds its median")
}
