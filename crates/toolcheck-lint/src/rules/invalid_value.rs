use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    /// A value that the API does not allow for its key.
    ///
    /// ## Why is this bad?
    ///
    /// Many keys take only certain values, texts that match a pattern, or numbers within limits. APIs reject anything else.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-opus-4-5", "max_tokens": 1024, "messages": [
    ///   {"role": "user", "content": [
    ///     {"type": "text", "text": "what is this?"},
    ///     {"type": "image", "source": {"type": "base64",
    ///      "media_type": "image/bmp",  // flagged
    ///      "data": "Qk0="}}
    ///   ]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"model": "claude-opus-4-5", "max_tokens": 1024, "messages": [
    ///   {"role": "user", "content": [
    ///     {"type": "text", "text": "what is this?"},
    ///     {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    ///   ]}
    /// ]}
    /// ```
    InvalidValue in Fields, since "0.2.0", silent on wire reports shape, check,
    fix [
        safe: "The value becomes the intended one, if that is known.",
        unsafe: "A value that nearly matches an allowed one becomes that, a number beyond a limit the limit, and an object that says nothing is removed.",
        otherwise: "it is not clear which value is meant",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
}
