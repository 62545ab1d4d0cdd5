//! Names, texts and the ids of rules: as messages show them, and what a mistyped one was meant to be.

use std::io;

use toolcheck_core::RuleId;
use toolcheck_core::suggest::similar;
use toolcheck_core::text::{bounded, bytes_of, guard, is_hidden, line, name_of, reason, shown};

#[test]
fn no_runner_takes_a_text_for_a_command() {
    assert_eq!(shown("a ##vso[task.x]b ##[error]"), "a #\\u{23}vso[task.x]b #\\u{23}[error]");
    assert_eq!(bounded("###[group]", 80), "##\\u{23}[group]");
    assert_eq!(shown("##teamcity[x] ## [a] ##a"), "#\\u{23}teamcity[x] ## [a] ##a");
    assert_eq!(line(" ::error::x"), " \\u{3a}:error::x");
    assert_eq!(guard("\u{1b}[1m \u{1b}[2;31m::error::x"), "\u{1b}[1m \u{1b}[2;31m\\u{3a}:error::x");
    assert_eq!(line("a::b #[c] ##"), "a::b #[c] ##");
    assert_eq!(line(":") + ":1:33: error", "\\u{3a}:1:33: error");
    assert_eq!(line("\n::error::x"), "\\u{a}::error::x");
}

#[test]
fn names_keep_their_bytes() {
    for (bytes, seen) in [
        (&b"a\\xff.json"[..], "a\\xff.json"),
        (b"a\xff.json", "a\\xff.json"),
        (b"\xe2\x82", "\\xe2\\x82"),
        ("ä\u{fffd}".as_bytes(), "ä\u{fffd}"),
        (b"a\0b", "a\\u{0}b"),
    ] {
        let name = name_of(bytes);
        assert_eq!((bytes_of(&name), &*shown(&name)), (bytes.to_vec(), seen));
        assert_eq!(bounded(&name, 40), seen);
    }
    assert_ne!(name_of(b"a\\xff"), name_of(b"a\xff"));
}

#[test]
fn reasons_are_words() {
    let missing = io::Error::from_raw_os_error(2);
    assert_eq!(reason(&missing), "no such file or directory");
    assert_eq!(reason(&io::Error::other(missing)), "No such file or directory");
    assert_eq!(reason(&io::Error::other("it ends (os error x)")), "it ends (os error x)");
    assert_eq!(reason(&io::Error::other("a (os error 1): b (os error 22)")), "a: b");
}

#[test]
fn what_nobody_sees_is_hidden() {
    // Tags and selectors spell words that a model reads; the others have no width, or turn the text.
    for hidden in
        "\u{1b}\u{9b}\u{7f}\n\u{ad}\u{200b}\u{202e}\u{2060}\u{2066}\u{3164}\u{fe00}\u{feff}\u{e0041}\u{e0101}"
            .chars()
    {
        assert!(is_hidden(hidden), "{hidden:?}");
    }
    for seen in "aß漢 \u{a0}\u{301}\u{2764}\u{fe0f}\u{1f600}\u{fffd}".chars() {
        assert!(!is_hidden(seen), "{seen:?}");
    }
}

#[test]
fn a_short_name_is_not_similar_to_a_long_one() {
    let known = ["malformed-tool-call-id", "oversized-content", "xlam"];
    assert_eq!(similar("foo", known).name(), None);
    assert_eq!(similar("x", known).name(), None);
    assert_eq!(similar("xlm", known).name(), Some("xlam"));
    assert_eq!(similar("oversized", known).name(), Some("oversized-content"));
}

#[test]
fn a_word_that_is_left_out_does_not_hide_the_name() {
    let known = ["orphan-server-result", "orphan-tool-result", "late-tool-result"];
    assert_eq!(similar("orphan-result", known).name(), Some("orphan-tool-result"));
    assert_eq!(similar("orphan_tool_result", known).name(), Some("orphan-tool-result"));
    assert_eq!(similar("late-result", known).name(), Some("late-tool-result"));
}

#[test]
fn ids_are_sorted_and_each_is_found_by_its_text() {
    assert!(RuleId::ALL.is_sorted_by(|one, next| one.as_str() < next.as_str()));
    for id in RuleId::ALL {
        assert_eq!(RuleId::find(id.as_str()), Some(*id));
    }
    assert_eq!(RuleId::find("no-such-rule"), None);
}
