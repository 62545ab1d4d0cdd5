//! JSONTestSuite: every `y_` text is read, every `n_` text is reported, no `i_` text is lost.
#![allow(clippy::disallowed_macros, reason = "a test prints to the terminal")]

use std::path::Path;

use toolcheck_json::{Document, Kind};

#[test]
fn json_test_suite() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/json-test-suite/test_parsing");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: JSONTestSuite is not beside this checkout");
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
            // Up to the reader: what is not clean is reported, and a value is read either way.
            _ => !clean || document.root().kind() != Kind::Invalid,
        };
        if fine { right += 1 } else { wrong.push(name) }
    }
    println!("JSONTestSuite: {right} of {}", right + wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(right > 300, "the folder holds the whole suite");
}
