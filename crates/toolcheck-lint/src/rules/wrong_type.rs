use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    /// A value whose JSON type is not the one that the API expects.
    ///
    /// ## Why is this bad?
    ///
    /// APIs check the type of each key, and reject the request if one is wrong: a string in place of an object, an object in
    /// place of a list, a number in place of a string.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"model": "gpt-5.2", "messages": [
    ///   {"role": "user", "content": [
    ///     {"type": "text", "text": "what is this?"},
    ///     {"type": "image_url",
    ///      "image_url": "https://example.com/a.png"}  // flagged
    ///   ]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"model": "gpt-5.2", "messages": [
    ///   {"role": "user", "content": [
    ///     {"type": "text", "text": "what is this?"},
    ///     {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    ///   ]}
    /// ]}
    /// ```
    WrongType in Fields, since "0.2.0", silent on wire reports shape, check,
    fix [
        safe: "A value whose only mistake is its quotes is corrected, an object as JSON in a string and a text as its block where nothing else is taken, a single element is put into a list or taken out of it, and `null` is removed where nothing need be.",
        unsafe: "A text between messages becomes one of the user, and `0` and `1` become truth values.",
        otherwise: "it cannot be fixed by rewriting the value" with help,
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
}
