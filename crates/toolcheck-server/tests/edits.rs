//! After any edits, the diagnostics are those of the whole text, and fixes are the edits of `toolcheck fix`.

use crate::client::Client;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_core::RuleId;
use toolcheck_lint::{FixOptions, Options, fix, lint, lint_opened};
use toolcheck_open::{Limits, open};

/// A row that is in order, one with a call without a result, one that is broken, a blank line, one with a lost result, one
/// that is not a transcript, and one of a log.
const ROWS: [&str; 7] = [
    r#"{"messages": [{"role": "user", "content": "😀 hello"}, {"role": "assistant", "content": "hi"}]}"#,
    r#"{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "user", "content": "é?"}]}"#,
    r#"{"messages": [{"role": "user", "content": "hi"},]}"#,
    "",
    r#"{"messages": [{"role": "tool", "tool_call_id": "x", "content": "lost"}, {"role": "user", "content": "a"}]}"#,
    r#"{"roles": [{"role": "user"}]}"#,
    r#"{"request": {"model": "m", "messages": [{"role": "user", "content": "a"}]}, "response": {"choices": []}}"#,
];

const URI: &str = "file:///invented/rows.jsonl";

/// The diagnostics of a text that `was_transcript` before it was edited: rule, start and end in bytes of their lines. What is
/// about a request as a whole is at its first bracket, and what takes several lines at its id or in the first.
fn expected(text: &str, was_transcript: &mut bool) -> Vec<(String, [u64; 4])> {
    // An edit may leave a text that holds a request inside something else, such as behind a name.
    let (bytes, options) = (text.as_bytes(), Options::new());
    let mut report = match open(bytes, Limits::default()) {
        Some(opened) => lint_opened("/invented/rows.jsonl", bytes, &opened, &options),
        None => lint("/invented/rows.jsonl", bytes, &options),
    };
    if report.is_transcript() {
        *was_transcript = true;
    } else {
        report.findings.retain(|finding| *was_transcript && finding.rule == RuleId::MalformedJson);
    }
    let place = |byte: usize| {
        let line = text[..byte].matches('\n').count();
        let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
        [line as u64, (byte - start) as u64]
    };
    let mut found: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            let (from, to) = (finding.spot.bytes.start, finding.spot.bytes.end);
            let is_whole =
                finding.spot.pointer.is_empty() && to > from + 1 && text[from..].starts_with(['{', '[']);
            let first = text[from..].lines().next().map_or(from, |line| from + line.len());
            let names = [&finding.tool_call_id, &finding.tool_name].into_iter().flatten();
            let mut names = names.map(|name| format!("\"{name}\""));
            let (from, to) = match names.find_map(|name| Some((text[from..to].find(&name)?, name.len()))) {
                _ if is_whole => (from, from + 1),
                _ if !(from + 1..to).contains(&first) => (from, to),
                Some((at, length)) => (from + at, from + at + length),
                None => (from, first),
            };
            let ([line, column], [end, until]) = (place(from), place(to));
            (finding.rule.to_string(), [line, column, end, until])
        })
        .collect();
    found.sort();
    found
}

fn published(diagnostics: &Json) -> Vec<(String, [u64; 4])> {
    let mut found: Vec<_> = diagnostics
        .as_array()
        .expect("they are a list")
        .iter()
        .map(|one| {
            let number = |end: &str, name: &str| one["range"][end][name].as_u64().expect("it is a number");
            let place = [
                number("start", "line"),
                number("start", "character"),
                number("end", "line"),
                number("end", "character"),
            ];
            (one["code"].as_str().expect("it has a rule").to_owned(), place)
        })
        .collect();
    found.sort();
    found
}

/// An edit: the bytes that go, as shares of the text, and what takes their place.
fn edits() -> impl Strategy<Value = (f64, f64, String)> {
    let new = prop_oneof![
        8 => prop::sample::select(&ROWS[..6]).prop_map(|row| format!("{row}\n")),
        // An exchange has to do with those before it, so the file is no longer linted line by line.
        1 => Just(format!("{}\n", ROWS[6])),
        8 => prop::sample::select(vec!["\n", "\r\n", "}", "{\"a\": 1", "\"", "é", "😀", "", "tool", ","])
            .prop_map(str::to_owned),
    ];
    (0.0..1.0, prop_oneof![Just(0.0), 0.0..0.02, 0.0..1.0], new)
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    // A place between the two characters that end a line is none.
    if at > 0 && text.as_bytes().get(at) == Some(&b'\n') && text.as_bytes()[at - 1] == b'\r' {
        at - 1
    } else {
        at
    }
}

fn position(text: &str, byte: usize) -> Json {
    let line = text[..byte].matches('\n').count();
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    json!({"line": line, "character": byte - start})
}

/// A hover fits on a screen, however much is known of a model.
#[test]
fn what_is_known_of_a_model_is_short() {
    let mut client = Client::new("utf-8");
    let uri = "file:///invented/request.json";
    client.open(uri, "{\"model\": \"o3-mini\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}");
    client.diagnostics(1);
    let at = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 13}});
    let hover = client.ask("textDocument/hover", at)["contents"]["value"].as_str().unwrap().to_owned();
    assert!(hover.contains("more; all with their sources") && hover.contains("shapes.md#models"), "{hover}");
    assert!(hover.lines().count() <= 15 && hover.lines().all(|line| line.len() <= 200), "{hover}");
    client.shut_down();
}

fn fixed(text: &str) -> String {
    let fixed = fix("x.json", text.as_bytes(), &Options::new(), &FixOptions::new());
    String::from_utf8(fixed.bytes.into_owned()).expect("it is a text")
}

/// A text after edits, as an editor makes them: places are those of the text before, in bytes of a line.
fn edited(text: &str, edits: &Json) -> String {
    let byte = |at: &Json| {
        let number = |name: &str| at[name].as_u64().expect("it is a number") as usize;
        let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        start + number("character")
    };
    let edits = edits.as_array().expect("there are edits").iter();
    let mut edits: Vec<(usize, usize, &str)> = edits
        .map(|edit| {
            let (start, end) = (byte(&edit["range"]["start"]), byte(&edit["range"]["end"]));
            (start, end, edit["newText"].as_str().expect("it is a text"))
        })
        .collect();
    edits.sort_unstable();
    let mut edited = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        edited.replace_range(start..end, new);
    }
    edited
}

/// `source.fixAll` is `toolcheck fix`: in a file with several faults, of which one can only be fixed with a loss, and
/// whose lines and characters are not all alike.
#[test]
fn fix_all_makes_the_edits_of_fix() {
    let call = |id: &str| {
        format!(
            r#"{{"id": "{id}", "type": "function", "function": {{"name": "ufer_ü", "arguments": "{{}}"}}}}"#
        )
    };
    let body = |id: &str| {
        let call = call(id);
        format!(
            "{{\"messages\": [{{\"role\": \"user\", \"content\": \"😀\"}},\r\n {{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{call}]}},\n {{\"role\": \"user\", \"content\": \"é?\"}}]}}"
        )
    };
    let lost = r#"{"messages": [{"role": "tool", "tool_call_id": "x", "content": "lost"}, {"role": "user", "content": "a"}]}"#;
    let lines =
        format!("{lost}\n{}\n{}\n", body("c").replace(['\r', '\n'], ""), body("d").replace(['\r', '\n'], ""));
    for (name, text) in [("one.json", body("c")), ("rows.jsonl", lines), ("lost.json", lost.to_owned())] {
        let uri = format!("file:///invented/{name}");
        let mut client = Client::new("utf-8");
        client.open(&uri, &text);
        client.diagnostics(1);
        let ask = |client: &mut Client, only: &str| {
            let context = json!({"diagnostics": [], "only": [only]});
            let range = json!({"start": position("", 0), "end": position("", 0)});
            let params = json!({"textDocument": {"uri": uri}, "range": range, "context": context});
            client.ask("textDocument/codeAction", params)
        };
        let all = ask(&mut client, "source.fixAll.toolcheck");
        assert_eq!(all, ask(&mut client, "source.fixAll"));
        let as_fixed = fixed(&text);
        if as_fixed == text {
            assert_eq!((name, all), ("lost.json", json!([])), "what loses something is not done unasked");
            client.shut_down();
            continue;
        }
        assert_eq!(edited(&text, &all[0]["edit"]["changes"][&uri]), as_fixed, "{name}");
        // There is nothing more to do then.
        client.change(&uri, 2, json!([{"text": as_fixed}]));
        client.diagnostics(2);
        assert_eq!(ask(&mut client, "source.fixAll"), json!([]), "{name}");
        client.shut_down();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn diagnostics_are_those_of_the_whole_text(
        rows in prop::collection::vec(prop::sample::select(&ROWS[..6]), 0..40),
        edits in prop::collection::vec(edits(), 1..12),
    ) {
        let mut text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let mut client = Client::new("utf-8");
        client.open(URI, &text);
        let mut was = false;
        prop_assert_eq!(published(&client.diagnostics(1)), expected(&text, &mut was), "{}", text);
        for (number, (start, length, new)) in edits.iter().enumerate() {
            let from = floor(&text, (start * text.len() as f64) as usize);
            let to = floor(&text, from + (length * (text.len() - from) as f64) as usize).max(from);
            let range = json!({"start": position(&text, from), "end": position(&text, to)});
            let version = number as i64 + 2;
            client.change(URI, version, json!([{"range": range, "text": new}]));
            text.replace_range(from..to, new);
            prop_assert_eq!(published(&client.diagnostics(version)), expected(&text, &mut was), "{}", text);
        }
        client.shut_down();
    }
}
