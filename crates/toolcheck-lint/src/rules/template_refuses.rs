use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    /// A conversation that the chat template of the model refuses.
    ///
    /// ## Why is this bad?
    ///
    /// A self-hosted model reads what its chat template makes of a request. Templates check the roles and their order, the
    /// length of ids or the number of calls, and raise an error: the server answers with it, or with an error of its own.
    /// The error text is that of the template's author, or one of Python where the template did not expect a value.
    ///
    /// The finding is at the first message with which the template refuses. It needs a template: `--template FILE`.
    ///
    /// Where toolcheck can't run the template to its end, because it exceeds a limit, or uses a feature of Jinja
    /// that toolcheck doesn't support, the finding is a warning at the list of messages: their prompt is not checked.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat template=alternating
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "user", "content": "in Oban"}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat template=alternating
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": "Where?"},
    ///   {"role": "user", "content": "in Oban"}
    /// ]}
    /// ```
    TemplateRefuses in Templates, since "0.1.0", error, check,
    fix [
        safe: "The conversation gets another form that the template reads: ids of nine letters and digits, an empty text for null.",
        unsafe: "User messages are merged, system messages are moved to the start, and parallel calls become sequential ones.",
        otherwise: "no other form is read",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
