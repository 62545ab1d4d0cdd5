//! Bytes that are written as text: percent escapes and base64.

use std::borrow::Cow;

/// A text with its percent escapes as the bytes that they stand for (RFC 3986, 2.1).
pub fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Bytes in base64, with the usual alphabet and padding (RFC 4648).
pub fn to_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | three.get(at).map_or(0, |byte| usize::from(*byte)));
        let digit =
            |at: usize| if at > three.len() { '=' } else { char::from(DIGITS[bits >> (18 - 6 * at) & 63]) };
        text.extend((0..4).map(digit));
    }
    text
}

/// The bytes that base64 stands for, with either alphabet, and whitespace anywhere.
pub fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut is_ended) = (0u32, 0, false);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                is_ended = true;
                continue;
            }
            byte if byte.is_ascii_whitespace() => continue,
            _ => return None,
        };
        if is_ended {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// Makes spaces of line breaks, where they are only white space.
pub(crate) fn put_on_one_line(mut text: &mut [u8]) {
    while let Some(at) = memchr::memchr2(b'\n', b'\r', text) {
        text[at] = b' ';
        text = &mut text[at + 1..];
    }
}
