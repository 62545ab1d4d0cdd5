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
/// about a request as a whole is at its first bracket.
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
            let ([line, column], [end, until]) = (place(from), place(if is_whole { from + 1 } else { to }));
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

#[test]
fn a_row_behind_a_name_is_a_value_in_a_text() {
    let mut client = Client::new("utf-8");
    client.open(URI, &format!("{}\n{}\n", ROWS[0], ROWS[4]));
    assert_eq!(published(&client.diagnostics(1)).len(), 1);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 11}});
    client.change(URI, 2, json!([{"range": range, "text": "messages"}]));
    let text = format!("messages{}\n{}\n", &ROWS[0][11..], ROWS[4]);
    let found = published(&client.diagnostics(2));
    assert!(found.iter().any(|(rule, _)| rule == "orphan-tool-result"), "{found:?}");
    assert_eq!(found, expected(&text, &mut true));
    client.shut_down();
}

/// The edits that broke a file leave it as one that is not a transcript: the faults of its JSON stay.
#[test]
fn a_file_that_an_edit_breaks_keeps_its_syntax_errors() {
    let mut client = Client::new("utf-8");
    client.open(URI, &format!("{}\n{}\n", ROWS[0], ROWS[2]));
    assert_ne!(published(&client.diagnostics(1)), []);
    let broken = "{\"messages\": [{\"roléntent\": \"a\"}]}\n\"},]}\n";
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}});
    client.change(URI, 2, json!([{"range": range, "text": broken}]));
    let found = published(&client.diagnostics(2));
    assert!(!found.is_empty() && found.iter().all(|(rule, _)| rule == "malformed-json"), "{found:?}");
    let request = "{\n  \"model\": \"m\",\n  \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}],\n  \"tools\": []\n}\n";
    let uri = "file:///invented/request.json";
    client.open(uri, request);
    client.diagnostics(1);
    client.change(uri, 2, json!([{"text": request.replacen('"', "", 1)}]));
    let found = published(&client.diagnostics(2));
    assert_eq!(found, [("malformed-json".to_owned(), [1, 2, 1, 7])]);
    // A file that never was one has none.
    client.open("file:///invented/package.json", "{name\": \"a\"}");
    assert_eq!(published(&client.diagnostics(1)), []);
    client.shut_down();
}

/// What is about a request as a whole is at its first bracket, and so are the hover and the code actions.
#[test]
fn what_is_about_a_request_is_at_its_bracket() {
    let mut client = Client::new("utf-8");
    let request = "\n{\n  \"model\": \"claude-sonnet-4-5\",\n  \"system\": \"be short\",\n  \"messages\": [\n    {\"role\": \"user\", \"content\": \"hi\"}\n  ]\n}\n";
    let uri = "file:///invented/request.json";
    client.open(uri, request);
    let found = published(&client.diagnostics(1));
    assert_eq!(found, [("missing-parameter".to_owned(), [1, 0, 1, 1])]);
    let mut hover = |line: u64| {
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}});
        client.ask("textDocument/hover", at)
    };
    assert!(hover(1).to_string().contains("missing-parameter"));
    assert_eq!(hover(4), Json::Null);
    client.shut_down();
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

/// The files that settings name are those of the folder that the editor has opened.
#[test]
fn files_in_settings_are_those_of_the_folder() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("relative-settings");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cfg.toml"), "ignore = [\"unanswered-tool-call\"]\n").unwrap();
    let mut client = Client::raw();
    let root = format!("file://{}", folder.display());
    let options = json!({"toolcheck": {"config": "cfg.toml"}});
    client.ask("initialize", json!({"capabilities": {}, "rootUri": root, "initializationOptions": options}));
    client.tell("initialized", json!({}));
    let uri = format!("{root}/request.jsonl");
    client.open(&uri, ROWS[1]);
    assert_eq!(published(&client.diagnostics(1)), []);
    let change = |client: &Client, config: &str| {
        client.tell("workspace/didChangeConfiguration", json!({"settings": {"config": config}}));
    };
    change(&client, "missing.toml");
    let told = client.wait_for("window/showMessage")["message"].to_string();
    assert!(told.contains("relative-settings/missing.toml"), "{told}");
    // It is told once.
    change(&client, "missing.toml");
    client.tell("workspace/didChangeConfiguration", json!({"settings": {}}));
    change(&client, "~/toolcheck-that-nobody-has.toml");
    let told = client.wait_for("window/showMessage")["message"].to_string();
    assert!(told.contains("toolcheck-that-nobody-has.toml") && !told.contains('~'), "{told}");
    client.shut_down();
}

/// A configuration that names a target's file that is not there is wrong at the name, saved or not.
#[test]
fn a_missing_file_of_a_target_is_shown_where_it_is_named() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing-target");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "ignore = []\ntarget = \"own2.toml\"\n";
    std::fs::write(folder.join("toolcheck.toml"), text).unwrap();
    let mut client = Client::new("utf-8");
    let uri = format!("file://{}/toolcheck.toml", folder.display());
    client.open(&uri, text);
    let shown = |found: &Json| {
        let message = found[0]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains("cannot read the target file"), "{found}");
        (found[0]["range"]["start"].clone(), found[0]["range"]["end"].clone())
    };
    let place = (json!({"line": 1, "character": 9}), json!({"line": 1, "character": 20}));
    assert_eq!(shown(&client.diagnostics(1)), place);
    client.change(&uri, 2, json!([{"text": "target = \"own3.toml\"\n"}]));
    let place = (json!({"line": 0, "character": 9}), json!({"line": 0, "character": 20}));
    assert_eq!(shown(&client.diagnostics(2)), place);
    client.change(&uri, 3, json!([{"text": "target = \"bedrock\"\n"}]));
    assert_eq!(client.diagnostics(3), json!([]));
    client.shut_down();
}

/// A file with tools or a template that can't be read is wrong where a configuration names it, while that is written and also if
/// it is not open; so is a configuration that is extended and missing.
#[test]
fn files_that_cannot_be_read_are_shown_where_they_are_named() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing-files");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("tools.json"), "[1,").unwrap();
    let text = "tools = \"tools.json\"\n";
    std::fs::write(folder.join("toolcheck.toml"), text).unwrap();
    let mut client = Client::new("utf-8");
    let uri = format!("file://{}/toolcheck.toml", folder.display());
    let lines = |found: &Json| -> Vec<(u64, u64)> {
        let number = |one: &Json, name| one["range"]["start"][name].as_u64().expect("it is a number");
        let found = found.as_array().expect("they are a list").iter();
        found.map(|one| (number(one, "line"), number(one, "character"))).collect()
    };
    client.open(&format!("file://{}/request.json", folder.display()), ROWS[1]);
    let mut shown = client.wait_for("textDocument/publishDiagnostics");
    while shown["uri"] != *uri {
        shown = client.wait_for("textDocument/publishDiagnostics");
    }
    assert_eq!(lines(&shown["diagnostics"]), [(0, 8)], "{shown}");
    client.open(&uri, text);
    assert_eq!(lines(&client.diagnostics(1)), [(0, 8)]);
    let files = "template = \"nope.jinja\"\n[[files]]\npaths = [\"a\"]\ntools = \"nope.json\"\n";
    client.change(&uri, 2, json!([{"text": files}]));
    assert_eq!(lines(&client.diagnostics(2)), [(0, 11), (3, 8)]);
    client.change(&uri, 3, json!([{"text": "extend = \"nope.toml\"\n\n"}]));
    assert_eq!(lines(&client.diagnostics(3)), [(0, 9)]);
    client.change(&uri, 4, json!([{"text": "ignore = []\n"}]));
    assert_eq!(client.diagnostics(4), json!([]));
    client.shut_down();
}

/// Each record of a log of requests repeats the history: a fault in it is one, as for `toolcheck lint`.
#[test]
fn what_records_repeat_is_shown_once() {
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"type": "text", "content": text}]});
    let call = json!({"type": "tool_call", "id": "call_0123456789", "name": "f", "arguments": {}});
    let mut messages =
        vec![said("user", "when?"), json!({"role": "assistant", "parts": [call]}), said("user", "and?")];
    let record = |messages: &[Json]| {
        let sent = Json::from(messages).to_string();
        json!({"traceId": "1", "name": "chat", "attributes": {"gen_ai.input.messages": sent}}).to_string()
    };
    let first = record(&messages);
    messages.extend([said("assistant", "now"), said("user", "so?")]);
    let text = format!("{first}\n{}\n", record(&messages));
    let mut client = Client::new("utf-8");
    client.open(URI, &text);
    let found = published(&client.diagnostics(1));
    assert_eq!((found.len(), found[0].1[0]), (1, 0), "{found:?}");
    assert_eq!(found, expected(&text, &mut false));
    // Without the first record, the second one has it.
    let first = json!({"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}});
    client.change(URI, 2, json!([{"range": first, "text": ""}]));
    assert_eq!(published(&client.diagnostics(2)).len(), 1);
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
