//! What a file is read as.

use crate::formats::{self, Format};
use crate::readers::{self, Reader};

/// What a file is read as: a wire format, or with a reader of logs, histories and data sets.
#[derive(Debug, Clone, Copy)]
pub enum InputFormat {
    /// Requests in a wire format.
    Wire(&'static Format),
    /// A file for a reader.
    Reader(&'static Reader),
}

impl InputFormat {
    /// The one with this id or alias.
    pub fn named(name: &str) -> Option<Self> {
        formats::named(name).map(Self::Wire).or_else(|| readers::find(name).map(Self::Reader))
    }

    /// The ids and aliases of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        formats::names().chain(readers::ALL.iter().map(|reader| reader.id))
    }

    /// All: first the wire formats, then the readers, each by id.
    pub fn all() -> impl Iterator<Item = Self> {
        let readers = readers::ALL.iter().copied().map(Self::Reader);
        formats::ALL.iter().copied().map(Self::Wire).chain(readers)
    }

    /// The id on the command line and in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Wire(format) => format.id,
            Self::Reader(reader) => reader.id,
        }
    }

    /// Other names of it.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Wire(format) => format.aliases,
            Self::Reader(_) => &[],
        }
    }

    /// The wire format, if it is one.
    pub fn wire(self) -> Option<&'static Format> {
        if let Self::Wire(format) = self { Some(format) } else { None }
    }

    /// The reader, if it is one.
    pub fn reader(self) -> Option<&'static Reader> {
        if let Self::Reader(reader) = self { Some(reader) } else { None }
    }
}

impl From<&'static Format> for InputFormat {
    fn from(format: &'static Format) -> Self {
        Self::Wire(format)
    }
}

impl From<&'static Reader> for InputFormat {
    fn from(reader: &'static Reader) -> Self {
        Self::Reader(reader)
    }
}
