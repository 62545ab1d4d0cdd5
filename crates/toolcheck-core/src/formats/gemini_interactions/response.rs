//! Reads interactions, whole and as the events of a stream.

use toolcheck_json::Value;

use super::{FORMAT, call, kind_of, step};
use crate::assembly::{self, Assembly, ChoiceCall, Completion, Locate};
use crate::ir::{Body, Executor, Transcript};

/// The statuses of a turn that the model has ended.
const WHOLE: [&str; 2] = ["completed", "requires_action"];

pub(super) fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Completion<'s>>> {
    // Until June 2026, they were called outputs.
    let is_own = value.is("object", "interaction");
    let steps = value.get("steps").or_else(|| value.get("outputs").filter(|_| is_own));
    let steps = steps.filter(|steps| steps.is_array())?;
    let mut transcript = Transcript::new(FORMAT.key(), value);
    // One that was fetched begins with what the user has said.
    let is_said = |step: &Value<'_, '_>| matches!(kind_of(*step), super::Step::User);
    for (index, value) in steps.elements().skip_while(is_said).enumerate() {
        step(&mut transcript, value, index);
    }
    Some(vec![Completion { transcript, is_whole: assembly::is_whole(value.get("status"), &WHOLE) }])
}

pub(super) fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    let number = event.get("index").and_then(Value::as_u64).unwrap_or_default();
    match event.get_str("event_type").as_deref() {
        Some("step.start" | "content.start") => {
            let Some(value) = event.get_any(&["step", "content"]) else { return };
            match kind_of(value) {
                super::Step::Call(executor) => {
                    let Body::Call(started) = call(value, executor) else { return };
                    let mut started = ChoiceCall::new(&started, value, locate);
                    // The arguments follow in pieces, as the text of the object that stands empty here.
                    if executor == Executor::Client {
                        started.arguments.clear();
                    }
                    assembly.call(0, number, started);
                }
                super::Step::Thought => {
                    let summary = value.get("summary").and_then(|summary| summary.elements().next());
                    let text = summary.and_then(|part| part.get("text"));
                    assembly.reasons(0, number, [text, value.get("signature")], locate(value));
                }
                super::Step::Model => {
                    for part in value.list("content") {
                        assembly.text(0, part.get("text"));
                    }
                }
                super::Step::Opaque => assembly.skip(0, value),
                _ => {}
            }
        }
        Some("step.delta" | "content.delta") => {
            let Some(delta) = event.get("delta") else { return };
            match delta.get_str("type").as_deref() {
                Some("text") => assembly.text(0, delta.get("text")),
                // A call came whole then.
                Some("function_call") => {
                    let Body::Call(called) = call(delta, Executor::Client) else { return };
                    assembly.call(0, number, ChoiceCall::new(&called, delta, locate));
                }
                Some("arguments_delta") => {
                    assembly.arguments(0, Some(number), delta.get("arguments"), Some(locate));
                }
                Some("thought_summary") => {
                    let text = delta.get_in(&["content", "text"]);
                    assembly.reasons(0, number, [text, None], locate(delta));
                }
                Some("thought_signature") => {
                    assembly.reasons(0, number, [None, delta.get("signature")], locate(delta));
                }
                _ => {}
            }
        }
        // It says how the turn ended, and repeats none of its steps.
        Some("interaction.completed" | "interaction.complete") => {
            let status = event.get_in(&["interaction", "status"]);
            assembly.end(0, assembly::is_whole(status, &WHOLE));
        }
        Some("error") => assembly.end(0, false),
        _ => {}
    }
}
