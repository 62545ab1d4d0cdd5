//! Comparing any bytes.

use toolcheck_core::diff::Kind;
use toolcheck_core::diff::files::{File, Report, compare};
use toolcheck_core::{InputFormat, formats};
use toolcheck_report::Style;
use toolcheck_report::diff::{ALL, Compare, Compared};

use super::take;

/// The first bytes choose the formats and how results belong to calls; the rest is both files, with a NUL in between.
pub fn run(mut data: &[u8]) {
    let choices = [take(&mut data), take(&mut data)];
    let bound_as = formats::ALL.get(take(&mut data)).copied();
    let formats = choices.map(|choice| InputFormat::all().nth(choice).filter(|_| choice < 64));
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let texts = [&data[..at], data.get(at + 1..).unwrap_or_default()];
    let opened = texts.map(|text| toolcheck_open::open(text, toolcheck_open::Limits::new(1 << 20)));
    let read = |side: usize| match &opened[side] {
        Some(opened) => File::read_opened(texts[side], opened).ok(),
        None => File::read(texts[side], formats[side]).ok(),
    };
    let files = [read(0), read(1)];
    for file in files.iter().flatten() {
        let report = compare(file, file, bound_as);
        assert!(report.changes.is_empty(), "a file differs from itself: {:?}", report.changes);
        assert!(report.pictures.is_empty(), "nothing is to be seen");
        for (name, count) in report.counts.named() {
            assert_eq!((count.before, count.before), (count.after, count.kept), "{name}");
        }
    }
    let [Some(before), Some(after)] = &files else { return };
    let (mut there, back) = (compare(before, after, bound_as), compare(after, before, bound_as));
    for ((name, one), (_, other)) in there.counts.named().into_iter().zip(back.counts.named()) {
        assert_eq!((one.before, one.after), (other.after, other.before), "{name}");
        assert!(one.kept <= one.before, "{name}");
    }
    written(&there, [before.format, after.format], texts);
    let kinds: Vec<Kind> = there.changes.iter().map(|change| change.kind).collect();
    assert_eq!(there.allow(&kinds), kinds.len());
    assert!(there.changes.is_empty() && there.pictures.iter().all(|(_, picture)| picture.is_empty()));
}

fn written(report: &Report, formats: [&'static str; 2], texts: [&[u8]; 2]) {
    let side = |number: usize| Compare { name: "case", format: formats[number], text: Some(texts[number]) };
    let compared = Compared { before: side(0), after: side(1), report, allowed: 0 };
    for output in ALL {
        let mut text = Vec::new();
        (output.write)(&compared, &Style::default(), &mut text).expect("memory takes it");
        let text = String::from_utf8(text).expect("it is text");
        if output.id == "json" {
            serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
        }
    }
}
