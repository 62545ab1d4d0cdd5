//! The conversations of the corpus.

use std::path::PathBuf;

use toolcheck_core::detection::Detection;
use toolcheck_core::diff::files::File;
use toolcheck_core::diff::{self, Kind, Level};
use toolcheck_core::{Format, formats};
use toolcheck_json::Document;

use super::{Seen, compare_texts};
use crate::testing::{files_below, fixtures};

fn json_below(folder: PathBuf) -> Vec<PathBuf> {
    let mut paths = files_below(folder);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths
}

/// One conversation in two formats differs only by what the second one has no place for, or in form.
#[test]
fn the_same_conversation_is_the_same_in_every_format() {
    let mut pairs = 0;
    for folder in std::fs::read_dir(fixtures().join("same")).unwrap() {
        let paths = json_below(folder.unwrap().path());
        let read = |path: &PathBuf| -> (&'static Format, String) {
            let id = path.file_stem().unwrap().to_str().unwrap();
            (super::format(id), std::fs::read_to_string(path).unwrap())
        };
        let all: Vec<_> = paths.iter().map(read).collect();
        for (before, text) in &all {
            for (after, other) in &all {
                let (_, seen) = compare_texts((text, before), (other, after));
                let bad: Vec<&Seen> = seen.iter().filter(|seen| !is_expected(seen)).collect();
                assert!(bad.is_empty(), "{:?}: {} to {}: {bad:#?}", paths[0].parent(), before.id, after.id);
                pairs += 1;
            }
        }
    }
    assert!(pairs > 300, "{pairs} pairs");
}

/// Some files have reasoning, which the others of the folder do not: it belongs to the provider that wrote it.
fn is_expected(seen: &Seen) -> bool {
    seen.level == Level::Form || matches!(seen.kind, Kind::ReasoningLost | Kind::ReasoningAdded)
}

/// Whatever a request is like, it has not changed.
#[test]
fn nothing_differs_from_itself() {
    let paths = json_below(fixtures());
    let mut compared = 0;
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let document = Document::read(text.as_bytes());
        let mut detection = Detection::default();
        detection.add(&document);
        let detected = detection.best(None).map(|best| best.format);
        for format in detected.into_iter().chain(formats::ALL.iter().copied()) {
            if format.read(document.root()).is_none() {
                continue;
            }
            let (found, seen) = compare_texts((&text, format), (&text, format));
            assert_eq!(seen, [], "{} as {}", path.display(), format.id);
            for count in [found.counts.calls, found.counts.results, found.counts.texts, found.counts.media] {
                assert_eq!((count.before, count.kept), (count.after, count.after), "{}", path.display());
            }
            compared += 1;
        }
    }
    assert!(compared > 2000, "{compared} requests");
}

/// A file that is compared with itself, or with one that has the same records, is not looked at piece by piece. What is
/// said of it is the same as of one that is written with a space more.
#[test]
fn what_is_equal_is_counted_as_what_is_compared() {
    let paths = json_below(fixtures());
    let mut compared = 0;
    for path in paths {
        let text = std::fs::read(&path).unwrap();
        let Ok(file) = File::read(&text, None) else { continue };
        let first = text.iter().position(|byte| b"{[".contains(byte)).unwrap() + 1;
        let spaced = [&text[..first], b" ", &text[first..]].concat();
        let again = [&*text, b"\n"].concat();
        let said = |other: &File<'_>| {
            let report = diff::files::compare(&file, other, None);
            (report.counts, report.changes.len(), report.conversations, report.pictures.len())
        };
        let itself = said(&file);
        assert_eq!((itself.1, itself.3), (0, 0), "{}", path.display());
        for other in [&spaced, &again] {
            assert_eq!(said(&File::read(other, None).unwrap()), itself, "{}", path.display());
        }
        compared += 1;
    }
    assert!(compared > 1000, "{compared}");
}
