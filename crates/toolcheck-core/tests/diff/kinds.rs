//! Each kind of change, in each pair of formats that can hold it.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Feature, Reasoning, ToolOutput, Turn};
use toolcheck_core::diff::{Kind, Level};
use toolcheck_core::{Format, formats};

use super::{Seen, compare, format, held};

fn call(id: &str, name: &str, number: u64) -> Call {
    let mut arguments = Map::new();
    arguments.insert("number".to_owned(), json!(number));
    Call::new(id, name, arguments)
}

/// Two questions, each with calls, results and an answer.
fn conversation() -> Conversation {
    let calls =
        [call("aaaaaaaa1", "search", 1), call("aaaaaaaa2", "search", 2), call("aaaaaaaa3", "read", 3)];
    let mut outputs: Vec<_> =
        calls.iter().zip(["one", "two", "three"]).map(|(call, text)| call.output(text)).collect();
    outputs[2].failed = true;
    let [one, two, three] = calls;
    let first = Assistant::new("I will look.").with_reasoning(Reasoning::new("Two are needed.", None));
    Conversation::new(vec![
        Turn::User("Find both.".to_owned()),
        Turn::Assistant(first.with_calls(vec![one, two])),
        Turn::Results(outputs[..2].to_vec()),
        Turn::Assistant(Assistant::new("There they are.")),
        Turn::User("And the third?".to_owned()),
        Turn::Assistant(Assistant::new("").with_calls(vec![three])),
        Turn::Results(outputs[2..].to_vec()),
        Turn::Assistant(Assistant::new("It can't be read.")),
    ])
}

/// A change to the conversation, what it is, and what both formats must be able to say.
struct Planted {
    kind: Kind,
    level: Level,
    needs: &'static [Feature],
    plant: fn(&mut Conversation),
}

fn loss(kind: Kind, needs: &'static [Feature], plant: fn(&mut Conversation)) -> Planted {
    Planted { kind, level: Level::Loss, needs, plant }
}

fn change(kind: Kind, needs: &'static [Feature], plant: fn(&mut Conversation)) -> Planted {
    Planted { kind, level: Level::Change, needs, plant }
}

fn said(conversation: &mut Conversation, turn: usize) -> &mut Assistant {
    match &mut conversation.turns[turn] {
        Turn::Assistant(said) => said,
        turn => panic!("{turn:?}"),
    }
}

fn outputs(conversation: &mut Conversation, turn: usize) -> &mut Vec<ToolOutput> {
    match &mut conversation.turns[turn] {
        Turn::Results(outputs) => outputs,
        turn => panic!("{turn:?}"),
    }
}

fn planted() -> Vec<Planted> {
    const REASONING: &[Feature] = &[Feature::Reasoning, Feature::UnsignedReasoning];
    const IDS: &[Feature] = &[Feature::CallIds];
    vec![
        change(Kind::CallAdded, &[], |all| said(all, 5).calls.push(call("aaaaaaaa4", "other", 4))),
        change(Kind::CallDuplicated, IDS, |all| {
            let call = said(all, 5).calls[0].clone();
            said(all, 5).calls.push(call);
        }),
        loss(Kind::CallChanged, &[], |all| said(all, 5).calls[0].name = "write".to_owned()),
        loss(Kind::CallChanged, &[], |all| said(all, 1).calls[1].arguments["number"] = json!(22)),
        loss(Kind::ResultLost, &[], |all| drop(all.turns.remove(6))),
        loss(Kind::ResultChanged, &[], |all| outputs(all, 2)[1].text = "more".to_owned()),
        change(Kind::ResultDuplicated, IDS, |all| {
            let repeated = outputs(all, 2)[1].clone();
            outputs(all, 2).push(repeated);
        }),
        loss(Kind::ResultOrphaned, IDS, |all| outputs(all, 2)[1].call_id = "unknown01".to_owned()),
        change(Kind::ResultMoved, &[], |all| all.turns.swap(6, 7)),
        loss(Kind::TextLost, &[], |all| drop(all.turns.remove(4))),
        change(Kind::TextAdded, &[], |all| all.turns.push(Turn::User("One more.".to_owned()))),
        loss(Kind::TextChanged, &[], |all| all.turns[0] = Turn::User("Find nothing.".to_owned())),
        loss(Kind::ReasoningLost, REASONING, |all| said(all, 1).reasoning.clear()),
        change(Kind::ReasoningAdded, REASONING, |all| {
            said(all, 7).reasoning.push(Reasoning::new("New.", None));
        }),
        loss(Kind::ReasoningChanged, REASONING, |all| said(all, 1).reasoning[0].text.push_str(" Or three.")),
        loss(Kind::ErrorFlagLost, &[Feature::Failures], |all| outputs(all, 6)[0].failed = false),
        change(Kind::ErrorFlagAdded, &[Feature::Failures], |all| outputs(all, 2)[0].failed = true),
        change(Kind::TurnSplit, &[], |all| {
            // Each call with its own result, in a turn of its own.
            let second = said(all, 1).calls.remove(1);
            let result = outputs(all, 2).remove(1);
            all.turns.insert(3, Turn::Assistant(Assistant::new("").with_calls(vec![second])));
            all.turns.insert(4, Turn::Results(vec![result]));
        }),
    ]
}

/// The changes that are neither of form nor about the tools that are declared.
fn worse_than_form(seen: Vec<Seen>) -> Vec<(Kind, Level)> {
    let tools = [Kind::ToolLost, Kind::ToolAdded];
    let worse = seen.into_iter().filter(|seen| seen.level > Level::Form && !tools.contains(&seen.kind));
    worse.map(|seen| (seen.kind, seen.level)).collect()
}

/// A conversation in a format, without what another one cannot hold.
fn written(conversation: &Conversation, format: &Format, before: &Format) -> Json {
    format.write_request(&held(conversation, before)).body
}

#[test]
fn each_kind_is_found_in_each_pair_of_formats() {
    let mut pairs = 0;
    for Planted { plant, kind, level, needs } in planted() {
        for before in formats::ALL {
            for after in formats::ALL {
                let can_hold = |feature: &Feature| before.can_hold(*feature) && after.can_hold(*feature);
                if !needs.iter().all(can_hold) {
                    continue;
                }
                let mut changed = conversation();
                plant(&mut changed);
                let bodies = [written(&conversation(), before, before), written(&changed, after, before)];
                let (_, seen) = compare((&bodies[0], before), (&bodies[1], after));
                let seen = worse_than_form(seen);
                assert_eq!(seen, [(kind, level)], "{} to {}", before.id, after.id);
                pairs += 1;
                if matches!(kind, Kind::TurnSplit) {
                    let bodies = [written(&changed, after, after), written(&conversation(), before, after)];
                    let (_, seen) = compare((&bodies[0], after), (&bodies[1], before));
                    assert_eq!(worse_than_form(seen), [(Kind::TurnMerged, Level::Change)]);
                }
            }
        }
    }
    assert!(pairs > 700, "{pairs} pairs");
}

/// A case that a conversation without places cannot hold.
#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Case {
    /// What the case shows, where that is not plain.
    #[serde(default)]
    why: String,
    format: String,
    /// That of the conversation after the change, if it is another one.
    after_format: Option<String>,
    /// The kinds of what changed, each with its level, and with whether the format is the reason.
    changes: Vec<String>,
    /// Where the first change is in both.
    first: Option<(Option<String>, Option<String>)>,
    /// How the text of the first change ends.
    about: Option<String>,
    /// How many calls, results and texts are kept.
    kept: Option<[usize; 3]>,
    before: Json,
    after: Json,
}

fn cases() -> impl Iterator<Item = Case> {
    include_str!("changes.jsonl").lines().map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn each_case_has_exactly_its_changes() {
    for case in cases() {
        let formats = [&case.format, case.after_format.as_ref().unwrap_or(&case.format)].map(|id| format(id));
        let (found, seen) = compare((&case.before, formats[0]), (&case.after, formats[1]));
        let is_form = |seen: &Seen| if seen.inexpressible { " inexpressible" } else { "" };
        let line = |seen: &Seen| format!("{} {}{}", seen.kind, seen.level, is_form(seen));
        let changes: Vec<_> = seen.iter().map(line).collect();
        let about = format!("{}\n{}\n{}\n{seen:#?}", case.why, case.before, case.after);
        assert_eq!(changes, case.changes, "{about}");
        let first = seen.first().map(|first| (first.before.clone(), first.after.clone()));
        if let Some((before, after)) = case.first {
            let first = first.unwrap();
            assert!(before.is_none_or(|before| first.0 == Some(before)) && first.1 == after, "{about}");
        }
        assert!(case.about.is_none_or(|end| found.changes[0].about.ends_with(&end)), "{about}");
        let counts = [found.counts.calls, found.counts.results, found.counts.texts];
        assert!(case.kept.is_none_or(|kept| kept == counts.map(|count| count.kept)), "{about}");
    }
}

#[test]
fn every_kind_has_a_test() {
    let of_files = [Kind::ConversationLost, Kind::ConversationAdded];
    let of_requests = [Kind::ParameterLost, Kind::ParameterAdded, Kind::ParameterChanged];
    let mut tested: BTreeSet<Kind> = planted().iter().map(|planted| planted.kind).collect();
    tested.insert(Kind::TurnMerged);
    let changes = cases().flat_map(|case| case.changes);
    tested.extend(changes.map(|change| change.split(' ').next().unwrap().parse::<Kind>().unwrap()));
    tested.extend(of_files.into_iter().chain(of_requests));
    assert_eq!(tested, Kind::ALL.iter().copied().collect());
    let ids: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.id()).collect();
    assert_eq!(ids.len(), Kind::ALL.len());
    for kind in Kind::ALL {
        assert_eq!(kind.id().parse(), Ok(*kind));
    }
}

#[test]
fn the_page_has_every_kind_and_feature() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diff.md");
    let page = std::fs::read_to_string(path).unwrap();
    for kind in Kind::ALL {
        let row = format!("| `{}` | {} |\n", kind.id(), kind.summary());
        assert!(page.contains(&row), "{row}");
    }
    let head: String = formats::ALL.iter().map(|format| format!(" `{}` |", format.id)).collect();
    assert!(page.contains(&format!("| |{head}\n")), "{head}");
    for (feature, words) in [
        (Feature::CallIds, "ids of calls"),
        (Feature::Failures, "that a tool failed"),
        (Feature::Reasoning, "reasoning"),
        (Feature::UnsignedReasoning, "reasoning without a signature"),
        (Feature::Signatures, "signatures of reasoning"),
        (Feature::CallSignatures, "signatures of calls"),
        (Feature::ResultMedia, "media in results"),
        (Feature::TextOrder, "order of texts and calls in a turn"),
    ] {
        let holds = |format: &&Format| if format.can_hold(feature) { " yes |" } else { " no |" };
        let row: String = formats::ALL.iter().map(holds).collect();
        assert!(page.contains(&format!("| {words} |{row}\n")), "{words}: {row}");
    }
}
