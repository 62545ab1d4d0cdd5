//! Changes as they are printed.

use toolcheck_report::unified::{edits, write, write_without_values};

fn diff(before: &str, after: &str) -> String {
    let mut out = Vec::new();
    write("f", before.as_bytes(), after.as_bytes(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn changes_that_are_far_apart_are_hunks_of_their_own() {
    let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
    let after = before.replace("2\n3\n", "2\nnew\n3\n").replace("18\n", "");
    assert_eq!(
        diff(&before, &after),
        "--- f\n+++ f\n@@ -1,5 +1,6 @@\n 1\n 2\n+new\n 3\n 4\n 5\n@@ -15,6 +16,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n"
    );
}

#[test]
fn edits_are_the_words_that_change() {
    let same = "what stays between the two is longer than what would join them";
    let before = format!(r#"{{"a": [1, "x y", 2], "c": "{same}", "b": 3}}"#);
    let after = format!(r#"{{"a": [1, 2], "c": "{same}", "b": 30}}"#);
    let edits = edits(before.as_bytes(), after.as_bytes());
    let texts: Vec<_> = edits.iter().map(|(old, new)| (&before[old.clone()], &after[new.clone()])).collect();
    assert_eq!(texts, [(r#""x y", "#, ""), ("3", "30")]);
}

#[test]
fn what_a_terminal_or_a_ci_runner_obeys_is_visible() {
    let (before, after) =
        ("{\"##vso[x]a\": 1,\t\"\u{202e}\": 1}\r\n", "{\"##vso[x]a\": 12,\t\"\u{202e}\": 1}\r\n");
    let mut out = Vec::new();
    write_without_values("f", before.as_bytes(), after.as_bytes(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("+{\"#\\u{23}vso[x]a\": \"\u{2026} 2 bytes\",\t\"\\u{202e}\""), "{out}");
}

#[test]
fn a_long_line_is_laid_out() {
    let result = |id: usize| {
        format!(r#"{{"role": "tool", "tool_call_id": "call_{id}", "content": "at six, {{or}} later"}}"#)
    };
    let row = |results: &[String]| {
        format!(r#"{{"n": {{}}, "messages": [{}], "tools": []}}"#, results.join(", ")) + "\n"
    };
    let all: Vec<String> = (1..5).map(result).collect();
    let (before, after) = (row(&all[..1]) + &row(&all), row(&all[..1]) + &row(&all[1..]));
    let mut out = Vec::new();
    write_without_values("f", before.as_bytes(), after.as_bytes(), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
    --- f
    +++ f
    @@ -2,1 +2,1 @@
     …
       "messages": [
         {
           "role": "tool",
    -      "tool_call_id": "call_1",
    -      "content": "… 20 bytes"
    -    },
    -    {
    -      "role": "tool",
           "tool_call_id": "call_2",
           "content": "… 20 bytes"
         },
     …
    "#);
    let marked = |text: &str| [b"\xef\xbb\xbf  ", text.as_bytes()].concat();
    let mut out = Vec::new();
    write_without_values("f", &marked(&row(&all)), &marked(&row(&all[1..])), &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("\n       \"tool_call_id\": \"call_2\",\n"));
    let patch = diff(&before, &after);
    assert!(patch.contains(&format!("\n+{}", row(&all[1..]))), "{patch}");
}

proptest::proptest! {
    #[test]
    fn edits_make_the_one_text_of_the_other(before in "[a-c\"\\\\\\[\\], \n]{0,60}", after in "[a-c\"\\\\\\[\\], \n]{0,60}") {
        let mut made = Vec::new();
        let mut at = 0;
        for (old, new) in edits(before.as_bytes(), after.as_bytes()) {
            made.extend_from_slice(&before.as_bytes()[at..old.start]);
            made.extend_from_slice(&after.as_bytes()[new]);
            at = old.end;
        }
        made.extend_from_slice(&before.as_bytes()[at..]);
        proptest::prop_assert_eq!(made, after.as_bytes());
    }
}

#[test]
fn a_missing_line_end_is_said() {
    assert_eq!(diff("a", "b\n"), "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n");
    assert_eq!(diff("", "b\n"), "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+b\n");
    assert_eq!(diff("a\n", "a\n"), "");
}
