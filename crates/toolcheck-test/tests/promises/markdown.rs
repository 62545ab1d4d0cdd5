//! A request in a block of Markdown has the findings that it has by itself, at their places in the Markdown.

use toolcheck_core::formats;
use toolcheck_json::Position;
use toolcheck_lint::{FileReport, Options, lint, lint_opened};
use toolcheck_open::{Limits, open};

use crate::common::cases;

/// How people put a body into Markdown: what stands before it, before each of its lines, and after it.
const WRAPPINGS: [(&str, &str, &str); 6] = [
    ("# Bug\n\nIt fails, with `f({x})` and [a link](y).\n\n- one\n- two\n\n```json\n", "", "\n```\n\nWhy?\n"),
    ("Request\n~~~\n", "", "\n~~~"),
    ("1. Send\n\n   ````jsonl\n", "   ", "\n   ````\n2. Wait\n"),
    ("> I get\n> ```text\n> Error: {400}\n> ```\n> for\n> ```\n", "> ", "\n> ```\n"),
    ("* * *\n- ```jsonc\n", "  ", "\n  ```\n\n```\nnpm i\n```\n"),
    ("\u{feff}---\ntitle: \"a\"\n---\n``` json\n", "", ""),
];

/// What a finding says, and where.
type Said = (&'static str, String, String, Position, Position);

fn said(report: &FileReport, moved: impl Fn(Position) -> Position) -> Vec<Said> {
    let found = report.findings.iter().map(|finding| {
        let (start, end) = (moved(finding.spot.start), moved(finding.spot.end));
        (finding.rule, finding.message.to_string(), finding.spot.pointer.clone(), start, end)
    });
    found.collect()
}

#[test]
fn a_request_in_markdown_has_the_findings_that_it_has_by_itself() {
    let options = Options::new();
    let (mut wrong, mut seen, mut findings) = (Vec::new(), 0, 0);
    for (path, _) in cases() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let text = text.trim();
        if !text.starts_with('{') || serde_json::from_str::<serde_json::Value>(text).is_err() {
            continue;
        }
        let alone = lint("case", text.as_bytes(), &options);
        let is_wire = alone.format.is_some_and(|format| formats::find(format).is_some());
        if !is_wire || open(text.as_bytes(), Limits::default()).is_some() {
            continue;
        }
        for (before, indent, after) in WRAPPINGS {
            let lines: Vec<String> = text.lines().map(|line| format!("{indent}{line}")).collect();
            let markdown = format!("{before}{}{after}", lines.join("\n"));
            let name = format!("{} in {before:?}", path.display());
            let Some(opened) = open(markdown.as_bytes(), Limits::default()) else {
                wrong.push(format!("{name}: not read"));
                continue;
            };
            let report = lint_opened("case", markdown.as_bytes(), &opened, &options);
            let (down, right) = (before.matches('\n').count() as u64, indent.len() as u64);
            let moved = |place: Position| Position { line: place.line + down, column: place.column + right };
            let mut found = said(&report, |place| place);
            if found.is_empty() || found.remove(0).0 != "malformed-json" {
                wrong.push(format!("{name}: nothing says how it is written"));
            }
            let mut expected = said(&alone, moved);
            expected.sort();
            found.sort();
            if found != expected {
                let only = |these: &[Said], others: &[Said]| -> Vec<Said> {
                    these.iter().filter(|said| !others.contains(said)).cloned().collect()
                };
                let (more, less) = (only(&found, &expected), only(&expected, &found));
                wrong.push(format!("{name}: {more:?} and not {less:?}"));
            }
            (seen, findings) = (seen + 1, findings + expected.len());
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {seen}:\n{}",
        wrong.len(),
        wrong.iter().take(9).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(seen > 1000 && findings > 1000, "{seen}, {findings}");
}
