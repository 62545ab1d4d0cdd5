//! What logs, terminals, web pages, JSON texts and Python's `repr` wrap around an error, taken off.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

/// A body in a body in a log.
const DEEPEST: usize = 4;

static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    let of_strings = r#"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[nrt\\"'/])"#;
    let of_pages = "&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|apos|gt|lt|nbsp|quot);";
    let of_terminals = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])";
    // Of the box that a program has drawn round it.
    let of_boxes = r"(?m:^)[ \t]*\xe2\x94[\x82\x83] ?|[ \t]*\xe2\x94[\x82\x83][ \t]*\r?(?m:$)";
    Regex::new(&format!("(?-u){of_strings}|{of_pages}|{of_terminals}|{of_boxes}"))
        .expect("it is a regular expression")
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
        if !plain.contains(['\\', '&', '\x1b', '\u{2502}', '\u{2503}']) {
            break;
        }
        let bytes = ESCAPE.replace_all(plain.as_bytes(), unescape);
        plain = Cow::Owned(String::from_utf8_lossy(&bytes).into_owned());
    }
    plain
}

fn unescape(escape: &Captures<'_>) -> Vec<u8> {
    let number = |digits: &[u8], radix| u32::from_str_radix(&String::from_utf8_lossy(digits), radix);
    let character =
        |code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).to_string().into_bytes();
    if let Some(entity) = escape.get(2) {
        return match entity.as_bytes() {
            [b'#', b'x' | b'X', digits @ ..] => character(number(digits, 16).unwrap_or_default()),
            [b'#', digits @ ..] => character(number(digits, 10).unwrap_or_default()),
            b"amp" => b"&".into(),
            b"apos" => b"'".into(),
            b"gt" => b">".into(),
            b"lt" => b"<".into(),
            b"quot" => b"\"".into(),
            _ => b" ".into(),
        };
    }
    let Some(escape) = escape.get(1) else { return Vec::new() };
    let (kind, digits) = (escape.as_bytes()[0], &escape.as_bytes()[1..]);
    let code = number(digits, 16).unwrap_or_default();
    match kind {
        b'n' | b'r' => vec![b'\n'],
        b't' => vec![b'\t'],
        b'x' => u8::try_from(code).into_iter().collect(),
        b'u' => character(code),
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
            (
                r"{&quot;message&quot;:&quot;&#x60;id&#96; &amp;lt;a&amp;gt;&nbsp;&#39;b&#x27;&quot;} R&D; &copy;",
                "{\"message\":\"`id` <a> 'b'\"} R&D; &copy;",
            ),
            (
                "\x1b[1;31mError:\x1b[0m \x1b]8;;https://a.example\x07toolu_01\x1b]8;;\x07 \\u001b[2K end",
                "Error: toolu_01  end",
            ),
            ("│ 400: no tool │\n│   call_1 │  \n┃ a │ b ┃", "400: no tool\n  call_1\na │ b"),
            ("│ 400: no tool │\r\n│ call_1 │\r\n", "400: no tool\ncall_1\n"),
            ("the calls were truncated (twice)", "the calls were truncated (twice)"),
        ] {
            assert_eq!(unescaped(escaped), plain);
        }
    }
}
