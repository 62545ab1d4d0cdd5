use toolcheck_core::ir::{Message, Role, ToolChange, shorten};
use toolcheck_core::target::Verdict;

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A message of a role that the target does not know.
    ///
    /// ## Why is this bad?
    ///
    /// Each API has its own words for who speaks. A role of another API is refused, or the message is dropped without
    /// a word.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "messages": [
    ///   {"role": "human", "content": "find Adam"},  // flagged
    ///   {"role": "assistant", "content": "Where?"},
    ///   {"role": "user", "content": "in the garden"}
    /// ]}
    /// ```
    ///
    /// A model may know fewer roles than its API.
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "system", "content": "Be brief."}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "Where?"},
    ///   {"role": "user", "content": "in the garden"}
    /// ]}
    /// ```
    "unknown-role" in Fields, since "0.1.0", warning on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (number, message) in cx.transcript.messages.iter().enumerate() {
        if !is_unknown(cx, message) {
            if message.role == Role::System {
                system_message(cx, number, message, out);
            }
            continue;
        }
        let (place, text) = match &message.role_name {
            Some(name) => (name.place, format!("the role `{}` is unknown", shorten(&name.text))),
            None => (message.place, "a message has no role".to_owned()),
        };
        let finding = out.report(place, text);
        finding.caption("who speaks here?").at(cx, number, message, None);
        if let Some(name) = &message.role_name {
            finding.value("role", shorten(&name.text));
        }
        match allowed(cx) {
            // The role of results, as it is called here.
            Some(allowed) if message.role == Role::Tool && allowed.iter().any(|role| role == "tool") => {
                finding.help("use the role `tool`, and name the call by its id")
            }
            Some(allowed) => finding.help(format!("use one of {}", allowed.join(", "))),
            None => finding.help("use a role of the target's API"),
        };
    }
}

/// The case of a system message that the API takes and the model does not.
pub(super) const SYSTEM: &str = "system";

/// A system message among the others, where the target tells which models take it.
fn system_message(cx: &Context<'_, '_>, number: usize, message: &Message<'_>, out: &mut Sink<'_>) {
    let ignores = match cx.verdict(&RULE, Some(SYSTEM)) {
        Verdict::Refused(refusal) if refusal.case.is_some() => false,
        Verdict::Tolerated(tolerance) if tolerance.case.is_some() => true,
        _ => return,
    };
    // What such a message changes of the tools is not ignored, but refused for itself.
    let changes_tools = |change: &ToolChange<'_>| change.message_number as usize == number;
    if ignores && (message.is_directive || cx.transcript.tool_changes.iter().any(changes_tools)) {
        return;
    }
    let Some(name) = &message.role_name else { return };
    out.report(name.place, format!("the model takes no messages of the role `{}`", shorten(&name.text)))
        .caption("not with this model")
        .help("put it into the request's own place for instructions, or take a model that knows the role")
        .case(SYSTEM)
        .at(cx, number, message, None)
        .value("role", shorten(&name.text));
}

/// The roles that there are, where the target says so.
fn allowed<'c>(cx: &Context<'c, '_>) -> Option<&'c Vec<String>> {
    cx.target.roles.allowed.as_ref().filter(|_| cx.speaks_own_format())
}

/// Whether the target does not know the role of a message.
pub(super) fn is_unknown(cx: &Context<'_, '_>, message: &Message<'_>) -> bool {
    match (&message.role_name, allowed(cx)) {
        (Some(name), Some(allowed)) => !allowed.iter().any(|role| *role == name.text),
        _ => message.role == Role::Unknown,
    }
}
