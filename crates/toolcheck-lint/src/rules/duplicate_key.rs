use toolcheck_core::ir::{Place, shorten};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A key that stands twice in one object.
    ///
    /// ## Why is this bad?
    ///
    /// Most readers keep the last value, some the first, a few refuse the text: what the provider sees is not what
    /// one of the sides meant. Where the key is `content` or `tool_calls`, a message or a call is lost without a word.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam",
    ///    "content": "find Eve"}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "find Eve"}
    /// ]}
    /// ```
    "duplicate-key", since "0.1.0", warning on text, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for (first, again) in cx.document.duplicate_keys() {
        let key = again.key().map(|key| key.decode()).unwrap_or_default();
        out.report(Place::of_key(again), format!("the key `{}` stands twice in one object", shorten(&key)))
            .caption("again")
            .label(Place::of_key(first), "first here")
            .help("keep one of them; readers differ in which one counts");
    }
}
