//! What a client makes of a response, in the words that clients use.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use toolcheck_core::{Level, parsers};
use toolcheck_lint::{Options, lint};

/// The rules of the findings in two exchanges: the model calls, and the client goes on.
fn found(said: &Json, reason: &str, after: &[Json]) -> Vec<(&'static str, Level)> {
    let user = json!({"role": "user", "content": "When is high tide at Oban?"});
    let response = |message: &Json, reason: &str| json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": reason, "message": message}]});
    let messages: Vec<&Json> = std::iter::once(&user).chain(after).collect();
    let exchanges = [
        json!({"request": {"model": "m", "messages": [user]}, "response": response(said, reason)}),
        json!({
            "request": {"model": "m", "messages": messages},
            "response": response(&json!({"role": "assistant", "content": "At noon."}), "stop"),
        }),
    ];
    let lines: String = exchanges.iter().map(|exchange| format!("{exchange}\n")).collect();
    let report = lint("exchanges.jsonl", lines.as_bytes(), &Options::new());
    report.findings.iter().map(|finding| (finding.rule.as_str(), finding.level)).collect()
}

fn assistant(content: Option<&str>, arguments: &[&str]) -> Json {
    let call = |(number, arguments): (usize, &&str)| json!({"id": format!("call_{number}"), "type": "function", "function": {"name": "tide", "arguments": arguments}});
    let mut message = json!({"role": "assistant", "content": content});
    if !arguments.is_empty() {
        message["tool_calls"] = arguments.iter().enumerate().map(call).collect();
    }
    message
}

fn result(text: &str) -> Json {
    json!({"role": "tool", "tool_call_id": "call_0", "content": text})
}

#[test]
fn what_a_parser_says_is_no_result_of_a_tool_that_ran() {
    let cut = r#"{"port": "Ob"#;
    let rules =
        |text: &str| found(&assistant(None, &[cut]), "tool_calls", &[assistant(None, &["{}"]), result(text)]);
    let ran = |text: &str| rules(text).iter().any(|(rule, _)| *rule == "ran-unfinished-arguments");
    // Otherwise there would be nothing to tell apart.
    assert!(ran("high tide at every port: noon"));
    for message in parsers::all().flat_map(|parser| &parser.messages) {
        for example in &message.examples {
            assert!(!ran(example), "{example}");
        }
    }
}

#[test]
fn arguments_in_another_spelling_are_the_same_and_others_are_altered() {
    // What the tool answered says that it did not run: the other rule would report more.
    let told = |given: &str, stored: &str| {
        let after = [assistant(None, &[stored]), result(r#"{"error": "JSONDecodeError: Expecting value"}"#)];
        let rules = found(&assistant(None, &[given]), "tool_calls", &after);
        rules.iter().any(|(rule, _)| *rule == "altered-arguments")
    };
    let pairs: BTreeMap<String, Vec<(String, String)>> =
        serde_json::from_str(include_str!("exchanges.json")).unwrap();
    for (what, (given, stored)) in
        pairs.iter().flat_map(|(what, all)| all.iter().map(move |pair| (what, pair)))
    {
        assert_eq!(told(given, stored), what == "altered", "{given} {stored}");
    }
}

#[test]
fn a_turn_whose_calls_are_all_lost_is_told_once() {
    let user = json!({"role": "user", "content": "Go on."});
    for arguments in [r#"{"port": "Oban"}"#, r#"{"port": "Ob"#] {
        for count in [1, 2, 20] {
            let calls = vec![arguments; count];
            for text in [None, Some("Let me look.")] {
                let said = assistant(text, &calls);
                for content in [None, Some(""), Some("\n")] {
                    for after in [vec![], vec![user.clone()]] {
                        let after = [vec![assistant(content, &[])], after].concat();
                        let rules = found(&said, "tool_calls", &after);
                        let dropped: Vec<_> =
                            rules.iter().filter(|(rule, _)| *rule == "dropped-tool-call").collect();
                        assert_eq!(dropped.len(), 1, "{said} {after:?}: {rules:?}");
                        let others = ["dropped-text", "abandoned-call", "dropped-reasoning"];
                        assert!(
                            rules.iter().all(|(rule, _)| !others.contains(rule)),
                            "{said} {after:?}: {rules:?}"
                        );
                    }
                }
            }
        }
    }
}
