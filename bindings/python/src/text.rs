//! JSON strings.

/// The bytes that are escaped in a JSON string: 0 for none, `u` for a code point in hexadecimal, or what follows the
/// backslash.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table
};

/// The number of bytes that are looked at together.
const STEP: usize = 16;

/// Writes a JSON string. Bytes that are not UTF-8 are written as they are, so that they can be found.
pub(crate) fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let (mut done, mut at) = (0, 0);
    while at < text.len() {
        if let Some(step) = text.get(at..at + STEP) {
            // Without a branch in it, this is done for all of them at once.
            let found = step.iter().fold(0, |found, byte| {
                found | u8::from(*byte < 0x20) | u8::from(*byte == b'"') | u8::from(*byte == b'\\')
            });
            if found == 0 {
                at += STEP;
                continue;
            }
        }
        let end = text.len().min(at + STEP);
        for (index, byte) in text.iter().enumerate().take(end).skip(at) {
            let escape = ESCAPES[usize::from(*byte)];
            if escape != 0 {
                out.extend_from_slice(&text[done..index]);
                done = index + 1;
                match escape {
                    b'u' => write_code_unit(u16::from(*byte), out),
                    _ => out.extend_from_slice(&[b'\\', escape]),
                }
            }
        }
        at = end;
    }
    out.extend_from_slice(&text[done..]);
    out.push(b'"');
}

/// Writes a JSON string from UTF-8 in which halves of surrogate pairs stand alone; these are written as escapes.
pub(crate) fn write_string_with_surrogates(text: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    write_string(text, out);
    // A half is encoded as ED, A0 to BF, 80 to BF, which no character is.
    let is_half = |bytes: &[u8]| bytes[0] == 0xed && bytes[1] >= 0xa0;
    if !out[from..].windows(3).any(is_half) {
        return;
    }
    let written = out.split_off(from);
    let mut at = 0;
    while at < written.len() {
        match written.get(at..at + 3) {
            Some(bytes) if is_half(bytes) => {
                let unit = 0xd000 | u16::from(bytes[1] & 0x3f) << 6 | u16::from(bytes[2] & 0x3f);
                write_code_unit(unit, out);
                at += 3;
            }
            _ => {
                out.push(written[at]);
                at += 1;
            }
        }
    }
}

fn write_code_unit(unit: u16, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(DIGITS[usize::from(unit >> shift & 0xf)]);
    }
}
