use super::*;
use crate::expected::tests::found;

fn blessed(text: &str, got: &[&str]) -> String {
    let expected = Expectation::parse(text).expect(text).findings;
    rewrite(text, &expected, &found(got)).expect("it can be rewritten")
}

#[test]
fn unchanged_findings_keep_their_bytes() {
    let text = "{\n\t\"source\": \"s\",\r\n\t\"findings\": [\n\t\t{\"pointer\":\"/a\",  \"rule\": \"blank-text\"},\n\t\t{\"rule\": \"unknown-role\", \"pointer\": \"/b\"}\n\t],\n\t\"description\": \"d\" }";
    assert_eq!(blessed(text, &["blank-text at /a", "unknown-role at /b"]), text);
    assert_eq!(
        blessed(text, &["blank-text at /a"]),
        text.replace(",\n\t\t{\"rule\": \"unknown-role\", \"pointer\": \"/b\"}", "")
            .replace("[\n", "[\r\n")
            .replace("\n\t],", "\r\n\t],")
    );
}

#[test]
fn a_list_keeps_its_layout() {
    let inline = "{\n  \"description\": \"d\",\n  \"source\": \"s\",\n  \"findings\": []\n}\n";
    let one = inline.replace("[]", "[{\"rule\": \"blank-text\", \"pointer\": \"/a\"}]");
    assert_eq!(blessed(inline, &["blank-text at /a"]), one);
    assert_eq!(blessed(&one, &[]), inline);
    assert_eq!(
        blessed(&one, &["blank-text at /a", "unknown-role at 2:/b"]),
        inline.replace(
            "[]",
            "[\n    {\"rule\": \"blank-text\", \"pointer\": \"/a\"},\n    {\"rule\": \"unknown-role\", \"pointer\": \"/b\", \"record\": 2}\n  ]"
        )
    );
    let tall = inline.replace(
        "[]",
        "[\n    {\n      \"rule\": \"blank-text\",\n      \"pointer\": \"/a\",\n      \"level\": \"error\"\n    }\n  ]",
    );
    let other = tall.replace("blank-text", "unknown-role").replace("/a", "/b");
    assert_eq!(blessed(&tall, &["unknown-role at /b"]), other);
    let compact = r#"{"description":"d","source":"s","findings":[]}"#;
    assert_eq!(
        blessed(compact, &["blank-text at /a", "blank-text at /b"]),
        compact
            .replace("[]", r#"[{"rule":"blank-text","pointer":"/a"},{"rule":"blank-text","pointer":"/b"}]"#)
    );
}

#[test]
fn a_level_changes_in_place() {
    let text = r#"{"description": "d", "source": "s", "findings": [{"level": "warning", "rule": "blank-text", "pointer": "/a"}]}"#;
    assert_eq!(blessed(text, &["error blank-text at /a"]), text.replace("warning", "error"));
    // New findings have a level if others have one.
    assert!(blessed(text, &["warning blank-text at /b"]).contains(r#""pointer": "/b", "level": "warning"}"#));
}

#[test]
fn invalid_expectations_are_reported() {
    let error = |text: &str| Expectation::parse(text).expect_err(text).of(Path::new("x.expect.json"));
    insta::assert_snapshot!([
        "{",
        r#"{"description": "d", "source": "s", "findings": [], "taget": "x"}"#,
        r#"{"description": "", "source": "s", "findings": []}"#,
        r#"{"description": "d", "source": "s", "findings": [], "target": "bedrok"}"#,
        r#"{"description": "d", "source": "s", "findings": [], "format": "anthropics"}"#,
        r#"{"description": "d", "source": "s", "findings": [], "kind": "x"}"#,
        r#"{"description": "d", "source": "s", "findings": [{"rule": "x", "pointer": "", "level": "info"}]}"#,
    ].map(error).join("\n"), @r"
    x.expect.json:1:1: EOF while parsing an object
    x.expect.json:1:59: unknown field `taget`, expected one of `description`, `source`, `target`, `format`, `kind`, `config`, `findings`
    x.expect.json: `description` is empty
    x.expect.json: there is no target `bedrok`; did you mean `bedrock`?
    x.expect.json: there is no format `anthropics`; did you mean `anthropic`?
    x.expect.json: `x` is not one of `request`, `session` and `dataset`
    x.expect.json: `info` is neither `error` nor `warning`
    ");
}

#[test]
fn the_expectations_of_the_corpus_keep_their_bytes() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")];
    let mut count = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).expect("it can be read").flatten().map(|entry| entry.path()));
        } else if path.to_string_lossy().ends_with(".expect.json") {
            let text = std::fs::read_to_string(&path).expect("it can be read");
            let expected = Expectation::parse(&text).expect("it is valid").findings;
            if expected.is_empty() || expected.iter().any(|one| one.level.is_none()) {
                continue;
            }
            let at_level = |is_other: bool| -> Vec<ActualFinding> {
                let texts = expected.iter().map(|one| match is_other {
                    true => Expected { level: one.level.map(other), ..one.clone() }.to_string(),
                    false => one.to_string(),
                });
                found(&texts.collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>())
            };
            // Change every level and change it back.
            let changed = rewrite(&text, &expected, &at_level(true)).expect("it can be rewritten");
            assert_ne!(changed, text);
            let expected = Expectation::parse(&changed).expect("it is valid").findings;
            let back = rewrite(&changed, &expected, &at_level(false));
            assert_eq!(back.as_ref(), Some(&text), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

fn other(level: Level) -> Level {
    if level == Level::Error { Level::Warning } else { Level::Error }
}

#[cfg(feature = "proptest")]
mod properties {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::expected::tests::properties::findings;

    proptest! {
        #[test]
        fn a_rewritten_list_has_exactly_the_findings(old in findings(), new in findings(), layout in 0..4, with_level: bool) {
            let list: Vec<Json> = old.iter().map(|one| {
                let mut element = json!({"rule": one.rule, "pointer": one.place.pointer, "record": one.place.record});
                if with_level {
                    element["level"] = one.level.as_str().into();
                }
                element
            }).collect();
            let file = json!({"description": "findings: []", "findings": list, "source": "\"findings\": []"});
            let text = match layout {
                0 => file.to_string(),
                1 => format!("{file:#}"),
                2 => format!("{file:#}\n").replace('\n', "\r\n"),
                _ => format!("{file:#}").replace("  ", "\t"),
            };
            let expected = Expectation::parse(&text).unwrap_or_default().findings;
            let written = rewrite(&text, &expected, &new);
            prop_assert!(written.is_some(), "{text}");
            let written = written.unwrap_or_default();
            let read = Expectation::parse(&written).unwrap_or_default().findings;
            prop_assert!(Difference::of(&read, &new).is_empty(), "{written}");
            // The text around the list stays the same, and line ends are not mixed.
            let (before, after) = (text.split("[{").next(), text.rsplit("\"source\"").next());
            prop_assert!(before.is_some_and(|before| old.is_empty() || layout > 0 || written.starts_with(before)));
            prop_assert!(after.is_some_and(|after| written.ends_with(after)));
            if layout == 2 {
                prop_assert_eq!(written.matches('\n').count(), written.matches("\r\n").count());
            }
            let again = rewrite(&written, &read, &new);
            prop_assert_eq!(again.as_ref(), Some(&written));
        }
    }
}
