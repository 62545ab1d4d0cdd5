use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Role};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    TrailingWhiteSpace in Content, since "0.1.0", silent (silent in dataset) on wire looks at [TEXT], check,
    values PART
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let Some((message, parts)) = cx.transcript.messages_with_parts().last() else { return };
    let Some(part) = parts.last().filter(|_| message.role == Role::Assistant && cx.is_request()) else {
        return;
    };
    let Body::Text(text) = &part.body else { return };
    // Text that is all whitespace is reported by another rule.
    if text.string.is_blank() || !text.string.decode().ends_with(char::is_whitespace) {
        return;
    }
    let trimmed = trimmed(text.string.raw());
    let finding = out.report(part.place, "the text that the model should continue ends with whitespace");
    if trimmed.len() < text.string.raw().len()
        && let Ok(trimmed) = std::str::from_utf8(trimmed)
    {
        finding.fix(Fix::safe([Change::Write(text.place.node, format!("\"{trimmed}\""))]));
    }
    finding
        .caption("ends with whitespace")
        .help("remove the trailing whitespace")
        .at(cx, (cx.transcript.messages.len() - 1, message, part));
}

/// A string as it is written, without the whitespace at its end.
fn trimmed(raw: &[u8]) -> &[u8] {
    let mut left = raw.trim_ascii_end();
    while let [before @ .., b'\\', b'n' | b't' | b'r'] = left {
        // A backslash that is escaped is one of the text.
        if before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
            break;
        }
        left = before.trim_ascii_end();
    }
    left
}
