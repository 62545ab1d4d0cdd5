use toolcheck_core::ir::Place;
use toolcheck_core::unsupported;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A document whose format is not recognised.
    ///
    /// ## Why is this bad?
    ///
    /// Nothing in it was checked. toolcheck reads request bodies, bare lists of messages (or contents, or input
    /// items), and JSON Lines of either; `toolcheck formats` lists the formats. If no line of a file is recognised,
    /// only the first is reported.
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
    // Invalid JSON was reported as that.
    let is_broken = cx.document.faults().iter().any(|fault| !fault.kind.is_in_text());
    if cx.is_recognised || is_broken {
        return;
    }
    let root = cx.document.value(cx.transcript.place.node);
    let unsupported = unsupported::find(root);
    let what = unsupported.map(|kind| kind.name).or_else(|| unsupported::describe(root));
    let nested = if what.is_none() { unsupported::nested(root) } else { None };
    let finding = match (what, &nested) {
        (Some(what), _) => out.report(cx.transcript.place, message(what)),
        (None, Some(nested)) => out.report(
            cx.transcript.place,
            format!("not a request itself, but `{}` looks like {}", nested.path, nested.format.id),
        ),
        (None, None) => out.report(cx.transcript.place, "no list of messages found in this document"),
    };
    finding.caption("nothing here was checked");
    if let Some(nested) = &nested {
        finding.label(Place::of_key(nested.value), "this looks like one");
        finding.help(format!("check that part: `jq -c '{}' FILE | toolcheck lint -`", nested.path));
    } else if let Some(advice) = unsupported.and_then(|kind| kind.advice) {
        finding.help(advice);
    } else if what.is_some() {
        finding.help("check the requests themselves, or exclude the file");
    } else if let Some(format) = cx.wanted_format {
        finding.help(format!("is this really {}? Omit --format to detect the format", format.name));
    } else {
        finding.help("set the format with --format, or exclude the file");
    }
}

/// The message for a document or text that is something else.
pub(crate) fn message(what: &str) -> String {
    format!("not a request, but {what}")
}

/// Whether to report a finding in a file that no format recognises: only the first finding of this rule is reported,
/// which `is_told` remembers.
pub(crate) fn is_to_be_told(rule: &str, is_told: &mut bool) -> bool {
    rule != RULE.id || !std::mem::replace(is_told, true)
}
