//! Whether a record is better once it is fixed, and whether it may be.

use std::collections::BTreeMap;

use toolcheck_core::detection::Detection;
use toolcheck_core::formats::Format;
use toolcheck_core::ir::{Body, Role};
use toolcheck_core::{Level, RuleId, unsupported};
use toolcheck_json::Value;

use crate::finding::Finding;

/// Rules about which result belongs to which call, and whose a message is. Only once that is right, it shows where everything
/// has to be.
const PAIRED: [RuleId; 4] =
    [RuleId::DuplicateToolResult, RuleId::MissingToolCallId, RuleId::OrphanToolResult, RuleId::UnknownRole];

/// Rules about both: what belongs to what, and where it has to be.
const PLACED: [RuleId; 8] = [
    RuleId::DuplicateToolCallId,
    RuleId::EmptyContent,
    RuleId::LateToolResult,
    RuleId::MisplacedMessage,
    RuleId::MisplacedToolResult,
    RuleId::ReusedToolCallId,
    RuleId::SplitAssistantTurn,
    RuleId::UnansweredToolCall,
];

/// Rules about what keeps something from being read.
const READ: [RuleId; 7] = [
    RuleId::ForeignShape,
    RuleId::InvalidValue,
    RuleId::MissingField,
    RuleId::MissingToolCallId,
    RuleId::UnknownContentType,
    RuleId::UnknownField,
    RuleId::WrongType,
];

/// Whether what a fix of this rule writes in another way may be a half of a pair that was not read before.
pub(crate) fn makes_readable(rule: RuleId) -> bool {
    READ.contains(&rule) || matches!(rule, RuleId::EmptyContent | RuleId::UnreadContent | RuleId::UnknownRole)
}

/// Rules only about what has to be where: what they find then is fixed after it. So is an id that is used again,
/// which shows once both calls have a result.
const ARRANGED: [RuleId; 4] = [
    RuleId::MisplacedReasoning,
    RuleId::ReorderedToolResults,
    RuleId::SplitToolResults,
    RuleId::TrailingAssistant,
];

/// Rules about what is in a call or a result, which shows once it is read.
const INSIDE: [RuleId; 5] = [
    RuleId::InvalidArgumentsJson,
    RuleId::InvalidResultContent,
    RuleId::InvalidToolName,
    RuleId::MalformedToolCallId,
    RuleId::ToolNameMismatch,
];

/// The rules that can only be checked once findings of a rule are fixed: what is found then is not new.
fn seen_after(rule: RuleId) -> impl Iterator<Item = RuleId> {
    let own: &'static [RuleId] = match rule {
        // A second call with the id is one of its own then, which may lack a result.
        RuleId::MalformedToolCallId => &[RuleId::UnansweredToolCall],
        RuleId::InvalidArgumentsJson => &[RuleId::ArgumentsSchemaMismatch],
        // A result without an id in its place is no other's then.
        RuleId::LateToolResult => &[RuleId::OrphanToolResult],
        // Whose message it is decides what may be in it, and where.
        RuleId::InvalidValue => {
            &[RuleId::FirstMessageRole, RuleId::ForeignShape, RuleId::UnknownField, RuleId::WrongType]
        }
        RuleId::UnknownContentType | RuleId::UnknownRole => &[
            RuleId::FirstMessageRole,
            RuleId::ForeignShape,
            RuleId::InvalidValue,
            RuleId::MissingField,
            RuleId::UnknownField,
            RuleId::WrongType,
        ],
        // Only a value of the right type is compared with what is allowed.
        RuleId::WrongType => &[RuleId::InvalidValue],
        // One finding stands for all keys that an object lacks, and says nothing of those of the other half.
        RuleId::MissingToolCallId => &[RuleId::MissingField, RuleId::UnknownField],
        // There is a prompt only once nothing is refused.
        RuleId::TemplateRefuses => &[
            RuleId::TemplateLoses,
            RuleId::TemplateDoubles,
            RuleId::TemplateMisbinds,
            RuleId::TemplatePrintsNone,
        ],
        _ => &[],
    };
    // What becomes readable may hold anything.
    let is_read = READ.contains(&rule);
    let (inside, paired) = if is_read { (&INSIDE[..], &PAIRED[..]) } else { (&[][..], &[][..]) };
    let belongs = PAIRED.contains(&rule) || PLACED.contains(&rule);
    let arranged = PLACED.iter().chain(&ARRANGED).filter(move |_| is_read || belongs);
    own.iter().chain(inside).chain(paired).chain(arranged).copied()
}

/// How often each rule has findings: errors, and others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    errors: BTreeMap<RuleId, usize>,
    others: BTreeMap<RuleId, usize>,
}

impl Counts {
    pub(crate) fn add(&mut self, finding: &Finding) {
        if finding.copy_of.is_some() {
            return;
        }
        let of_level = if finding.level == Level::Error { &mut self.errors } else { &mut self.others };
        *of_level.entry(finding.rule).or_default() += 1;
    }

    /// The same without what was fixed, and with what may show then. Once more was fixed `later`, nothing more may show.
    fn without(mut self, applied: &[RuleId], later: &[RuleId]) -> Self {
        for done in applied {
            let of_level = if self.errors.contains_key(done) { &mut self.errors } else { &mut self.others };
            of_level.entry(*done).and_modify(|count| *count = count.saturating_sub(1));
        }
        for done in applied.iter().filter(|_| later.is_empty()) {
            // One fixed call may lack several arguments.
            for other in seen_after(*done).filter(|other| other != done) {
                self.errors.insert(other, usize::MAX);
                self.others.insert(other, usize::MAX);
            }
        }
        self
    }

    /// The rule of which there is more than before, but for what was fixed. An error weighs more than a warning: what leaves
    /// fewer errors may have new warnings, but not the same key twice: readers differ in which one they take.
    pub(crate) fn worse_than(&self, before: Self, applied: &[RuleId], later: &[RuleId]) -> Option<RuleId> {
        let sum = |counts: &Self| counts.errors.values().sum::<usize>();
        let has_fewer_errors = sum(self) < sum(&before);
        let allowed = before.without(applied, later);
        let more = |own: &BTreeMap<RuleId, usize>, allowed: &BTreeMap<RuleId, usize>| {
            let mut rules = own.iter();
            let more = rules.find(|(rule, count)| **count > allowed.get(*rule).copied().unwrap_or(0));
            more.map(|(rule, _)| *rule)
        };
        let of_errors = more(&self.errors, &allowed.errors);
        let doubled = |counts: &Self| counts.others.get(&RuleId::DuplicateKey).copied().unwrap_or(0);
        let is_doubled = doubled(self) > doubled(&allowed);
        of_errors
            .or_else(|| more(&self.others, &allowed.others).filter(|_| !has_fewer_errors))
            .or_else(|| is_doubled.then_some(RuleId::DuplicateKey))
    }
}

/// The rule of whose findings a record has more than before, but for those that were fixed, and what shows then if
/// nothing was fixed `later`.
pub(crate) fn worse(
    before: &[Finding],
    after: &[Finding],
    applied: &[RuleId],
    later: &[RuleId],
) -> Option<RuleId> {
    let [old, new] = [before, after].map(|findings| {
        let mut counts = Counts::default();
        findings.iter().for_each(|finding| counts.add(finding));
        counts
    });
    new.worse_than(old, applied, later)
}

/// What a document says that it is, if that is not the format that it is read as: one of several APIs at once is none's.
pub(crate) fn contradicts(root: Value<'_, '_>, format: &'static Format) -> Option<String> {
    let own = (format.sniff)(root);
    let is_other = |other: &&Format| (other.sniff)(root) > own && is_all_read(other, root);
    if let Some(other) = Detection::instead_of(format.key(), root).filter(is_other) {
        return Some(format!("its messages are written as those of {}", other.id));
    }
    let kind = unsupported::find(root)?;
    Some(format!("it is {}", kind.name))
}

/// Whether a format knows everything that the messages say.
fn is_all_read(format: &Format, root: Value<'_, '_>) -> bool {
    format.read(root).is_some_and(|read| {
        read.unread.is_empty()
            && read.messages.iter().all(|message| message.role != Role::Unknown)
            && read.parts.iter().all(|part| !matches!(part.body, Body::Opaque))
    })
}
