use std::io;

use super::Output;
use crate::Style;
use crate::show::{Outline, Request};

pub(super) static OUTPUT: Output = Output {
    id: "request",
    summary: "a request body made from the conversation, as JSON (it contains everything that was said)",
    is_request: true,
    write,
};

fn write(outline: &Outline, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(text) = outline.request().and_then(Request::text) else { return Ok(()) };
    out.write_all(text.as_bytes())
}
