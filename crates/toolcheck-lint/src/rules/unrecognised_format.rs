use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A document that no format recognises.
    ///
    /// ## Why is this bad?
    ///
    /// Nothing in it was checked. Read are request bodies, bare lists of messages (or contents, or input items), and
    /// JSON Lines of either; `toolcheck formats` lists the formats. Where no line of a file is recognised, its first one
    /// says so for all.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"conversation": [{"speaker": "user", "says": "find Adam"}]}  // flagged
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [{"role": "user", "content": "find Adam"}]}
    /// ```
    "unrecognised-format" in Files, since "0.1.0", error, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // Text that is broken was reported as that.
    let is_broken = cx.document.faults().iter().any(|fault| !fault.kind.is_in_text());
    if cx.is_recognised || is_broken {
        return;
    }
    out.report(cx.transcript.place, "no list of messages is found in this document")
        .caption("nothing in here was checked")
        .help("name the format with --format, or leave the file out");
}

/// Whether a finding is to be told of a file that no format knows: of this rule's findings one stands for the whole
/// file, which `is_told` remembers.
pub(crate) fn is_to_be_told(rule: &str, is_told: &mut bool) -> bool {
    rule != RULE.id || !std::mem::replace(is_told, true)
}
