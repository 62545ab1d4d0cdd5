//! Which format a document is written in, told from what it holds.
//!
//! A format claims a document by its messages: a role *and* a block or key that it knows. One key, such as `input` or
//! `parts`, never is enough, because logs, traces and data sets use the same words. `docs/detection.md` tells users.

use toolcheck_json::{Document, Value};

use crate::exchange;
use crate::formats::{self, ALL, Format, are_dialects};
use crate::unsupported;

/// How sure a format is of what it alone writes so.
pub(crate) const SURE: u8 = 40;

/// How sure a format must be of a record for it to leave the format of most others.
const SURE_OF_RECORD: u8 = 70;

/// The same between dialects, whose records look alike: only marks that one of them alone has count.
const SURE_OF_DIALECT: u8 = 80;

/// From this on no other format writes so.
const CERTAIN: u8 = 90;

/// How near the second format must come to the first, in percent, for a person to be told of it.
const NEAR: u32 = 70;

/// How many exchanges of a document are looked at to recognise their format.
const EXCHANGES_LOOKED_AT: usize = 16;

/// What is known of a file's format.
#[derive(Debug)]
pub struct Detection {
    /// For each format of [`ALL`], how sure it is of the documents together.
    sure: Vec<u32>,
    /// How sure the surest was of one document.
    surest: u8,
}

impl Default for Detection {
    fn default() -> Self {
        Self { sure: vec![0; ALL.len()], surest: 0 }
    }
}

/// The format of a file, and what speaks against it.
#[derive(Debug, Clone, Copy)]
pub struct Detected {
    /// The surest format.
    pub format: &'static Format,
    /// Another one that is nearly as likely.
    pub rival: Option<&'static Format>,
}

impl Detection {
    /// Looks at one more document.
    pub fn look(&mut self, document: &Document<'_>) {
        let Some(root) = document.root() else { return };
        match exchange::exchanges(root) {
            Some(exchanges) => {
                exchanges
                    .iter()
                    .take(EXCHANGES_LOOKED_AT)
                    .for_each(|exchange| self.look_at(exchange.request));
            }
            None => self.look_at(root),
        }
    }

    fn look_at(&mut self, root: Value<'_, '_>) {
        if unsupported::find(root).is_some() {
            return;
        }
        for (format, sum) in ALL.iter().zip(&mut self.sure) {
            let sure = (format.sniff)(root);
            *sum += u32::from(sure);
            self.surest = self.surest.max(sure);
        }
    }

    /// The format of one record of a file that is written in `usual`, as far as that is known: a log or a data set may
    /// hold several. What a record leaves open, the other records decide.
    #[must_use]
    pub fn of_record(usual: Option<&'static Format>, record: Value<'_, '_>) -> Option<&'static Format> {
        let own = usual.map_or(0, |usual| (usual.sniff)(record));
        if own >= SURE {
            return usual;
        }
        let other = surest(record, |format| usual.is_none_or(|usual| format.id != usual.id));
        let other = other.filter(|(sure, best)| {
            let is_dialect = usual.is_some_and(|usual| own > 0 && are_dialects(usual.id, best.id));
            *sure >= if is_dialect { SURE_OF_DIALECT } else { SURE_OF_RECORD }
        });
        match other {
            None if own > 0 => usual,
            _ if unsupported::find(record).is_some() => None,
            None => usual,
            Some((_, best)) => Some(best),
        }
    }

    /// Whether a format, by its id, knows a document as one of its own.
    #[must_use]
    pub fn knows(format: &str, document: Value<'_, '_>) -> bool {
        formats::find(format).is_some_and(|format| (format.sniff)(document) >= SURE)
    }

    /// The format that a document looks like to somebody who reads it as `format` and understands little.
    #[must_use]
    pub fn instead_of(format: &str, document: Value<'_, '_>) -> Option<&'static Format> {
        let (sure, best) = surest(document, |other| !are_dialects(other.id, format))?;
        (sure >= SURE).then_some(best)
    }

    /// Whether a document has been seen that only one format writes, so that no other need be looked at.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.surest >= CERTAIN
    }

    /// The format that is surest of the documents together; `None` where none recognises any. `wanted` is the format
    /// of the target that somebody named: it counts where no other is sure, since a text alone is written alike in
    /// many formats.
    #[must_use]
    pub fn best(&self, wanted: Option<&str>) -> Option<Detected> {
        let wanted = wanted.and_then(|id| ALL.iter().position(|format| format.id == id));
        if let Some(index) = wanted.filter(|index| self.sure[*index] > 0 && self.surest < SURE) {
            return Some(Detected { format: ALL[index], rival: None });
        }
        // Of equals the first: they are equal only where no document shows a difference.
        let by_sureness = |but: Option<usize>| {
            let others = self.sure.iter().enumerate().rev().filter(move |(index, _)| Some(*index) != but);
            others.max_by_key(|(_, sure)| **sure).filter(|(_, sure)| **sure > 0)
        };
        let (index, sure) = by_sureness(None)?;
        let rival = by_sureness(Some(index)).filter(|(_, other)| **other * 100 >= sure * NEAR);
        Some(Detected { format: ALL[index], rival: rival.map(|(index, _)| ALL[index]) })
    }
}

/// The surest of the formats that `counts` lets through, and how sure it is.
fn surest(document: Value<'_, '_>, counts: impl Fn(&Format) -> bool) -> Option<(u8, &'static Format)> {
    let formats = ALL.iter().copied().filter(|format| counts(format));
    formats.map(|format| ((format.sniff)(document), format)).max_by_key(|(sure, _)| *sure)
}

/// How many messages a format looks at to recognise a document.
const MESSAGES_LOOKED_AT: usize = 200;

/// What a format makes of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It has no such messages.
    Foreign,
    /// Nothing in it speaks for the format or against it.
    Open,
    /// It may have written it, and is this sure of it.
    Sure(u8),
}

impl Claim {
    /// What a message of a role that the format does not know says: a wrong word among right ones is a mistake, and a
    /// message in which nothing is right is somebody else's.
    pub(crate) fn of_unknown_role(message: Value<'_, '_>) -> Self {
        let says = |value: Value<'_, '_>| value.as_json_str().is_some();
        let is_message = message.get("role").is_some_and(says) && message.get("content").is_some_and(says);
        if is_message { Self::Open } else { Self::Foreign }
    }
}

/// How sure the messages of a list make a format of its document. Those that it does not have count against it; once
/// one makes it `enough` sure, no further one is looked at.
pub(crate) fn surest_message<'d, 's>(
    list: Value<'d, 's>,
    enough: u8,
    claim: impl Fn(Value<'d, 's>) -> Claim,
) -> u8 {
    let (mut surest, mut own, mut foreign) = (0, 0, 0);
    for message in list.elements().take(MESSAGES_LOOKED_AT) {
        match claim(message) {
            Claim::Foreign => foreign += 1,
            Claim::Open => {}
            Claim::Sure(sure) => {
                own += 1;
                surest = surest.max(sure);
                if surest >= enough {
                    return surest;
                }
            }
        }
    }
    if foreign > own || own == 0 {
        0
    } else if foreign > 0 && surest < SURE {
        surest.min(FAINT)
    } else {
        surest
    }
}

/// How sure a format is of a document in which some messages are none of its own, and no other is its alone.
const FAINT: u8 = 5;
