//! Fixes of much at once, and of what is no object. The others are in `crates/toolcheck-cli/tests/cases`.

use serde_json::{Value, json};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_lint::{FixOptions, Options, fix, lint};

#[test]
fn calls_that_are_no_objects_are_no_place_for_an_id() {
    for call in [r#""x""#, "[]", "-1", r#""{\"name\": \"look\"}""#] {
        let said = format!(r#"{{"role": "assistant", "tool_calls": [{call}]}}"#);
        let list = format!(r#"[{{"tool_calls": [{call}]}}, {said}, {{}}]"#);
        let asked = r#"{"type": "user", "content": "q"}"#;
        let gemini = format!(r#"{{"messages": [{{"type": "gemini", "toolCalls": [{call}]}}, {asked}]}}"#);
        for text in [&list, &gemini, &format!(r#"{{"id": {list}}}"#), &format!(r#"{{"messages": {list}}}"#)] {
            for kind in [TranscriptKind::Request, TranscriptKind::Dataset] {
                let options = Options::new().kind(kind);
                let how = FixOptions::new().accepted(true).unsafe_fixes(true);
                let fixed = fix("a.json", text.as_bytes(), &options, &how);
                assert!(toolcheck_json::Document::read(&fixed.bytes).faults().is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn a_result_becomes_the_same_text_however_the_file_is_formatted() {
    let result = json!({"functionResponse": {"id": "a1", "name": "tide", "response": {"at": "noon, \"or: so\"", "m": 2}}});
    let body = json!({"contents": [
        {"role": "user", "parts": [{"text": "tides?"}]},
        {"role": "model", "parts": [{"text": "soon"}]},
        {"role": "user", "parts": [result]},
    ]});
    let how = FixOptions::new().unsafe_fixes(true);
    let said = |text: &str| {
        let fixed = fix("a.json", text.as_bytes(), &Options::new(), &how);
        let fixed: Value = serde_json::from_slice(&fixed.bytes).unwrap();
        fixed["contents"][2]["parts"].to_string()
    };
    let pretty = format!("{body:#}");
    let [one, two, three] = [body.to_string(), pretty.replace('\n', "\r\n"), pretty].map(|text| said(&text));
    assert!(one.contains("noon, ") && !one.contains("functionResponse"), "{one}");
    assert_eq!([&one, &one], [&two, &three]);
}

/// However many there are, they are fixed in one round.
#[test]
fn all_findings_of_a_record_are_fixed_at_once() {
    let declarations = vec![json!({"name": "tide"}); 17_001];
    let tools = json!([{"functionDeclarations": declarations}]);
    let mut message = json!({"role": "user", "content": "tides"});
    for number in 0..17_000 {
        message[format!("k{number}")] = Value::Null;
    }
    for body in [
        json!({"contents": [{"role": "user", "parts": [{"text": "tides"}]}], "tools": tools}),
        json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [message]}),
    ] {
        let text = body.to_string();
        let fixed = fix("body.json", text.as_bytes(), &Options::new(), &FixOptions::new().unsafe_fixes(true));
        assert_eq!((fixed.applied.len(), fixed.skipped.len()), (17_000, 0));
    }
}

/// A text that is allowed no more than the number is no fix.
#[test]
fn a_number_becomes_no_kind_that_there_is_not() {
    for (key, value) in [("tool_choice", json!({"type": 5})), ("cache_control", json!({"type": 5}))] {
        let mut body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "tides"}]});
        body["tools"] = json!([{"name": "tide", "input_schema": {"type": "object"}}]);
        body[key] = value;
        let text = body.to_string();
        let fixed = fix("body.json", text.as_bytes(), &Options::new(), &FixOptions::new());
        assert_eq!(fixed.bytes, text.as_bytes(), "{key}");
    }
}

fn fixed(body: &str, how: &FixOptions) -> String {
    String::from_utf8(fix("body.json", body.as_bytes(), &Options::new(), how).bytes.into_owned()).unwrap()
}

#[test]
fn a_choice_of_tools_that_says_more_is_no_default() {
    let body = r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"tides"}],"tools":[{"name":"tide","input_schema":{"type":"object"}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":"zz"}}"#;
    assert_eq!(fixed(body, &FixOptions::new()), body);
}

#[test]
fn what_a_tool_of_the_provider_said_is_not_made_up() {
    let call = r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"text_editor_code_execution","input":{"command":"view","path":"a"}}"#;
    let result =
        r#"{"type":"text_editor_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":5}"#;
    let body = format!(
        r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{{"type":"code_execution_20250825","name":"code_execution"}}],"messages":[{{"role":"user","content":"tides"}},{{"role":"assistant","content":[{call},{result}]}},{{"role":"user","content":"more"}}]}}"#
    );
    let now = fixed(&body, &FixOptions::new().unsafe_fixes(true));
    assert!(!now.contains("is_file_update"), "{now}");
}

#[test]
fn what_a_record_repeats_is_fixed_with_it() {
    let turn = r#"{"role": "user", "content": "Wer spielt Kreon?"},
        {"role": "assistant", "content": null, "tool_calls": [
          {"id": "call_kreon_000001", "type": "function", "function": {"name": "cast", "arguments": "{}"}}]},
        {"role": "user", "content": "Nun?"}"#;
    let more = r#"{"role": "assistant", "content": "Niemand."}, {"role": "user", "content": "Schade."}"#;
    let text = format!(
        r#"{{"log": [{{"model": "gpt-4.1", "messages": [{turn}]}},
        {{"model": "gpt-4.1", "messages": [{turn}, {more}]}}]}}"#
    );
    let report = lint("log.json", text.as_bytes(), &Options::default());
    assert_eq!(report.findings.len(), 1);
    assert!(report.findings[0].fixable.is_some());
    // A list of messages may be an example, from which a model would learn.
    let how = FixOptions::default().unsafe_fixes(true);
    let fixed = fix("log.json", text.as_bytes(), &Options::default(), &how);
    assert_eq!(fixed.applied.len(), 1);
    assert!(fixed.report().findings.is_empty());
    let after = String::from_utf8(fixed.bytes.to_vec()).unwrap();
    assert_eq!(after.matches("tool_call_id").count(), 2);
}
