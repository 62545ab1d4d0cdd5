//! Fixes that need several rounds: what belongs together is judged once all of it can be read.

use serde_json::{Value, json};
use toolcheck_core::{formats, targets};
use toolcheck_lint::fix::{Duplicates, PLACEHOLDER};
use toolcheck_lint::{FixOptions, Options, fix};

/// What fixes make of a body, and their rules. They change nothing the second time, and leave no key twice.
#[track_caller]
fn fixed(format: &str, body: &Value, how: &FixOptions) -> (Value, Vec<&'static str>) {
    let options = Options::new().format(Some(formats::find(format).expect("there is such a format")));
    let text = body.to_string();
    let fixed = fix("body.json", text.as_bytes(), &options, how);
    assert!(fix("body.json", &fixed.bytes, &options, how).is_unchanged(), "the second time changes nothing");
    let is_double = |finding: &toolcheck_lint::Finding| finding.rule == "duplicate-key";
    assert!(!fixed.report().findings.iter().any(is_double), "{}", String::from_utf8_lossy(&fixed.bytes));
    let rules = fixed.applied.iter().map(|done| done.rule.as_str()).collect();
    (serde_json::from_slice(&fixed.bytes).expect("it is JSON"), rules)
}

/// That safe fixes make a body of another one, and that those which guess do nothing else.
#[track_caller]
fn becomes(format: &str, body: &Value, wanted: &Value) {
    for is_unsafe in [false, true] {
        let (got, rules) = fixed(format, body, &FixOptions::new().unsafe_fixes(is_unsafe));
        assert_eq!(&got, wanted, "{rules:?}");
    }
}

/// That only fixes that guess make a body of another one.
#[track_caller]
fn is_guessed(format: &str, body: &Value, wanted: &Value) {
    assert_eq!(&fixed(format, body, &FixOptions::new()).0, body);
    assert_eq!(&fixed(format, body, &FixOptions::new().unsafe_fixes(true)).0, wanted);
}

fn with(body: &Value, pointer: &str, value: Value) -> Value {
    let mut body = body.clone();
    *body.pointer_mut(pointer).expect("there is such a place") = value;
    body
}

fn chat() -> Value {
    json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "count the oaks"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "seven"},
        {"role": "assistant", "content": "Seven."},
        {"role": "user", "content": "and the elms?"}]})
}

fn anthropic() -> Value {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "count the oaks"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "count", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "seven"}]}]})
}

fn bedrock() -> Value {
    json!({"messages": [
        {"role": "user", "content": [{"text": "count the oaks"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "count", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "seven"}]}}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "count", "inputSchema": {"json": {"type": "object"}}}}]}})
}

#[test]
fn a_key_that_is_renamed_or_added_is_not_written_twice() {
    let result = json!({"type": "tool_result", "content": "seven"});
    let body = with(&anthropic(), "/messages/2/content/0", result);
    let body = with(&body, "/messages/1/content/0/id", json!("t 1"));
    let wanted = with(&anthropic(), "/messages/1/content/0/id", json!("t_1"));
    becomes("anthropic", &body, &with(&wanted, "/messages/2/content/0/tool_use_id", json!("t_1")));
    let call = json!({"toolUseID": "t1", "name": "count", "input": {}});
    becomes("bedrock-converse", &with(&bedrock(), "/messages/1/content/0/toolUse", call), &bedrock());
    let message = json!({"role": "user", "Content": bedrock()["messages"][2]["content"]});
    becomes("bedrock-converse", &with(&bedrock(), "/messages/2", message), &bedrock());
}

#[test]
fn a_message_with_content_under_another_key_is_not_removed() {
    let call = anthropic()["messages"][1]["content"][0].clone();
    let body = json!({"model": "claude-opus-4-6", "max_tokens": 9, "messages": [
        {"role": "user", "content": "count the oaks"},
        {"role": "assistant", "Content": [{"type": "text", "text": "I count."}, call]}]});
    let (got, _) = fixed("anthropic", &body, &FixOptions::new());
    assert_eq!(got["messages"][1]["content"], body["messages"][1]["Content"]);
    assert_eq!(got["messages"][2]["content"][0]["content"], PLACEHOLDER);
}

#[test]
fn what_is_no_message_is_not_an_empty_one() {
    let yes = json!({"role": "assistant", "content": "Yes."});
    let user = |text: &str| json!({"role": "user", "content": text});
    let body =
        json!({"model": "gpt-4o", "messages": ["the first words", "the next words", yes, user("go on")]});
    let said = json!([user("the first words"), user("the next words"), yes, user("go on")]);
    is_guessed("openai-chat", &body, &json!({"model": "gpt-4o", "messages": said}));
    let mut body = anthropic();
    body["messages"].as_array_mut().expect("it is a list").insert(1, Value::Null);
    becomes("anthropic", &body, &anthropic());
}

#[test]
fn a_result_that_becomes_text_is_there() {
    let body = json!({"contents": [
        {"role": "model", "parts": [
            {"functionResponse": {"name": "count", "response": {"r": "seven"}}},
            {"functionCall": {"name": "count", "args": {"a": 1}}}]},
        {"role": "user", "parts": [{"text": "go on"}]}]});
    let (got, _) = fixed("gemini", &body, &FixOptions::new().unsafe_fixes(true));
    assert!(got["contents"][0].to_string().contains("seven"), "{got}");
    let results = json!([{"tool_id": "call_1", "result": "seven", "type": "tool_result"},
        {"tool_id": "call_2", "result": "eight", "type": "tool_result"}]);
    let body = with(&chat(), "/messages/2", json!({"role": "tool", "content": "", "tool_results": results}));
    // Only the program that wrote several results into one message knows how.
    let (got, _) = fixed("openai-chat", &body, &FixOptions::new().unsafe_fixes(true));
    assert_eq!(got["messages"], body["messages"]);
}

#[test]
fn what_is_said_under_another_key_is_not_removed() {
    // Two keys leave open which of them is the content.
    let body =
        with(&chat(), "/messages/0", json!({"role": "user", "value": "count the oaks", "other": "now"}));
    let (got, _) = fixed("openai-chat", &body, &FixOptions::new().unsafe_fixes(true));
    assert!(got["messages"][0].to_string().contains("count the oaks"), "{got}");
}

#[test]
fn a_fix_that_makes_nothing_better_keeps_no_other_from_being_made() {
    // Without tools, the one setting is refused whatever it is, and the other is not.
    let mut body = json!({"model": "gpt-4o", "messages": [chat()["messages"][0]]});
    (body["stream"], body["parallel_tool_calls"]) = (json!("true"), json!("True"));
    assert_eq!(fixed("openai-chat", &body, &FixOptions::new()).0, with(&body, "/stream", json!(true)));
}

#[test]
fn what_has_no_place_in_the_form_of_this_api_is_not_lost() {
    let mut body = chat();
    let schema = json!({"type": "object", "properties": {}});
    body["tools"] = json!([{"name": "count", "input_schema": schema, "weight": 3}]);
    assert_eq!(fixed("openai-chat", &body, &FixOptions::new()).0["tools"], body["tools"]);
}

#[test]
fn two_calls_with_one_id_get_a_result_each() {
    let call = bedrock()["messages"][1].clone();
    let body =
        json!({"messages": [bedrock()["messages"][0], call, call], "toolConfig": bedrock()["toolConfig"]});
    let (got, rules) = fixed("bedrock-converse", &body, &FixOptions::new());
    assert_eq!(got.to_string().matches(PLACEHOLDER).count(), 2, "{rules:?}: {got}");
}

#[test]
fn a_result_of_another_turn_is_not_merged_with_those_of_this_one() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "count", "input": {}});
    let result = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": id}]});
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": "count the oaks"},
        {"role": "assistant", "content": [call("3"), call("4")]},
        result("3"), result("6"), result("4"),
        {"role": "assistant", "content": [call("6")]}]});
    let bytes = body.to_string();
    let target = targets::find("bedrock").expect("there is such a target");
    let options = Options::new().target(Some(target));
    for how in [FixOptions::new(), FixOptions::new().accepted(true).duplicates(Duplicates::Both)] {
        let fixed = fix("body.json", bytes.as_bytes(), &options, &how);
        let found = |finding: &&toolcheck_lint::Finding| finding.level == toolcheck_core::Level::Error;
        assert!(fixed.report().findings.iter().find(found).is_none(), "{:?}", fixed.report().findings);
        let texts = ["3", "4", "6"].map(|id| format!(r#""content":"{id}""#));
        let text = String::from_utf8_lossy(&fixed.bytes);
        assert!(texts.iter().all(|own| text.matches(own.as_str()).count() == 1), "{text}");
    }
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
