use toolcheck_core::Level;
use toolcheck_core::ir::{Place, UnpairedReason};
use toolcheck_json::{Kind, NodeId, Span, SyntaxError, SyntaxErrorKind};

use super::{orphan_tool_result, unanswered_tool_call};
use crate::rule::{Context, Rule, Sink, declare_rule};

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
        let place = Place { node, span: fault.span };
        let lost = lost(cx, fault);
        let finding = match &lost {
            Some((asked, message)) => out.report_as(asked, place, message.clone()).caption(what),
            None if is_empty_file => out.report(place, what),
            None => out.report(place, what).caption("here"),
        };
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
        if let (Some(_), Some(next)) = (lost, cx.next_request()) {
            finding.help(next.say("passes over records that are not JSON: write this one again as it was"));
        }
    }
    let left_out = cx.document.faults_left_out();
    if left_out > 0 {
        // A text without a value has only the places of its faults.
        let last = cx.document.faults().last().filter(|_| cx.document.root().kind() == Kind::Invalid);
        let place = last.map_or(cx.transcript.place, |last| Place { node: NodeId::ROOT, span: last.span });
        out.report(place, format!("{left_out} more syntax errors not shown")).caption("in this text");
    }
}

/// What an agent sends without its other side as it passes over the record that is not whole, and the rule about that.
fn lost(cx: &Context<'_, '_>, fault: &SyntaxError) -> Option<(&'static Rule, String)> {
    cx.next_request().filter(|next| next.skips_broken_lines)?;
    let at = fault.span.start;
    // The last record may be under way.
    if cx.transcript.messages.last()?.place.span.start < at && !cx.is_over() {
        return None;
    }
    let lost = Some(UnpairedReason::Broken(at));
    if let Some(site) = cx.pairing.calls.iter().find(|site| site.call.unpaired == lost) {
        let what = format!("tool call {} has no result, which may be in this record", site.call.title());
        return Some((&unanswered_tool_call::RULE, what));
    }
    let site = cx.pairing.results.iter().find(|site| site.result.unpaired == lost)?;
    let what = format!("tool result {} has no call, which may be in this record", site.result.title());
    Some((&orphan_tool_result::RULE, what))
}
