//! Fixes of the files in which agents keep their sessions.

use serde_json::{Value as Json, json};
use toolcheck_core::RuleId;
use toolcheck_lint::fix::{Duplicates, FixPlace, Orphans, PLACEHOLDER, Unanswered};
use toolcheck_lint::{FixOptions, Fixed, Options, fix};

/// Fixes a file, also what its agent repairs itself, and checks that the result is clean and that a second run changes
/// nothing.
#[track_caller]
fn written(text: &str, how: &FixOptions) -> String {
    let how = &how.clone().accepted(true);
    let fixed: Fixed<'_> = fix("session", text.as_bytes(), &Options::new(), how);
    assert_eq!(fixed.report().findings.len(), 0, "{:?} {:?}", fixed.skipped, fixed.report().findings);
    assert!(fix("session", &fixed.bytes, &Options::new(), how).is_unchanged());
    String::from_utf8(fixed.bytes.into_owned()).expect("it is text")
}

fn lines(records: &[Json]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn parsed(text: &str) -> Vec<Json> {
    text.lines().map(|line| serde_json::from_str(line).expect("each line is a record")).collect()
}

/// A record of Claude Code: `id` follows `parent`.
fn said(id: &str, parent: Option<&str>, role: &str, content: &Json) -> Json {
    let mut message = json!({"role": role, "content": content});
    if role == "assistant" {
        // The blocks of one turn are in several records, here those whose ids begin alike.
        message["id"] = json!(format!("msg_{}", &id[..1]));
    }
    json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s", "version": "2.1.0", "type": role, "message": message, "uuid": id, "timestamp": "2026-01-02T03:04:05Z"})
}

fn call(id: &str) -> Json {
    json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "a"}}])
}

fn result(id: &str) -> Json {
    json!([{"type": "tool_result", "tool_use_id": id, "content": "one"}])
}

/// Two calls in one turn, their results, and an answer.
fn session() -> Vec<Json> {
    vec![
        said("u1", None, "user", &json!("read both")),
        said("a2", Some("u1"), "assistant", &call("t1")),
        said("a3", Some("a2"), "assistant", &call("t2")),
        said("u4", Some("a2"), "user", &result("t1")),
        said("u5", Some("a3"), "user", &result("t2")),
        said("b6", Some("u5"), "assistant", &json!([{"type": "text", "text": "done"}])),
    ]
}

/// The records from the last to the first, as a program finds them by their ids.
fn chain(records: &[Json]) -> Vec<String> {
    let mut ids = Vec::new();
    let mut next = records.last();
    while let Some(record) = next {
        ids.push(record["uuid"].as_str().expect("it has an id").to_owned());
        next = records.iter().find(|other| other["uuid"] == record["parentUuid"]);
    }
    ids
}

#[test]
fn a_lost_record_of_claude_code_is_written_again_under_its_old_id() {
    for lost in [4, 3] {
        let mut records = session();
        let old = records.remove(lost);
        let text = written(&lines(&records), &FixOptions::new());
        let now = parsed(&text);
        assert_eq!(now.len(), 6);
        let new = now.iter().find(|record| record["message"]["content"][0]["content"] == PLACEHOLDER);
        let new = new.expect("there is a new record");
        assert_eq!(new["message"]["content"][0]["tool_use_id"], old["message"]["content"][0]["tool_use_id"]);
        for key in ["parentUuid", "sessionId", "type", "isSidechain", "version"] {
            assert_eq!(new[key], old[key], "{key}");
        }
        assert_eq!(chain(&now), ["b6", "u5", "a3", "a2", "u1"]);
        let others = |records: &[Json]| -> Vec<Json> {
            records.iter().filter(|record| record["uuid"] != new["uuid"]).cloned().collect()
        };
        assert_eq!(others(&now), others(&records), "no other record is changed");
    }
}

/// Steps of a call, its result and what the program notes of it, and an answer.
fn steps() -> Vec<Json> {
    let mut records = vec![said("u0", None, "user", &json!("read all"))];
    for (step, letter) in ["a", "b", "c"].iter().enumerate() {
        let (id, parent) = (format!("t{step}"), records[records.len() - 1]["uuid"].clone());
        records.push(said(&format!("{letter}1"), parent.as_str(), "assistant", &call(&id)));
        records.push(said(&format!("r{step}"), Some(&format!("{letter}1")), "user", &result(&id)));
        if step != 1 {
            let note = json!({"type": "attachment", "uuid": format!("n{step}"), "parentUuid": format!("r{step}"), "sessionId": "s", "isSidechain": false});
            records.push(note);
        }
    }
    records.push(said("d1", Some("n2"), "assistant", &json!([{"type": "text", "text": "done"}])));
    records
}

#[test]
fn a_lost_result_before_the_next_call_is_written_where_it_was() {
    let whole = steps();
    for lost in [2, 5, 7] {
        let mut records = whole.clone();
        let old = records.remove(lost);
        // Claude Code finds nothing before a record that is lost, so that it does not repair this itself.
        let text = lines(&records);
        let fixed = fix("session", text.as_bytes(), &Options::new(), &FixOptions::new());
        let now = parsed(std::str::from_utf8(&fixed.bytes).expect("it is text"));
        assert_eq!(now[lost]["uuid"], old["uuid"]);
        assert_eq!(chain(&now), chain(&whole), "{lost}");
    }
    // What it reads, it repairs.
    let mut records = whole.clone();
    records[5]["message"]["content"] = json!("stop");
    let text = lines(&records);
    let left = fix("session", text.as_bytes(), &Options::new(), &FixOptions::new());
    assert!(left.is_unchanged() && left.skipped[0].is_wanted, "{:?}", left.skipped);
    assert!(left.skipped[0].reason.contains("the agent repairs it itself"), "{:?}", left.skipped);
    let mut records = whole.clone();
    records.retain(|record| record["message"]["content"][0]["type"] != "tool_result");
    let now = parsed(&written(&lines(&records), &FixOptions::new()));
    assert_eq!(chain(&now), chain(&whole));
}

#[test]
fn a_result_is_written_after_all_calls_if_another_one_is_there() {
    let records = |answered: &str, of: &str, last: &str| {
        vec![
            said("u0", None, "user", &json!("read all")),
            said("a1", Some("u0"), "assistant", &call("t0")),
            said("b1", Some("a1"), "assistant", &call("t1")),
            said(answered, Some(of), "user", &result(&format!("t{}", &answered[1..]))),
            said("d1", Some(last), "assistant", &json!([{"type": "text", "text": "done"}])),
        ]
    };
    let now = parsed(&written(&lines(&records("r0", "a1", "r1")), &FixOptions::new()));
    // The calls have become one message.
    assert_eq!(now[3]["message"]["content"][0]["tool_use_id"], "t1");
    assert_eq!(chain(&now), ["d1", "r1", "a1", "u0"]);
    let now = parsed(&written(&lines(&records("r1", "b1", "r1")), &FixOptions::new()));
    assert_eq!(now[2]["message"]["content"][0]["tool_use_id"], "t0");
    assert_eq!(chain(&now).len(), now.len());
}

#[test]
fn what_followed_a_lost_call_follows_the_message_before_it() {
    let whole = session();
    for (lost, wanted) in [(1, vec!["b6", "u5", "a3", "u1"]), (2, vec!["b6", "u5", "u4", "a2", "u1"])] {
        let mut records = whole.clone();
        records.remove(lost);
        for how in [FixOptions::new(), FixOptions::new().orphans(Orphans::Drop)] {
            let now = parsed(&written(&lines(&records), &how.unsafe_fixes(true)));
            let wanted = wanted.iter().filter(|id| now.iter().any(|record| record["uuid"] == ***id));
            assert_eq!(chain(&now), wanted.copied().collect::<Vec<_>>(), "{lost}");
        }
    }
}

#[test]
fn what_follows_an_interrupted_call_follows_its_new_result() {
    let mut records = session();
    records.truncate(3);
    records.push(said("u7", Some("a3"), "user", &json!("never mind")));
    records.push(said("b8", Some("u7"), "assistant", &json!([{"type": "text", "text": "fine"}])));
    let now = parsed(&written(&lines(&records), &FixOptions::new()));
    let ids = chain(&now);
    assert_eq!(now.len(), 7);
    assert_eq!([&*ids[0], &*ids[1], &*ids[3], &*ids[4], &*ids[5]], ["b8", "u7", "a3", "a2", "u1"]);
    let new = now.iter().find(|record| record["uuid"] == *ids[2]).expect("it is in the chain");
    assert_eq!(new["message"]["content"][0]["tool_use_id"], "t2");
    assert_eq!(now[3]["message"]["content"][0]["tool_use_id"], "t1");
    assert_ne!(now[3]["uuid"], now[4]["uuid"]);
}

#[test]
fn a_doubled_record_goes_and_what_followed_it_follows_the_first() {
    let whole = session();
    let mut records = whole.clone();
    records.insert(5, said("u5b", Some("u5"), "user", &result("t2")));
    records[6]["parentUuid"] = json!("u5b");
    assert_eq!(parsed(&written(&lines(&records), &FixOptions::new())), whole);
}

#[test]
fn a_result_without_a_call_becomes_text_only_if_asked() {
    let mut records = session();
    records.insert(5, said("u9", Some("u5"), "user", &result("gone")));
    records[6]["parentUuid"] = json!("u9");
    let text = lines(&records);
    let fixed = fix("session", text.as_bytes(), &Options::new(), &FixOptions::new());
    assert!(fixed.is_unchanged() && fixed.skipped.len() == 1);
    let now = parsed(&written(&text, &FixOptions::new().unsafe_fixes(true)));
    let said = now[5]["message"]["content"].to_string();
    assert!(said.contains("result of tool call gone") && said.contains("one"), "{said}");
}

#[test]
fn only_what_is_asked_for_is_fixed_in_a_session() {
    let text = include_str!("../../../fixtures/inputs/claude-code/wrong-results.jsonl");
    let all = FixOptions::new().unsafe_fixes(true).accepted(true);
    let orphan = all.clone().only([RuleId::OrphanToolResult]);
    let place = |place| all.clone().places([place]);
    for (how, wanted) in [
        (all.clone(), &["duplicate-tool-result", "orphan-tool-result"][..]),
        (orphan.clone(), &["orphan-tool-result"]),
        (orphan.places([FixPlace::Line(3)]), &[]),
        (place(FixPlace::Line(3)), &["duplicate-tool-result"]),
        (place(FixPlace::Pointer("/message/content/1".to_owned())), &["duplicate-tool-result"]),
    ] {
        let fixed = fix("session", text.as_bytes(), &Options::new(), &how);
        let rules: Vec<&str> = fixed.applied.iter().map(|done| done.rule.as_str()).collect();
        assert_eq!(rules, wanted);
    }
}

#[test]
fn line_ends_and_a_line_that_is_cut_off_stay() {
    let mut records = session();
    records.remove(4);
    let text = lines(&records).replace('\n', "\r\n") + "{\"type\":\"user\",\"mess";
    let fixed = fix("session", text.as_bytes(), &Options::new(), &FixOptions::new());
    let now = String::from_utf8(fixed.bytes.into_owned()).expect("it is text");
    assert_eq!(now.matches("\r\n").count(), 6);
    assert!(now.ends_with("\r\n{\"type\":\"user\",\"mess"));
}

#[test]
fn signed_reasoning_after_a_lost_result_asks_for_consent() {
    let mut records = session();
    records[5]["message"]["content"] = json!([{"type": "thinking", "thinking": "so", "signature": "c2ln"}, {"type": "text", "text": "done"}]);
    records.remove(4);
    let text = lines(&records);
    let fixed = fix("session", text.as_bytes(), &Options::new(), &FixOptions::new());
    assert!(fixed.is_unchanged());
    assert!(fixed.skipped[0].reason.contains("signed reasoning"));
    written(&text, &FixOptions::new().unsafe_fixes(true));
}

#[test]
fn codex_writes_an_output_as_an_item_of_its_own() {
    let item = |second: u8, payload: Json| json!({"timestamp": format!("2026-01-02T03:04:0{second}Z"), "type": "response_item", "payload": payload});
    let call = |id: &str| json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": id});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "ok"});
    let user = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]});
    let answer =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]});
    let meta = json!({"timestamp": "2026-01-02T03:04:00Z", "type": "session_meta", "payload": {"id": "s"}});
    let records =
        [meta, item(1, user), item(2, call("a")), item(3, call("b")), item(4, output("b")), item(5, answer)];
    let now = parsed(&written(&lines(&records), &FixOptions::new()));
    let wanted = json!({"timestamp": "2026-01-02T03:04:03Z", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "a", "output": PLACEHOLDER}});
    assert_eq!(now[4], wanted);
    assert_eq!(now.len(), 7);
    let mut doubled = now.clone();
    doubled.insert(6, doubled[5].clone());
    assert_eq!(parsed(&written(&lines(&doubled), &FixOptions::new())), now);
}

#[test]
fn results_without_calls_become_messages_in_their_order() {
    let read =
        |name: &str| std::fs::read_to_string(format!("../../fixtures/inputs/{name}")).expect("it is there");
    let before = read("codex/lost-calls.jsonl");
    let how = FixOptions::new().unsafe_fixes(true);
    let now = parsed(&written(&before, &how));
    let text = |id: &str, output: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": format!("[result of tool call {id}, whose call is not in this conversation]\n{output}")}]});
    assert_eq!(now[4]["payload"], text("call_02", "12"));
    assert_eq!(now[5]["payload"], text("call_03", "3"));
    assert_eq!(now[6]["payload"], text("call_04", "5"));
    let stamps =
        |records: &[Json]| records.iter().map(|record| record["timestamp"].clone()).collect::<Vec<_>>();
    assert_eq!(stamps(&now), stamps(&parsed(&before)));
    // A result between them stays before the text.
    let mut records = parsed(&before);
    records.swap(3, 4);
    let now = parsed(&written(&lines(&records), &how));
    let kinds: Vec<&Json> = now[3..7].iter().map(|record| &record["payload"]).collect();
    assert_eq!(kinds[0]["call_id"], "call_01");
    assert_eq!(*kinds[1], text("call_02", "12"));
    assert_eq!(*kinds[3], text("call_04", "5"));
}

#[test]
fn a_list_of_messages_in_a_data_set_is_fixed_where_nothing_is_made_up() {
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "one"});
    let row = |results: &[&Json]| {
        let mut messages = vec![json!({"role": "user", "content": "go"}), call.clone()];
        messages.extend(results.iter().map(|result| (*result).clone()));
        messages.push(json!({"role": "assistant", "content": "done"}));
        json!({"source": "x", "sample": {"conversation": messages}})
    };
    let whole = lines(&[row(&[&result]), row(&[&result])]);
    let doubled = lines(&[row(&[&result]), row(&[&result, &result])]);
    assert_eq!(written(&doubled, &FixOptions::new()), whole);
    let lost = lines(&[row(&[&result]), row(&[])]);
    assert!(fix("rows", lost.as_bytes(), &Options::new(), &FixOptions::new()).is_unchanged());
    let now = written(&lost, &FixOptions::new().unsafe_fixes(true));
    assert!(now.starts_with(&lines(&[row(&[&result])])) && now.contains(PLACEHOLDER), "{now}");
}

#[test]
fn a_lost_record_takes_its_old_id_also_behind_the_note_of_a_hook() {
    let mut records = session();
    records.remove(4);
    let mut note = said("h1", Some("u4"), "user", &json!("checked"));
    note["type"] = json!("attachment");
    note["attachment"] = json!({"type": "hook_success", "hookName": "PostToolUse:Read"});
    note.as_object_mut().expect("it is an object").remove("message");
    records.insert(4, note);
    let now = parsed(&written(&lines(&records), &FixOptions::new()));
    assert_eq!(chain(&now), ["b6", "u5", "a3", "a2", "u1"]);
}

#[test]
fn a_new_result_of_pi_is_on_the_way_to_what_followed_its_call() {
    let said = |id: &str, parent: Option<&str>, message: &Json| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-02T03:04:05Z", "message": message});
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1});
    let call = json!({"role": "assistant", "content": [{"type": "toolCall", "id": "t1", "name": "read", "arguments": {}}], "stopReason": "toolUse", "timestamp": 1});
    let records = [
        json!({"type": "session", "id": "s", "timestamp": "2026-01-02T03:04:05Z", "cwd": "/home/ada", "version": 3}),
        said("a1", None, &text("user", "read")),
        said("a2", Some("a1"), &call),
        // A call of another branch.
        said("b2", Some("a1"), &call),
        said("a3", Some("a2"), &text("user", "well?")),
        said("a4", Some("a3"), &text("assistant", "done")),
    ];
    let now = parsed(&written(&lines(&records), &FixOptions::new()));
    let new =
        now.iter().find(|record| record["message"]["role"] == "toolResult").expect("there is a new one");
    assert_eq!(new["parentId"], "a2");
    let next = now.iter().find(|record| record["id"] == "a3").expect("it is still there");
    assert_eq!(next["parentId"], new["id"]);
}

/// A session of Gemini CLI whose second call has these responses.
fn gemini(responses: &[&str]) -> Json {
    let responses: Vec<Json> = responses
        .iter()
        .map(|output| json!({"functionResponse": {"id": "c2", "name": "read", "response": {"output": output}}}))
        .collect();
    let first = json!([{"functionResponse": {"id": "c1", "name": "read", "response": {"output": "one"}}}]);
    let call = |id: &str, result: &Json| json!({"id": id, "name": "read", "args": {}, "status": "success", "result": result});
    json!({"sessionId": "s", "projectHash": "p", "startTime": "t", "lastUpdated": "t", "messages": [
        {"id": "1", "timestamp": "t", "type": "user", "content": "read both"},
        {"id": "2", "timestamp": "t", "type": "gemini", "content": "", "thoughts": [{"subject": "Both"}],
            "toolCalls": [call("c1", &first), call("c2", &json!(responses))]},
        {"id": "3", "timestamp": "t", "type": "gemini", "content": "done"},
    ]})
}

#[test]
fn of_a_doubled_response_in_a_call_of_gemini_cli_only_the_second_goes() {
    let text = written(&gemini(&["two", "two"]).to_string(), &FixOptions::new());
    let now: Json = serde_json::from_str(&text).expect("it is a document");
    assert_eq!(now, gemini(&["two"]));
    // Two that differ stay, until somebody says which counts.
    let text = gemini(&["two", "three"]).to_string();
    assert!(fix("session", text.as_bytes(), &Options::new(), &FixOptions::new()).is_unchanged());
    let unsafely = FixOptions::new().unsafe_fixes(true);
    assert!(fix("session", text.as_bytes(), &Options::new(), &unsafely).is_unchanged());
    for (which, left) in [(Duplicates::First, "two"), (Duplicates::Last, "three")] {
        let now = written(&text, &unsafely.clone().duplicates(which));
        let now: Json = serde_json::from_str(&now).expect("it is a document");
        assert_eq!(now, gemini(&[left]), "{which:?}");
    }
}

#[test]
fn a_call_that_is_dropped_takes_nothing_else_with_it() {
    let mut session = gemini(&[]);
    session["messages"]
        .as_array_mut()
        .expect("it is a list")
        .push(json!({"id": "4", "timestamp": "t", "type": "user", "content": "more"}));
    let how = FixOptions::new().unsafe_fixes(true).unanswered(Unanswered::Drop);
    let now: Json = serde_json::from_str(&written(&session.to_string(), &how)).expect("it is a document");
    let calls = now["messages"][1]["toolCalls"].as_array().expect("they are a list");
    assert_eq!(calls.iter().map(|call| call["id"].as_str()).collect::<Vec<_>>(), [Some("c1")]);
}

#[test]
fn what_is_no_object_gets_neither_an_id_nor_a_result() {
    let records = [
        json!([{"tool_calls": [[]]}, {"role": "assistant"}]),
        json!({"id": [{"role": "assistant", "tool_calls": ["x"]}, {}]}),
        json!({"sessionId": "s", "lastUpdated": "t", "messages": [{"type": "gemini", "toolCalls": [-1]}, {"type": "gemini"}]}),
    ];
    for record in records {
        let text = record.to_string();
        let how = FixOptions::new().unsafe_fixes(true);
        assert!(
            !fix("session", text.as_bytes(), &Options::new(), &how).report().findings.is_empty(),
            "{text}"
        );
    }
}

#[test]
fn what_became_text_or_was_lost_is_in_the_chain_of_the_records() {
    let became_text = include_str!("../../../fixtures/inputs/copilot-cli/wrong-results.jsonl");
    let was_lost = include_str!("../../../fixtures/inputs/pi/lost-record.jsonl");
    for (text, first) in [(became_text, 0), (was_lost, 1)] {
        let records = parsed(&written(text, &FixOptions::new().unsafe_fixes(true)));
        for pair in records[first..].windows(2) {
            assert_eq!(pair[1]["parentId"], pair[0]["id"], "{pair:?}");
        }
    }
}

#[test]
fn a_new_result_has_the_keys_of_the_others() {
    let how = FixOptions::new().unsafe_fixes(true);
    let result_of = |row: &Json, pointer: &str| {
        let now: Json = serde_json::from_str(&written(&row.to_string(), &how)).expect("it is a document");
        let mut result = now.pointer(pointer).expect("it is there").clone();
        result["content"] = json!(null);
        (result, now)
    };
    // The results of tau2-bench have the id of their call under `id`.
    let of_tau2 = |id: &str| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "name": "tide", "arguments": {}, "requestor": "assistant"}]});
    let row = json!({"simulations": [{"messages": [
        {"role": "user", "content": "when?"}, of_tau2("a"),
        {"id": "a", "role": "tool", "content": "noon", "requestor": "assistant", "error": false},
        of_tau2("b"), {"role": "assistant", "content": "noon"},
    ]}]});
    let (result, _) = result_of(&row, "/simulations/0/messages/4");
    assert_eq!(result, json!({"role": "tool", "id": "b", "content": null, "requestor": "assistant"}));
    // Those of TRL have the name of their tool, and calls have no ids.
    let of_trl = json!({"role": "assistant", "content": null, "tool_calls": [{"type": "function", "function": {"name": "tide", "arguments": {}}}]});
    let row = json!({"messages": [
        {"role": "user", "content": "when?"}, of_trl, {"role": "tool", "name": "tide", "content": "noon"},
        of_trl, {"role": "assistant", "content": "noon"},
    ]});
    let (result, now) = result_of(&row, "/messages/4");
    assert_eq!(result, json!({"role": "tool", "name": "tide", "content": null}));
    assert_eq!(now["messages"][3], of_trl);
}

#[test]
fn what_is_in_another_list_than_the_answer_is_said_to_be_there() {
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "tide", "arguments": "{"}}]});
    let row = json!({
        "prompt": [{"role": "user", "content": "when?"}, call],
        "chosen": [{"role": "assistant", "content": "noon"}],
        "rejected": [{"role": "assistant", "content": "no"}],
    });
    let text = row.to_string();
    let fixed = fix("row", text.as_bytes(), &Options::new(), &FixOptions::new().unsafe_fixes(true));
    assert!(fixed.is_unchanged());
    assert_eq!(fixed.skipped.len(), 2, "{:?}", fixed.skipped);
    assert!(fixed.skipped.iter().all(|left| left.reason.contains("not in the list with the last answer")));
}
