//! A request in a block of Markdown, or in a string, has the findings that it has by itself, at their places there.

use toolcheck_core::detection::Detection;
use toolcheck_core::formats;
use toolcheck_json::{Document, Position};
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

type Said = (&'static str, String, String, Position, Position);

fn said(report: &FileReport) -> Vec<Said> {
    let found = report.findings.iter().map(|finding| {
        let spot = &finding.spot;
        (finding.rule.as_str(), finding.message.to_string(), spot.pointer.clone(), spot.start, spot.end)
    });
    found.collect()
}

/// The requests of the corpus, each with its path and its findings.
fn requests() -> impl Iterator<Item = (String, String, Vec<Said>)> {
    cases().filter_map(|case| {
        let text = str::from_utf8(&case.bytes).ok()?.trim().to_owned();
        let is_json = text.starts_with('{') && serde_json::from_str::<serde_json::Value>(&text).is_ok();
        if !is_json || open(text.as_bytes(), Limits::default()).is_some() {
            return None;
        }
        let alone = lint("case", text.as_bytes(), &Options::new());
        formats::find(alone.format?)?;
        // In a text, only what shows of which format it is counts as a request.
        let mut detection = Detection::default();
        detection.add(&Document::read(text.as_bytes()));
        detection.best(None)?;
        Some((case.name, text, said(&alone)))
    })
}

/// What is wrong with the findings of a text that holds a request, which has these findings at these places in the text.
fn wrong(text: &str, mut expected: Vec<Said>, simplified: impl Fn(Said) -> Said) -> Option<String> {
    let Some(opened) = open(text.as_bytes(), Limits::default()) else { return Some("not read".to_owned()) };
    let report = lint_opened("case", text.as_bytes(), &opened, &Options::new());
    let mut found: Vec<Said> = said(&report).into_iter().map(simplified).collect();
    if found.is_empty() || found.remove(0).0 != "malformed-json" {
        return Some("nothing says how it is written".to_owned());
    }
    expected.sort();
    found.sort();
    let only = |these: &[Said], others: &[Said]| -> Vec<Said> {
        these.iter().filter(|said| !others.contains(said)).cloned().collect()
    };
    (found != expected)
        .then(|| format!("{:?} and not {:?}", only(&found, &expected), only(&expected, &found)))
}

/// Fails if something is wrong, or too little was seen.
fn assert_right(wrong: &[String], seen: usize, findings: usize) {
    let first = &wrong[..wrong.len().min(9)];
    assert!(wrong.is_empty(), "{} of {seen}:\n{}", wrong.len(), first.join("\n"));
    assert!(seen > 1000 && findings > 1000, "{seen}, {findings}");
}

#[test]
fn a_request_in_markdown_has_the_findings_that_it_has_by_itself() {
    let (mut all, mut seen, mut findings) = (Vec::new(), 0, 0);
    for (path, text, alone) in requests() {
        for (before, indent, after) in WRAPPINGS {
            let lines: Vec<String> = text.lines().map(|line| format!("{indent}{line}")).collect();
            let (down, right) = (before.matches('\n').count() as u64, indent.len() as u64);
            let moved = |place: Position| Position { line: place.line + down, column: place.column + right };
            let expected = alone.iter().cloned().map(|(rule, message, pointer, start, end)| {
                (rule, message, pointer, moved(start), moved(end))
            });
            let markdown = format!("{before}{}{after}", lines.join("\n"));
            let wrong = wrong(&markdown, expected.collect(), |said| said);
            all.extend(wrong.map(|wrong| format!("{path} in {before:?}: {wrong}")));
            (seen, findings) = (seen + 1, findings + alone.len());
        }
    }
    assert_right(&all, seen, findings);
}

/// A text as a JSON string, and which of its characters each of the text is: an escape is where it begins, but what only
/// has a backslash before it is itself.
fn encoded(text: &str) -> (String, Vec<usize>) {
    let (mut out, mut places, mut at) = (String::from("\""), Vec::new(), 1);
    for character in text.chars() {
        let quoted = serde_json::to_string(&character).unwrap();
        let escape = &quoted[1..quoted.len() - 1];
        places.push(at + usize::from(matches!(character, '"' | '\\')));
        at += escape.chars().count();
        out.push_str(escape);
    }
    (out + "\"", places)
}

#[test]
fn a_request_that_was_encoded_more_than_once_has_the_findings_that_it_has_by_itself() {
    let (mut all, mut seen, mut findings) = (Vec::new(), 0, 0);
    for (path, text, alone) in requests() {
        let lines: Vec<usize> = std::iter::once(0)
            .chain(text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(at, _)| at + 1))
            .collect();
        let (twice, inner) = encoded(&text);
        let (three_times, outer) = encoded(&twice);
        let once = |at: usize| inner.get(at).copied().unwrap_or(twice.chars().count() - 1);
        for (encoded, is_deep) in [(twice.clone(), false), (three_times, true)] {
            // Where a value ends in a string, a backslash may be before the quote or not.
            let moved = |place: Position| {
                let at = once(lines[place.line as usize - 1] + place.column as usize - 1);
                Position { line: 1, column: 1 + if is_deep { outer[at] } else { at } as u64 }
            };
            let expected = alone.iter().cloned().map(|(rule, message, pointer, start, _)| {
                (rule, message, pointer, moved(start), moved(start))
            });
            let simplified =
                |(rule, message, pointer, start, _): Said| (rule, message, pointer, start, start);
            let wrong = wrong(&format!("{encoded}\n"), expected.collect(), simplified);
            all.extend(wrong.map(|wrong| format!("{path}, deep {is_deep}: {wrong}")));
            (seen, findings) = (seen + 1, findings + alone.len());
        }
    }
    assert_right(&all, seen, findings);
}
