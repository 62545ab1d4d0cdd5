use toolcheck_core::Level;
use toolcheck_core::ir::Place;
use toolcheck_json::{FaultKind, Span};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Text that is not JSON.
    ///
    /// ## Why is this bad?
    ///
    /// No API reads it, and most tools stop at it. Here the rest of the text is read all the same, so that one
    /// comma hides no other fault. The usual causes: a log that was cut off, `NaN` from Python, and a comment.
    ///
    /// ## Fails
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"},  // flagged
    /// ]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [
    ///   {"role": "user", "content": "find Adam"}
    /// ]}
    /// ```
    "malformed-json" in Files, since "0.1.0", error on text, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for fault in cx.document.faults().iter().filter(|fault| !fault.kind.is_in_text()) {
        let node = cx.document.innermost(fault.span.start);
        let finding = out.report(Place { node, span: fault.span }, fault.kind.describe());
        finding.caption("here");
        if let Some(opened_at) = fault.opened_at {
            let opened = cx.document.innermost(opened_at);
            finding.label(Place { node: opened, span: Span::new(opened_at, opened_at + 1) }, "opened here");
        }
        match fault.kind {
            FaultKind::NotANumber => finding.help("write null, or leave the key out"),
            FaultKind::Unclosed | FaultKind::UnterminatedString => {
                finding.help("the end of the text is missing; what is there was read")
            }
            FaultKind::ControlCharacter => finding.help("write it as an escape, such as \\n"),
            // Many readers strip it; those that do not refuse the whole text.
            FaultKind::ByteOrderMark => finding.help("write UTF-8 without a mark").at_most(Level::Warning),
            _ => finding,
        };
    }
    let left_out = cx.document.faults_left_out();
    if left_out > 0 {
        let place = cx.transcript.place;
        out.report(place, format!("{left_out} more faults of this text are not listed")).caption("in here");
    }
}
