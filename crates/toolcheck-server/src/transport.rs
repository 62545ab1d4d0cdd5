//! Messages over two streams of bytes, as the base protocol frames them.

use std::io::{self, BufRead, Read, Write};

use lsp_server::Message;

/// The largest message that is read. An editor that sends more than that has lost its way.
const LARGEST: usize = 1 << 30;

/// What was read.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Message),
    /// A body that is no message, and why.
    Malformed(String),
}

/// Reads a message; `None` at the end of the stream.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    let mut body = Vec::new();
    io::copy(&mut input.by_ref().take(length as u64), &mut body)?;
    if body.len() < length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Malformed(error.to_string()),
    }))
}

/// Reads the header of a message; returns the length of its body.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let broken = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let mut length = None;
    loop {
        let mut line = Vec::new();
        // A header is short; what is not is none.
        if input.by_ref().take(8192).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            let length = length.ok_or_else(|| broken("a message without a Content-Length"))?;
            return Ok(Some(length));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| broken("a header without a colon"))?;
        if name.trim().eq_ignore_ascii_case("content-length") {
            let number = value.trim().parse().ok().filter(|number| *number <= LARGEST);
            length = Some(number.ok_or_else(|| broken("a Content-Length that is no length"))?);
        }
    }
}

/// Writes a message.
pub(crate) fn write(message: &Message, out: &mut dyn Write) -> io::Result<()> {
    let mut written = Vec::new();
    message.clone().write(&mut written)?;
    out.write_all(&written)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            match read(&mut bytes) {
                Ok(Some(Incoming::Message(Message::Notification(it)))) => all.push(it.method),
                Ok(Some(Incoming::Message(it))) => all.push(format!("{it:?}")),
                Ok(Some(Incoming::Malformed(_))) => all.push("malformed".to_owned()),
                Ok(None) => return all,
                Err(error) => {
                    all.push(error.to_string());
                    return all;
                }
            }
        }
    }

    #[test]
    fn what_is_no_message_does_not_hide_the_next_one() {
        let bytes = b"Content-Length: 3\r\n\r\n{x}Content-Type: x\r\ncontent-length: 30\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"m\"}";
        assert_eq!(all(bytes), ["malformed", "m"]);
        assert_eq!(all(b"Content-Length: 30\r\n\r\n{"), [""; 0]);
        assert_eq!(all(b"nonsense\n"), ["a header without a colon"]);
        assert_eq!(all(b"\r\n"), ["a message without a Content-Length"]);
        assert_eq!(all(b"Content-Length: 99999999999\r\n\r\n"), ["a Content-Length that is no length"]);
    }
}
