//! The case of a finding decides what the target answers.

use serde_json::{Value as Json, json};
use toolcheck_core::{Level, targets};
use toolcheck_lint::{Options, lint};

/// The level of `unanswered-tool-call` where two calls have results with these ids.
fn level(results: &[&str]) -> Level {
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "tide", "arguments": "{}"}});
    let mut messages = vec![
        json!({"role": "user", "content": "tides"}),
        json!({"role": "assistant", "content": "", "tool_calls": [call("aaaaaaaa1"), call("aaaaaaaa2")]}),
    ];
    let result = |id: &&str| json!({"role": "tool", "tool_call_id": id, "name": "tide", "content": "high"});
    messages.extend(results.iter().map(result));
    messages.push(json!({"role": "assistant", "content": "it is high"}));
    messages.push(json!({"role": "user", "content": "and tomorrow?"}));
    let body: Json = json!({"model": "mistral-large-latest", "messages": messages});
    let options = Options::default().target(targets::find("mistral-v7"));
    let file = lint("a.json", body.to_string().as_bytes(), &options);
    let found = file.findings.iter().find(|finding| finding.rule == "unanswered-tool-call");
    found.unwrap().level
}

/// Mistral counts the results of a turn.
#[test]
fn as_many_results_as_calls_are_accepted() {
    assert_eq!(level(&["aaaaaaaa1", "aaaaaaaa1"]), Level::Warning);
    assert_eq!(level(&["aaaaaaaa1", "aaaaaaaa1", "aaaaaaaa1"]), Level::Warning);
    assert_eq!(level(&["aaaaaaaa1"]), Level::Error);
}
