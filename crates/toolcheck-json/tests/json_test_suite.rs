//! JSONTestSuite: every `y_` text is read without faults, every `n_` text has a fault, and every `i_` text has one or the
//! other.
#![allow(clippy::disallowed_macros, reason = "a test prints to the terminal")]

use std::path::Path;

use toolcheck_json::{Document, Kind};

#[test]
fn json_test_suite() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/json-test-suite/test_parsing");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: JSONTestSuite is not next to this checkout");
        return;
    };
    let (mut right, mut wrong) = (0, Vec::new());
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let document = Document::read(&bytes);
        let clean = document.faults().is_empty();
        let fine = match name.as_bytes()[0] {
            b'y' => clean && document.root().kind() != Kind::Invalid,
            b'n' => !clean,
            // Up to the parser: there is a fault or a value.
            _ => !clean || document.root().kind() != Kind::Invalid,
        };
        if fine { right += 1 } else { wrong.push(name) }
    }
    println!("JSONTestSuite: {right} of {}", right + wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(right > 300, "the folder contains the whole suite");
}
