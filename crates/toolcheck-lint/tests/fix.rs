//! Fixes of single faults, in all formats.

use toolcheck_core::formats;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::targets;
use toolcheck_lint::fix::{Action, Duplicates, Orphans, PLACEHOLDER};
use toolcheck_lint::{FixOptions, Fixed, Options, fix};

fn options(format: &str) -> Options {
    Options::new().format(Some(formats::find(format).expect("there is such a format")))
}

#[track_caller]
fn fixed(format: &str, body: &str, how: &FixOptions) -> (String, Vec<(&'static str, Action)>) {
    let fixed = fix("body.json", body.as_bytes(), &options(format), how);
    let again = fix("body.json", &fixed.bytes, &options(format), how);
    assert!(again.is_unchanged(), "the second time changes nothing");
    let done = fixed.applied.iter().map(|done| (done.rule.as_str(), done.action)).collect();
    (String::from_utf8(fixed.bytes.into_owned()).expect("it is text"), done)
}

/// What safe fixes make of a body.
#[track_caller]
fn safely(format: &str, body: &str) -> (String, Vec<(&'static str, Action)>) {
    fixed(format, body, &FixOptions::new().accepted(true))
}

fn chat(rest: &str) -> String {
    format!(
        r#"{{"messages": [{{"role": "user", "content": "go"}}, {{"role": "assistant", "content": null, "tool_calls": [{{"id": "c1", "type": "function", "function": {{"name": "f", "arguments": "{{}}"}}}}]}}{rest}]}}"#
    )
}

fn anthropic(rest: &str) -> String {
    format!(
        r#"{{"messages": [{{"role": "user", "content": "go"}}, {{"role": "assistant", "content": [{{"type": "tool_use", "id": "a", "name": "f", "input": {{}}}}, {{"type": "tool_use", "id": "b", "name": "f", "input": {{}}}}]}}{rest}]}}"#
    )
}

#[test]
fn an_unanswered_call_gets_a_result_before_what_the_user_says() {
    let (text, done) = safely("anthropic", &anthropic(r#", {"role": "user", "content": "never \u006dind"}"#));
    let result = |id| {
        format!(
            r#"{{"type": "tool_result", "tool_use_id": "{id}", "content": "{PLACEHOLDER}", "is_error": true}}"#
        )
    };
    let rest = format!(
        r#", {{"role": "user", "content": [{}, {}, {{"type": "text", "text": "never \u006dind"}}]}}"#,
        result("a"),
        result("b")
    );
    assert_eq!(text, anthropic(&rest));
    assert_eq!(done, [("unanswered-tool-call", Action::Inserted); 2]);
}

#[test]
fn a_missing_result_among_others_is_put_in_the_order_of_the_calls() {
    let result = r#"{"type": "tool_result", "tool_use_id": "b", "content": "2"}"#;
    let (text, _) =
        safely("anthropic", &anthropic(&format!(r#", {{"role": "user", "content": [{result}]}}"#)));
    let new = format!(
        r#"{{"type": "tool_result", "tool_use_id": "a", "content": "{PLACEHOLDER}", "is_error": true}}"#
    );
    assert_eq!(text, anthropic(&format!(r#", {{"role": "user", "content": [{new}, {result}]}}"#)));
}

#[test]
fn each_format_writes_its_own_result() {
    let chat_text = format!(r#", {{"role": "tool", "tool_call_id": "c1", "content": "{PLACEHOLDER}"}}"#);
    assert_eq!(safely("openai-chat", &chat("")).0, chat(&chat_text));
    let bedrock = r#"{"messages": [{"role": "user", "content": [{"text": "go"}]}, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]}]}"#;
    let (text, _) = safely("bedrock-converse", bedrock);
    let result = format!(
        r#"{{"role": "user", "content": [{{"toolResult": {{"toolUseId": "t1", "content": [{{"text": "{PLACEHOLDER}"}}], "status": "error"}}}}]}}"#
    );
    assert_eq!(text, bedrock.replace("]}]}", &format!("]}}, {result}]}}")));
    let gemini = r#"{"contents": [{"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}]}"#;
    let (text, _) = safely("gemini", gemini);
    let result = format!(
        r#"{{"role": "user", "parts": [{{"functionResponse": {{"name": "f", "response": {{"error": "{PLACEHOLDER}"}}}}}}]}}"#
    );
    assert_eq!(text, gemini.replace("]}]}", &format!("]}}, {result}]}}")));
    let responses = r#"{"input": [{"role": "user", "content": "go"}, {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}]}"#;
    let (text, _) = safely("openai-responses", responses);
    let result = format!(r#"{{"type": "function_call_output", "call_id": "c1", "output": "{PLACEHOLDER}"}}"#);
    assert_eq!(text, responses.replace("}]}", &format!("}}, {result}]}}")));
}

#[test]
fn a_late_result_is_moved_over_the_words_of_the_user_but_not_over_those_of_the_model() {
    let late = r#", {"role": "tool", "tool_call_id": "c1", "content": "1e0"}"#;
    let wait = r#", {"role": "user", "content": "wait"}"#;
    let (text, done) = safely("openai-chat", &chat(&format!("{wait}{late}")));
    assert_eq!((text, done), (chat(&format!("{late}{wait}")), vec![("late-tool-result", Action::Moved)]));
    let body = chat(&format!(r#", {{"role": "assistant", "content": "hm"}}{late}"#));
    let left = fix("body.json", body.as_bytes(), &options("openai-chat"), &FixOptions::new());
    assert!(left.is_unchanged());
    assert!(left.skipped[0].cost.is_some());
    let (text, _) = fixed("openai-chat", &body, &FixOptions::new().unsafe_fixes(true));
    assert_eq!(text, chat(&format!(r#"{late}, {{"role": "assistant", "content": "hm"}}"#)));
}

#[test]
fn a_split_turn_becomes_one_message() {
    let second = r#", {"role": "assistant", "content": "and", "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{ }"}}]}"#;
    let results = r#", {"role": "tool", "tool_call_id": "c1", "content": "1"}, {"role": "tool", "tool_call_id": "c2", "content": "2"}"#;
    let (text, done) = safely("openai-chat", &chat(&format!("{second}{results}")));
    assert_eq!(done, [("split-assistant-turn", Action::Merged)]);
    assert!(text.contains(r#""content": "and", "tool_calls": [{"id": "c1","#), "{text}");
    assert!(text.contains(r#""arguments": "{ }"}}]}, {"role": "tool", "tool_call_id": "c1""#), "{text}");
}

#[test]
fn a_duplicate_is_dropped_if_nothing_is_lost() {
    let one = r#", {"role": "tool", "tool_call_id": "c1", "content": "1"}"#;
    let other = r#", {"role": "tool", "tool_call_id": "c1", "content": "2"}"#;
    let none = r#", {"role": "tool", "tool_call_id": "c1", "content": "aborted"}"#;
    assert_eq!(safely("openai-chat", &chat(&format!("{one}{one}"))).0, chat(one));
    assert_eq!(safely("openai-chat", &chat(&format!("{none}{one}"))).0, chat(one));
    assert_eq!(safely("openai-chat", &chat(&format!("{one}{none}"))).0, chat(one));
    let both = chat(&format!("{one}{other}"));
    assert_eq!(safely("openai-chat", &both).0, both);
    let how = FixOptions::new().unsafe_fixes(true).accepted(true);
    assert_eq!(fixed("openai-chat", &both, &how.clone().duplicates(Duplicates::First)).0, chat(one));
    assert_eq!(fixed("openai-chat", &both, &how.clone().duplicates(Duplicates::Last)).0, chat(other));
    let merged = r#", {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]}"#;
    assert_eq!(fixed("openai-chat", &both, &how).0, chat(merged));
}

#[test]
fn a_result_without_a_call_is_never_dropped_unasked() {
    let orphan = r#"{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "yes"}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "gone", "content": "Adam is \u0041"}]}]}"#;
    assert_eq!(safely("anthropic", orphan).0, orphan);
    let how = FixOptions::new().unsafe_fixes(true);
    let (text, done) = fixed("anthropic", orphan, &how);
    assert_eq!(done, [("orphan-tool-result", Action::BecameText)]);
    assert!(text.contains(r#"{"type": "text", "text": "Adam is \u0041"}"#), "{text}");
    let lost = fix(
        "body.json",
        anthropic(r#", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}, {"type": "tool_result", "tool_use_id": "x", "content": "2"}]}"#)
            .as_bytes(),
        &options("anthropic"),
        &how.orphans(Orphans::Drop),
    )
    .applied;
    assert_eq!((lost[0].action, lost.len()), (Action::Reattached, 1));
}

#[test]
fn ids_change_at_both_ends_and_alike_everywhere() {
    let body = r#"{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "a b/1", "name": "f", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a b\/1", "content": "1"}]}]}"#;
    let (text, done) = safely("anthropic", body);
    assert_eq!(text, body.replace(r"a b\/1", "a_b_1").replace("a b/1", "a_b_1"));
    assert_eq!(done, [("malformed-tool-call-id", Action::Renamed)]);
    let mistral = r#"{"model": "voxtral-small", "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [{"id": "call_abcdefgh", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "call_abcdefgh", "name": "f", "content": "1"}]}"#;
    let (one, done) = safely("mistral", mistral);
    assert_eq!(done, [("malformed-tool-call-id", Action::Renamed)]);
    let longer = mistral.replace(
        "\"go\"}",
        "\"go\"}, {\"role\": \"assistant\", \"content\": \"yes\"}, {\"role\": \"user\", \"content\": \"go\"}",
    );
    let id = |text: &str| text.split("\"id\": \"").nth(1).map(|rest| rest[..9].to_owned());
    assert_eq!(id(&one), id(&safely("mistral", &longer).0));
}

#[test]
fn signed_reasoning_after_a_change_makes_it_unsafe() {
    let body = r#"{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}, {"role": "user", "content": "well?"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "so", "signature": "EqQB"}, {"type": "text", "text": "Yes."}]}, {"role": "user", "content": "on"}]}"#;
    let Fixed { skipped, applied, bytes, .. } =
        fix("body.json", body.as_bytes(), &options("anthropic"), &FixOptions::new());
    assert!(applied.is_empty() && *bytes == *body.as_bytes());
    assert!(skipped[0].reason.contains("signed reasoning"));
}

#[test]
fn a_record_of_json_lines_is_fixed_as_alone_and_stays_one_line() {
    let (broken, clean) = (chat(""), chat(r#", {"role": "tool", "tool_call_id": "c1", "content": "1"}"#));
    let lines = format!("{clean}\r\n{broken}\r\n\n{clean}");
    let (text, _) = safely("openai-chat", &lines);
    assert_eq!(text, format!("{clean}\r\n{}\r\n\n{clean}", safely("openai-chat", &broken).0));
}

#[test]
fn what_the_target_accepts_is_left_alone_unless_asked_for() {
    let one = r#", {"role": "tool", "tool_call_id": "c1", "content": "1"}"#;
    let body = chat(&format!("{one}{one}"));
    assert_eq!(fixed("openai-chat", &body, &FixOptions::new().unsafe_fixes(true)), (body, Vec::new()));
}

#[test]
fn broken_text_and_exchanges_come_back_as_they_were() {
    let cut = &chat("")[..60];
    let exchange = format!(r#"{{"request": {}, "response": {{"choices": []}}}}"#, chat(""));
    for text in [cut, "", "{", "[1", "\u{0}\u{0}", &exchange, &chat(",")] {
        assert!(fix("a", text.as_bytes(), &Options::new(), &FixOptions::new()).is_unchanged(), "{text}");
    }
}

#[test]
fn what_is_only_written_in_another_way_is_fixed_in_its_place() {
    let body = r#"{"model": "m", "messages": [{"role": "human", "content": "go"}], "Temperature": 1e0, "stream": "true", "stop": null, "top_k": null}"#;
    let (text, done) = safely("openai-chat", body);
    let wanted = body.replace("human", "user").replace("Temperature", "temperature");
    let wanted = wanted.replace(r#""true""#, "true").replace(r#", "top_k": null"#, "");
    assert_eq!(text, wanted);
    assert!(done.iter().any(|(_, action)| *action == Action::Removed), "{done:?}");
    // A member moves with its spelling, and two of them share the object that they need.
    let body =
        r#"{"contents": [{"role": "user", "parts": [{"text": "go"}]}], "temperature": 0.50, "topP": 1}"#;
    let (text, _) = safely("gemini", body);
    let wanted = r#"{"contents": [{"role": "user", "parts": [{"text": "go"}]}], "generationConfig": {"temperature": 0.50, "topP": 1}}"#;
    assert_eq!(text, wanted);
}

#[test]
fn the_same_again_is_removed_and_half_a_character_is_replaced() {
    let body =
        r#"{"messages": [{"role": "user", "content": "a\ud83d b\u0041", "content": "a\ud83d b\u0041"}]}"#;
    let (text, _) = safely("openai-chat", body);
    assert_eq!(text, r#"{"messages": [{"role": "user", "content": "a\ufffd b\u0041"}]}"#);
    let different = r#"{"messages": [{"role": "user", "content": "a", "content": "b"}]}"#;
    assert_eq!(safely("openai-chat", different).0, different);
}

#[test]
fn a_fix_that_does_not_help_does_not_keep_the_rest_from_being_fixed() {
    // Without the text that starts it, the conversation would begin with the user, but the result is fixed anyway.
    let body =
        chat("").replace(r#""messages""#, r#""tool_choice": {"type": "function", "name": 1}, "messages""#);
    let fixed = fix("body.json", body.as_bytes(), &options("openai-chat"), &FixOptions::new().accepted(true));
    assert!(fixed.applied.iter().any(|done| done.rule == "unanswered-tool-call"), "{:?}", fixed.applied);
}

#[test]
fn what_shows_only_once_something_else_is_fixed_is_fixed_too() {
    let result = r#", {"role": "tool", "tool_call_id": "call_1", "content": "ok"}"#;
    let body = chat(result).replace("\"c1\"", "\"call_1\"").replace("tool_calls", "toolCalls");
    let target = targets::find("mistral-v7").expect("there is such a target");
    let options = options("openai-chat").target(Some(target));
    let fixed = fix("body.json", body.as_bytes(), &options, &FixOptions::new());
    assert!(fixed.report().findings.is_empty(), "{:?}", fixed.report().findings);
    assert!(fixed.applied.iter().any(|done| done.rule == "malformed-tool-call-id"), "{:?}", fixed.applied);
    assert!(fix("body.json", &fixed.bytes, &options, &FixOptions::new()).is_unchanged());
}

/// The messages of a request for Anthropic once all fixes are made, as JSON.
fn messages_fixed(messages: &str) -> serde_json::Value {
    let body = format!(r#"{{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": {messages}}}"#);
    let fixed = fix(
        "case",
        body.as_bytes(),
        &options("anthropic"),
        &FixOptions::new().unsafe_fixes(true).accepted(true),
    );
    assert!(fixed.report().findings.is_empty(), "{:?}", fixed.report().findings);
    serde_json::from_slice::<serde_json::Value>(&fixed.bytes).unwrap()["messages"].clone()
}

const CALLED: &str = r#"{"role": "user", "content": "count the oak trees"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "count", "input": {}}]}"#;

#[test]
fn a_result_that_moves_beside_a_rewritten_text_stays() {
    let result = r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "41"}]}"#;
    let said = |content: &str| {
        messages_fixed(&format!(r#"[{CALLED}, {{"role": "user", "content": {content}}}, {result}]"#))
            .to_string()
    };
    let broken = said(r#""one \ud83d moment""#);
    assert!(broken.contains(r#""content":"41""#) && broken.contains("one \u{fffd} moment"), "{broken}");
    let empty = said("[]");
    assert!(empty.contains(r#""content":"41""#), "{empty}");
}

#[test]
fn what_is_missing_is_said_to_be_missing() {
    let thought = r#"{"type": "thinking", "thinking": "Where?", "signature": "c2lnbmVk"}"#;
    let cut = messages_fixed(&format!(
        r#"[{{"role": "user", "content": "a"}}, {{"role": "assistant", "content": [{thought}]}}, {{"role": "user", "content": "b"}}]"#
    ));
    assert_eq!(cut[1]["content"][1]["text"], "[The rest of this message is missing.]");
    // The model goes on in the next message.
    let whole = messages_fixed(&format!(
        r#"[{{"role": "user", "content": "a"}}, {{"role": "assistant", "content": [{thought}]}},
            {{"role": "assistant", "content": [{{"type": "text", "text": "In the wood."}}]}}, {{"role": "user", "content": "b"}}]"#
    ));
    assert_eq!(whole[1]["content"][1]["text"], "In the wood.");
}

#[test]
fn a_result_without_an_id_gets_that_of_the_only_call_or_becomes_text() {
    let result = |content: &str| format!(r#"{{"type": "tool_result", "content": "{content}"}}"#);
    let one = messages_fixed(&format!(r#"[{CALLED}, {{"role": "user", "content": [{}]}}]"#, result("41")));
    assert_eq!(one[2]["content"][0]["tool_use_id"], "toolu_1");
    let two = messages_fixed(&format!(
        r#"[{CALLED}, {{"role": "user", "content": [{}, {}]}}]"#,
        result("41"),
        result("42")
    ));
    assert_eq!(two[2]["content"][0]["tool_use_id"], "toolu_1");
    let text = two[2]["content"].to_string();
    assert!(text.contains("whose call is not in this conversation") && text.contains("42"), "{text}");
}

#[test]
fn only_what_is_asked_for_is_fixed() {
    let body = r#"{"messages": [{"role": "user", "content": "count"},
      {"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": "{}"}},
        {"id": "call_2", "type": "function", "function": {"name": "count", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "call_3", "content": "41"}], "stop": []}"#;
    let fixed = |how: FixOptions| {
        let fixed = fix("body.json", body.as_bytes(), &options("openai-chat"), &how.unsafe_fixes(true));
        let applied = fixed.applied.iter().map(|done| format!("{} {}", done.rule, done.spot.start.line));
        (applied.collect::<Vec<_>>(), fixed.skipped.len())
    };
    let place = |text: &str| FixOptions::new().places([text.parse().unwrap()]);
    let unanswered = toolcheck_core::RuleId::UnansweredToolCall;
    assert_eq!(fixed(FixOptions::new().only([unanswered])).0, ["unanswered-tool-call 4"]);
    assert_eq!(fixed(place("4")).0, ["unanswered-tool-call 4"]);
    assert_eq!(fixed(place("/messages/1/tool_calls/1")).0, ["unanswered-tool-call 4"]);
    assert_eq!(fixed(place("5:7")).0, ["orphan-tool-result 5"]);
    assert_eq!(fixed(place("5:8")), (Vec::new(), 0));
    assert_eq!(fixed(place("")).0, fixed(FixOptions::new()).0);
    for wrong in ["0", "x", "1:", "1:0", "1:2:3", "-1", "99999999999999999999"] {
        assert!(wrong.parse::<toolcheck_lint::fix::FixPlace>().is_err(), "{wrong}");
    }
}

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
