//! How sure a format is of a document, by the messages in it.

use toolcheck_json::Value;

/// How sure a format is of what it alone writes so.
pub(crate) const SURE: u8 = 40;

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
        (surest / FAINTER).max(1)
    } else {
        surest
    }
}

/// By how much a format is less sure of a document in which some messages are none of its own, and no other is its
/// alone.
const FAINTER: u8 = 3;
