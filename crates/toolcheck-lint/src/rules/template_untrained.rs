use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    /// A call or an answer of a training row that the template does not mark as the assistant's.
    ///
    /// ## Why is this bad?
    ///
    /// A trainer that trains on answers only, such as TRL with `assistant_only_loss`, goes by the `{% generation %}` blocks
    /// of the template. A call that is printed outside of them is in the prompt, but the model does not learn to make it.
    ///
    /// It is reported for data sets (`--kind dataset`), once for a row, if the template has such blocks. A trainer that
    /// trains on the whole text does not ask for them. It needs a template: `--template FILE`.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat template=masked kind=dataset
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "I look.", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": {}}}  // flagged
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "at noon"},
    ///   {"role": "assistant", "content": "At noon."}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat template=masked kind=dataset
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "At noon."}
    /// ]}
    /// ```
    TemplateUntrained in Templates, since "0.1.0", warning, check,
    fix none: "the template must put it inside a `{% generation %}` block"
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
