//! What a help tells to do, as far as a fix can do it.

/// The edit that the first words of a help name.
///
/// A help is written for people. One that begins with the words of an action is also done by `fix`, whether it is made of the
/// description of an object or stands in a file of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'h> {
    /// ``add `"key": json` ``.
    Add {
        /// The key that is missing.
        key: &'h str,
        /// Its value.
        json: &'h str,
    },
    /// ``leave `key` out``, or `leave it out` without a key.
    LeaveOut(Option<&'h str>),
    /// ``move it to `place` ``, or to one in other words.
    Move(Option<&'h str>),
    /// `remove it…`.
    Remove,
    /// ``rename `key` to `meant` ``, or to something else.
    Rename(Option<&'h str>),
    /// ``use `word` ``, and nothing else.
    Use(&'h str),
    /// ``write `word` ``, or something else, which follows.
    Write(&'h str),
    /// `write it as json`.
    WriteAs(&'h str),
    /// `write the whole object as json`.
    WriteObjectAs(&'h str),
}

impl<'h> Action<'h> {
    /// What `help` tells to do.
    pub fn of(help: &'h str) -> Option<Self> {
        let quoted = |start: &str| help.strip_prefix(start)?.split_once('`');
        if let Some(json) = help.strip_prefix("write it as ") {
            return Some(Self::WriteAs(json));
        }
        if let Some(json) = help.strip_prefix("write the whole object as ") {
            return Some(Self::WriteObjectAs(json));
        }
        if let Some(member) = help.strip_prefix("add `\"") {
            // What else may be done follows.
            let member = member.split_once("`, or ").map(|(member, _)| member).or(member.strip_suffix('`'));
            let (key, json) = member?.split_once("\": ")?;
            return Some(Self::Add { key, json });
        }
        if let Some((key, rest)) = quoted("leave `") {
            return rest.starts_with(" out").then_some(Self::LeaveOut(Some(key)));
        }
        if let Some((word, rest)) = quoted("use `") {
            return rest.is_empty().then_some(Self::Use(word));
        }
        if let Some((word, _)) = quoted("write `") {
            return Some(Self::Write(word));
        }
        let plain = [
            ("leave it out", Self::LeaveOut(None)),
            ("move it to ", Self::Move(quoted("move it to `").map(|(place, _)| place))),
            ("remove it", Self::Remove),
            (
                "rename `",
                Self::Rename(
                    help.split_once("` to `")
                        .and_then(|(_, meant)| meant.strip_suffix('`'))
                        .filter(|meant| !meant.contains('`')),
                ),
            ),
        ];
        plain.into_iter().find(|(start, _)| help.starts_with(start)).map(|(_, action)| action)
    }
}
