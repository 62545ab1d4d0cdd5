//! Linting and outlines of any bytes, in every output.

use serde_json::Value as Json;
use toolcheck_core::InputFormat;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::targets::{self, Target};
use toolcheck_core::text::is_hidden;
use toolcheck_json::{Position, locate};
use toolcheck_lint::finding::Spot;
use toolcheck_lint::{FileReport, Lines, Options, Report, lint, rules};
use toolcheck_report::{Style, outputs};
use toolcheck_report::{View, outline, show};

use super::take;

/// The first bytes choose the format, the target and the kind; the rest is the file.
pub fn run(mut data: &[u8]) {
    let (_, options) = options(&mut data);
    check(data, &options.rules(rules::ALL.to_vec()));
}

/// The options that the first bytes choose, and these bytes.
pub(crate) fn options(data: &mut &[u8]) -> ([usize; 3], Options) {
    let targets: Vec<&'static Target> = targets::all().collect();
    let (format, target, kind) = (take(data), take(data), take(data));
    let options = Options::new()
        .format(InputFormat::all().nth(format % 64).filter(|_| format > 0 && format < 192))
        .target(targets.get(target % (2 * targets.len())).copied())
        .kind(TranscriptKind::ALL[kind % TranscriptKind::ALL.len()]);
    ([format, target, kind], options)
}

/// Lints a file whole and in pieces, and writes it in one of the outputs.
pub(crate) fn check(bytes: &[u8], options: &Options) -> Vec<&'static str> {
    let file = lint("case.jsonl", bytes, options);
    check_places(bytes, &file);
    assert_eq!(format!("{:?}", file.findings), format!("{:?}", lint("case.jsonl", bytes, options).findings));
    let found = file.findings.iter().map(|finding| finding.rule.as_str()).collect();
    let report = Report::new(vec![file]);
    // Writing all outputs would take most of the time. The bytes choose one, so that the same input gives the same one.
    let choice =
        bytes.iter().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    check_output(&report, choice);
    check_outline(bytes, options, choice);
    if let Some(pieces) = in_pieces(bytes, options) {
        assert_eq!(shown(&pieces), shown(&report));
    }
    found
}

/// Asserts that every place is inside the file and its record, and has the right line and column.
fn check_places(bytes: &[u8], file: &FileReport) {
    let spots = file.findings.iter().flat_map(|finding| {
        let labels = finding.labels.iter().map(|label| &label.spot);
        labels.chain([&finding.spot])
    });
    let spots: Vec<&Spot> = spots.collect();
    let mut ends: Vec<(usize, Position)> = Vec::new();
    for spot in &spots {
        let (record, at) = (&spot.record_bytes, &spot.bytes);
        assert!(at.start <= at.end && at.end <= bytes.len(), "{spot:?}");
        assert!(record.start <= at.start && at.end <= record.end && record.end <= bytes.len(), "{spot:?}");
        ends.extend([(at.start, spot.start), (at.end, spot.end)]);
    }
    ends.sort_by_key(|(at, _)| *at);
    let offsets: Vec<usize> = ends.iter().map(|(at, _)| *at).collect();
    let located = locate(bytes, &offsets);
    assert_eq!(ends.iter().map(|(_, position)| *position).collect::<Vec<_>>(), located);
}

/// Asserts that an output has no hidden characters, and that JSON is valid.
fn check_output(report: &Report, choice: usize) {
    let narrow = Style::new().color(true).has_links(true).width(20).with_statistics(true);
    let output = &outputs::ALL[choice % outputs::ALL.len()];
    let mut text = Vec::new();
    (output.write)(report, &narrow, &mut text).expect("writing to memory never fails");
    let text = rendered(output, report);
    check_text(output.id, &text);
    let is_json = |text: &str| serde_json::from_str::<Json>(text).is_ok();
    match output.id {
        "json" | "sarif" | "gitlab" => assert!(is_json(&text), "{}", output.id),
        "jsonl" => assert!(text.lines().all(is_json)),
        _ => {}
    }
}

/// Asserts that an outline of the file, folded or whole, has no hidden characters.
fn check_outline(bytes: &[u8], options: &Options, choice: usize) {
    let more = "toolcheck lint case";
    let whole = View::new().shows_all(true).shows_text(true).more(more);
    let (view, width) = if choice.is_multiple_of(2) { (View::default(), 80) } else { (whole, 33) };
    let output = &show::outputs::ALL[choice / 2 % show::outputs::ALL.len()];
    let outline = outline("case", bytes, options, &view);
    let mut text = Vec::new();
    (output.write)(&outline, &Style::new().width(width), &mut text).expect("writing to memory never fails");
    check_text(output.id, &String::from_utf8(text).expect("an output is text"));
}

/// Asserts that an output has no hidden characters.
fn check_text(output: &str, text: &str) {
    let hidden = text.chars().find(|character| *character != '\n' && is_hidden(*character));
    assert_eq!(hidden, None, "{output}");
}

fn rendered(output: &outputs::Output, report: &Report) -> String {
    let mut text = Vec::new();
    (output.write)(report, &Style::default(), &mut text).expect("writing to memory never fails");
    String::from_utf8(text).expect("an output is text")
}

/// The report in the outputs that together contain all of it.
fn shown(report: &Report) -> String {
    let outputs = outputs::ALL.iter().filter(|output| matches!(output.id, "json" | "full" | "gitlab"));
    outputs.map(|output| rendered(output, report)).collect()
}

/// Lints JSON Lines in pieces, all of them before the first is added; `None` if the bytes are not JSON Lines.
fn in_pieces(bytes: &[u8], options: &Options) -> Option<Report> {
    let mut lines = Lines::new("case.jsonl", bytes, options)?;
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
    // After the first line, and in the middle.
    let cuts = [*ends.first()?, ends[ends.len() / 2]];
    let pieces = [&bytes[..cuts[0]], &bytes[cuts[0]..cuts[1]], &bytes[cuts[1]..]];
    let linted = pieces.map(|piece| lines.lint(piece));
    let mut file = lines.empty_report();
    for (bytes, piece) in pieces.into_iter().zip(linted) {
        file.add(lines.add(bytes, piece), usize::MAX);
    }
    file.add(lines.end(), usize::MAX);
    Some(Report::new(vec![file]))
}
