//! What changed between files, for people and for machines.
//!
//! To add an output, add a file and two lines here.

mod concise;
mod full;
mod github;
mod html;
pub mod json;
mod markdown;
mod picture;

use std::io;

use toolcheck_core::diff::files::{Located, Report, Spot};
use toolcheck_core::diff::{Counts, Kind, Level, Mark};
use toolcheck_core::text::{Counted, bounded, inert, shown};

use crate::Style;

/// A way to write what changed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Output {
    /// The id on the command line.
    pub id: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Writes the comparison of two files.
    pub write: fn(&Compared<'_>, &Style, &mut dyn io::Write) -> io::Result<()>,
    /// Writes the sums of several comparisons.
    pub write_all: fn(&[Compared<'_>], &Style, &mut dyn io::Write) -> io::Result<()>,
}

/// All outputs, by id.
pub static ALL: &[&Output] = &[
    &concise::OUTPUT,
    &full::OUTPUT,
    &github::OUTPUT,
    &html::OUTPUT,
    &json::OUTPUT,
    &markdown::OUTPUT,
    &picture::OUTPUT,
];

/// The output with this id.
pub fn find(id: &str) -> Option<&'static Output> {
    ALL.iter().copied().find(|output| output.id == id)
}

/// Two files that were compared.
#[derive(Debug)]
pub struct Compared<'c> {
    /// The file before.
    pub before: Compare<'c>,
    /// The file after.
    pub after: Compare<'c>,
    /// What changed.
    pub report: &'c Report,
    /// How many changes are left out because somebody allows them.
    pub allowed: usize,
}

/// One of two files.
#[derive(Debug, Clone, Copy)]
pub struct Compare<'c> {
    /// Its name.
    pub name: &'c str,
    /// The id of its format.
    pub format: &'static str,
    /// Its text, if values are to be shown.
    pub text: Option<&'c [u8]>,
}

/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 200;

impl Compare<'_> {
    /// The value at a place, if values are to be shown.
    fn value(&self, spot: &Spot) -> Option<String> {
        let bytes = self.text?.get(spot.bytes.clone())?;
        // Only the beginning is shown.
        let bytes = &bytes[..bytes.len().min(LONGEST_VALUE * 8)];
        let text = String::from_utf8_lossy(bytes);
        // A value over several lines is written on one.
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        Some(bounded(&lines.join(" "), LONGEST_VALUE))
    }

    /// The file with the line and column of a place.
    fn at(&self, spot: &Spot) -> String {
        format!("{}:{}:{}", shown(self.name), spot.position.line, spot.position.column)
    }
}

impl Compared<'_> {
    /// What is kept of what there was, for people: all kinds of parts that there are.
    fn kept(counts: &Counts) -> String {
        let named = counts.named().into_iter().filter(|(_, count)| count.before + count.after > 0);
        let words: Vec<String> =
            named.map(|(name, count)| format!("{} of {} {name}", count.kept, count.before)).collect();
        if words.is_empty() {
            "both sides are empty".to_owned()
        } else {
            format!("kept: {}", words.join(", "))
        }
    }

    /// How many changes there are, for people.
    fn summary(&self) -> String {
        let count = |level| self.report.count(level);
        let losses = match count(Level::Loss) {
            1 => "1 loss".to_owned(),
            count => format!("{count} losses"),
        };
        let mut words = format!(
            "{losses}, {}, {}",
            Counted(count(Level::Change), "change"),
            Counted(count(Level::Form), "format-only difference")
        );
        let cannot = self.report.inexpressible();
        if cannot > 0 {
            words.push_str(&format!(", {cannot} that {} has no place for", self.after.format));
        }
        if self.allowed > 0 {
            words.push_str(&format!("; {} allowed", self.allowed));
        }
        words
    }

    /// A change in one line, without its places.
    fn message(&self, change: &Located) -> String {
        let Located { kind, inexpressible, ref about, .. } = *change;
        let mut text = self.words(kind, inexpressible, about);
        text.extend(
            change
                .conversation
                .as_ref()
                .filter(|title| !title.is_empty())
                .map(|title| format!(" (in {})", inert(title))),
        );
        text
    }

    fn mark(&self, mark: &Mark) -> String {
        self.words(mark.kind, mark.inexpressible, &mark.about)
    }

    fn words(&self, kind: Kind, inexpressible: bool, about: &str) -> String {
        let mut text = kind.summary().trim_end_matches('.').to_owned();
        text[..1].make_ascii_lowercase();
        if !about.is_empty() {
            text.push_str(": ");
            text.push_str(about);
        }
        if inexpressible {
            text.push_str(&format!(" ({} has no place for it)", self.after.format));
        }
        // Names are shortened, but may be commands for a CI runner.
        inert(&text).into_owned()
    }
}

fn sum(all: &[Compared<'_>]) -> (Counts, [usize; 5]) {
    let mut counts = Counts::default();
    let mut changes = [0; 5];
    for compared in all {
        counts.add(&compared.report.counts);
        for (sum, count) in changes.iter_mut().zip(numbers(compared)) {
            *sum += count;
        }
    }
    (counts, changes)
}

/// How many losses, changes, changes of form, changes for which the format is the reason, and allowed changes there are.
fn numbers(compared: &Compared<'_>) -> [usize; 5] {
    let count = |level| compared.report.count(level);
    let cannot = compared.report.inexpressible();
    [count(Level::Loss), count(Level::Change), count(Level::Form), cannot, compared.allowed]
}

/// A table of several comparisons as lines of cells: the head, a line for each, and the sums.
fn table(all: &[Compared<'_>]) -> Vec<Vec<String>> {
    let head = ["loss", "change", "form", "cannot", "calls", "results", "texts", "before", "after"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    let cells = |numbers: [usize; 5], counts: &Counts, names: [String; 2]| {
        let kept = [counts.calls, counts.results, counts.texts];
        let kept = kept.map(|count| format!("{}/{}", count.kept, count.before));
        let numbers = numbers[..4].iter().map(ToString::to_string);
        numbers.chain(kept).chain(names).collect::<Vec<String>>()
    };
    for compared in all {
        let names = [compared.before, compared.after].map(|file| shown(file.name));
        lines.push(cells(numbers(compared), &compared.report.counts, names));
    }
    let (counts, numbers) = sum(all);
    lines.push(cells(numbers, &counts, [Counted(all.len(), "pair").to_string(), String::new()]));
    lines
}
