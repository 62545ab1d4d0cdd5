//! Texts of turns that are sentences, and those that may be calls in a notation of their own.

use memchr::{memchr, memchr2, memchr3};
use toolcheck_json::{JsonStr, contains};

/// Whether a text is a sentence beyond doubt, and no call in whatever words.
pub(crate) fn is_sentence(text: JsonStr<'_>) -> bool {
    let raw = text.raw();
    // Most others are ruled out as they are written.
    let may_end = text.is_escaped()
        || raw.trim_ascii_end().last().is_some_and(|last| b".!?".contains(last) || !last.is_ascii());
    if !may_end || memchr3(b'{', b'`', b'<', raw).is_some() || memchr(b'[', raw).is_some() {
        return false;
    }
    let said = text.decode();
    let said = said.trim();
    let is_called = || said.split('(').rev().skip(1).any(|before| before.ends_with(char::is_alphanumeric));
    said.ends_with(['.', '!', '?', '…', '。', '！', '？'])
        && memchr3(b'\n', b'{', b'`', said.as_bytes()).is_none()
        && memchr2(b'<', b'[', said.as_bytes()).is_none()
        && !is_notation(said)
        && !is_called()
}

/// Whether a text may be a call in a notation that is not JSON, such as `tide(port="Oban")`, and no JSON with a fault or a
/// sentence.
pub(crate) fn is_notation(text: &str) -> bool {
    let text = text.trim_start();
    let is_json = text.starts_with('{') || text.starts_with('[') && text[1..].trim_start().starts_with('{');
    let is_called = || {
        let name = text.trim_start_matches('[').split('(').next().unwrap_or_default();
        name.len() < text.len() && !name.trim().is_empty() && !name.trim().contains(char::is_whitespace)
    };
    let is_marked = || {
        text.is_empty()
            || text.starts_with(['<', '`', '[', '#', '$', '|'])
            || contains(text.as_bytes(), b": ")
    };
    !is_json && (is_called() || is_marked() || !text.trim_end().contains(char::is_whitespace))
}
