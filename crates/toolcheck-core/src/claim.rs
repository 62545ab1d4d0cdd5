//! How sure a format is of a document, by the messages in it.

use toolcheck_json::Value;

/// How sure a format is of a message or a document, from 0 (it is not of the format) to 100.
///
/// The surest format wins, so the numbers count against those of other formats: what several formats write the same way
/// is below [`SURE`], and what dialects share is below [`SURE_OF_DIALECT`]. A number between two of these constants only
/// says which of two formats goes first.
pub(crate) mod certainty {
    /// Another format is likelier.
    pub(crate) const FAINT: u8 = 5;
    /// A list without messages, or a message that says little.
    pub(crate) const WEAK: u8 = 10;
    /// A message of plain text, as several formats write it.
    pub(crate) const TEXT: u8 = 20;
    /// What the format writes and few others do. From here on a format counts as recognised.
    pub(crate) const SURE: u8 = 40;
    /// A key of the body, or a type of block, that few other formats have.
    pub(crate) const LIKELY: u8 = 60;
    /// Enough for one record to leave the format of most others in its file.
    pub(crate) const SURE_OF_RECORD: u8 = 70;
    /// The same between dialects, whose records look alike: only marks that one of them alone has count.
    pub(crate) const SURE_OF_DIALECT: u8 = 80;
    /// The name of a model that only one dialect has.
    pub(crate) const OWN_MODEL: u8 = 84;
    /// A setting of the body that only one dialect has.
    pub(crate) const OWN_SETTING: u8 = 85;
    /// From here on no other format writes so.
    pub(crate) const CERTAIN: u8 = 90;
    /// A message whose shape only one format has.
    pub(crate) const OWN_SHAPE: u8 = 95;
}

use certainty::SURE;

/// How many messages a format looks at to recognise a document.
pub(crate) const MESSAGES_LOOKED_AT: usize = 200;

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
    /// What the blocks of a message say: how sure each is, 0 where the format does not know it, and `None` where it is
    /// somebody else's. `empty` is said of a message without any.
    pub(crate) fn of_blocks(blocks: impl Iterator<Item = Option<u8>>, empty: Self) -> Self {
        let mut surest = None;
        for sure in blocks {
            let Some(sure) = sure else { return Self::Foreign };
            surest = surest.max(Some(sure));
        }
        match surest {
            None => empty,
            Some(0) => Self::Foreign,
            Some(sure) => Self::Sure(sure),
        }
    }

    /// What a message of a role that the format does not know says: a wrong word among right ones is a mistake, and a
    /// message in which nothing is right is somebody else's.
    pub(crate) fn of_unknown_role(message: Value<'_, '_>) -> Self {
        let says = |value: Value<'_, '_>| value.as_json_str().is_some();
        let is_message = message.get("role").is_some_and(says) && message.get("content").is_some_and(says);
        if is_message { Self::Open } else { Self::Foreign }
    }
}

/// How sure the messages of a list make a format of its document, as a [`certainty`]. Those that it does not have count against it; once
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
        (surest / FAINTER).max(1)
    } else {
        surest
    }
}

/// By how much a format is less sure of a document in which some messages are none of its own, and no other is its
/// alone.
const FAINTER: u8 = 3;
