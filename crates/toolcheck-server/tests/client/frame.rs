//! How a client reads a message.

use std::io::BufRead;

use serde_json::Value as Json;

/// The next message; `None` at the end.
pub(crate) fn read(input: &mut impl BufRead) -> Option<Json> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((_, value)) => length = value.parse().ok()?,
            None => break,
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
