use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    /// A part that appears twice in the prompt, or is encoded twice.
    ///
    /// ## Why is this bad?
    ///
    /// A template that writes arguments as JSON writes a text of JSON as a text: `"{\"port\": …}"`. The model reads
    /// escapes that no call of its own ever had, and begins to write them.
    ///
    /// Servers read arguments into an object before the template sees them. Trainers do not, so this is mostly
    /// reported for data sets (`--kind dataset`). It needs a template: `--template FILE`.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat template=chatml kind=dataset
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "I look.", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{\"port\": \"Oban\"}"}}  // flagged
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "at noon"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json trl template=chatml kind=dataset
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "I look.", "tool_calls": [
    ///     {"type": "function", "function": {"name": "tide", "arguments": {"port": "Oban"}}}
    ///   ]},
    ///   {"role": "tool", "name": "tide", "content": "at noon"}
    /// ]}
    /// ```
    TemplateDoubles in Templates, since "0.1.0", warning (error in dataset), check,
    fix [
        safe: "Arguments that are a text become an object.",
        otherwise: "no other form is read better",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
