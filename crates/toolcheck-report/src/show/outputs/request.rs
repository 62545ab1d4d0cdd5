use std::io;

use super::Output;
use crate::Style;
use crate::json_text::write_json;
use crate::show::Outline;

pub(super) static OUTPUT: Output = Output {
    id: "request",
    summary: "a request body made from the conversation, as JSON (it contains everything that was said)",
    is_request: true,
    write,
};

fn write(outline: &Outline, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(body) = outline.request().and_then(|request| request.body.as_ref()) else { return Ok(()) };
    write_json(body, out)
}
