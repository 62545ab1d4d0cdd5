use toolcheck_core::RuleId;
use toolcheck_core::ir::{Arguments, Body, Named};
use toolcheck_core::response::ChoiceCall;
use toolcheck_core::targets::ArgumentType;
use toolcheck_core::text::kept;

use super::wrong_arguments_type;
use crate::finding::Draft;
use crate::rule::{Context, Sink, declare_rule};
use crate::view::exchanges::is_json;

declare_rule! {
    InvalidArgumentsJson in Arguments, since "0.1.0", warning (error in dataset) on wire looks at [CALLS], check,
    values PART, CALL_ID
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (part, text) in &cx.transcript.details.streamed_arguments {
        let part = &cx.transcript.parts[*part];
        let Body::Call(call) = &part.body else { continue };
        if !is_json(text) && !cx.is_cut_off {
            out.report(part.place, not_json(&call.title()))
                .about_call(call)
                .caption("begins here")
                .help("the concatenated chunks of the arguments are not valid JSON");
        }
    }
    // Where a text is not allowed at all, that is the problem.
    let wants_object = cx.target().arguments.shape == Some(ArgumentType::Object);
    let is_wrong_type = wants_object && !cx.is_training_example() && wrong_arguments_type::reports_texts(cx);
    let mut decoded = String::new();
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        for (at, part) in (message.parts.start as usize..).zip(parts) {
            let Body::Call(call) = &part.body else { continue };
            if !call.is_of_function() {
                continue;
            }
            let Arguments::Text(text, place) = &call.arguments else { continue };
            // If the text ends in the middle of them, that is the problem.
            if cx.is_cut_off_in(*place) {
                continue;
            }
            if text.is_surely_object() || is_wrong_type {
                continue;
            }
            decoded.clear();
            text.decode_into(&mut decoded);
            if is_json(&decoded) {
                continue;
            }
            let finding = out.report(part.place, not_json(&call.title()));
            // Many clients write a call without arguments like this, and many servers accept it.
            if decoded.trim().is_empty() {
                finding.case("empty");
                // Who trains with it prints a call that is no JSON, whatever a server makes of such a text.
                let is_known = cx.target().knows_case(RuleId::InvalidArgumentsJson, "empty");
                if !is_known && !cx.is_training_example() {
                    finding.doubt("many servers accept an empty string as no arguments");
                }
            }
            let answer = cx.pairing.call_at(at).and_then(|site| cx.pairing.answer_of(site));
            finding
                .about_call(call)
                .case_if(answer.is_some_and(|answer| answer.result.is_error == Some(true)), "failed")
                .caption("in this call")
                .help(if cx.is_training_example() && !decoded.trim().is_empty() {
                    "write them as JSON, or leave the row out"
                } else {
                    "replace them with `{}`, and keep the result that says what was wrong"
                })
                .at(cx, (number, message, part))
                .value("id", Named::text_or_unknown(call.id.as_ref()));
        }
    }
}

fn not_json(title: &str) -> String {
    format!("the arguments of tool call {title} are not valid JSON")
}

/// Whether the arguments of a call in a response are there, and not valid JSON.
pub(crate) fn is_broken(call: &ChoiceCall) -> bool {
    call.is_of_function() && !call.arguments.trim().is_empty() && !is_json(&call.arguments)
}

/// The finding for a call in a response that is there by itself.
pub(crate) fn finding(call: &ChoiceCall) -> Draft {
    let title = match (&call.id, &call.name) {
        (Some(id), _) => format!("`{}`", kept(id)),
        (None, Some(name)) => format!("`{}` (no id)", kept(name)),
        (None, None) => "(no id)".to_owned(),
    };
    let mut finding = Draft::new(RULE.id, call.place, not_json(&title));
    finding.caption("in this call").help("an agent that keeps the call must not send these arguments back");
    finding.tool_call_id = call.id.as_deref().map(kept);
    finding.say().tool_name = call.name.as_deref().map(kept);
    finding
}
