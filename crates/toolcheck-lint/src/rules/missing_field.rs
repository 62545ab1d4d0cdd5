use toolcheck_core::ir::Place;

use crate::objects::visit;
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A key that the target needs is missing.
    ///
    /// ## Why is this bad?
    ///
    /// Every block, message and tool has keys that it can't be without.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"tools": [
    ///   {"type": "function",
    ///    "function":
    ///      {"name": "search"}}  // flagged
    ///  ],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json mistral
    /// {"tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    "missing-field" in Fields, since "0.1.0", silent on wire, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let required = &cx.target.fields.required;
    if required.is_empty() {
        return;
    }
    visit(cx, required.keys(), |object| {
        for key in required.get(object.name).into_iter().flatten() {
            if object.value.is_object() && object.value.get(key).is_none() {
                let finding = out.report(Place::of(object.value), format!("the key `{key}` is missing"));
                finding
                    .caption("in here")
                    .help(format!("add `{key}`"))
                    .case(object.kind())
                    .value("field", key);
                object.number(cx, finding);
            }
        }
    });
}
