use toolcheck_core::Level;
use toolcheck_core::ir::Place;
use toolcheck_json::{Kind, NodeId, Span, SyntaxError, SyntaxErrorKind};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MalformedJson in Files, since "0.1.0", error on text looks at [FAULTS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let is_structural = |fault: &&SyntaxError| !fault.kind.is_in_text() && !fault.kind.is_other_encoding();
    for fault in cx.document.faults().iter().filter(is_structural) {
        let node = cx.document.innermost(fault.span.start);
        let is_empty_file = fault.kind == SyntaxErrorKind::Empty && cx.document.bytes().is_empty();
        let missing = fault.opened_at.filter(|_| fault.kind == SyntaxErrorKind::MissingBracket);
        let what = match missing.and_then(|at| cx.document.bytes().get(at as usize)) {
            _ if is_empty_file => "the file is empty",
            Some(b'{') => "`}` is missing",
            Some(_) => "`]` is missing",
            None => fault.kind.describe(),
        };
        let finding = out.report(Place { node, span: fault.span }, what);
        if !is_empty_file {
            finding.caption("here");
        }
        if let Some(opened_at) = fault.opened_at {
            let opened = cx.document.innermost(opened_at);
            finding.label(Place { node: opened, span: Span::new(opened_at, opened_at + 1) }, "opened here");
        }
        match fault.kind {
            SyntaxErrorKind::RepeatedBracket => {
                finding.help("write it once, or `[{` for a list; in a template of Python, fill it in first")
            }
            SyntaxErrorKind::NotANumber => finding.help("write `null`, or omit the key"),
            SyntaxErrorKind::Unclosed | SyntaxErrorKind::UnterminatedString => {
                finding.help("the end of the text is missing; the part before it was still checked")
            }
            SyntaxErrorKind::MissingQuote => finding.help(
                "put a quote around each string, and `\\\"` for one inside; only the part before it was checked",
            ),
            SyntaxErrorKind::TooDeep | SyntaxErrorKind::TooManyValues => {
                finding.help("split the text; the part before it was still checked")
            }
            SyntaxErrorKind::ControlCharacter => finding.help("write it as an escape, such as `\\n`"),
            // Many parsers skip it; those that do not reject the whole text.
            SyntaxErrorKind::ByteOrderMark => {
                finding.help("save the file as UTF-8 without a byte order mark").at_most(Level::Warning)
            }
            SyntaxErrorKind::SingleQuotes => {
                finding.help("use double quotes; if Python printed this, write it with `json.dumps`")
            }
            _ => finding,
        };
    }
    let left_out = cx.document.faults_left_out();
    if left_out > 0 {
        // A text without a value has only the places of its faults.
        let last = cx.document.faults().last().filter(|_| cx.document.root().kind() == Kind::Invalid);
        let place = last.map_or(cx.transcript.place, |last| Place { node: NodeId::ROOT, span: last.span });
        out.report(place, format!("{left_out} more syntax errors not shown")).caption("in this text");
    }
}
