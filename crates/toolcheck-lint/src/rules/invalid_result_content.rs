use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Place};
use toolcheck_core::{fix_style, formats};
use toolcheck_json::{Document, Kind};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    InvalidResultContent in Content, since "0.1.0", silent on wire looks at [RESULTS, SERVER_RESULTS], check,
    values PART, ROLE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for reference in &cx.transcript.details.dangling_references {
        let (index, part) = reference.at;
        out.report(reference.place, "a reference in a tool result names no part of the result")
            .caption("read as a reference")
            .help("refer to a part of the result, or send the content as text")
            .case("reference")
            .value("index", index)
            .value("part", part);
    }
    // There are many results, mostly alike, and most targets say nothing about most of these: a finding for each would cost
    // too much.
    let mut last: (&[&'static str], bool) = (&[], false);
    for (number, message, part) in cx.transcript.sites() {
        let Body::Result(result) = &part.body else { continue };
        let Some(content) = result.content_place else { continue };
        let kind = cx.document.value(content.node).kind();
        let failed = result.is_error == Some(true);
        let cases: &[&'static str] = match kind {
            _ if result.foreign.is_some() => &["foreign"],
            _ if result.has_bare_json => &["bare-json"],
            _ if result.has_media && failed => &["failed-with-media", "media"],
            _ if result.has_media => &["media", "not-text"],
            Kind::Array => &["not-text", "not-object"],
            Kind::String | Kind::Number | Kind::Bool => &["not-object"],
            _ => continue,
        };
        if last.0 != cases {
            last = (cases, cx.has_verdict(&RULE, cases));
        }
        if !last.1 {
            continue;
        }
        let finding = out.report(
            part.place,
            format!(
                "tool result {} has content of a type that the target does not accept as it is",
                result.title()
            ),
        );
        finding
            .about_result(result)
            .caption("this result")
            .help("send text, in the form that the target accepts; put images in a user message")
            .add_cases(cases.iter().copied())
            .at(cx, (number, message, part))
            .value("role", message.role_text());
        finding.value_of("tag", result.foreign);
        finding.fix(in_object(cx, content));
    }
}

/// A list in the object that the content of a result has to be.
fn in_object(cx: &Context<'_, '_>, content: Place) -> Option<Fix> {
    let (_, no_output) = formats::find(cx.transcript.format?.id)?.fix_style.no_output;
    let example = Document::read(no_output.as_bytes());
    let key = example.root().members().next()?.key_text()?;
    let value = cx.document.value(content.node);
    // No string has a line end in it.
    let raw = std::str::from_utf8(value.raw()).ok().filter(|_| value.is_array())?.replace(['\n', '\r'], "");
    let is_blank = value.children().all(fix_style::is_blank);
    let json = if is_blank { no_output.to_owned() } else { format!("{{\"{key}\": {raw}}}") };
    Some(Fix::safe([Change::Write(content.node, json)]))
}
