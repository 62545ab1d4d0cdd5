use toolcheck_core::ir::Place;
use toolcheck_json::{NodeId, SyntaxErrorKind};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    InvalidUtf8 in Files, since "0.1.0", error on text looks at [FAULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for fault in cx.document.faults() {
        if fault.kind.is_other_encoding() {
            let finding = out.report(Place { node: NodeId::ROOT, span: fault.span }, fault.kind.describe());
            if fault.kind == SyntaxErrorKind::Binary {
                finding.caption("nothing in here was checked").help("leave the file out");
            } else {
                finding
                    .caption("not read")
                    .help("convert the file to UTF-8, for example with `iconv -f UTF-16 -t UTF-8`");
            }
        }
        if fault.kind != SyntaxErrorKind::InvalidUtf8 {
            continue;
        }
        let node = cx.document.innermost(fault.span.start);
        let length = fault.span.end - fault.span.start;
        let what = if length == 1 { "a byte is".to_owned() } else { format!("{length} bytes are") };
        out.report(Place { node, span: fault.span }, format!("{what} not valid UTF-8"))
            .caption("not UTF-8")
            .help("decode tool output before putting it into a message, with replacement characters if necessary");
    }
}
