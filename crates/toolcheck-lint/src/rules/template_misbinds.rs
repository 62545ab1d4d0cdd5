use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    /// Results of parallel calls that can't be told apart in the prompt.
    ///
    /// ## Why is this bad?
    ///
    /// Many templates print neither the id nor the name of a result, so the model relies on the order. If the results are
    /// in another order than their calls, it reads each as the answer to the other.
    ///
    /// It needs a template: `--template FILE`.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat template=chatml
    /// {"messages": [
    ///   {"role": "user", "content": "tide and wind?"},
    ///   {"role": "assistant", "content": "I look.", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{}"}},
    ///     {"id": "call_2", "type": "function", "function": {"name": "wind", "arguments": "{}"}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_2", "content": "from the west"},  // flagged
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "at noon"}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat template=chatml
    /// {"messages": [
    ///   {"role": "user", "content": "tide and wind?"},
    ///   {"role": "assistant", "content": "I look.", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{}"}},
    ///     {"id": "call_2", "type": "function", "function": {"name": "wind", "arguments": "{}"}}
    ///   ]},
    ///   {"role": "tool", "tool_call_id": "call_1", "content": "at noon"},
    ///   {"role": "tool", "tool_call_id": "call_2", "content": "from the west"}
    /// ]}
    /// ```
    TemplateMisbinds in Templates, since "0.1.0", warning (error in dataset), check,
    fix [
        safe: "Results are put into the order of their calls.",
        otherwise: "the results do not name their calls",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
