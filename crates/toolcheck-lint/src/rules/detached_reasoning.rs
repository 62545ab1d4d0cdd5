use toolcheck_core::ir::Body;
use toolcheck_core::remedy::{Change, Remedy};
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A reasoning item without the message or call that must follow it.
    ///
    /// ## Why is this bad?
    ///
    /// Where reasoning is an item of its own, the API keeps it together with the message or call that it led to, and
    /// rejects one without the other. The usual causes are removing a call but not its reasoning, and editing an
    /// answer.
    ///
    /// ## Fails
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"type": "reasoning", "id": "rs_1", "summary": []},  // flagged
    ///   {"role": "user", "content": "never mind"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"type": "reasoning", "id": "rs_1", "summary": []},
    ///   {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search", "arguments": "{}"},
    ///   {"type": "function_call_output", "call_id": "call_1", "output": "none"}
    /// ]}
    /// ```
    DetachedReasoning in Reasoning, since "0.1.0", silent on wire looks at [REASONING], check,
    fix [
        unsafe: "The reasoning is removed.",
        otherwise: "the reasoning is not a part of a message of a known form",
    ],
    cases [
        "missing": "a call whose reasoning is missing; a transcript does not show it, so it is only explained",
    ],
    values PART [
        "id": "the id of the reasoning, or of the item that needs it",
        "type": "the type of the item that needs reasoning",
        "other": "the id of the reasoning that is missing",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, (message, parts)) in cx.transcript.messages_with_parts().enumerate() {
        let Some(part) = parts.last() else { continue };
        let Body::Reasoning(reasoning) = &part.body else { continue };
        let Some(id) = &reasoning.id else { continue };
        let finding = out.report(
            part.place,
            format!(
                "reasoning item `{}` is not followed by the message or call that it led to",
                shorten(&id.text)
            ),
        );
        let length = cx.document.value(part.place.node).raw().len();
        let lost = format!("the reasoning, {length} bytes");
        finding.remedy(Remedy::lossy(lost, [Change::Remove(part.place.node)]));
        finding
            .caption("its message or call is missing")
            .help("remove the reasoning too, or send both unchanged")
            .at(cx, (number, message, part))
            .value("id", &id.text);
    }
}
