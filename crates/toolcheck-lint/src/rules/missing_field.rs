use std::cell::OnceCell;

use rustc_hash::FxHashSet;
use toolcheck_core::ir::Place;
use toolcheck_core::target::KeyFacts;

use crate::rule::{Context, Sink, declare_rule};
use crate::view::objects::visit;
use crate::view::shape;

declare_rule! {
    /// A required key that is missing.
    ///
    /// ## Why is this bad?
    ///
    /// Blocks, messages and tools have required keys. Some keys are required because of something else in the
    /// request, such as the namespace of a call to a tool that is declared in a namespace.
    ///
    /// ## Fails
    ///
    /// ```json mistral
    /// {"model": "mistral-large-latest", "tools": [
    ///   {"type": "function",
    ///    "function":
    ///      {"name": "search"}}  // flagged
    ///  ],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    ///
    /// ```json openai-responses
    /// {"tools": [
    ///   {"type": "namespace", "name": "library", "description": "Books",
    ///    "tools": [{"type": "function", "name": "search"}]}
    ///  ],
    ///  "input": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"type": "function_call", "call_id": "call_1", "name": "search", "arguments": "{}"},  // flagged
    ///   {"type": "function_call_output", "call_id": "call_1", "output": "none"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-responses
    /// {"tools": [
    ///   {"type": "namespace", "name": "library", "description": "Books",
    ///    "tools": [{"type": "function", "name": "search"}]}
    ///  ],
    ///  "input": [
    ///   {"role": "user", "content": "find Adam"},
    ///   {"type": "function_call", "call_id": "call_1", "name": "search", "namespace": "library", "arguments": "{}"},
    ///   {"type": "function_call_output", "call_id": "call_1", "output": "none"}
    /// ]}
    /// ```
    ///
    /// ```json mistral
    /// {"model": "mistral-large-latest", "tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}],
    ///  "messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    "missing-field" in Fields, since "0.1.0", silent on wire reports shape, check,
    cases [
        "filename": "a file without a name",
        "search-description": "a tool that a tool search finds, without a description",
        "namespace": "a call of a tool in a namespace, without the namespace",
        "caller": "a call of a program, without the program",
        "body" for users: "a key of the request",
        "message" for users: "a key of a message, or of an object in it",
        "call": "a key of a call",
        "reasoning" for users: "a key of reasoning",
        "tool": "a key of a tool",
    ],
    values TOOL_OR_PART, ROLE [
        "field": "the key",
        "name": "the name of the tool that is affected",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
    for missing in &cx.transcript.details.missing_keys {
        // A target's entry for the whole rule is about keys that are always required.
        if !cx.entry(&RULE, Some(missing.case)).is_harmful() {
            continue;
        }
        let finding = out.report(missing.place, format!("required key `{}` is missing", missing.key));
        finding
            .caption("missing here")
            .help(format!("add `{}`", missing.key))
            .case(missing.case)
            .value("field", missing.key);
        if let Some(name) = &missing.name {
            finding.value("name", &name.text);
        }
        if let Some(because) = missing.because {
            finding.label(because, "required because of this");
        }
    }
    let required = &cx.target().fields.required;
    if required.is_empty() {
        return;
    }
    // A result of a different kind from its call lacks the keys of that kind; it must be rewritten anyway.
    let mismatched = OnceCell::<FxHashSet<usize>>::new();
    let is_mismatched = |message_number: usize| {
        let results = || cx.pairing.results.iter().filter(|site| cx.pairing.mismatched_call(site).is_some());
        mismatched
            .get_or_init(|| results().map(|site| site.message_number).collect())
            .contains(&message_number)
    };
    visit(cx, required.keys(), |object| {
        for (key, fact) in required.get(object.name).into_iter().flat_map(KeyFacts::keys) {
            if object.value.is_object() && object.value.get(key).is_none() {
                if object.message_number().is_some_and(is_mismatched) {
                    return;
                }
                let finding = out.report(Place::of(object.value), format!("required key `{key}` is missing"));
                finding
                    .caption("missing here")
                    .help(format!("add `{key}`"))
                    .case(object.kind())
                    .grounds(fact.grounds())
                    .value("field", key);
                object.number(cx, finding);
            }
        }
    });
}
