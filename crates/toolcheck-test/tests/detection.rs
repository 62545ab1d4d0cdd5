//! Detection of formats, over the corpus.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::path::{Path, PathBuf};

use toolcheck_core::detection::Detection;
use toolcheck_core::formats;
use toolcheck_json::{Document, Records};

/// How sure a format must be of a record for the record to have another format than the rest of the file.
const SURE: u8 = 70;

/// The case files of the corpus.
fn cases() -> Vec<PathBuf> {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")];
    let mut cases = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if !path.to_string_lossy().ends_with(".expect.json") {
            cases.push(path);
        }
    }
    cases
}

/// A format without a mark in a record is not asked about it, so a format that is sure must have a mark.
#[test]
fn a_format_that_is_sure_has_a_mark() {
    let (mut sure, mut read) = (0, 0);
    for path in cases() {
        let bytes = std::fs::read(&path).unwrap();
        for record in Records::new(&bytes) {
            let document = Document::read(record.bytes);
            let root = document.root();
            read += 1;
            for (number, format) in formats::ALL.iter().enumerate() {
                if (format.sniff)(root) < SURE {
                    continue;
                }
                let is_marked = Detection::may_be_sure(number, root);
                assert!(is_marked, "{} is sure of {} without a mark", format.id, path.display());
                sure += 1;
            }
        }
    }
    assert!(read > 1000 && sure > 1000, "{sure} of {read}");
}
