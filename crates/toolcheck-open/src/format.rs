//! What a user can name a file: what it holds, or what is around that.

use toolcheck_core::InputFormat;

use crate::container::Container;
use crate::containers;

/// A format of a file.
#[derive(Debug, Clone, Copy)]
pub enum FileFormat {
    /// What is in the file, or in something around it.
    Input(InputFormat),
    /// The file holds requests inside this.
    Container(&'static Container),
}

impl FileFormat {
    /// The format with a name.
    pub fn named(name: &str) -> Option<Self> {
        InputFormat::named(name).map(Self::Input).or_else(|| containers::find(name).map(Self::Container))
    }

    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        InputFormat::all().map(Self::Input).chain(containers::ALL.iter().copied().map(Self::Container))
    }

    /// All names that are accepted, including aliases.
    pub fn names() -> impl Iterator<Item = &'static str> {
        InputFormat::names().chain(containers::ALL.iter().map(|container| container.id))
    }

    /// The id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Input(format) => format.id(),
            Self::Container(container) => container.id,
        }
    }

    /// Other names of it.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Input(format) => format.aliases(),
            Self::Container(_) => &[],
        }
    }

    /// What is in the file, if that is what was named.
    pub fn input(self) -> Option<InputFormat> {
        if let Self::Input(format) = self { Some(format) } else { None }
    }

    /// What is around the requests, if that is what was named.
    pub fn container(self) -> Option<&'static Container> {
        if let Self::Container(container) = self { Some(container) } else { None }
    }
}
