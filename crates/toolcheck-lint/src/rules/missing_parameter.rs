use crate::rule::{Context, Sink, declare_rule};
use crate::view::shape;

declare_rule! {
    /// A required parameter of the request that is missing.
    ///
    /// ## Why is this bad?
    ///
    /// An API that requires a parameter, such as the most tokens to generate, rejects each request without it. A body that holds
    /// only the messages is treated as part of a request that somebody kept, and nothing is reported.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-opus-4-5", "messages": [{"role": "user", "content": "hello"}]}  // flagged
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"model": "claude-opus-4-5", "max_tokens": 1024, "messages": [{"role": "user", "content": "hello"}]}
    /// ```
    MissingParameter in Fields, since "0.2.0", silent on wire reports shape, check,
    fix [
        safe: "A misnamed key is renamed.",
        unsafe: "An unknown key becomes the only missing one, or one gets the value that the help names.",
        otherwise: "the value of the parameter is unknown" with help,
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    shape::report(cx, &RULE, out);
}
