//! Whole files: logs, exchanges, and several conversations.

use serde_json::{Value as Json, json};
use toolcheck_core::diff::files::{File, Report, compare as compare_files};
use toolcheck_core::diff::{Kind, Level};

use super::format;

fn compared(before: &str, after: &str) -> Report {
    let files = [before, after].map(|text| File::read(text.as_bytes(), None).unwrap());
    compare_files(&files[0], &files[1], None)
}

fn kinds(report: &Report) -> Vec<(Kind, Level)> {
    report.changes.iter().map(|change| (change.kind, change.level)).collect()
}

#[test]
fn files_are_compared_conversation_by_conversation() {
    let line = |text: &str| {
        format!("{{\"max_tokens\": 1, \"messages\": [{{\"role\": \"user\", \"content\": \"{text}\"}}]}}\n")
    };
    let before = [line("one"), line("two"), line("three")].concat();
    let after = [line("one"), line("tow")].concat();
    let wanted = Some(format("anthropic").into());
    let files = [&before, &after].map(|text| File::read(text.as_bytes(), wanted).unwrap());
    let report = compare_files(&files[0], &files[1], None);
    let found: Vec<_> = report.changes.iter().map(|change| (change.kind, change.level)).collect();
    assert_eq!(found, [(Kind::TextChanged, Level::Loss), (Kind::ConversationLost, Level::Loss)]);
    let spot = report.changes[0].before.as_ref().unwrap();
    assert_eq!((&*spot.pointer, spot.position.line, spot.position.column), ("/messages/0/content", 2, 60));
    assert_eq!(&before[spot.bytes.clone()], "\"two\"");
    let back = compare_files(&files[1], &files[0], None);
    assert_eq!(back.changes[1].kind, Kind::ConversationAdded);
    assert_eq!(report.conversations, (3, 2));
}

/// By position, ids say nothing.
#[test]
fn a_target_decides_what_a_result_answers() {
    let request = |ids: [&str; 2]| {
        let call =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": format!("of {id}")});
        json!({"model": "gpt-5", "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [call("a"), call("b")]},
            result(ids[0]),
            result(ids[1])
        ]})
        .to_string()
    };
    let texts = [request(["a", "b"]), request(["b", "a"])];
    let files = [&texts[0], &texts[1]].map(|text| File::read(text.as_bytes(), None).unwrap());
    let levels = |bound_as| compare_files(&files[0], &files[1], bound_as).level();
    assert_eq!(levels(None), Some(Level::Form));
    assert_eq!(levels(Some(format("ollama"))), Some(Level::Loss));
}

/// A parameter may have the name that the target has for it.
#[test]
fn a_target_decides_which_parameter_has_another_name() {
    let request = |key: &str| {
        json!({"model": "gpt-5", key: 100, "messages": [{"role": "user", "content": "go"}]}).to_string()
    };
    let texts = [request("max_completion_tokens"), request("max_tokens")];
    let files = [&texts[0], &texts[1]].map(|text| File::read(text.as_bytes(), None).unwrap());
    let levels = |bound_as| compare_files(&files[0], &files[1], bound_as).level();
    assert_eq!(levels(None), Some(Level::Loss));
    assert_eq!(levels(Some(format("mistral"))), Some(Level::Form));
}

/// Lists of messages are looked for in what no reader and no format knows.
#[test]
fn a_list_of_messages_may_be_anywhere() {
    let text =
        json!({"history": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "gone"}]});
    let text = text.to_string();
    assert_eq!(File::read(text.as_bytes(), None).unwrap().format, "message-list");
    assert_eq!(compared(&text, &text).level(), None);
    assert!(File::read(br#"{"history": 3}"#, None).is_err());
}

/// A conversation that is gone from the middle is that, and not a change of all that follow.
#[test]
fn conversations_are_found_wherever_they_are() {
    let line = |number: usize, answer: &str| {
        let messages = json!([
            {"role": "user", "content": format!("question {number}")},
            {"role": "assistant", "content": answer}
        ]);
        format!("{}\n", json!({"model": "gpt-5", "messages": messages}))
    };
    let before: Vec<String> = (0..9).map(|number| line(number, "yes")).collect();
    let mut after = before.clone();
    after.remove(4);
    after[5] = line(6, "no");
    after.insert(2, line(9, "new"));
    let report = compared(&before.concat(), &after.concat());
    let found = [
        (Kind::ConversationAdded, Level::Change),
        (Kind::ConversationLost, Level::Loss),
        (Kind::TextChanged, Level::Loss),
    ];
    assert_eq!(kinds(&report), found);
    let line_of = |spot: &Option<toolcheck_core::diff::files::Spot>| spot.as_ref().unwrap().position.line;
    assert_eq!(line_of(&report.changes[0].after), 3);
    assert_eq!(line_of(&report.changes[1].before), 5);
    assert_eq!((line_of(&report.changes[2].before), line_of(&report.changes[2].after)), (7, 7));
    assert_eq!(report.pictures.len(), 3);
}

fn messages() -> [Json; 4] {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}});
    [
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": "low"}),
        json!({"role": "assistant", "content": "It is low."}),
    ]
}

/// The requests of one recorded conversation are one conversation, with the last answer.
#[test]
fn exchanges_are_compared_by_conversation() {
    let all = messages();
    let exchange = |asked: &[Json], answer: &Json| {
        let response = json!({"id": "x", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": answer}]});
        format!("{}\n", json!({"request": {"model": "gpt-5", "messages": asked}, "response": response}))
    };
    let log = exchange(&all[..1], &all[1]) + &exchange(&all[..3], &all[3]);
    let request = json!({"model": "gpt-5", "messages": all}).to_string();
    let report = compared(&log, &request);
    assert_eq!((report.changes.clone(), report.conversations), (vec![], (1, 1)));
    assert_eq!(compared(&request, &log).changes, []);
    let cut = json!({"model": "gpt-5", "messages": all[..3]}).to_string();
    let report = compared(&log, &cut);
    assert_eq!(kinds(&report), [(Kind::TextLost, Level::Loss)]);
    let spot = report.changes[0].before.as_ref().unwrap();
    assert_eq!((&*spot.pointer, spot.position.line), ("/response/choices/0/message/content", 2));
    // What is no part of the other stays a conversation of its own.
    let other = exchange(&[json!({"role": "user", "content": "another"})], &all[3]);
    assert_eq!(compared(&(log.clone() + &other), &log).conversations, (2, 1));
}

/// An answer that was streamed is compared too; one that is an error says nothing.
#[test]
fn streamed_answers_are_compared() {
    let all = messages();
    let piece = |delta: Json| json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]});
    let call = |arguments: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
    let first = json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": ""}}]});
    let stream = |end: &str| json!([piece(first.clone()), piece(call("{")), piece(call(end))]);
    let log = |response: Json| {
        json!({"request": {"model": "gpt-5", "messages": all[..1]}, "response": response}).to_string()
    };
    let request = json!({"model": "gpt-5", "messages": all[..2]}).to_string();
    assert_eq!(compared(&log(stream("}")), &request).changes, []);
    let changed = compared(&log(stream("\"a\": 1}")), &request);
    assert_eq!(kinds(&changed), [(Kind::CallChanged, Level::Loss)]);
    let error = log(json!({"error": {"message": "no", "type": "invalid_request_error"}}));
    let file = File::read(error.as_bytes(), None).unwrap();
    assert_eq!(file.unread, 0);
    assert_eq!(kinds(&compared(&error, &request)), [(Kind::CallAdded, Level::Change)]);
}

/// The same conversation in the logs of several agents and as requests, with this result.
fn written(result: &str) -> Vec<(String, String)> {
    let files = include_str!("agents.json").replace("RESULT", result);
    let files: serde_json::Map<String, Json> = serde_json::from_str(&files).unwrap();
    let lines = |lines: &Json| lines.as_array().unwrap().iter().map(|line| format!("{line}\n")).collect();
    files.iter().map(|(id, records)| (id.clone(), lines(records))).collect()
}

#[test]
fn logs_of_agents_are_compared_with_each_other() {
    for (id, before) in written("text") {
        assert_eq!(File::read(before.as_bytes(), None).unwrap().format, id);
        for (other, after) in written("text") {
            let report = compared(&before, &after);
            assert!(
                report.level().is_none_or(|level| level == Level::Form),
                "{id} to {other}: {:#?}",
                report.changes
            );
            assert_eq!(
                (report.counts.calls.kept, report.counts.results.kept, report.counts.texts.kept),
                (1, 1, 3)
            );
        }
        for (other, after) in written("another") {
            let report = compared(&before, &after);
            let found: Vec<_> =
                kinds(&report).into_iter().filter(|(_, level)| *level > Level::Form).collect();
            assert_eq!(found, [(Kind::ResultChanged, Level::Loss)], "{id} to {other}");
            // Each record of the log has a line.
            if id == "claude-code" {
                let lost = report.changes.iter().find(|change| change.level > Level::Form).unwrap();
                assert_eq!(lost.before.as_ref().unwrap().position.line, 3, "{other}");
            }
        }
    }
}
