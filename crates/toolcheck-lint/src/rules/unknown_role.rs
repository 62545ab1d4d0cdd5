use toolcheck_core::ir::{Role, shorten};

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
    /// {"messages": [
    ///   {"role": "developer", "content": "Be brief."},  // flagged
    ///   {"role": "user", "content": "find Adam"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"system": "Be brief.", "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    "unknown-role" in Fields, since "0.1.0", warning on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let allowed = cx.target.roles.allowed.as_ref().filter(|_| cx.speaks_own_format());
    for (number, message) in cx.transcript.messages.iter().enumerate() {
        let is_known = match (&message.role_name, allowed) {
            (Some(name), Some(allowed)) => allowed.iter().any(|role| *role == name.text),
            _ => message.role != Role::Unknown,
        };
        if is_known {
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
        match allowed {
            Some(allowed) => finding.help(format!("use one of {}", allowed.join(", "))),
            None => finding.help("use a role of the target's API"),
        };
    }
}
