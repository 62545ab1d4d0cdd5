use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::Place;
use toolcheck_json::SyntaxErrorKind;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A surrogate escape without its other half, such as `\ud83d`.
    ///
    /// ## Why is this bad?
    ///
    /// `\ud83d` on its own is not a character. Many parsers reject the whole text because of it, so the output of one
    /// tool can block a session for good. The usual cause is text that was truncated to a number of UTF-16 code units,
    /// in the middle of an emoji.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [
    ///   {"role": "user", "content": "well done \ud83d"}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [
    ///   {"role": "user", "content": "well done \ud83d\ude00"}
    /// ]}
    /// ```
    LoneSurrogate in Files, since "0.1.0", warning on text looks at [FAULTS], check,
    fix [
        safe: "Each half of a character becomes U+FFFD.",
        otherwise: "the text is not written as JSON here",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for fault in cx.document.faults().iter().filter(|fault| fault.kind == SyntaxErrorKind::LoneSurrogate) {
        let node = cx.document.innermost(fault.span.start);
        let finding = out.report(Place { node, span: fault.span }, fault.kind.describe());
        finding
            .caption("half a character")
            .help("truncate text between characters, not between UTF-16 code units");
        let value = cx.document.value(node);
        if value.as_json_str().is_some() && value.span().contains(fault.span) {
            finding.fix(Fix::safe([Change::Halves(node)]));
        }
    }
}
