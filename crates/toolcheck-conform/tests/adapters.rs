//! Adapters with planted faults: each is found and comes down to its smallest conversation.

use std::convert::Infallible;

use serde_json::Value as Json;
use toolcheck_conform::adapter::{
    Answer, BodyKind, Examination, Gravity, Plan, Question, TestConversation, Translation, bodies,
    conversations, examine, generated, shrink, steps,
};
use toolcheck_core::{Format, formats};

fn format(id: &str) -> &'static Format {
    formats::find(id).unwrap()
}

fn plan(from: &str, to: &str, generated_cases: usize) -> Plan {
    let translation = Translation::new(format(from), format(to));
    Plan {
        translations: BodyKind::ALL.into_iter().map(|kind| (kind, translation.clone())).collect(),
        conversations: conversations().iter().cloned().chain(generated(1, generated_cases)).collect(),
        model: None,
    }
}

fn run(plan: &Plan, mut adapter: impl FnMut(&Question<'_>) -> Answer) -> Examination {
    let Ok(examination) = examine(plan, |question| Ok::<_, Infallible>(adapter(question)));
    examination
}

fn lines(examination: &Examination) -> Vec<String> {
    let line = |found: &toolcheck_conform::adapter::ReducedFault| {
        let fault = &found.fault;
        format!(
            "{} {} {} {}: {}",
            fault.gravity.as_str(),
            found.kind.as_str(),
            fault.origin.as_str(),
            fault.class,
            found.before
        )
    };
    examination.found.iter().map(line).collect()
}

#[test]
fn an_adapter_that_changes_nothing_has_no_faults_in_any_format() {
    for format in formats::ALL {
        let examination =
            run(&plan(format.id, format.id, 12), |question| Answer::Body(question.body.clone()));
        assert_eq!(lines(&examination), [""; 0], "{}", format.id);
        let of = |kind: BodyKind| examination.cases.iter().filter(|case| case.kind == kind).count();
        assert!(of(BodyKind::Request) >= 20, "{}: {} requests", format.id, of(BodyKind::Request));
        assert!(of(BodyKind::Response) >= 20 && of(BodyKind::Stream) >= 20, "{}", format.id);
    }
}

#[test]
fn the_conversations_are_as_their_files_are_called_and_differ() {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/conversations")).unwrap();
    assert_eq!(files.count(), conversations().len());
    for (number, conversation) in conversations().iter().enumerate() {
        assert!(conversation.is_open(), "{}", conversation.id);
        assert!(
            conversations()[..number]
                .iter()
                .all(|other| other.id != conversation.id && !other.says_as(conversation)),
            "{}",
            conversation.id
        );
    }
    assert_eq!(generated(7, 20), generated(7, 30)[..20]);
    assert_ne!(generated(7, 20), generated(8, 20));
    assert!(generated(9, 300).iter().all(TestConversation::is_open));
}

/// Changes a Chat request in place.
fn chat(change: impl Fn(&mut Vec<Json>)) -> impl Fn(&Question<'_>) -> Answer {
    move |question| {
        let mut body = question.body.clone();
        if let Some(messages) = body.get_mut("messages").and_then(Json::as_array_mut) {
            change(messages);
        }
        Answer::Body(body)
    }
}

fn requests(generated_cases: usize) -> Plan {
    let mut plan = plan("openai-chat", "openai-chat", generated_cases);
    plan.translations.truncate(1);
    plan
}

#[test]
fn tools_and_the_reason_to_stop_are_the_same_in_each_pair_of_formats() {
    let is_of = |class: &str| {
        ["tool-changed", "stop-changed", "parameter-lost", "parameter-changed"].contains(&class)
    };
    let ids = ["one-call", "cut-off-answer", "described-tools"];
    for from in formats::ALL {
        for to in formats::ALL {
            let mut plan = plan(from.id, to.id, 0);
            plan.conversations.retain(|conversation| ids.contains(&&*conversation.id));
            let examination = run(&plan, |question| {
                let body = bodies::body(question.conversation, question.kind, question.translation.to);
                body.map_or_else(|| Answer::Skipped("no way".to_owned()), Answer::Body)
            });
            let mut found = examination.found.iter().map(|found| &*found.fault.class);
            assert!(!found.any(is_of), "{} to {}: {:#?}", from.id, to.id, lines(&examination));
        }
    }
}

#[test]
fn what_the_model_reads_of_tools_and_why_it_stopped_is_compared() {
    let text = |body: &Json| body.to_string();
    for (from, to, kinds) in [
        (
            r#""finish_reason":"tool_calls""#,
            r#""finish_reason":"stop""#,
            "response stop-changed stream stop-changed",
        ),
        (
            r#""finish_reason":"length""#,
            r#""finish_reason":"stop""#,
            "response stop-changed stream stop-changed",
        ),
        (r#""description":"The wind in the next hours.","#, "", "request tool-changed"),
        (r#""description":"For how many hours.","#, "", "request tool-changed"),
        (r#""parallel_tool_calls":false,"#, "", "request parameter-lost"),
        (r#""tool_choice":"required","#, "", "request parameter-lost"),
    ] {
        let examination = run(&plan("openai-chat", "openai-chat", 0), |question| {
            Answer::Body(serde_json::from_str(&text(question.body).replace(from, to)).unwrap())
        });
        let told =
            examination.found.iter().map(|found| format!("{} {}", found.kind.as_str(), found.fault.class));
        assert_eq!(told.collect::<Vec<_>>().join(" "), kinds, "{from}");
    }
}

#[test]
fn results_that_change_sides_come_down_to_two_calls() {
    let swap = chat(|messages| {
        let results: Vec<usize> = (0..messages.len()).filter(|at| messages[*at]["role"] == "tool").collect();
        for pair in results.windows(2).filter(|pair| pair[1] == pair[0] + 1) {
            let [one, two] = [pair[0], pair[1]].map(|at| messages[at]["tool_call_id"].clone());
            messages[pair[0]]["tool_call_id"] = two;
            messages[pair[1]]["tool_call_id"] = one;
        }
    });
    let examination = run(&requests(20), swap);
    let found: Vec<_> =
        examination.found.iter().filter(|found| found.fault.gravity == Gravity::Fail).collect();
    assert!(!found.is_empty());
    for found in found {
        assert!(found.is_smallest, "{}", found.fault.class);
        let calls: usize = found.conversation.turns.iter().map(|turn| turn.calls.len()).sum();
        assert_eq!(calls, 2, "{}: {}", found.fault.class, found.before);
    }
    assert!(
        lines(&examination).iter().any(|line| line.contains("diff result-reattached")),
        "{:#?}",
        lines(&examination)
    );
}

#[test]
fn an_empty_result_that_is_left_out_is_seen_by_both_judges() {
    let drop_empty =
        chat(|messages| messages.retain(|message| message["role"] != "tool" || message["content"] != ""));
    let examination = run(&requests(0), drop_empty);
    let told: Vec<_> = examination.found.iter().map(|found| &*found.fault.class).collect();
    assert_eq!(told, ["unanswered-tool-call", "result-lost"]);
    for found in &examination.found {
        assert_eq!((found.cases.as_slice(), found.is_smallest), (&["empty-result".to_owned()][..], true));
        let messages = found.before["messages"].as_array().unwrap();
        let said: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(said, ["user", "assistant", "tool"]);
        assert_eq!(found.after.as_ref().unwrap()["messages"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn an_adapter_that_says_no_breaks_or_makes_nonsense_is_told_apart() {
    let answer = |question: &Question<'_>| match question.kind {
        BodyKind::Request if question.body.to_string().contains("Ada") => {
            Answer::Errored("no Ada".to_owned())
        }
        BodyKind::Request if question.conversation.undeclared => Answer::Skipped("not now".to_owned()),
        BodyKind::Request => Answer::Body(question.body.clone()),
        BodyKind::Response => Answer::Broke("it ended".to_owned()),
        _ => Answer::Body(Json::from("nonsense")),
    };
    let examination = run(&plan("anthropic", "anthropic", 0), answer);
    let told: Vec<(&str, &str)> =
        examination.found.iter().map(|found| (found.kind.as_str(), found.fault.class.as_str())).collect();
    assert!(told.contains(&("request", "errored")), "{told:?}");
    assert!(told.contains(&("response", "broke")), "{told:?}");
    assert!(told.contains(&("stream", "unreadable")), "{told:?}");
    assert_eq!(examination.cases.iter().filter(|case| case.skipped.is_some()).count(), 1);
}

#[test]
fn an_adapter_that_answers_nothing_is_given_up() {
    let asked = std::cell::Cell::new(0);
    let examination = run(&plan("openai-chat", "openai-chat", 12), |_| {
        asked.set(asked.get() + 1);
        Answer::Broke("it took longer than 60 s".to_owned())
    });
    assert!(asked.get() < 100, "{}", asked.get());
    let broken = examination.cases.iter().filter(|case| !case.faults.is_empty()).count();
    assert_eq!(broken, 3);
    assert!(examination.cases[3..].iter().all(|case| case.skipped.is_some()));
}

#[test]
fn a_gateway_may_have_names_of_its_own_for_models() {
    let rename = |question: &Question<'_>| {
        let mut body = question.body.clone();
        body["model"] = Json::from("another");
        Answer::Body(body)
    };
    let mut plan = requests(0);
    plan.model = Some("a-model".to_owned());
    assert!(lines(&run(&plan, rename)).iter().any(|line| line.contains("parameter-changed")));
    let (_, translation) = plan.translations.remove(0);
    plan.translations = vec![(BodyKind::Request, translation.with_renamed_model())];
    assert_eq!(lines(&run(&plan, rename)), [""; 0]);
}

#[test]
fn a_fault_that_only_made_up_conversations_have_is_found_too() {
    let drop_third = chat(|messages| {
        for message in messages {
            if let Some(calls) = message.get_mut("tool_calls").and_then(Json::as_array_mut) {
                calls.truncate(2);
            }
        }
    });
    let examination = run(&requests(60), drop_third);
    let lost = examination.found.iter().find(|found| found.fault.class == "call-lost").unwrap();
    assert!(lost.cases.iter().all(|case| case.starts_with("generated-1-")));
    assert_eq!(lost.conversation.turns.len(), 2, "{}", lost.before);
    assert_eq!(lost.conversation.turns[1].calls.len(), 3, "{}", lost.before);
}

type Property = &'static dyn Fn(&TestConversation) -> bool;

#[test]
fn what_is_shrunk_still_fails_and_no_single_step_makes_it_smaller() {
    fn calls(conversation: &TestConversation) -> usize {
        conversation.turns.iter().map(|turn| turn.calls.len()).sum()
    }
    let properties: [(&str, Property); 4] = [
        ("three calls", &|conversation| calls(conversation) >= 3),
        ("an id with a colon", &|conversation| {
            conversation
                .turns
                .iter()
                .flat_map(|turn| &turn.calls)
                .any(|call| call.id.as_ref().is_some_and(|id| id.contains(':')))
        }),
        ("two results that differ", &|conversation| {
            conversation
                .turns
                .iter()
                .any(|turn| turn.calls.windows(2).any(|pair| pair[0].result != pair[1].result))
        }),
        ("a text of the model before a call", &|conversation| {
            conversation.turns.iter().any(|turn| !turn.text.is_empty() && !turn.calls.is_empty())
        }),
    ];
    let all = generated(3, 200);
    for conversation in &all {
        let size = conversation.size();
        assert!(steps(conversation).iter().all(|step| step.size() < size), "{}", conversation.id);
    }
    for (name, fails) in properties {
        let mut met = 0;
        for conversation in all.iter().filter(|conversation| fails(conversation)) {
            let (smallest, is_smallest) = shrink(conversation, usize::MAX, fails);
            assert!(is_smallest && fails(&smallest), "{name}: {}", conversation.id);
            assert!(steps(&smallest).iter().all(|step| !fails(step)), "{name}: {}", conversation.id);
            met += 1;
        }
        assert!(met >= 10, "{name}: only {met}");
    }
    let (_, is_smallest) = shrink(&conversations()[2], 1, |_| true);
    assert!(!is_smallest);
}
