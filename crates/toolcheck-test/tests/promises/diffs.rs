//! `fix --diff` shows each change, whatever it hides of the lines.

use toolcheck_core::fix_style::without_values;
use toolcheck_lint::{FixOptions, Options, fix};
use toolcheck_report::unified;

use crate::common::{Case, cases};

fn shown(before: &[u8], after: &[u8]) -> String {
    let mut out = Vec::new();
    unified::write_without_values("case", before, after, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The lines of one side of a hunk.
fn side(hunk: &str, sign: char) -> Vec<&str> {
    hunk.lines().filter_map(|line| line.strip_prefix([sign, ' '])).collect()
}

#[test]
fn a_diff_is_printed_if_and_only_if_something_changes_and_each_hunk_tells_what() {
    let (mut changed, mut hidden) = (0, 0);
    for Case { name, bytes, options } in cases() {
        for is_unsafe in [false, true] {
            let how = FixOptions::new().unsafe_fixes(is_unsafe).accepted(true);
            let fixed = fix(&name, &bytes, &options, &how);
            let diff = shown(&bytes, &fixed.bytes);
            assert_eq!(diff.is_empty(), bytes == *fixed.bytes, "{name}: {diff}");
            assert_eq!(diff.is_empty(), fixed.is_unchanged(), "{name}");
            changed += usize::from(!diff.is_empty());
            for hunk in diff.split("\n@@ ").skip(1) {
                let (head, body) = hunk.split_once('\n').unwrap();
                if side(body, '-') == side(body, '+') {
                    assert!(head.contains("what differs is not shown"), "{name}: {hunk}");
                    hidden += 1;
                }
            }
        }
    }
    assert!(changed >= 1060 && hidden < changed / 20, "{hidden} of {changed}");
}

#[test]
fn each_text_has_as_many_lines_without_its_values() {
    for Case { name, bytes, .. } in cases() {
        let count = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
        for text in [&bytes[..], &bytes[..bytes.len() / 2]] {
            assert_eq!(count(&without_values(text)), count(text), "{name}");
        }
    }
}

#[test]
fn ids_keys_and_kinds_of_the_items_of_responses_are_shown_and_what_was_said_is_not() {
    let text = r#"{"model": "gpt-4.1", "input": [
  {"role": "user", "content": "my secret"},
  {"type": "function_call", "call_id": "call_a1", "name": "f", "arguments": "{\"secret\": 1}"},
  {"type": "function_call_output", "call_id": "call_zz", "output": "secret"},
  {"type": "function_call_output", "call_id": "call_a2", "output": [{"type": "input_text", "text": "a secret"}]}
]}"#;
    let shown = String::from_utf8(without_values(text.as_bytes())).unwrap();
    for word in [
        "\"type\": \"function_call_output\"",
        "\"call_id\": \"call_zz\"",
        "\"name\": \"f\"",
        "\"input_text\"",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(!shown.contains("secret"), "{shown}");
    // The arguments of a call have keys of their own.
    let call = r#"{"messages": [{"role": "assistant", "content": [
  {"type": "tool_use", "id": "a", "name": "f", "input": {"type": "hidden", "list": [{"type": "hidden"}]}}]}]}"#;
    assert!(!String::from_utf8(without_values(call.as_bytes())).unwrap().contains("hidden"));
}

#[test]
fn lines_that_differ_only_in_what_is_hidden_are_shown_and_marked() {
    let [before, after] = ["one", "two"].map(|said| format!("{{\"messages\": [\n \"{said} x\"\n]}}\n"));
    let diff = shown(before.as_bytes(), after.as_bytes());
    assert!(diff.contains("not shown") && diff.matches("\"\u{2026} 7 bytes\"").count() == 2, "{diff}");
    // What is no JSON is shown line by line.
    let [before, after] =
        ["secret", "hidden"].map(|said| format!("{{\"role\": \"user\"}}\n{{\"a\": {said}}}\n"));
    let diff = shown(before.as_bytes(), after.as_bytes());
    assert!(diff.contains("{\"role\": \"user\"}") && !diff.contains("secret"), "{diff}");
    assert_eq!(diff.lines().filter(|line| line.starts_with('-')).count(), 2, "{diff}");
    assert!(fix("case", before.as_bytes(), &Options::new(), &FixOptions::new()).is_unchanged());
}
