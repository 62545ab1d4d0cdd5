use crate::rule::{Context, Sink, declare_rule};
use crate::view::prompt;

declare_rule! {
    /// Null content that the prompt shows as `None`.
    ///
    /// ## Why is this bad?
    ///
    /// An assistant message that contains only calls has `"content": null`. A template that prints the content unconditionally prints
    /// `None`, the word of Python: the model reads that the assistant said "None", and learns to say it.
    ///
    /// It needs a template: `--template FILE`.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat template=plain kind=session
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": null}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat template=plain kind=session
    /// {"messages": [
    ///   {"role": "user", "content": "when is high tide?"},
    ///   {"role": "assistant", "content": ""}
    /// ]}
    /// ```
    TemplatePrintsNone in Templates, since "0.1.0", warning (error in dataset), check,
    fix [
        safe: "The content becomes an empty text.",
        otherwise: "no other form is read better",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    prompt::report(RULE.id, cx, out);
}
