use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    /// A part of a conversation that is missing from the model's prompt.
    ///
    /// ## Why is this bad?
    ///
    /// Templates print what their author thought of. What they do not print, the model never reads: the call beside a text,
    /// the second of two calls, tools, reasoning. No server reports it, and in training the model learns from a
    /// conversation that lacks it.
    ///
    /// A part is reported if the prompt does not have it, and if changing the part does not change the prompt.
    /// Whitespace does not count. What a template drops on purpose, such as the reasoning of earlier turns, is not reported. It
    /// needs a template: `--template FILE`.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat template=plain
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "I look.", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}  // flagged
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "at noon"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat template=plain
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "At noon."}
    /// ]}
    /// ```
    TemplateLoses in Templates, since "0.1.0", warning (error in dataset), check,
    fix [
        safe: "The conversation gets another form that the template reads: arguments as an object or a text, reasoning under another key.",
        unsafe: "A text and its calls become two messages, and parallel calls become sequential ones.",
        otherwise: "no other form is read better",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
