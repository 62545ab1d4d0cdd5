//! Detection of formats, over the corpus.

use std::collections::BTreeMap;

use toolcheck_core::Level;
use toolcheck_core::detection::Detection;
use toolcheck_core::formats;
use toolcheck_json::{Document, Records};
use toolcheck_lint::Options;

use crate::common::{Case, all_cases, fixtures};

/// How sure a format must be of a record for the record to have another format than the rest of the file.
const SURE: u8 = 70;

/// The same between dialects, whose records look alike.
const SURE_OF_DIALECT: u8 = 80;

/// A format without a mark in a record is not asked about it, so a format that is sure must have a mark.
#[test]
fn a_format_that_is_sure_has_a_mark() {
    let (mut sure, mut read) = (0, 0);
    for Case { name, bytes, .. } in all_cases() {
        for record in Records::new(&bytes) {
            let document = Document::read(record.bytes);
            let root = document.root();
            read += 1;
            for (number, format) in formats::ALL.iter().enumerate() {
                if (format.sniff)(root) < SURE {
                    continue;
                }
                let is_marked = Detection::may_be_sure(number, root);
                assert!(is_marked, "{} is sure of {name} without a mark", format.id);
                sure += 1;
            }
        }
    }
    assert!(read >= 5800 && sure >= 3600, "{sure} of {read}");
}

/// The cases in a table of `detection.toml`.
fn listed(table: &str) -> BTreeMap<String, String> {
    let mut tables: BTreeMap<String, _> = toml::from_str(include_str!("detection.toml")).unwrap();
    tables.remove(table).unwrap()
}

#[test]
fn a_protocol_is_read_by_its_reader_and_claimed_by_no_format() {
    let folder = fixtures().join("detection");
    for (case, reader) in &listed("of-readers") {
        let bytes = std::fs::read(folder.join(case)).unwrap();
        for record in Records::new(&bytes) {
            let document = Document::read(record.bytes);
            for format in formats::ALL {
                assert_eq!((format.sniff)(document.root()), 0, "{} claims {case}", format.id);
            }
        }
        for format in formats::ALL {
            let report = toolcheck_lint::lint(case, &bytes, &Options::default().format(Some(*format)));
            assert_eq!(report.transcripts, 0, "{case} as {}", format.id);
            assert!(report.findings.iter().all(|finding| finding.rule == "unrecognised-format"), "{case}");
        }
        let report = toolcheck_lint::lint(case, &bytes, &Options::default());
        assert_eq!(report.format, Some(&**reader), "{case}");
        assert!(report.transcripts > 0 && report.findings.is_empty(), "{case}");
    }
}

/// A document whose own marks are those of another protocol is claimed by no format, whatever else it looks like; also not
/// by one that the user has named.
#[test]
fn a_protocol_that_is_not_read_is_named_and_claimed_by_no_format() {
    let folder = fixtures().join("detection");
    for (case, name) in &listed("unread") {
        let bytes = std::fs::read(folder.join(case)).unwrap();
        for record in Records::new(&bytes) {
            let document = Document::read(record.bytes);
            for format in formats::ALL {
                assert_eq!((format.sniff)(document.root()), 0, "{} claims {case}", format.id);
            }
        }
        for named in formats::ALL.iter().copied().map(Some).chain([None]) {
            let options = Options::default().format(named);
            let report = toolcheck_lint::lint(case, &bytes, &options);
            assert!(report.findings.iter().all(|finding| finding.rule == "unrecognised-format"), "{case}");
            let [finding, ..] = &*report.findings else { panic!("{case} as {named:?} is clean") };
            assert_eq!(report.transcripts, 0, "{case}");
            let message = &*finding.message;
            assert!(message.contains(name) && message.contains("cannot read yet"), "{case}: {message}");
        }
    }
}

/// The text of a document on one line; its strings hold no line breaks, because JSON escapes them.
fn on_one_line(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

/// What is said of a record does not depend on those before it: a request that is clean alone is clean behind a request of
/// any format, and is read in the same format if that was sure.
#[test]
fn a_clean_request_is_read_as_alone_behind_any_other() {
    let same = fixtures().join("same");
    let before: Vec<(&str, Vec<u8>)> = formats::ALL
        .iter()
        .map(|format| (format.id, std::fs::read(same.join(format!("one-call/{}.json", format.id))).unwrap()))
        .collect();
    let (mut wrong, mut read) = (Vec::new(), 0);
    for Case { name, bytes, .. } in all_cases() {
        let options = Options::default();
        let alone = toolcheck_lint::lint("alone.json", &bytes, &options);
        let is_clean = alone.findings.iter().all(|finding| finding.level != Level::Error);
        let [reading] = &*alone.readings else { continue };
        if !is_clean
            || reading.transcripts != 1
            || reading.target.is_none()
            || bytes.starts_with(b"\xef\xbb\xbf")
            || Records::new(&bytes).count() != 1
        {
            continue;
        }
        let request = on_one_line(&bytes);
        let is_sure = {
            let document = Document::read(&request);
            formats::ALL.iter().any(|format| (format.sniff)(document.root()) >= SURE_OF_DIALECT)
        };
        for (format, first) in &before {
            let both = [&*on_one_line(first), b"\n", &request, b"\n"].concat();
            let report = toolcheck_lint::lint("both.jsonl", &both, &options);
            read += 1;
            let name = format!("{name} behind {format}");
            // Where a text may be in any dialect, the other records decide which, with its own rules for the order.
            let is_own_order =
                |rule: &str| !is_sure && matches!(rule, "trailing-assistant" | "misplaced-message");
            let of_second = report.findings.iter().filter(|finding| finding.spot.record == 1);
            let of_second = of_second.filter(|finding| !is_own_order(finding.rule.as_str()));
            let errors: Vec<_> = of_second.filter(|finding| finding.level == Level::Error).collect();
            if let [error, ..] = &*errors {
                wrong.push(format!("{name}: {}: {}", error.rule, &*error.message));
            }
            let is_same = report.readings.iter().any(|both| both.format == reading.format);
            if is_sure && !is_same {
                wrong.push(format!("{name}: not read as {}", reading.format));
            }
        }
    }
    assert!(read >= 16_000, "{read}");
    assert!(wrong.is_empty(), "{} of {read}:\n{}", wrong.len(), wrong.join("\n"));
}

/// A mistake in a request to an API must not be hidden because somebody says which API it is.
#[test]
fn a_target_that_is_named_hides_nothing() {
    let mut seen = 0;
    for Case { name, bytes, .. } in all_cases() {
        let Some(inside) = name.strip_prefix("mistakes/") else { continue };
        let format = inside.split('/').next().expect("it is in a folder");
        let of = |options: &Options| {
            let report = toolcheck_lint::lint("case", &bytes, options);
            let errors = report.findings.iter().filter(|finding| finding.level == Level::Error);
            errors.map(|finding| (finding.rule, finding.spot.bytes.start)).collect::<Vec<_>>()
        };
        let alone = of(&Options::default());
        let target = toolcheck_core::targets::find(format).expect("each format has a target");
        assert_eq!(of(&Options::default().target(Some(target))), alone, "{inside}");
        seen += alone.len();
    }
    assert!(seen >= 236, "{seen}");
}
