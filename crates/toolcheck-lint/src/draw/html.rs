use std::io;

use super::Drawing;
use crate::picture::Picture;
use crate::render::Style;

pub(super) static DRAWING: Drawing = Drawing { id: "html", summary: "", draw };

fn draw(_: &Picture, _: &Style, _: &mut dyn io::Write) -> io::Result<()> {
    Ok(())
}
