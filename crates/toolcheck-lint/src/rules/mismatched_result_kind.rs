use toolcheck_core::ir::ToolKind;

use super::unknown_role;
use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A result of another kind than its call.
    ///
    /// ## Why is this bad?
    ///
    /// Where tools come in kinds (functions, custom tools, a shell, a computer), each kind of call has a kind of
    /// result, and an id is looked up among the calls of that kind only. A result of another kind answers nothing.
    ///
    /// In Chat Completions, the role `function` is of the time before calls had ids. It answers a `function_call`, and none
    /// of `tool_calls`: those are answered in the role `tool`.
    ///
    /// ## Fails
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "tidy up"},
    ///   {"type": "custom_tool_call", "call_id": "call_1", "name": "run", "input": "ls"},
    ///   {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-responses
    /// {"input": [
    ///   {"role": "user", "content": "tidy up"},
    ///   {"type": "custom_tool_call", "call_id": "call_1", "name": "run", "input": "ls"},
    ///   {"type": "custom_tool_call_output", "call_id": "call_1", "output": "a.txt"}
    /// ]}
    /// ```
    "mismatched-result-kind" in Pairing, since "0.1.0", warning, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for site in &cx.pairing.results {
        let Some(call) = cx.pairing.mismatched_call(site) else { continue };
        let (called, answered) = (call.call.kind, site.result.kind.unwrap_or_default());
        let is_legacy = answered == ToolKind::LegacyFunction;
        // A role that the target does not have is that fault.
        if is_legacy && unknown_role::is_unknown(cx, site.message) {
            continue;
        }
        let title = call.call.title();
        let role = site.message.role_text();
        let message = if is_legacy {
            format!(
                "the result of tool call {title} has the role `{role}`, which only answers calls of the legacy form"
            )
        } else {
            format!(
                "tool call {title} is of the kind {}, and its result is of the kind {}",
                called.name(),
                answered.name()
            )
        };
        let finding = out.report(site.part.place, message);
        finding
            .about_call(call.call)
            .caption("the result")
            .label(call.part.place, "the call")
            .at(cx, site.message_number, site.message, Some(site.part))
            .value("id", call.call.id.as_ref().map_or("?", |id| &*id.text))
            .value("ids", call.call.id.as_ref().map_or("?", |id| &*id.text))
            .value("kind", called.name());
        if is_legacy {
            finding.help("use the role `tool`, and name the call by its id");
            if site.result.name.is_none() {
                finding.case("legacy-without-name");
            }
            finding.case("legacy");
        } else {
            finding.help("answer a call with the result of its own kind");
        }
    }
}
