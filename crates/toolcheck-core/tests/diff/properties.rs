//! What holds for any conversation.

use proptest::prelude::*;
use serde_json::{Map, json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Feature, Reasoning, Turn};
use toolcheck_core::diff::{Kind, Level};
use toolcheck_core::{Format, formats};
use toolcheck_json::Document;

use super::{Seen, compare, compare_texts, held};

fn format() -> impl Strategy<Value = &'static Format> {
    prop::sample::select(formats::ALL.to_vec())
}

/// Words that repeat: few, so that much is equal.
fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["yes", "no", "go on", "{\"a\": [1.0, null]}", "22", "\u{e4} \\ \"\n\u{1F600}"])
        .prop_map(str::to_owned)
}

/// The calls of a turn, each with its result.
type Step = (Option<(String, bool)>, Option<String>, Vec<(usize, String, String, bool)>);

fn step() -> impl Strategy<Value = Step> {
    let call = (0..3_usize, word(), word(), any::<bool>());
    (prop::option::of((word(), any::<bool>())), prop::option::of(word()), prop::collection::vec(call, 1..4))
}

/// Conversations in which everything is told apart by a number (`is_unique`), or much is the same.
fn conversations(is_unique: bool) -> impl Strategy<Value = Conversation> {
    let rounds = prop::collection::vec((word(), prop::collection::vec(step(), 0..3), word()), 1..4);
    rounds.prop_map(move |rounds| {
        let mut next = 0;
        let mut own = |text: &str| {
            next += 1;
            if is_unique { format!("{text} #{next}#") } else { text.to_owned() }
        };
        let (mut turns, mut ids) = (Vec::new(), 0);
        for (question, steps, answer) in rounds {
            turns.push(Turn::User(own(&question)));
            for (reasoning, text, calls) in steps {
                let mut said = Assistant::new(text.map(|text| own(&text)).unwrap_or_default());
                if let Some((text, is_signed)) = reasoning {
                    let text = own(&text);
                    let signature = is_signed.then(|| format!("sig{}", text.len()));
                    said = said.with_reasoning(Reasoning::new(text, signature));
                }
                let (mut made, mut outputs) = (Vec::new(), Vec::new());
                for (place, (tool, argument, result, failed)) in calls.into_iter().enumerate() {
                    let mut arguments = Map::new();
                    arguments.insert("for".to_owned(), json!(own(&argument)));
                    ids += 1;
                    let tool = if is_unique { place } else { tool };
                    let call = Call::new(format!("call{ids:05}"), format!("tool_{tool}"), arguments);
                    let mut output = call.output(own(&result));
                    output.failed = failed;
                    made.push(call);
                    outputs.push(output);
                }
                turns.push(Turn::Assistant(said.with_calls(made)));
                turns.push(Turn::Results(outputs));
            }
            turns.push(Turn::Assistant(Assistant::new(own(&answer))));
        }
        Conversation::new(turns)
    })
}

fn changes(before: &Conversation, after: &Conversation, format: &'static Format) -> Vec<Seen> {
    let bodies = [before, after].map(|conversation| format.write_request(conversation).body);
    compare((&bodies[0], format), (&bodies[1], format)).1
}

/// The kinds of the changes, but for tools, which a request declares if they are called.
fn kinds(seen: &[Seen]) -> Vec<(Kind, Level)> {
    let seen = seen.iter().filter(|seen| !matches!(seen.kind, Kind::ToolLost | Kind::ToolAdded));
    seen.map(|seen| (seen.kind, seen.level)).collect()
}

/// Whether exactly this is lost, of which the first has this text.
fn loses(
    [before, after]: [&Conversation; 2],
    format: &'static Format,
    lost: &[Kind],
    text: &str,
) -> Result<(), TestCaseError> {
    let seen = changes(before, after, format);
    let expected: Vec<_> = lost.iter().map(|kind| (*kind, Level::Loss)).collect();
    prop_assert_eq!(kinds(&seen), expected, "{}: {:#?}", format.id, seen);
    let first = seen.iter().find(|seen| seen.kind == lost[0]).unwrap();
    prop_assert_eq!(&first.after, &None);
    let body = format.write_request(before).body;
    let found = body.pointer(first.before.as_ref().unwrap()).unwrap().to_string();
    prop_assert!(found.contains(&marker(text)), "{}", found);
    Ok(())
}

/// The numbers of the turns of which this holds.
fn turns(conversation: &Conversation, is_wanted: impl Fn(&Turn) -> bool) -> Vec<usize> {
    (0..conversation.turns.len()).filter(|number| is_wanted(&conversation.turns[*number])).collect()
}

fn marker(text: &str) -> String {
    let from = text.find('#').unwrap();
    text[from..].to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_differs_from_itself(conversation in conversations(false), format in format()) {
        prop_assert_eq!(changes(&conversation, &conversation, format), []);
    }

    /// In two formats, a conversation differs in nothing but form and what the second one cannot hold.
    #[test]
    fn formats_say_the_same(
        conversation in conversations(false), before in format(), after in format()
    ) {
        // What the first one does not hold, the second one cannot lose.
        let held = held(&conversation, before);
        let bodies = [before.write_request(&held).body, after.write_request(&held).body];
        let (found, seen) = compare((&bodies[0], before), (&bodies[1], after));
        prop_assert!(
            found.level().is_none_or(|level| level == Level::Form),
            "{} to {}: {:#?}\n{}\n{}", before.id, after.id, seen, &bodies[0], &bodies[1]
        );
        prop_assert_eq!(found.counts.calls.kept, found.counts.calls.before);
        prop_assert_eq!(found.counts.results.kept, found.counts.results.before);
        prop_assert_eq!(found.counts.texts.kept, found.counts.texts.before);
    }

    #[test]
    fn a_dropped_result_is_lost(
        conversation in conversations(true), format in format(), which: prop::sample::Index
    ) {
        let (before, mut after) = (conversation.clone(), conversation);
        let turns = turns(&before, |turn| matches!(turn, Turn::Results(_)));
        prop_assume!(!turns.is_empty());
        let turn = *which.get(&turns);
        let Turn::Results(outputs) = &mut after.turns[turn] else { unreachable!() };
        let dropped = outputs.remove(which.index(outputs.len()));
        if outputs.is_empty() {
            after.turns.remove(turn);
        }
        loses([&before, &after], format, &[Kind::ResultLost], &dropped.text)?;
    }

    /// Without its call, a result is lost too, or belongs to no call.
    #[test]
    fn a_dropped_call_is_lost(
        conversation in conversations(true), format in format(), which: prop::sample::Index, with_result: bool
    ) {
        let (before, mut after) = (conversation.clone(), conversation);
        let turns = turns(&before, |turn| matches!(turn, Turn::Results(_)));
        prop_assume!(!turns.is_empty());
        let with_result = with_result || !format.can_hold(Feature::CallIds);
        let turn = *which.get(&turns);
        let Turn::Assistant(said) = &mut after.turns[turn - 1] else { unreachable!() };
        let at = which.index(said.calls.len());
        let dropped = said.calls.remove(at);
        let is_empty = said.calls.is_empty() && said.text.is_empty() && said.reasoning.is_empty();
        let Turn::Results(outputs) = &mut after.turns[turn] else { unreachable!() };
        if with_result {
            outputs.remove(at);
        }
        if outputs.is_empty() {
            after.turns.remove(turn);
        }
        if is_empty {
            after.turns.remove(turn - 1);
        }
        let result = if with_result { Kind::ResultLost } else { Kind::ResultOrphaned };
        let text = dropped.arguments["for"].as_str().unwrap();
        loses([&before, &after], format, &[Kind::CallLost, result], text)?;
    }

    #[test]
    fn a_dropped_text_is_lost(
        conversation in conversations(true), format in format(), which: prop::sample::Index
    ) {
        let (before, mut after) = (conversation.clone(), conversation);
        let has_text = |turn: &Turn| match turn {
            Turn::User(_) => true,
            Turn::Assistant(said) => !said.text.is_empty(),
            _ => false,
        };
        let turns = turns(&after, has_text);
        let turn = *which.get(&turns);
        let dropped = match &mut after.turns[turn] {
            Turn::User(text) => std::mem::take(text),
            Turn::Assistant(said) => std::mem::take(&mut said.text),
            _ => unreachable!(),
        };
        let is_empty = match &after.turns[turn] {
            Turn::Assistant(said) => said.calls.is_empty() && said.reasoning.is_empty(),
            _ => true,
        };
        if is_empty {
            after.turns.remove(turn);
        }
        loses([&before, &after], format, &[Kind::TextLost], &dropped)?;
    }

    #[test]
    fn dropped_reasoning_is_lost(
        conversation in conversations(true), format in format(), which: prop::sample::Index
    ) {
        let held = held(&conversation, format);
        let (before, mut after) = (held.clone(), held);
        let turns = turns(&after, |turn| matches!(turn, Turn::Assistant(said) if !said.reasoning.is_empty()));
        prop_assume!(!turns.is_empty());
        let turn = *which.get(&turns);
        let Turn::Assistant(said) = &mut after.turns[turn] else { unreachable!() };
        let dropped = said.reasoning.remove(0);
        loses([&before, &after], format, &[Kind::ReasoningLost], &dropped.text)?;
    }

    /// Two results that have changed places answer each other's calls, unless ids say otherwise, or names for Gemini.
    #[test]
    fn swapped_results_are_found(
        conversation in conversations(true), format in format(), which: prop::sample::Index, ids_too: bool
    ) {
        let (mut before, mut after) = (conversation.clone(), conversation);
        let turns = turns(&before, |turn| matches!(turn, Turn::Results(outputs) if outputs.len() > 1));
        prop_assume!(!turns.is_empty());
        let turn = *which.get(&turns);
        let Turn::Results(outputs) = &mut after.turns[turn] else { unreachable!() };
        // Whether a tool failed is said beside its result.
        outputs.iter_mut().for_each(|output| output.failed = false);
        before.turns[turn] = Turn::Results(outputs.clone());
        let at = which.index(outputs.len() - 1);
        outputs.swap(at, at + 1);
        if !ids_too {
            let (one, other) = outputs.split_at_mut(at + 1);
            std::mem::swap(&mut one[at].call_id, &mut other[0].call_id);
            std::mem::swap(&mut one[at].name, &mut other[0].name);
        }
        let seen = changes(&before, &after, format);
        let swapped = [(Kind::ResultReattached, Level::Loss); 2];
        let Turn::Results(outputs) = &before.turns[turn] else { unreachable!() };
        let is_named = format.id == "gemini" && outputs[at].name != outputs[at + 1].name;
        if ids_too && (format.can_hold(Feature::CallIds) || is_named) {
            prop_assert_eq!(kinds(&seen), [(Kind::ResultMoved, Level::Form)], "{}: {:#?}", format.id, seen);
        } else {
            prop_assert_eq!(kinds(&seen), swapped, "{}: {:#?}", format.id, seen);
        }
    }

    #[test]
    fn renamed_ids_are_one_change(conversation in conversations(false), format in format()) {
        let mut after = conversation.clone();
        for turn in &mut after.turns {
            match turn {
                Turn::Assistant(said) => {
                    said.calls.iter_mut().for_each(|call| call.id = call.id.replace("call", "othr"));
                }
                Turn::Results(outputs) => {
                    outputs.iter_mut().for_each(|output| output.call_id = output.call_id.replace("call", "othr"));
                }
                _ => {}
            }
        }
        let has_ids = format.can_hold(Feature::CallIds) && conversation.counts().0 > 0;
        let expected: Vec<_> = has_ids.then_some((Kind::IdRenamed, Level::Form)).into_iter().collect();
        prop_assert_eq!(kinds(&changes(&conversation, &after, format)), expected);
    }

    /// What is lost in one direction is added in the other, and what is kept is kept in both.
    #[test]
    fn both_directions_agree(
        before in conversations(false), after in conversations(false), format in format()
    ) {
        let bodies = [&before, &after].map(|conversation| format.write_request(conversation).body);
        let there = compare((&bodies[0], format), (&bodies[1], format)).0;
        let back = compare((&bodies[1], format), (&bodies[0], format)).0;
        prop_assert_eq!(there.counts.calls.before, back.counts.calls.after);
        for diff in [&there, &back] {
            let count = |kinds: &[Kind]| {
                diff.changes.iter().filter(|change| kinds.contains(&change.kind)).count()
            };
            let calls = diff.counts.calls;
            prop_assert_eq!(calls.kept + count(&[Kind::CallLost, Kind::CallChanged]), calls.before);
        }
    }

    #[test]
    fn any_bytes_are_compared(one: Vec<u8>, other: Vec<u8>, format in format()) {
        let texts = [one, other].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let wrap = |text: &str| format!("{{\"messages\": [{text}], \"contents\": [{text}], \"input\": [{text}]}}");
        let texts = texts.map(|text| wrap(&text));
        let is_read = |text: &String| format.read(Document::read(text.as_bytes()).root()).is_some();
        if texts.iter().all(is_read) {
            compare_texts((&texts[0], format), (&texts[1], format));
        }
    }
}

/// The cost grows as the number of events, also if all are equal, or none is in order.
#[test]
fn the_cost_is_linear() {
    let call = |number: usize, name: &str| {
        let mut arguments = Map::new();
        arguments.insert("n".to_owned(), json!(number));
        Call::new(format!("c{number}"), name, arguments)
    };
    let conversation = |numbers: &[usize], name: &str, text: &dyn Fn(usize) -> String| {
        let mut turns = Vec::new();
        for number in numbers {
            let call = call(*number, name);
            let output = call.output(text(*number));
            turns.push(Turn::Assistant(Assistant::new(text(*number)).with_calls(vec![call])));
            turns.push(Turn::Results(vec![output]));
            turns.push(Turn::User(text(*number)));
        }
        Conversation::new(turns)
    };
    let steps = |size: usize, shape: usize| {
        let up: Vec<usize> = (0..size).collect();
        let down: Vec<usize> = (0..size).rev().collect();
        let (same, own) = (|_: usize| "x".to_owned(), |number: usize| format!("t{number}"));
        let other = |number: usize| format!("u{number}");
        let zeros = vec![0; size];
        let (before, after) = match shape {
            0 => (conversation(&up, "a", &own), conversation(&up, "a", &own)),
            1 => (conversation(&zeros, "a", &same), conversation(&zeros[1..], "a", &same)),
            2 => (conversation(&up, "a", &own), conversation(&down, "a", &own)),
            3 => (conversation(&up, "a", &own), conversation(&up, "b", &other)),
            4 => (conversation(&up, "a", &same), conversation(&down, "b", &same)),
            _ => (conversation(&up, "a", &own), conversation(&zeros, "b", &same)),
        };
        let format = super::format(if shape.is_multiple_of(2) { "anthropic" } else { "ollama" });
        let bodies = [format.write_request(&before).body, format.write_request(&after).body];
        let found = compare((&bodies[0], format), (&bodies[1], format)).0;
        let counts = found.counts;
        let events: usize =
            [counts.calls, counts.results, counts.texts].iter().map(|count| count.before + count.after).sum();
        (found.steps, events)
    };
    for shape in 0..6 {
        let (small, large) = (steps(250, shape), steps(2000, shape));
        assert!(large.0 <= small.0 * 9, "shape {shape}: {small:?} {large:?}");
        assert!(large.0 <= large.1 * 40, "shape {shape}: {large:?}");
    }
}
