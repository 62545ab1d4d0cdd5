//! Strategies for property tests: conversations, and faults to plant in them.
//!
//! They may generate more in any release, so a property should hold for every request that a provider accepts.

use proptest::prelude::*;
use serde_json::{Map, Value as Json};
use toolcheck_core::RuleId;

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
/// If there is no such format.
#[track_caller]
pub fn transcripts(format: &str) -> impl Strategy<Value = Json> + use<> {
    let format = known_format(format);
    conversations().prop_map(move |conversation| format.write_request(&conversation).body)
}

/// Conversations that every provider accepts in its own format: with or without a system text, with reasoning before some
/// calls, alternating turns, ids of nine letters and digits, one result per call in the same order, and an end that the
/// model can continue from.
pub fn conversations() -> impl Strategy<Value = Conversation> {
    let rounds = (prop::collection::vec(round(), 0..4), prop::option::of(round()));
    (prop::option::of(text()), text(), rounds).prop_map(|(system, first, (rounds, last))| {
        let mut turns = vec![Turn::User(first)];
        for Round { steps, answer, question } in rounds {
            turns.extend(steps.into_iter().flatten());
            turns.push(Turn::Assistant(Assistant::new(answer)));
            turns.push(Turn::User(question));
        }
        // The request may also end with results.
        turns.extend(last.into_iter().flat_map(|round| round.steps).flatten());
        let mut conversation = Conversation::new(turns);
        conversation.system = system.unwrap_or_default();
        assign_ids(&mut conversation);
        fix_repeated_failures(&mut conversation);
        conversation
    })
}

/// The steps after a question: calls and their results, the model's answer, and the next question.
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

/// Calls and their results.
fn step() -> impl Strategy<Value = [Turn; 2]> {
    let call = (tool_name(), arguments(), any::<bool>(), text());
    let before = (prop::option::of(reasoning()), prop::option::of(text()));
    (before, prop::collection::vec(call, 1..5)).prop_map(|((reasoning, text), calls)| {
        let (mut calls_made, mut outputs) = (Vec::new(), Vec::new());
        for (name, arguments, failed, result) in calls {
            let call = Call::new("", name, arguments);
            let mut output = call.output(result);
            output.failed = failed;
            calls_made.push(call);
            outputs.push(output);
        }
        let message = Assistant::new(text.unwrap_or_default()).with_calls(calls_made);
        let message = reasoning.into_iter().fold(message, Assistant::with_reasoning);
        [Turn::Assistant(message), Turn::Results(outputs)]
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

/// Texts with characters that need escaping in JSON; never blank.
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

/// Makes a call succeed if it repeats a failed one: repeating the same failing call is a fault of its own.
fn fix_repeated_failures(conversation: &mut Conversation) {
    let mut failed: Option<(String, Map<String, Json>)> = None;
    let mut made = Vec::new();
    for turn in &mut conversation.turns {
        match turn {
            Turn::Assistant(message) => made.clone_from(&message.calls),
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

/// Gives every call a unique id, and its result the same id.
fn assign_ids(conversation: &mut Conversation) {
    let mut next = 0;
    let mut open: Vec<String> = Vec::new();
    for turn in &mut conversation.turns {
        match turn {
            Turn::Assistant(message) => {
                open.clear();
                for call in &mut message.calls {
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
///         let rule = fault.rule(&conversation, true).expect("its calls have ids");
///         check(&request).format("anthropic").assert_findings(&[rule.as_str()]);
///     }
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A result is missing.
    DropResult,
    /// A result occurs twice.
    RepeatResult,
    /// A result without a call is added.
    AddResult,
    /// A result's id is changed.
    RenameResult,
    /// Two calls of a turn, and their results, get the same id.
    MergeIds,
    /// A call and its result get the id of an earlier turn's call.
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

/// Any of the faults.
pub fn faults() -> impl Strategy<Value = Fault> {
    prop::sample::select(FAULTS)
}

impl Fault {
    /// Plants the fault at the place that `at` chooses. Returns the id that the finding must name; `None` if the
    /// conversation has no suitable place.
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
            _ => unreachable!("the turn has results"),
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
                outputs.get_mut(last)?.call_id.clone_from(&id);
                calls[last].id.clone_from(&id);
                Some(id)
            }
            Self::ReuseId => {
                let id = earlier_id?;
                calls.get_mut(which)?.id.clone_from(&id);
                outputs[which].call_id.clone_from(&id);
                Some(id)
            }
        }
    }

    /// The rule that reports the fault in a conversation in which it was planted, depending on whether calls have ids in its
    /// format; `None` if it is not a fault there.
    pub fn rule(self, conversation: &Conversation, has_ids: bool) -> Option<RuleId> {
        match self {
            Self::DropResult => Some(RuleId::UnansweredToolCall),
            Self::RepeatResult if has_ids || repeats_only_call(conversation) => {
                Some(RuleId::DuplicateToolResult)
            }
            // Without ids, an additional result may be that of any call of its tool.
            Self::RepeatResult | Self::AddResult => Some(RuleId::OrphanToolResult),
            Self::RenameResult => has_ids.then_some(RuleId::OrphanToolResult),
            Self::MergeIds => has_ids.then_some(RuleId::DuplicateToolCallId),
            Self::ReuseId => has_ids.then_some(RuleId::ReusedToolCallId),
        }
    }
}

/// Whether the result that occurs twice is that of the only call of its tool in the turn.
fn repeats_only_call(conversation: &Conversation) -> bool {
    conversation.turns.windows(2).any(|turns| {
        let [Turn::Assistant(Assistant { calls, .. }), Turn::Results(outputs)] = turns else { return false };
        let repeated = outputs
            .split_last()
            .filter(|(last, others)| others.iter().any(|other| other.call_id == last.call_id));
        repeated.is_some_and(|(last, _)| calls.iter().filter(|call| call.name == last.name).count() == 1)
    })
}
