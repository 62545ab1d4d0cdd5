//! What a small file may cost: for each shape of input, memory and output must grow no faster than the input, and stay
//! within a bound.
//!
//! Nothing here looks at a clock. What is allocated and what is written is counted, on one thread, so each run counts the
//! same on any machine. The counters are those of a process, so each group of shapes has its own.
//!
//! `cargo test -p toolcheck-cli --test budget -- --nocapture` prints all figures, and with `BUDGET=WORD` only those of the
//! shapes that have the word in their name. With `BUDGET_TIMES=50`, the inputs are as many times as large, which shows how
//! the time grows; then it says no more whether a budget is kept.
#![allow(clippy::disallowed_macros, reason = "a test prints to the terminal")]
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod measure;
mod shapes;
mod work;

use std::path::{Path, PathBuf};
use std::process::Command;

use measure::Cost;
use shapes::Shape;

/// The largest exponent: the logarithm of the cost over that of the size. Something is left for what is logarithmic, and
/// for memory that is taken in powers of two.
const MOST_EXPONENT: f64 = 1.2;
/// What a run takes whatever its input is: buffers for reading, tables of rules.
const CONSTANT: usize = 1 << 20;

/// What an output may take for as many findings as are listed of a file.
const FINDINGS: usize = 12 << 20;

/// The length of the path of the folder with a shape's files.
const LENGTH_OF_FOLDER: usize = 160;

/// The variable with the group of shapes that a process measures.
const GROUP: &str = "BUDGET_GROUP";

/// Checks the shapes of a group, in a process of its own, so that groups can be measured at the same time.
fn check(name: &str, group: fn() -> Vec<Shape>) {
    if std::env::var_os(GROUP).is_none() {
        let own = std::env::current_exe().unwrap();
        let output =
            Command::new(own).args(["--exact", name, "--nocapture"]).env(GROUP, name).output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        println!("{}", text[0]);
        assert!(output.status.success() && text[0].contains("1 passed"), "{name}:\n{}", text[1]);
        return;
    }
    let word = std::env::var("BUDGET").unwrap_or_default();
    let mut wrong = Vec::new();
    let all = shapes::listed(name).into_iter().chain(group());
    for shape in all.filter(|shape| shape.name.contains(&word)) {
        wrong.extend(exceeded(name, &shape).into_iter().map(|found| format!("{}: {found}", shape.name)));
    }
    assert!(wrong.is_empty(), "{} budgets are exceeded:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is counted, and how much of it there may be for each byte that is read.
type Budget = (&'static str, fn(&Cost) -> usize, Option<usize>);

fn exceeded(group: &str, shape: &Shape) -> Vec<String> {
    let folder = folder(group);
    // What is made once for all files, such as expressions and targets, is not a cost of the first.
    work::costs(shape, 4 << 10, &folder);
    let larger = std::env::var("BUDGET_TIMES").map_or(1, |times| times.parse().unwrap());
    let [first, last] = [1, 4].map(|times| work::costs(shape, shape.from * times * larger, &folder));
    let mut exceeded = Vec::new();
    for (number, (step, cost)) in last.steps.iter().enumerate() {
        let budgets: [Budget; 3] = [
            ("allocated", |cost| cost.allocated, None),
            ("held", |cost| cost.held, Some(shape.held)),
            ("written", |cost| cost.written, Some(shape.written)),
        ];
        let mut figures = Vec::new();
        for (what, of, most) in budgets {
            let (few, many) = (of(&first.steps[number].1), of(cost));
            let exponent = ratio(few, many) / ratio(first.size, last.size);
            figures.push(format!("{} kB {what} ({exponent:.2})", many >> 10));
            // Of what is small, a constant is most.
            if many > CONSTANT && exponent > MOST_EXPONENT {
                exceeded.push(format!("{step}: the exponent of what is {what} is {exponent:.2}"));
            }
            let least = if what == "written" { FINDINGS } else { 0 };
            let most = most.map(|each| (each * last.size + CONSTANT).max(least));
            if let Some(most) = most.filter(|most| many > *most) {
                exceeded.push(format!("{step}: {many} bytes are {what}, and at most {most} may be"));
            }
        }
        let (few, many) = (first.steps[number].1.time, cost.time);
        figures.push(format!(
            "{} ms ({:.2})",
            many / 1_000_000,
            ratio(few, many) / ratio(first.size, last.size)
        ));
        println!("{}, {step}: {} kB read, {}", shape.name, last.size >> 10, figures.join(", "));
    }
    exceeded
}

/// The folder for the files of a group. Its path is held with each file, so it is equally long on every machine.
fn folder(group: &str) -> PathBuf {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let missing = LENGTH_OF_FOLDER.saturating_sub(parent.as_os_str().len() + 1);
    parent.join(format!("{group:-<missing$}"))
}

fn ratio(one: usize, other: usize) -> f64 {
    (other.max(1) as f64 / one.max(1) as f64).ln()
}

#[test]
fn json() {
    check("json", shapes::json::all);
}

#[test]
fn lines() {
    check("lines", shapes::lines::all);
}

#[test]
fn conversations() {
    check("conversations", shapes::conversations::all);
}

#[test]
fn requests() {
    check("requests", shapes::requests::all);
}

#[test]
fn schemas() {
    check("schemas", shapes::schemas::all);
}

#[test]
fn exchanges() {
    check("exchanges", shapes::exchanges::all);
}

#[test]
fn recordings() {
    check("recordings", shapes::recordings::all);
}

#[test]
fn projects() {
    check("projects", shapes::projects::all);
}

#[test]
fn diffs() {
    check("diffs", shapes::diffs::all);
}
