//! The words that a rule and a target share: the names of cases, and of the placeholders in the text of a refusal.

/// The name of a case, or of a placeholder, with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Term {
    /// The name, as a target's file has it.
    pub name: &'static str,
    /// Its meaning: a few words, as the rule's page shows them.
    pub meaning: &'static str,
    /// Whether no target uses it that is compiled in, so that it is there for the targets of users.
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

/// The numbers of a message.
pub(crate) static MESSAGE: &[Term] = &[INDEX, MEMBER];
/// The numbers of a part and of its message.
pub(crate) static PART: &[Term] = &[INDEX, MEMBER, PART_INDEX, PART_MEMBER];
/// The numbers of the message where results should be.
pub(crate) static NEXT_MESSAGE: &[Term] = &[
    Term::new("index", "the index of the message after the calls, from 0"),
    Term::new("member", "the number of the message after the calls, from 1"),
];
/// The numbers of a tool, or of a part and of its message.
pub(crate) static TOOL_OR_PART: &[Term] = &[
    Term::new("index", "the index of the tool or message, from 0"),
    Term::new("member", "the number of the tool or message, from 1"),
    PART_INDEX,
    PART_MEMBER,
];
/// The role of a message.
pub(crate) static ROLE: &[Term] = &[Term::new("role", "the role of the message")];
/// The id of a call.
pub(crate) static CALL_ID: &[Term] = &[Term::new("id", "the id of the call")];
/// The ids of several calls.
pub(crate) static CALL_IDS: &[Term] = &[Term::new("ids", "the ids of the calls, separated by commas")];

/// The placeholders that every text may have.
pub static EVERYWHERE: &[Term] = &[
    Term::new("line", "the number of the line in the file; left out"),
    Term::new("rest", "words that the API makes up, such as the message of another program; left out"),
];
