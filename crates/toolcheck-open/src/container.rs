//! What a kind of file is that holds requests inside something else.

use toolcheck_json::origins::{Opened, Origins, Unread};

use crate::needs::Needs;
use crate::{Limits, MOST_SOURCE};

/// The id of the kind for what programs print.
pub(crate) const PRINTED: &str = "printed";

/// A kind of file that holds requests inside something else.
#[derive(Debug)]
#[non_exhaustive]
pub struct Container {
    /// The id on the command line and in reports.
    pub id: &'static str,
    /// The display name.
    pub name: &'static str,
    pub(crate) needs: Needs,
    /// Whether a file is one, by its start.
    pub(crate) sniff: fn(&[u8]) -> bool,
    /// Opens a file of this kind.
    pub(crate) read: fn(&[u8], Limits) -> Option<Opened>,
}

impl Container {
    /// Opens a file of this kind; `None` if it is not one.
    pub fn open(&self, bytes: &[u8], limits: Limits) -> Option<Opened> {
        if bytes.len() > MOST_SOURCE {
            return None;
        }
        self.not_built(bytes).or_else(|| (self.read)(bytes, limits))
    }

    /// Whether a file is one, by its start.
    pub fn is_one(&self, bytes: &[u8]) -> bool {
        (self.sniff)(bytes)
    }

    /// Whether such files are looked for in folders. What a program has printed is only read where the user names it,
    /// because texts for people show the same.
    pub fn is_looked_for(&self) -> bool {
        self.id != PRINTED
    }

    /// What there is to say of a file that is none of this kind, although the user says so. `other` is the id of what it
    /// looks like.
    pub fn not_one(&self, other: Option<&str>) -> Opened {
        let advice = match other {
            Some(other) => format!("it looks like `{other}`: use that, or leave out --format"),
            None => "leave out --format, and toolcheck detects the format".to_owned(),
        };
        let what = format!("this does not look like `{}`", self.id);
        let unread = Unread { what, at: 0, origin: None, advice: Some(advice) };
        Opened { unread: Some(unread), ..self.opened() }
    }

    /// What there is to say of a file of this kind that this build can't read, by its start; `None` if it can.
    pub fn not_built(&self, bytes: &[u8]) -> Option<Opened> {
        let lacking = self.needs.lacking(bytes)?;
        Some(Opened { not_built: Some(lacking), ..self.opened() })
    }

    /// Whether this build can read all files of this kind.
    pub fn is_built(&self) -> bool {
        self.needs.lacking(b"").is_none()
    }

    /// A file of this kind in which nothing was found yet.
    pub(crate) fn opened(&self) -> Opened {
        Opened {
            id: self.id,
            name: self.name,
            text: Vec::new(),
            origins: Origins::default(),
            exchanges: 0,
            left_out: Vec::new(),
            broken_at: None,
            unread: None,
            notation: None,
            unpacked: None,
            not_built: None,
            is_table: false,
        }
    }
}
