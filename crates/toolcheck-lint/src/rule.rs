//! What a rule is, and what it sees.

use toolcheck_core::finding::{Answer, Finding, Level};
use toolcheck_core::ir::{Message, Part, Place, Transcript};
use toolcheck_core::target::{Target, Verdict};
use toolcheck_json::Document;

use crate::pairing::Pairing;

/// A rule: a value, pure, infallible and stateless.
#[derive(Debug)]
pub struct Rule {
    /// Its id: a kebab-case name of the thing that it flags, readable after "allow". For ever.
    pub id: &'static str,
    /// The first line of its documentation.
    pub summary: &'static str,
    /// Its documentation in Markdown, which is also its test.
    pub docs: &'static str,
    /// The version that brought it.
    pub since: &'static str,
    /// How bad a finding is where the target's data says nothing; `None` where it is silent then.
    pub default_level: Option<Level>,
    /// Looks at a transcript.
    pub check: fn(&Context<'_, '_>, &mut Sink<'_>),
}

/// Declares a rule: the doc comment is its manual page and its test.
macro_rules! declare_rule {
    ($(#[doc = $doc:literal])+ $id:literal, since $since:literal, $level:ident, $check:ident) => {
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            id: $id,
            summary: [$($doc),+][0],
            docs: concat!($($doc, "\n"),+),
            since: $since,
            default_level: declare_rule!(@level $level),
            check: $check,
        };
    };
    (@level error) => { Some(toolcheck_core::Level::Error) };
    (@level warning) => { Some(toolcheck_core::Level::Warning) };
    (@level silent) => { None };
}
pub(crate) use declare_rule;

/// What a rule sees.
#[derive(Debug)]
pub struct Context<'c, 's> {
    /// The document.
    pub document: &'c Document<'s>,
    /// What was read from it.
    pub transcript: &'c Transcript<'s>,
    /// Whether a format read it; where none did, the transcript is empty.
    pub is_recognised: bool,
    /// Its calls and results.
    pub pairing: &'c Pairing<'c, 's>,
    /// Whom it is for.
    pub target: &'c Target,
}

impl Context<'_, '_> {
    /// Whether the target speaks the format that the transcript is written in, so that its words for roles and
    /// fields are the same.
    #[must_use]
    pub fn speaks_own_format(&self) -> bool {
        self.target.format.as_deref() == Some(self.transcript.format)
    }

    /// What the target says of a case of a rule.
    #[must_use]
    pub fn verdict(&self, rule: &str, case: Option<&str>) -> Verdict<'_> {
        self.target.verdict(rule, case, self.transcript.model.as_deref())
    }

    /// What the target says of the first of these cases that it knows, or of the rule as a whole.
    #[must_use]
    pub fn verdict_of(&self, rule: &str, cases: &[&str]) -> Verdict<'_> {
        let known = cases.iter().filter(|case| self.target.knows_case(rule, case)).copied().next();
        self.verdict(rule, known)
    }

    /// Whether the transcript is about to be sent, so that nothing may be missing at its end.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.transcript.kind == toolcheck_core::ir::TranscriptKind::Request
    }
}

/// Where a rule puts its findings.
#[derive(Debug)]
pub struct Sink<'c> {
    rule: &'static Rule,
    findings: &'c mut Vec<Finding>,
}

impl Sink<'_> {
    /// Reports a fault at a place. Message: what is wrong, lower case, one line, naming the id.
    pub fn report(&mut self, place: Place, message: impl Into<String>) -> &mut Finding {
        self.findings.push(Finding::new(self.rule.id, place, message));
        self.findings.last_mut().expect("a finding has just been pushed")
    }
}

/// Runs a rule and asks the target how bad each of its findings is.
pub(crate) fn run(rule: &'static Rule, context: &Context<'_, '_>, findings: &mut Vec<Finding>) {
    let first = findings.len();
    (rule.check)(context, &mut Sink { rule, findings });
    let mut kept = first;
    for index in first..findings.len() {
        let finding = &mut findings[index];
        let verdict = context.verdict_of(rule.id, &finding.cases);
        let level = match verdict {
            Verdict::Refused(refusal) => {
                finding.answer = Some(Answer {
                    target: refusal.target.clone(),
                    status: refusal.status,
                    text: refusal.fill(&finding.values),
                });
                Some(refusal.level())
            }
            Verdict::Tolerated(tolerance) => {
                if let (Some(harm), None) = (&tolerance.harm, &finding.note) {
                    finding.note = Some(harm.clone());
                }
                tolerance.harm.is_some().then_some(Level::Warning)
            }
            Verdict::Unknown => rule.default_level,
        };
        if let Some(level) = level {
            finding.level = level.min(finding.at_most);
            findings.swap(kept, index);
            kept += 1;
        }
    }
    findings.truncate(kept);
}

/// The values that a target's text may name of a part: its message's number and its own.
pub(crate) trait Numbered {
    /// Fills in where the part stands, as far as the provider's numbers are known.
    fn at(
        &mut self,
        context: &Context<'_, '_>,
        message_number: usize,
        message: &Message<'_>,
        part: Option<&Part<'_>>,
    ) -> &mut Self;
}

impl Numbered for Finding {
    fn at(
        &mut self,
        context: &Context<'_, '_>,
        message_number: usize,
        message: &Message<'_>,
        part: Option<&Part<'_>>,
    ) -> &mut Self {
        if !context.pairing.knows_index(message_number) {
            return self;
        }
        self.value("index", message.index).value("member", message.index + 1);
        if let Some(part) = part {
            self.value("part", part.index).value("part-member", part.index + 1);
        }
        self
    }
}
