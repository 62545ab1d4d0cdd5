use toolcheck_core::ir::Place;
use toolcheck_json::FaultKind;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// Bytes that are not UTF-8.
    ///
    /// ## Why is this bad?
    ///
    /// JSON is UTF-8. Readers refuse other bytes, or put U+FFFD in their place and lose what was there. The usual
    /// causes: output of a tool in Latin-1 or in a console's code page, and text that was cut inside a character.
    ///
    /// (An example can't be shown here, because this page is UTF-8.)
    ///
    /// ## Passes
    ///
    /// ```json openai-chat
    /// {"messages": [{"role": "user", "content": "caf\u00e9"}]}
    /// ```
    "invalid-utf8" in Files, since "0.1.0", error on text, check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for fault in cx.document.faults().iter().filter(|fault| fault.kind == FaultKind::InvalidUtf8) {
        let node = cx.document.innermost(fault.span.start);
        let length = fault.span.end - fault.span.start;
        let what = if length == 1 { "a byte is".to_owned() } else { format!("{length} bytes are") };
        out.report(Place { node, span: fault.span }, format!("{what} not UTF-8"))
            .caption("not UTF-8")
            .help("decode what tools print before it is put into a message, with replacement where need be");
    }
}
