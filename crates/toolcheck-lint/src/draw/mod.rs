//! The drawings of a picture, one file each.
//!
//! To add a drawing, add a file and two lines here.

mod html;
mod markdown;
mod text;

use std::io;

use crate::picture::Picture;
use crate::render::Style;

/// A way to draw a picture.
#[derive(Debug)]
pub struct Drawing {
    /// The id on the command line.
    pub id: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Draws a picture.
    pub draw: fn(&Picture, &Style, &mut dyn io::Write) -> io::Result<()>,
}

/// All drawings, by id.
pub static ALL: &[&Drawing] = &[&html::DRAWING, &markdown::DRAWING, &text::DRAWING];

/// The drawing of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Drawing> {
    ALL.iter().copied().find(|drawing| drawing.id == id)
}
