use toolcheck_core::text::shorten;
use toolcheck_json::Value;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::arguments;

declare_rule! {
    /// A call that violates one of your own policies.
    ///
    /// ## Why is this bad?
    ///
    /// A tool's schema says which calls are possible, but not which are sensible: that a directory is not a file,
    /// that a command is not the place for a program, that nobody deletes the production database. You know these
    /// things, and a policy in `toolcheck.toml` states them, as a JSON Schema that the arguments of certain tools
    /// must match:
    ///
    /// ```toml
    /// [[policy]]
    /// id = "write-needs-content"
    /// tools = ["filesystem"]
    /// message = "`write` needs `content`; an empty directory is made with `create`"
    /// schema.if.properties.operation.const = "write"
    /// schema.then.required = ["content"]
    /// ```
    ///
    /// `tools` are names or globs. `level` is `error` unless it is set to `warning`. The finding names the policy and
    /// points at the argument that violates it. `fixtures/policies` has more policies, with calls that violate them
    /// and calls that don't. Without a configuration there are no policies, and nothing is reported.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "start the tide table"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "filesystem", "input":
    ///     {"operation": "write", "path": "tides.csv"}}]},  // flagged
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "wrote 0 bytes"}]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"messages": [
    ///   {"role": "user", "content": "make a place for the tide tables"},
    ///   {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "filesystem", "input": {
    ///     "operation": "create", "path": "tides"}}]},
    ///   {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "made"}]}
    /// ]}
    /// ```
    "policy-violation" in Arguments, since "0.1.0", error on call looks at [CALLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut buffers = arguments::Buffers::default();
    for policy in &cx.settings.policies {
        for (part, call) in arguments::of_functions(cx, |tool| policy.tools.contains(tool)) {
            let allows = |arguments: Value<'_, '_>| policy.schema.allows(arguments);
            // A check that would take too long is skipped.
            if arguments::with_object(cx, &call.arguments, &mut buffers, allows).flatten() != Some(false) {
                continue;
            }
            let what = match &policy.message {
                Some(message) => format!("policy `{}`: {message}", shorten(&policy.id)),
                None => format!("policy `{}` does not allow this call", shorten(&policy.id)),
            };
            let place = arguments::place_of_violation(cx, call, &policy.schema);
            out.report(place.unwrap_or(part.place), what)
                .about_call(call)
                .at_most(policy.level)
                .caption("this violates the policy")
                .label(part.place, "in this call");
        }
    }
}
