//! Fixes of the sessions of agents in which several things went wrong.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_lint::{FixOptions, Options, fix, lint};

#[derive(Debug, Clone)]
enum Message {
    User(String),
    Assistant(String, Vec<String>),
    Result(String, String),
}

use Message::{Assistant, Result, User};

struct Agent {
    name: &'static str,
    write: fn(&[Message]) -> String,
}

const AGENTS: [Agent; 7] = [
    Agent { name: "claude-code", write: claude_code },
    Agent { name: "cline", write: cline },
    Agent { name: "codex", write: codex },
    Agent { name: "goose", write: goose },
    Agent { name: "hermes-agent", write: hermes },
    Agent { name: "kimi-cli", write: kimi_cli },
    Agent { name: "pi", write: pi },
];

fn lines(records: impl IntoIterator<Item = Json>) -> String {
    records.into_iter().map(|record| format!("{record}\n")).collect()
}

fn anthropic(message: &Message) -> Json {
    match message {
        User(text) => json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        Assistant(text, calls) => {
            let calls =
                calls.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "read", "input": {}}));
            let blocks: Vec<Json> =
                std::iter::once(json!({"type": "text", "text": text})).chain(calls).collect();
            json!({"role": "assistant", "content": blocks})
        }
        Result(id, text) => {
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]})
        }
    }
}

fn claude_code(messages: &[Message]) -> String {
    let record = |(number, message): (usize, &Message)| {
        let parent = number.checked_sub(1).map(|before| format!("u{before}"));
        let mut said = anthropic(message);
        let is_of_model = matches!(message, Assistant(..));
        if is_of_model {
            said["id"] = json!(format!("msg_{number}"));
        }
        json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s", "type": if is_of_model { "assistant" } else { "user" }, "message": said, "uuid": format!("u{number}")})
    };
    lines(messages.iter().enumerate().map(record))
}

/// With the results of a turn in one message, as the agents write them.
fn joined(messages: &[Message], block: fn(&Message) -> Json, key: &str) -> Vec<Json> {
    let mut joined: Vec<Json> = Vec::new();
    let mut goes_on = false;
    for message in messages {
        let is_result = matches!(message, Result(..));
        let next = block(message);
        match joined.last_mut() {
            Some(last) if goes_on && is_result => {
                let more = next[key].as_array().unwrap().clone();
                last[key].as_array_mut().unwrap().extend(more);
            }
            _ => joined.push(next),
        }
        goes_on = is_result;
    }
    joined
}

fn cline(messages: &[Message]) -> String {
    let mut list = joined(messages, anthropic, "content");
    for message in &mut list {
        message["ts"] = json!(1_770_000_000_000_u64);
    }
    if let Some(text) =
        list.first_mut().and_then(|first| first["content"][0]["text"].as_str().map(str::to_owned))
    {
        list[0]["content"][0]["text"] = json!(format!("<task>{text}</task>"));
    }
    Json::from(list).to_string()
}

fn codex(messages: &[Message]) -> String {
    let item = |payload: Json| json!({"timestamp": "2026-03-02T10:00:00.000Z", "type": "response_item", "payload": payload});
    let text = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let meta =
        json!({"timestamp": "2026-03-02T10:00:00.000Z", "type": "session_meta", "payload": {"id": "s"}});
    let items = messages.iter().flat_map(|message| match message {
        User(said) => vec![text("user", "input_text", said)],
        Assistant(said, calls) => {
            let call = |id: &String| json!({"type": "function_call", "name": "read", "arguments": "{}", "call_id": id});
            std::iter::once(text("assistant", "output_text", said)).chain(calls.iter().map(call)).collect()
        }
        Result(id, output) => vec![json!({"type": "function_call_output", "call_id": id, "output": output})],
    });
    lines(std::iter::once(meta).chain(items.map(item)))
}

fn goose(messages: &[Message]) -> String {
    let message = |message: &Message| {
        let (role, content) = match message {
            User(text) => ("user", json!([{"type": "text", "text": text}])),
            Assistant(text, calls) => {
                let call = |id: &String| json!({"type": "toolRequest", "id": id, "toolCall": {"status": "success", "value": {"name": "read", "arguments": {}}}});
                let text = json!({"type": "text", "text": text});
                ("assistant", std::iter::once(text).chain(calls.iter().map(call)).collect())
            }
            Result(id, text) => (
                "user",
                json!([{"type": "toolResponse", "id": id, "toolResult": {"status": "success", "value": {"content": [{"type": "text", "text": text}]}}}]),
            ),
        };
        json!({"role": role, "created": 1_770_000_000, "content": content})
    };
    json!({"id": "s", "working_dir": "/", "conversation": joined(messages, message, "content")}).to_string()
}

fn hermes(messages: &[Message]) -> String {
    let list: Vec<Json> = messages.iter().map(chat).collect();
    json!({"session_id": "s", "session_start": "2026-09-04T08:00:00", "message_count": list.len(), "messages": list})
        .to_string()
}

fn kimi_cli(messages: &[Message]) -> String {
    lines(std::iter::once(json!({"role": "_checkpoint", "id": 0})).chain(messages.iter().map(chat)))
}

fn chat(message: &Message) -> Json {
    match message {
        User(text) => json!({"role": "user", "content": text}),
        Assistant(text, calls) => {
            let call = |id: &String| json!({"type": "function", "id": id, "function": {"name": "read", "arguments": "{}"}});
            let calls: Vec<Json> = calls.iter().map(call).collect();
            match calls.is_empty() {
                true => json!({"role": "assistant", "content": text}),
                false => json!({"role": "assistant", "content": text, "tool_calls": calls}),
            }
        }
        Result(id, text) => {
            json!({"role": "tool", "content": [{"type": "text", "text": text}], "tool_call_id": id})
        }
    }
}

fn pi(messages: &[Message]) -> String {
    let head = json!({"type": "session", "id": "s", "timestamp": "2026-03-02T10:00:00.000Z", "cwd": "/", "version": 3});
    let record = |(number, message): (usize, &Message)| {
        let said = match message {
            User(text) => {
                json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1})
            }
            Assistant(text, calls) => {
                let call =
                    |id: &String| json!({"type": "toolCall", "id": id, "name": "read", "arguments": {}});
                let text = json!({"type": "text", "text": text});
                let content: Vec<Json> = std::iter::once(text).chain(calls.iter().map(call)).collect();
                json!({"role": "assistant", "content": content, "stopReason": "stop", "timestamp": 1})
            }
            Result(id, text) => {
                json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "content": [{"type": "text", "text": text}], "isError": false, "timestamp": 1})
            }
        };
        let parent = number.checked_sub(1).map(|before| format!("r{before}"));
        json!({"type": "message", "id": format!("r{number}"), "parentId": parent, "timestamp": "2026-03-02T10:00:00.000Z", "message": said})
    };
    lines(std::iter::once(head).chain(messages.iter().enumerate().map(record)))
}

/// A session whose turns have as many calls; no text is in it twice.
fn session(turns: &[usize]) -> Vec<Message> {
    let mut messages = vec![User("What is in the files?".to_owned())];
    for (turn, calls) in turns.iter().enumerate() {
        let ids: Vec<String> = (0..*calls).map(|call| format!("call_{turn}_{call}")).collect();
        messages.push(Assistant(format!("The model's turn {turn}."), ids.clone()));
        messages.extend(ids.into_iter().map(|id| Result(id.clone(), format!("What {id} has read."))));
        if *calls == 0 || turn % 2 == 1 {
            messages.push(Assistant(format!("The answer of turn {turn}."), Vec::new()));
            messages.push(User(format!("The question after turn {turn}.")));
        }
    }
    messages.push(Assistant("The end.".to_owned(), Vec::new()));
    messages.push(User("Go on.".to_owned()));
    messages
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    LostResult,
    SecondResult,
    LateResult,
    LostCall,
    OtherId,
}

fn plant(messages: &mut Vec<Message>, fault: Fault, at: usize) {
    let results: Vec<usize> =
        (0..messages.len()).filter(|number| matches!(messages[*number], Result(..))).collect();
    let Some(&number) = results.get(at % results.len().max(1)) else { return };
    let Result(id, text) = messages[number].clone() else { return };
    match fault {
        Fault::LostResult => _ = messages.remove(number),
        Fault::SecondResult => {
            messages.insert(number + 1, Result(id.clone(), format!("The second result of {id}.")))
        }
        Fault::LateResult => {
            let result = messages.remove(number);
            let next = messages[number..].iter().position(|message| matches!(message, User(_)));
            messages.insert(next.map_or(messages.len(), |next| number + next + 1), result);
        }
        Fault::LostCall => {
            for message in messages {
                if let Assistant(_, calls) = message {
                    calls.retain(|call| *call != id);
                }
            }
        }
        Fault::OtherId => messages[number] = Result(format!("other_{id}"), text),
    }
}

/// What was said, without what stands around it.
fn texts(messages: &[Message]) -> impl Iterator<Item = &str> {
    messages.iter().map(|message| match message {
        User(text) | Assistant(text, _) | Result(_, text) => &**text,
    })
}

#[test]
fn each_fault_is_found_in_the_session_of_each_agent() {
    let faults = [Fault::LostResult, Fault::SecondResult, Fault::LateResult, Fault::LostCall, Fault::OtherId];
    for agent in &AGENTS {
        let whole = session(&[2, 0, 3]);
        assert!(lint(agent.name, (agent.write)(&whole).as_bytes(), &Options::new()).findings.is_empty());
        for fault in faults {
            let mut messages = whole.clone();
            plant(&mut messages, fault, 1);
            let report = lint("session", (agent.write)(&messages).as_bytes(), &Options::new());
            assert_eq!(report.format, Some(agent.name));
            // Claude Code puts it right itself, and the Responses API takes a result anywhere after its call.
            let is_none = matches!(agent.name, "claude-code" | "codex") && matches!(fault, Fault::LateResult);
            assert_eq!(
                report.findings.is_empty(),
                is_none,
                "{} {fault:?}: {:?}",
                agent.name,
                report.findings
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn up_to_five_faults_of_a_session_are_fixed_and_nothing_is_lost(
        turns in proptest::collection::vec(0_usize..4, 1..5),
        faults in proptest::collection::vec(
            (prop_oneof![Just(Fault::LostResult), Just(Fault::SecondResult), Just(Fault::LateResult), Just(Fault::LostCall), Just(Fault::OtherId)], any::<prop::sample::Index>()),
            0..=5,
        ),
    ) {
        for agent in &AGENTS {
            let mut messages = session(&turns);
            for (fault, at) in &faults {
                plant(&mut messages, *fault, at.index(1000));
            }
            let text = (agent.write)(&messages);
            let report = lint("session", text.as_bytes(), &Options::new());
            prop_assert_eq!(report.format, Some(agent.name));
            if faults.is_empty() {
                prop_assert!(report.findings.is_empty(), "{}: {:?}", agent.name, report.findings);
            }
            for unsafely in [false, true] {
                let how = FixOptions::new().unsafe_fixes(unsafely).accepted(true);
                let fixed = fix("session", text.as_bytes(), &Options::new(), &how);
                let now = String::from_utf8_lossy(&fixed.bytes);
                for said in texts(&messages) {
                    prop_assert!(now.contains(said), "{}: `{}` is lost in\n{}\nof\n{}", agent.name, said, now, text);
                }
                if unsafely {
                    let left: Vec<_> = fixed.report().findings.iter().map(|found| (found.rule, &found.spot.pointer)).collect();
                    prop_assert!(left.is_empty(), "{}: {:?} is left in\n{}\nof\n{}", agent.name, left, now, text);
                }
                prop_assert!(fix("session", &fixed.bytes, &Options::new(), &how).is_unchanged(), "{}: {}", agent.name, text);
            }
        }
    }
}
