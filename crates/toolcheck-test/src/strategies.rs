//! Strategies for property tests: conversations, and faults to plant in them.
//!
//! What they generate may become richer in any release, so a property should hold of whatever a provider accepts.

use proptest::prelude::*;
use serde_json::{Map, Value as Json};

use crate::check::known_format;
use crate::{Assistant, Call, Conversation, Reasoning, Turn};

/// Requests that the provider of a format accepts: [`conversations`] written in it, with their tools declared.
///
/// ```
/// use proptest::prelude::*;
/// use toolcheck_test::check;
/// use toolcheck_test::strategies::transcripts;
///
/// proptest!(|(request in transcripts("gemini"))| {
///     check(&request).assert_clean();
/// });
/// ```
///
/// # Panics
///
/// Where there is no such format.
#[track_caller]
pub fn transcripts(format: &str) -> impl Strategy<Value = Json> + use<> {
    let format = known_format(format);
    conversations().prop_map(move |conversation| format.write_request(&conversation).body)
}

/// Conversations that every provider accepts in its own format: a system text or none, reasoning
/// before some calls,
/// alternating turns, ids of nine letters and digits, each
/// call answered once and in order, an end that the model can go on from.
pub fn conversations() -> impl Strategy<Value = Conversation> {
    let rounds = (prop::collection::vec(round(), 0..4), prop::option::of(round()));
    (prop::option::of(text()), text(), rounds).prop_map(|(system, first, (rounds, last))| {
        let mut turns = vec![Turn::User(first)];
        for Round { steps, answer, question } in rounds {
            turns.extend(steps.into_iter().flatten());
            turns.push(Turn::Assistant(Assistant::new(answer)));
            turns.push(Turn::User(question));
        }
        // The request may also be the one that brings results.
        turns.extend(last.into_iter().flat_map(|round| round.steps).flatten());
        let mut conversation = Conversation::new(turns);
        conversation.system = system.unwrap_or_default();
        give_ids(&mut conversation);
        learn_from_failures(&mut conversation);
        conversation
    })
}

/// A question's way: calls and their results, the model's answer, and the next question.
#[derive(Debug, Clone)]
struct Round {
    steps: Vec<[Turn; 2]>,
    answer: String,
    question: String,
}

fn round() -> impl Strategy<Value = Round> {
    (prop::collection::vec(step(), 0..3), text(), text()).prop_map(|(steps, answer, question)| Round {
        steps,
        answer,
        question,
    })
}

/// Calls, and their results.
fn step() -> impl Strategy<Value = [Turn; 2]> {
    let call = (tool_name(), arguments(), any::<bool>(), text());
    let said = (prop::option::of(reasoning()), prop::option::of(text()));
    (said, prop::collection::vec(call, 1..5)).prop_map(|((reasoning, said), calls)| {
        let (mut calls_made, mut outputs) = (Vec::new(), Vec::new());
        for (name, arguments, failed, text) in calls {
            let call = Call::new("", name, arguments);
            let mut output = call.output(text);
            output.failed = failed;
            calls_made.push(call);
            outputs.push(output);
        }
        let said = Assistant::new(said.unwrap_or_default()).with_calls(calls_made);
        let said = reasoning.into_iter().fold(said, Assistant::with_reasoning);
        [Turn::Assistant(said), Turn::Results(outputs)]
    })
}

fn reasoning() -> impl Strategy<Value = Reasoning> {
    (text(), prop::option::of("[A-Za-z0-9+/]{16,40}"))
        .prop_map(|(text, signature)| Reasoning::new(text, signature))
}

fn tool_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["search", "read_file", "book_table", "weather", "calculate"])
        .prop_map(str::to_owned)
}

/// Texts with what needs care in JSON; never blank.
fn text() -> impl Strategy<Value = String> {
    "[a-z]{1,8}[ -~\u{e4}\u{df}\u{4e2d}\u{1F600}\n\t]{0,24}"
}

fn arguments() -> impl Strategy<Value = Map<String, Json>> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Json::Bool),
        any::<i32>().prop_map(Json::from),
        text().prop_map(Json::String),
        Just(Json::Null),
    ];
    let value =
        leaf.prop_recursive(2, 6, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Json::Array));
    prop::collection::vec(("[a-z_]{1,8}", value), 0..4).prop_map(|members| members.into_iter().collect())
}

/// Lets a call that failed work when it is made again right after: a model that repeats it for ever is a fault.
fn learn_from_failures(conversation: &mut Conversation) {
    let mut failed: Option<(String, Map<String, Json>)> = None;
    let mut made = Vec::new();
    for turn in &mut conversation.turns {
        match turn {
            Turn::Assistant(said) => made.clone_from(&said.calls),
            Turn::Results(outputs) => {
                for (call, output) in made.iter().zip(outputs) {
                    let this = (call.name.clone(), call.arguments.clone());
                    output.failed &= failed.as_ref() != Some(&this);
                    failed = output.failed.then_some(this);
                }
            }
            _ => {}
        }
    }
}

/// Gives every call an id of its own, and its result the same one.
fn give_ids(conversation: &mut Conversation) {
    let mut next = 0;
    let mut open: Vec<String> = Vec::new();
    for turn in &mut conversation.turns {
        match turn {
            Turn::Assistant(said) => {
                open.clear();
                for call in &mut said.calls {
                    call.id = format!("call{next:05}");
                    next += 1;
                    open.push(call.id.clone());
                }
            }
            Turn::Results(outputs) => {
                outputs.iter_mut().zip(&open).for_each(|(output, id)| output.call_id.clone_from(id));
            }
            _ => {}
        }
    }
}

/// A fault that can be planted in a conversation.
///
/// ```
/// use proptest::prelude::*;
/// use toolcheck_test::strategies::{conversations, faults};
/// use toolcheck_test::{check, write::write};
///
/// proptest!(|(mut conversation in conversations(), fault in faults(), at: prop::sample::Index)| {
///     if fault.plant(&mut conversation, at).is_some() {
///         let request = write(&conversation, "anthropic").expect("there is such a format");
///         let rule = fault.rule(true).expect("its calls have ids");
///         check(&request).format("anthropic").assert_findings(&[rule]);
///     }
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A result disappears.
    DropResult,
    /// A result comes twice.
    RepeatResult,
    /// A result comes that nothing asked for.
    AddResult,
    /// A result's id is changed.
    RenameResult,
    /// Two calls of a turn get the same id, and their results too.
    MergeIds,
    /// A call gets the id of an earlier turn's call, and its result too.
    ReuseId,
}

/// All faults.
pub const FAULTS: &[Fault] = &[
    Fault::DropResult,
    Fault::RepeatResult,
    Fault::AddResult,
    Fault::RenameResult,
    Fault::MergeIds,
    Fault::ReuseId,
];

/// A fault.
pub fn faults() -> impl Strategy<Value = Fault> {
    prop::sample::select(FAULTS)
}

impl Fault {
    /// Plants the fault at the place that `at` chooses. Returns the id that the finding must name; `None` where the
    /// conversation has no place for it.
    pub fn plant(self, conversation: &mut Conversation, at: prop::sample::Index) -> Option<String> {
        let with_results: Vec<usize> = (0..conversation.turns.len())
            .filter(
                |turn| matches!(&conversation.turns[*turn], Turn::Results(outputs) if !outputs.is_empty()),
            )
            .collect();
        if with_results.is_empty() {
            return None;
        }
        let turn = with_results[at.index(with_results.len())];
        let earlier = with_results.iter().copied().find(|earlier| *earlier < turn);
        let earlier_id = earlier.map(|earlier| match &conversation.turns[earlier] {
            Turn::Results(outputs) => outputs[0].call_id.clone(),
            _ => unreachable!("the turn holds results"),
        });
        let (before, after) = conversation.turns.split_at_mut(turn);
        let (Some(Turn::Assistant(Assistant { calls, .. })), Some(Turn::Results(outputs))) =
            (before.last_mut(), after.first_mut())
        else {
            return None;
        };
        let which = at.index(outputs.len());
        match self {
            Self::DropResult => {
                let dropped = outputs.remove(which);
                if outputs.is_empty() {
                    conversation.turns.remove(turn);
                }
                Some(dropped.call_id)
            }
            Self::RepeatResult => {
                outputs.push(outputs[which].clone());
                Some(outputs[which].call_id.clone())
            }
            Self::AddResult => {
                let id = "stranger0".to_owned();
                let never_made = Call::new(&*id, "ask_oracle", Map::new());
                outputs.push(never_made.output("forty-two"));
                Some(id)
            }
            Self::RenameResult => {
                outputs[which].call_id = "stranger0".to_owned();
                Some(outputs[which].call_id.clone())
            }
            Self::MergeIds => {
                let last = calls.len().checked_sub(1).filter(|last| *last > 0)?;
                let id = calls[0].id.clone();
                calls[last].id.clone_from(&id);
                outputs[last].call_id.clone_from(&id);
                Some(id)
            }
            Self::ReuseId => {
                let id = earlier_id?;
                calls[which].id.clone_from(&id);
                outputs[which].call_id.clone_from(&id);
                Some(id)
            }
        }
    }

    /// The rule that finds the fault in a format, whose calls have ids or have none; `None` where it is no fault there.
    #[must_use]
    pub fn rule(self, has_ids: bool) -> Option<&'static str> {
        match self {
            Self::DropResult => Some("unanswered-tool-call"),
            Self::RepeatResult if has_ids => Some("duplicate-tool-result"),
            // Without ids a result too many is just that.
            Self::RepeatResult | Self::AddResult => Some("orphan-tool-result"),
            Self::RenameResult => has_ids.then_some("orphan-tool-result"),
            Self::MergeIds => has_ids.then_some("duplicate-tool-call-id"),
            Self::ReuseId => has_ids.then_some("reused-tool-call-id"),
        }
    }
}
