use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    /// An image, document, audio or video in a form that the API or model doesn't accept.
    ///
    /// ## Why is this bad?
    ///
    /// Each API accepts certain media types, and each model certain kinds of media, sometimes only in messages of the user and not
    /// in the results of tools. The API rejects the request.
    ///
    /// ## Fails
    ///
    /// ```json gemini
    /// {"contents": [
    ///   {"role": "user", "parts": [
    ///     {"text": "what is this?"},
    ///     {"inlineData": {"data": "SUkqAA==",
    ///      "mimeType": "image/tiff"}}  // flagged
    ///   ]}
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json gemini
    /// {"contents": [
    ///   {"role": "user", "parts": [
    ///     {"text": "what is this?"},
    ///     {"inlineData": {"data": "iVBORw0KGgo=", "mimeType": "image/png"}}
    ///   ]}
    /// ]}
    /// ```
    UnsupportedMedia in Content, since "0.2.0", silent on wire reports shape, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
}
