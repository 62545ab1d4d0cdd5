//! Fixes of the sessions of agents in which several things went wrong.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;
use toolcheck_core::{Level, RuleId};
use toolcheck_lint::{Finding, FixOptions, Options, fix, lint};

use crate::next_request::{differing, request_of};

#[derive(Debug, Clone)]
enum Message {
    User(String),
    Assistant(String, Vec<String>),
    Result(String, String),
    /// A record that is gone, which the next one may name.
    Lost,
}

use Message::{Assistant, Lost, Result, User};

/// How an agent writes its sessions.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Agent {
    begin: String,
    first: Option<String>,
    user: String,
    assistant: String,
    calls: String,
    call: String,
    join: String,
    result: String,
    results: Option<String>,
    between: String,
    end: String,
}

static AGENTS: LazyLock<BTreeMap<String, Agent>> =
    LazyLock::new(|| toml::from_str(include_str!("fix_sessions.toml")).unwrap());

impl Agent {
    fn write(&self, messages: &[Message]) -> String {
        let is_result = |message: &Message| matches!(message, Result(..));
        // The results of a turn may be one record.
        let is_joined =
            |one: &Message, next: &Message| self.results.is_some() && is_result(one) && is_result(next);
        let records: Vec<String> = messages
            .chunk_by(is_joined)
            .enumerate()
            .filter(|(_, group)| !matches!(group, [Lost]))
            .map(|(number, group)| {
                let each: Vec<String> = group.iter().map(|message| self.message(message, number)).collect();
                let wrap = self.results.as_ref().filter(|_| is_result(&group[0]));
                let record =
                    wrap.map_or_else(|| each.concat(), |wrap| wrap.replace("RESULTS", &each.join(", ")));
                let parent =
                    number.checked_sub(1).map_or("null".to_owned(), |before| format!("\"r{before}\""));
                record.replace("PARENT", &parent).replace("NUMBER", &number.to_string())
            })
            .collect();
        let begin = self.begin.replace("COUNT", &records.len().to_string());
        format!("{begin}{}{}", records.join(&self.between), self.end)
    }

    fn message(&self, message: &Message, number: usize) -> String {
        let with = |record: &str, text: &str| record.replace("TEXT", &json!(text).to_string());
        match message {
            Lost => String::new(),
            User(text) => {
                let first = self.first.as_ref().filter(|_| number == 0);
                with(&self.user, &first.map_or_else(|| text.clone(), |first| first.replace("TEXT", text)))
            }
            Assistant(text, calls) => {
                let each: Vec<String> = calls.iter().map(|id| self.call.replace("ID", id)).collect();
                let calls = self.calls.replace("CALLS", &each.join(&self.join));
                with(&self.assistant, text).replace("CALLS", if each.is_empty() { "" } else { &calls })
            }
            Result(id, text) => with(&self.result.replace("ID", id), text),
        }
    }
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
    LostRecord,
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
        Fault::LostRecord => messages[number] = Lost,
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
    messages.iter().filter_map(|message| match message {
        User(text) | Assistant(text, _) | Result(_, text) => Some(&**text),
        Lost => None,
    })
}

#[test]
fn each_fault_is_found_in_the_session_of_each_agent() {
    let faults = [Fault::LostResult, Fault::SecondResult, Fault::LateResult, Fault::LostCall, Fault::OtherId];
    for (name, agent) in &*AGENTS {
        let whole = session(&[2, 0, 3]);
        assert!(lint(name, agent.write(&whole).as_bytes(), &Options::new()).findings.is_empty());
        for fault in faults {
            let mut messages = whole.clone();
            plant(&mut messages, fault, 1);
            let text = agent.write(&messages);
            assert_eq!(differing(name, text.as_bytes()), Some(Vec::new()), "{name} {fault:?}");
            let report = lint("session", text.as_bytes(), &Options::new());
            assert_eq!(report.format, Some(&**name));
            // The Responses API takes a result anywhere after its call.
            let is_none = &**name == "codex" && matches!(fault, Fault::LateResult);
            assert_eq!(report.findings.is_empty(), is_none, "{} {fault:?}: {:?}", name, report.findings);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn up_to_five_faults_of_a_session_are_fixed_and_nothing_is_lost(
        turns in proptest::collection::vec(0_usize..4, 1..5),
        faults in proptest::collection::vec(
            (prop_oneof![Just(Fault::LostResult), Just(Fault::LostRecord), Just(Fault::SecondResult), Just(Fault::LateResult), Just(Fault::LostCall), Just(Fault::OtherId)], any::<prop::sample::Index>()),
            0..=5,
        ),
    ) {
        for (name, agent) in &*AGENTS {
            let mut messages = session(&turns);
            for (fault, at) in &faults {
                plant(&mut messages, *fault, at.index(1000));
            }
            let text = agent.write(&messages);
            let report = lint("session", text.as_bytes(), &Options::new());
            prop_assert_eq!(report.format, Some(&**name));
            if faults.is_empty() {
                prop_assert!(report.findings.is_empty(), "{}: {:?}", name, report.findings);
            }
            for unsafely in [false, true] {
                let how = FixOptions::new().unsafe_fixes(unsafely).accepted(true);
                let fixed = fix("session", text.as_bytes(), &Options::new(), &how);
                let now = String::from_utf8_lossy(&fixed.bytes);
                for said in texts(&messages) {
                    prop_assert!(now.contains(said), "{}: `{}` is lost in\n{}\nof\n{}", name, said, now, text);
                }
                // Nothing leaves what is sent next.
                let sent = |bytes: &[u8]| request_of("session", bytes).map(|(text, ..)| text).unwrap_or_default();
                let (before, after) = (sent(text.as_bytes()), sent(&fixed.bytes));
                for said in texts(&messages).filter(|said| before.contains(said)) {
                    prop_assert!(after.contains(said), "{}: `{}` is sent no more in\n{}\nof\n{}", name, said, now, text);
                }
                if unsafely {
                    // What the agent leaves out itself has no fix: it answers the call before.
                    let is_left_out =
                        |found: &&Finding| found.rule == RuleId::LateToolResult && found.level == Level::Warning;
                    let found = fixed.report().findings.iter().filter(|found| !is_left_out(found));
                    let left: Vec<_> = found.map(|found| (found.rule, &found.spot.pointer)).collect();
                    prop_assert!(left.is_empty(), "{}: {:?} is left in\n{}\nof\n{}", name, left, now, text);
                }
                prop_assert!(fix("session", &fixed.bytes, &Options::new(), &how).is_unchanged(), "{}: {}", name, text);
            }
        }
    }
}
