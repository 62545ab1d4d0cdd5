use toolcheck_core::ir::{Body, Message, Part};
use toolcheck_json::JsonStr;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    OversizedContent in Content, since "0.1.0", silent on wire looks at [TEXT, RESULTS, SERVER_RESULTS], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some(max) = cx.target().content.max_length else { return };
    for (number, message, part) in cx.transcript.sites() {
        let text = match &part.body {
            Body::Text(text) => Some(text.string),
            Body::Result(result) => {
                let place = result.content_place.filter(|place| place.span.range().len() > max);
                place.and_then(|place| cx.document.value(place.node).as_json_str())
            }
            _ => None,
        };
        if let Some(length) = text.and_then(|text| length_above(text, max)) {
            report(cx, out, (number, message, part), length, max);
        }
    }
}

/// The number of characters in the text, if there are more than `max`.
fn length_above(text: JsonStr<'_>, max: usize) -> Option<usize> {
    // A character takes at least one byte, so most texts need not be counted.
    if text.raw().len() <= max {
        return None;
    }
    Some(text.char_count()).filter(|length| *length > max)
}

fn report(
    cx: &Context<'_, '_>,
    out: &mut Sink<'_>,
    (number, message, part): (usize, &Message<'_>, &Part<'_>),
    length: usize,
    max: usize,
) {
    out.report(part.place, format!("the text has {length} characters, but the limit is {max}"))
        .caption("too long")
        .help("shorten the text, or split it")
        .at(cx, (number, message, part))
        .value("length", length)
        .value("max", max);
}
