//! A file that is linted in pieces has the same findings as when it is linted whole.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::Value as Json;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_lint::{FileReport, Lines, Options, Report, lint};
use toolcheck_report::{Style, outputs};

/// The corpus as JSON Lines: the requests of each folder, one per line, and the files that are JSON Lines already.
static TEXTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut texts = Vec::new();
    let mut open = vec![root];
    while let Some(folder) = open.pop() {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let mut lines = Vec::new();
        for path in paths {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if name.ends_with(".jsonl") {
                texts.push(std::fs::read(path).unwrap());
            } else if name.ends_with(".json") && !name.ends_with(".expect.json") {
                // Malformed JSON is put on one line too.
                let bytes = std::fs::read(path).unwrap();
                let line = match serde_json::from_slice::<Json>(&bytes) {
                    Ok(value) => value.to_string().into_bytes(),
                    Err(_) => bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>().concat(),
                };
                lines.extend(line);
                lines.extend(if lines.len() % 3 == 0 { &b"\r\n\n"[..] } else { b"\n" });
            }
        }
        texts.push(lines);
    }
    texts
});

fn shown(file: FileReport) -> String {
    let report = Report::new(vec![file]);
    let mut text = Vec::new();
    for output in ["json", "full", "gitlab"] {
        (outputs::find(output).unwrap().write)(&report, &Style::default(), &mut text).unwrap();
    }
    String::from_utf8(text).unwrap()
}

/// Lints a text in pieces that end after these fractions of its lines.
fn in_pieces(text: &[u8], cuts: &[f64], options: &Options) -> Option<FileReport> {
    let mut lines = Lines::new("log.jsonl", text, options)?;
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', text).map(|at| at + 1).collect();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| ends[(cut * ends.len() as f64) as usize]).collect();
    cuts.push(text.len());
    cuts.sort_unstable();
    let mut from = 0;
    // All pieces are linted before the first is added, as on several threads.
    let pieces: Vec<_> = cuts
        .into_iter()
        .map(|to| {
            let piece = &text[from..to];
            from = to;
            (piece, lines.lint(piece))
        })
        .collect();
    let mut file = lines.empty_report();
    for (bytes, piece) in pieces {
        file.add(lines.add(bytes, piece), usize::MAX);
    }
    file.add(lines.end(), usize::MAX);
    Some(file)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pieces_have_the_findings_of_the_whole(
        number in 0..1000_usize,
        cuts in prop::collection::vec(0.0..1.0, 0..9),
        kind in prop::sample::select(&TranscriptKind::ALL),
    ) {
        let texts = &*TEXTS;
        let text = &texts[number % texts.len()];
        let options = Options::new().kind(kind);
        if text.is_empty() {
            return Ok(());
        }
        let whole = lint("log.jsonl", text, &options);
        let Some(pieces) = in_pieces(text, &cuts, &options) else { return Ok(()) };
        prop_assert_eq!(shown(pieces), shown(whole));
    }
}

#[test]
fn records_of_no_format_are_counted_wherever_the_pieces_end() {
    let text = "{\"port\": \"Oban\"}\n".repeat(9);
    let options = Options::default();
    let whole = lint("log.jsonl", text.as_bytes(), &options);
    assert_eq!((whole.findings.len(), whole.not_read[0].count), (1, 8));
    for cuts in [&[0.0][..], &[0.5], &[0.2, 0.4, 0.9]] {
        let pieces = in_pieces(text.as_bytes(), cuts, &options).expect("it is linted in pieces");
        assert_eq!(shown(pieces), shown(lint("log.jsonl", text.as_bytes(), &options)), "{cuts:?}");
    }
}

#[test]
fn the_corpus_is_linted_in_pieces() {
    let options = Options::default();
    let taken = TEXTS.iter().filter(|text| in_pieces(text, &[0.3, 0.7], &options).is_some()).count();
    assert!(taken > 20, "{taken}");
    let exchanges = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/seeds/goclaw-last-kept.jsonl"),
    );
    // A finding in one piece with a label in another.
    let file = in_pieces(&exchanges.unwrap(), &[0.0], &options).unwrap();
    assert_eq!(file.findings[0].rule, "dropped-tool-call");
    assert_eq!((file.findings[0].spot.record, file.findings[0].labels[0].spot.record), (1, 0));
}

#[test]
fn what_the_server_keeps_is_known_to_later_pieces() {
    let answered = |number: usize| {
        format!(
            r#"{{"request": {{"model": "m", "input": "q{number}"}}, "response": {{"id": "resp_{number}", "object": "response", "output": [{{"type": "function_call", "id": "fc_{number}", "call_id": "call_{number}", "name": "t", "arguments": "{{}}"}}]}}}}"#
        )
    };
    let goes_on = |number: usize| {
        format!(r#"{{"request": {{"model": "m", "previous_response_id": "resp_{number}", "input": "x"}}}}"#)
    };
    let lines: Vec<String> = (0..300).map(answered).chain((0..300).map(goes_on)).collect();
    let text = lines.join("\n") + "\n";
    let options = Options::new();
    for cuts in [&[0.3, 0.5, 0.7][..], &[0.01, 0.99]] {
        let report = in_pieces(text.as_bytes(), cuts, &options).unwrap();
        let found = report.findings.iter().filter(|found| found.rule == "unanswered-tool-call");
        assert_eq!((found.count(), report.not_read.len()), (300, 0));
    }
}

#[test]
fn a_blank_line_is_reported_once_wherever_the_pieces_end() {
    let example =
        r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}"#;
    let options = Options::new().kind(TranscriptKind::Dataset);
    let lines_of_blanks = |file: FileReport| {
        let blank = file.findings.iter().filter(|finding| finding.rule == "blank-line");
        blank.map(|finding| (finding.spot.start.line, finding.spot.start.column)).collect::<Vec<_>>()
    };
    for (text, line) in [
        (format!("{example}\n\n\n{example}\n\n{example}\n"), Some(2)),
        (format!("{example}\n{example}\n \r\n"), Some(3)),
        (format!("\n{example}\n{example}\n"), Some(1)),
        (format!("{example}\n{example}\n"), None),
        (format!("{example}\n{example}"), None),
    ] {
        let expected: Vec<_> = line.map(|line| (line, 1)).into_iter().collect();
        let whole = lint("log.jsonl", text.as_bytes(), &options);
        let shown_whole = shown(whole);
        assert_eq!(lines_of_blanks(lint("log.jsonl", text.as_bytes(), &options)), expected, "{text:?}");
        for cuts in [&[][..], &[0.0], &[0.4], &[0.3, 0.6, 0.9]] {
            let pieces = in_pieces(text.as_bytes(), cuts, &options).unwrap();
            assert_eq!(shown(pieces), shown_whole, "{text:?} {cuts:?}");
        }
        // In other kinds of files, blank lines are not reported.
        assert_eq!(lint("log.jsonl", text.as_bytes(), &Options::default()).findings.len(), 0);
    }
}

#[test]
fn other_texts_are_not_read_as_json_lines() {
    let options = Options::default();
    for text in [
        "",
        "{\n  \"messages\": []\n}\n",
        "{\"messages\": []}",
        "{\"messages\": [\n{}\n{}\n{}\n",
        "[1,\n2]\n",
    ] {
        assert!(Lines::new("a.json", text.as_bytes(), &options).is_none(), "{text}");
    }
}
