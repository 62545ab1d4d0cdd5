//! `toolcheck test` with a corpus that text cannot say; the others are in `cases/corpus.case`.

use std::path::Path;

use crate::common::{folder, seen_in, unanswered, write};

/// What `toolcheck test` prints of the folder that it runs in.
fn test(folder: &Path, arguments: &[&str]) -> String {
    seen_in(folder, &[&["test", "."], arguments].concat())
}

#[cfg(unix)]
#[test]
fn hostile_names_are_data_in_every_output() {
    let folder = folder("corpus-hostile");
    let name = "a\u{1b}[31m\n::error::b\u{202e}<c>&\"d";
    write(&folder, &format!("{name}.json"), unanswered("toolu_pier"));
    for output in ["text", "junit", "json"] {
        let text = test(&folder, &["--output-format", output]);
        assert!(text.starts_with("status: 1"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("\n::error"), "{text}");
        assert!(!text.contains("<c>") || output != "junit", "{text}");
    }
    let listed = "a\\u{1b}[31m\\u{a}::error::b\\u{202e}<c>&\"d.json";
    assert_eq!(test(&folder, &["--list"]), format!("status: 0\n--- stdout\n{listed}\n--- stderr\n"));
    assert!(test(&folder, &["--bless=new"]).starts_with("status: 0"));
    assert!(folder.join(format!("{name}.expect.json")).is_file());
    // A filter may be hostile too.
    assert!(!test(&folder, &["\u{1b}[2Jx"]).contains('\u{1b}'));
}

#[test]
fn many_differences_are_summarised() {
    let folder = folder("corpus-many");
    let text = vec![r#"{"role": "user", "content": ""}"#; 5000].join(",");
    write(&folder, "anthropic/case.json", format!(r#"{{"max_tokens": 1, "messages": [{text}]}}"#));
    for output in ["text", "junit"] {
        let text = test(&folder, &["--output-format", output]);
        assert!(text.lines().count() < 60 && text.contains("more differences"), "{text}");
    }
}
