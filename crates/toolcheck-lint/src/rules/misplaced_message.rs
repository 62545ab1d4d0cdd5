use toolcheck_core::ir::{Body, Role};
use toolcheck_core::target::Verdict;

use crate::rule::{Context, Numbered, Sink, declare_rule};

declare_rule! {
    /// A message of a role that may not stand there.
    ///
    /// ## Why is this bad?
    ///
    /// Some APIs and most chat templates fix who may speak after whom: two messages of one role in a row, a system
    /// message in the middle, or the user right after a tool are refused. Others join such messages, or do not mind.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "Where?"},
    ///   {"role": "system", "content": "Be brief."},  // flagged
    ///   {"role": "user", "content": "in the garden"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json mistral
    /// {"messages": [
    ///   {"role": "system", "content": "Be brief."},
    ///   {"role": "user", "content": "find Adam"},
    ///   {"role": "assistant", "content": "Where?"},
    ///   {"role": "user", "content": "in the garden"}
    /// ]}
    /// ```
    "misplaced-message" in Order, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let cases = ["repeated-role", "system", "system-after-user", "user-after-tool"];
    if !cases.iter().any(|case| matches!(cx.verdict(&RULE, Some(case)), Verdict::Refused(_))) {
        return;
    }
    let messages: Vec<_> = cx.transcript.messages_with_parts().collect();
    for (number, pair) in messages.windows(2).enumerate() {
        let ((before, parts_before), (message, parts)) = (pair[0], pair[1]);
        let holds =
            |what: fn(&Body<'_>) -> bool| parts_before.iter().chain(parts).any(|part| what(&part.body));
        let (case, what) = match (before.role, message.role) {
            (Role::Assistant | Role::Tool, Role::System) => {
                ("system", "a system message stands in the middle")
            }
            (Role::User, Role::System) => ("system-after-user", "a system message comes after the user's"),
            (Role::Tool, Role::User) => ("user-after-tool", "the user speaks right after a tool"),
            // Where calls or results stand apart, that is the fault.
            (Role::Assistant, Role::Assistant) if holds(|body| matches!(body, Body::Call(_))) => continue,
            (Role::User, Role::User) if holds(|body| matches!(body, Body::Result(_))) => continue,
            (Role::Assistant, Role::Assistant) | (Role::User, Role::User) => {
                ("repeated-role", "two messages of one role stand in a row")
            }
            _ => continue,
        };
        let finding = out.report(message.place, what);
        finding
            .caption("this message")
            .label(before.place, "comes after this one")
            .help("join messages of one role, and put what the system says first")
            .case(case)
            .at(cx, number + 1, message, None);
        if cx.pairing.knows_index(number) {
            finding.value("before", before.index);
        }
        if let (Some(role), Some(previous)) = (&message.role_name, &before.role_name) {
            finding.value("role", &role.text).value("previous-role", &previous.text);
        }
    }
}
