//! What logs, JSON texts and Python's `repr` wrap around an error, taken off.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

/// A body in a body in a log.
const DEEPEST: usize = 4;

static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    let escape = r#"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[nrt\\"'/])"#;
    Regex::new(escape).expect("it is a regular expression")
});

/// What programs write where they have cut a text.
static CUT: LazyLock<Regex> = LazyLock::new(|| {
    let mark = r"(?i)[ \t]*(?:\.{3}|\xe2\x80\xa6)?[ \t]*[(\[](?:\.{3}|\xe2\x80\xa6)? ?truncated[^()\[\]\n]{0,40}[)\]]";
    Regex::new(&format!("(?-u){mark}")).expect("it is a regular expression")
});

/// An ellipsis, behind which another line begins.
const ELLIPSIS: &str = "\u{2026}\n";

/// A text without the escapes of what it is in, however deep, and with an ellipsis wherever a program says that it was cut.
pub(super) fn unescaped(error: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(error);
    if let Cow::Owned(cut) = CUT.replace_all(error.as_bytes(), ELLIPSIS.as_bytes()) {
        plain = Cow::Owned(String::from_utf8_lossy(&cut).into_owned());
    }
    for _ in 0..DEEPEST {
        if !plain.contains('\\') {
            break;
        }
        let bytes = ESCAPE.replace_all(plain.as_bytes(), unescape);
        plain = Cow::Owned(String::from_utf8_lossy(&bytes).into_owned());
    }
    plain
}

fn unescape(escape: &Captures<'_>) -> Vec<u8> {
    let (kind, digits) = (escape[1][0], String::from_utf8_lossy(&escape[1][1..]));
    let code = u32::from_str_radix(&digits, 16).unwrap_or_default();
    match kind {
        b'n' | b'r' => vec![b'\n'],
        b't' => vec![b'\t'],
        b'x' => u8::try_from(code).into_iter().collect(),
        b'u' => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).to_string().into_bytes(),
        quoted => vec![quoted],
    }
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn a_text_is_taken_out_of_what_it_is_in() {
        for (escaped, plain) in [
            (
                r#"{"raw":"{\"message\":\"at\\ncontent.0\"}"}"#,
                "{\"raw\":\"{\"message\":\"at\ncontent.0\"}\"}",
            ),
            (r"b'\xe8\xaf\xb7 \u4e0d \xff'", "b'请 不 \u{fffd}'"),
            (r"'^\d+$' \u12 \xz \", r"'^\d+$' \u12 \xz \"),
            ("without `tool_r (truncated...)", "without `tool_r\u{2026}\n"),
            ("without… (truncated...)\n#0", "without\u{2026}\n\n#0"),
            ("the [truncated] text... [truncated 1,204 characters]", "the\u{2026}\n text\u{2026}\n"),
            ("the calls were truncated (twice)", "the calls were truncated (twice)"),
        ] {
            assert_eq!(unescaped(escaped), plain);
        }
    }
}
