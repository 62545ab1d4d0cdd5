//! Reads responses, whole and as the events of a stream.

use foldhash::HashSet;
use toolcheck_json::Value;

use super::{FORMAT, Item, Namespaces, item, read_reasoning};
use crate::assembly::{self, Assembly, Choice, Completion, Locate};
use crate::ir::{Body, Executor, ToolKind, Transcript};

pub(super) fn answers<'s>(value: Value<'_, 's>) -> Option<Vec<Completion<'s>>> {
    let output = value.get("output").filter(|output| output.is_array())?;
    let mut transcript = Transcript::new(FORMAT.key(), value);
    let mut namespaces = Namespaces::default();
    for (index, value) in output.elements().enumerate() {
        if matches!(item(&mut transcript, value, index), Item::Tools | Item::Output(ToolKind::ToolSearch)) {
            namespaces.add(&mut transcript, value);
        }
    }
    settle_run_calls(&mut transcript);
    let is_cut = |item: Value<'_, '_>| item.is("status", "incomplete");
    let is_whole = assembly::is_whole(value.get("status"), &["completed"]) && !output.elements().any(is_cut);
    Some(vec![Completion { transcript, is_whole }])
}

/// The server ran each call whose result is in the same response, such as those of a shell in its container.
fn settle_run_calls(transcript: &mut Transcript<'_>) {
    let answered: HashSet<String> = transcript.result_ids().map(str::to_owned).collect();
    for part in &mut transcript.parts {
        match &mut part.body {
            Body::Call(call) if call.id.as_ref().is_some_and(|id| answered.contains(&*id.text)) => {
                call.executor = Executor::Server;
            }
            Body::Result(result) => result.executor = Executor::Server,
            _ => {}
        }
    }
}

pub(super) fn event<'d, 's>(assembly: &mut Assembly, event: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
    match event.get_str("type").as_deref() {
        Some("response.output_item.added" | "response.output_item.done") => {
            let Some(value) = event.get("item") else { return };
            let mut transcript = Transcript::new(FORMAT.key(), value);
            item(&mut transcript, value, 0);
            let number = event.get("output_index").and_then(Value::as_u64).unwrap_or_default();
            let is_done = event.is("type", "response.output_item.done");
            let said = Completion { transcript, is_whole: true };
            let answer = Choice::new(&said, value, read_reasoning, locate);
            if is_done {
                assembly.add_contents(0, number, &answer);
                // It brings all of them once more.
                assembly.clear_arguments(0, number);
            }
            for mut call in answer.calls {
                // An item is added without its arguments, and complete once done.
                if !is_done {
                    call.arguments.clear();
                    call.has_all_arguments = false;
                }
                assembly.call(0, number, call);
            }
        }
        // Only a stream that breaks off needs them: the item brings all of them once it is done.
        Some("response.function_call_arguments.delta") => {
            let number = event.get("output_index").and_then(Value::as_u64);
            assembly.arguments(0, number, event.get("delta"), None);
        }
        // The last event repeats the whole response, but some servers leave its output empty.
        Some("response.completed" | "response.incomplete" | "response.failed") => {
            let response = event.get("response");
            let said = response.and_then(|response| Some((response, answers(response)?)));
            let answers = said.map(|(response, said)| {
                said.iter()
                    .map(|said| Choice::new(said, response, read_reasoning, locate))
                    .collect::<Vec<_>>()
            });
            match answers {
                Some(answers)
                    if answers.iter().any(|answer| {
                        !answer.calls.is_empty() || !answer.text.is_empty() && assembly.is_empty()
                    }) =>
                {
                    assembly.replace(answers);
                }
                Some(answers) => assembly.end(0, answers.iter().all(|answer| answer.is_whole)),
                None => assembly.end(0, event.is("type", "response.completed")),
            }
        }
        Some("error") => assembly.end(0, false),
        _ => {}
    }
}
