//! The names that rules and targets share: those of cases, and of the placeholders in a provider's error text.

/// A case or a placeholder, with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Term {
    /// The name, as it is written in a target's file.
    pub name: &'static str,
    /// The meaning in a few words, for the rule's page.
    pub meaning: &'static str,
    /// Whether no built-in target uses it, so that only users' own targets can.
    pub is_for_users: bool,
}

impl Term {
    const fn new(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, is_for_users: false }
    }
}

const INDEX: Term = Term::new("index", "the index of the message, from 0");
const MEMBER: Term = Term::new("member", "the number of the message, from 1");
const PART_INDEX: Term = Term::new("part", "the index of the part in its message, from 0");
const PART_MEMBER: Term = Term::new("part-member", "the number of the part in its message, from 1");

pub(crate) static MESSAGE: &[Term] = &[INDEX, MEMBER];
/// The placeholders for the numbers of a part and of its message.
pub(crate) static PART: &[Term] = &[INDEX, MEMBER, PART_INDEX, PART_MEMBER];
/// The placeholders for the numbers of the message where results are expected.
pub(crate) static NEXT_MESSAGE: &[Term] = &[
    Term::new("index", "the index of the message after the calls, from 0"),
    Term::new("member", "the number of the message after the calls, from 1"),
];
/// The placeholders for the numbers of a tool, or of a part and of its message.
pub(crate) static TOOL_OR_PART: &[Term] = &[
    Term::new("index", "the index of the tool or message, from 0"),
    Term::new("member", "the number of the tool or message, from 1"),
    PART_INDEX,
    PART_MEMBER,
];
pub(crate) static ROLE: &[Term] = &[Term::new("role", "the role of the message")];
pub(crate) static CALL_ID: &[Term] = &[Term::new("id", "the id of the call")];
pub(crate) static CALL_IDS: &[Term] = &[Term::new("ids", "the ids of the calls, separated by commas")];

/// The placeholders that every error text may contain.
pub static EVERYWHERE: &[Term] = &[
    Term::new("line", "the number of the line in the file; left out"),
    Term::new("rest", "words that can't be predicted, such as the message of another program; left out"),
];
