//! What requests declare, and results that came back as text.

use serde_json::{Value as Json, json};
use toolcheck_core::diff::{Kind, Level};

use super::{Seen, compare, format};

fn kinds(seen: &[Seen]) -> Vec<(Kind, Level)> {
    seen.iter().map(|seen| (seen.kind, seen.level)).collect()
}

fn changes(id: &str, before: &Json, after: &Json) -> Vec<Seen> {
    compare((before, format(id)), (after, format(id))).1
}

#[test]
fn parameters_are_compared_in_one_format() {
    let body = |more: Json| {
        let mut body = json!({
            "model": "gpt-5", "messages": [{"role": "user", "content": "go"}],
            "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let seen = changes(
        "openai-chat",
        &body(json!({"temperature": 0.5, "top_p": 1, "user": null, "stop": ["a"]})),
        &body(json!({"temperature": 0.50, "stop": ["b"], "seed": 7})),
    );
    let expected = [
        (Kind::ParameterLost, Level::Loss),
        (Kind::ParameterAdded, Level::Change),
        (Kind::ParameterChanged, Level::Change),
    ];
    let mut found = kinds(&seen);
    found.sort_by_key(|(kind, _)| *kind);
    assert_eq!(found, expected);
    assert_eq!(seen[0].before.as_deref(), Some("/top_p"));
    // What the messages and the tools are in is compared by its meaning.
    assert_eq!(changes("openai-chat", &body(json!({})), &body(json!({"tool_choice": "auto"}))), []);
    let seen = changes("openai-chat", &body(json!({"tool_choice": "required"})), &body(json!({})));
    assert_eq!(kinds(&seen), [(Kind::ParameterLost, Level::Loss)]);
    let chosen = json!({"tool_choice": {"type": "function", "function": {"name": "look"}}});
    let seen = changes("openai-chat", &body(json!({"tool_choice": "required"})), &body(chosen));
    assert_eq!(kinds(&seen), [(Kind::ParameterChanged, Level::Change)]);
}

#[test]
fn the_choice_of_a_tool_is_compared_in_all_formats() {
    let chat = |choice: Json| json!({"model": "gpt-5", "messages": [{"role": "user", "content": "go"}], "tool_choice": choice});
    let messages = |choice: Json| json!({"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "go"}], "tool_choice": choice});
    let compared = |before: Json, after: Json| {
        kinds(&compare((&chat(before), format("openai-chat")), (&messages(after), format("anthropic"))).1)
    };
    assert_eq!(compared(json!("required"), json!({"type": "any"})), []);
    assert_eq!(compared(json!("none"), json!({"type": "none"})), []);
    assert_eq!(
        compared(json!("required"), json!({"type": "auto"})),
        [(Kind::ParameterChanged, Level::Change)]
    );
    assert_eq!(compared(json!("required"), Json::Null), [(Kind::ParameterLost, Level::Change)]);
    assert_eq!(compared(json!("auto"), Json::Null), []);
}

/// A result that is only there as text of the user is lost as a result, and not also a new text.
#[test]
fn a_result_that_has_become_text_is_named_as_such() {
    let body = |last: Json| {
        json!({"max_tokens": 9, "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
            {"role": "user", "content": last}
        ]})
    };
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "The tide is low."});
    let before = body(json!([result, {"type": "text", "text": "and?"}]));
    for (last, text) in [
        (
            json!([{"type": "text", "text": "[result] The tide is low."}, {"type": "text", "text": "and?"}]),
            "/messages/2/content/0/text",
        ),
        (json!([{"type": "text", "text": "The tide is low.\n\nand?"}]), "/messages/2/content/0/text"),
    ] {
        let after = body(last);
        let (found, seen) = compare((&before, format("anthropic")), (&after, format("anthropic")));
        assert_eq!(kinds(&seen), [(Kind::ResultLost, Level::Loss)], "{after}");
        assert_eq!(seen[0].after.as_deref(), Some(text));
        assert!(found.changes[0].about.ends_with("16 characters, is text of the user now"), "{seen:?}");
        assert_eq!((found.counts.results.kept, found.counts.texts.kept), (0, 2));
    }
    // Words that are there anyway are not the result.
    let after = body(json!([{"type": "text", "text": "and?"}]));
    let (_, seen) = compare((&before, format("anthropic")), (&after, format("anthropic")));
    assert_eq!((kinds(&seen), &seen[0].after), (vec![(Kind::ResultLost, Level::Loss)], &None));
}

/// For Gemini, the ids that are there and the names bind results.
#[test]
fn results_of_gemini_are_bound_by_ids_and_names() {
    let part = |kind: &str, name: &str, id: Option<&str>| match (kind, id) {
        ("functionCall", Some(id)) => json!({kind: {"name": name, "id": id, "args": {}}}),
        (_, Some(id)) => json!({kind: {"name": name, "id": id, "response": {"output": id}}}),
        ("functionCall", None) => json!({kind: {"name": name, "args": {}}}),
        (_, None) => json!({kind: {"name": name, "response": {"output": name}}}),
    };
    let request = |results: [(&str, Option<&str>); 2]| {
        let mut calls = results;
        calls.sort_unstable();
        let parts = |kind: &str, of: [(&str, Option<&str>); 2]| of.map(|(name, id)| part(kind, name, id));
        json!({"contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": parts("functionCall", calls)},
            {"role": "user", "parts": parts("functionResponse", results)}
        ]})
    };
    let ids = [("look", Some("1")), ("look", Some("2"))];
    let names = [("look", None), ("wait", None)];
    for results in [ids, names] {
        let (before, after) = (request([results[1], results[0]]), request(results));
        let (_, seen) = compare((&before, format("gemini")), (&after, format("gemini")));
        assert!(seen.iter().all(|seen| seen.level == Level::Form), "{before}\n{after}\n{seen:#?}");
    }
}
