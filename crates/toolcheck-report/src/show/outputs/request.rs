use std::io;

use toolcheck_core::text::is_hidden;

use super::Output;
use crate::Style;
use crate::show::Outline;

pub(super) static OUTPUT: Output = Output {
    id: "request",
    summary: "the body of the request that the conversation is, as JSON (it contains everything that was said)",
    is_request: true,
    write,
};

fn write(outline: &Outline, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(body) = outline.request().and_then(|request| request.body.as_ref()) else { return Ok(()) };
    let mut units = [0; 2];
    for character in serde_json::to_string_pretty(body)?.chars() {
        // Only texts have such characters, and there an escape says the same.
        if character != '\n' && is_hidden(character) {
            for unit in character.encode_utf16(&mut units) {
                write!(out, "\\u{unit:04x}")?;
            }
        } else {
            write!(out, "{character}")?;
        }
    }
    writeln!(out)
}
