//! How a file of a reader is fixed: where its records have their messages, and how the program writes a record.

use std::borrow::Cow;

use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use crate::fix_style::FixStyle;
use crate::formats::Format;

/// How the files of a reader are fixed.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileFixStyle {
    /// How its messages, their blocks and results are written.
    pub fix_style: &'static FixStyle,
    /// The wire format of the messages; `None` if they are the program's own.
    pub format: Option<&'static Format>,
    /// The key under which a record has its message. A record without it is the message.
    pub message: Option<&'static str>,
    /// Whether the program writes each result in a record of its own, even where a message may hold several.
    pub is_alone: bool,
    /// The keys of a record's id and of the id of the record that it follows.
    pub links: Option<(&'static str, &'static str)>,
    /// Whether a record says itself what its message is, so that another message needs another record.
    pub has_kinds: bool,
    /// The key of a call under which its result stands, if it is no message or block.
    pub result_in_call: Option<&'static str>,
    /// The keys that each message has, whoever speaks, such as its time.
    pub stamps: &'static [&'static str],
    /// The keys of records to which none may be added and of which none may be removed, and why.
    pub fixed_records: Option<(&'static [&'static str], &'static str)>,
    /// Writes a record.
    pub record: fn(NewRecord<'_, '_>) -> Piece,
}

impl FileFixStyle {
    /// Records that are messages, and nothing else.
    pub(crate) const fn plain(fix_style: &'static FixStyle) -> Self {
        Self {
            fix_style,
            format: None,
            message: None,
            is_alone: false,
            links: None,
            has_kinds: false,
            result_in_call: None,
            stamps: &[],
            fixed_records: None,
            record: |added| added.message,
        }
    }
}

/// A message that a record is written for.
#[derive(Debug)]
#[non_exhaustive]
pub struct NewRecord<'d, 's> {
    /// The message.
    pub message: Piece,
    /// The record that it follows, which names the same session.
    pub after: Value<'d, 's>,
    /// The id of the new record.
    pub id: Piece,
    /// The id of the record that it follows directly, if that is new, too.
    pub before: Option<Piece>,
}

impl<'d, 's> NewRecord<'d, 's> {
    /// A message after a record.
    pub fn new(message: Piece, after: Value<'d, 's>, id: Piece) -> Self {
        Self { message, after, id, before: None }
    }

    /// After another new record, if there is one.
    pub fn after_new(self, before: Option<Piece>) -> Self {
        Self { before, ..self }
    }
}

/// A message, with what its record has under these keys: its time, and who sees it.
pub(crate) fn stamped(added: NewRecord<'_, '_>, keys: &[&'static str]) -> Piece {
    match added.message {
        Piece::Object(mut members) => {
            members.extend(members_of(added.after, keys));
            Piece::Object(members)
        }
        message => message,
    }
}

pub(crate) fn members_of(record: Value<'_, '_>, keys: &[&'static str]) -> Vec<(Cow<'static, str>, Piece)> {
    let found = keys.iter().filter_map(|key| Some((Cow::Borrowed(*key), Piece::Node(record.get(key)?.id()))));
    found.collect()
}
