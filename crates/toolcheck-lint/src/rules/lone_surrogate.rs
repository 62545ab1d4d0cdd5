use toolcheck_core::ir::Place;
use toolcheck_json::FaultKind;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Half of a character that is written as two escapes.
    ///
    /// ## Why is this bad?
    ///
    /// `\ud83d` alone stands for no character. Many readers refuse the whole text for it, so one tool's output blocks a
    /// session for good. The usual cause: a text that was cut after a number of UTF-16 units, inside an emoji.
    ///
    /// ## Fails
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "messages": [
    ///   {"role": "user", "content": "well done \ud83d"}  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json anthropic
    /// {"model": "claude-sonnet-4-5", "messages": [
    ///   {"role": "user", "content": "well done \ud83d\ude00"}
    /// ]}
    /// ```
    "lone-surrogate" in Files, since "0.1.0", warning on text, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for fault in cx.document.faults().iter().filter(|fault| fault.kind == FaultKind::LoneSurrogate) {
        let node = cx.document.innermost(fault.span.start);
        out.report(Place { node, span: fault.span }, fault.kind.describe())
            .caption("half a character")
            .help("cut texts between characters, not between UTF-16 units");
    }
}
