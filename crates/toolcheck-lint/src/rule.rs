//! What a rule is, and what it sees.

use std::cell::OnceCell;

use toolcheck_core::finding::{Answer, Finding, Level};
use toolcheck_core::formats;
use toolcheck_core::ir::{Message, Part, Place, Transcript};
use toolcheck_core::protocols::TextCalls;
use toolcheck_core::target::{Target, Verdict};
use toolcheck_core::tools::Definition;
use toolcheck_json::Document;

use crate::category::Category;
use crate::exchanges::Kept;
use crate::pairing::Pairing;
use crate::schemas::Schemas;
use crate::settings::Settings;

/// A rule: a value, pure, infallible and stateless.
#[derive(Debug)]
pub struct Rule {
    /// Its id: a kebab-case name of the thing that it flags, readable after "allow". For ever.
    pub id: &'static str,
    /// The first line of its documentation.
    pub summary: &'static str,
    /// Its documentation in Markdown, which is also its test.
    pub docs: &'static str,
    /// What it is about.
    pub category: Category,
    /// The version that brought it.
    pub since: &'static str,
    /// How bad a finding is where the target's data says nothing; `None` where it is silent then.
    pub default_level: Option<Level>,
    /// Whether it is about how messages are written, and not about what is said in them: then it holds only where
    /// the target reads the very format, because whatever translates writes them anew.
    pub on_wire: bool,
    /// Whether it is about the text of the file, and not about a conversation: then it runs once for each text,
    /// whatever the number of conversations in it.
    pub on_text: bool,
    /// Whether it is about each call by itself, so that it holds of a response too, which has no conversation yet.
    pub on_call: bool,
    /// Whether it runs only where somebody asks for it: what it finds is a habit that not everybody minds.
    pub is_optional: bool,
    /// Looks at a transcript; `None` where the fault can't be seen in one, and the rule only explains an error.
    pub check: Option<fn(&Context<'_, '_>, &mut Sink<'_>)>,
}

impl Rule {
    /// What a list of rules says of it behind its summary: whether it only explains, and whether it is off.
    #[must_use]
    pub fn note(&self) -> &'static str {
        match (self.check.is_some(), self.is_optional) {
            (false, _) => " (only for `explain --error`)",
            (true, true) => " (opt-in)",
            (true, false) => "",
        }
    }

    /// How bad a finding is where the target's data says nothing: a level, or that the target decides.
    #[must_use]
    pub fn level(&self) -> &'static str {
        match (self.check, self.default_level) {
            (None, _) => "none",
            (Some(_), Some(level)) => level.as_str(),
            (Some(_), None) => "target",
        }
    }

    /// Whether it may have something to say to those who send this format to this target.
    pub(crate) fn may_speak(&self, format: &str, target: &Target) -> bool {
        let wire = self.on_wire.then_some(format);
        self.check.is_some() && (self.default_level.is_some() || target.minds(self.id, wire))
    }
}

/// Declares a rule: the doc comment is its manual page and its test.
macro_rules! declare_rule {
    ($(#[doc = $doc:literal])+ $id:literal in $category:ident, since $since:literal, $level:ident $(on $scope:ident)? $(if $selected:ident)?, $check:ident) => {
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            id: $id,
            summary: [$($doc),+][0],
            docs: concat!($($doc, "\n"),+),
            category: $crate::category::Category::$category,
            since: $since,
            default_level: declare_rule!(@level $level),
            on_wire: declare_rule!(@wire $($scope)?),
            on_text: declare_rule!(@text $($scope)?),
            on_call: declare_rule!(@call $($scope)?),
            is_optional: declare_rule!(@optional $($selected)?),
            check: Some($check),
        };
    };
    // What can't be seen in a transcript: the page serves those who got the error.
    ($(#[doc = $doc:literal])+ $id:literal in $category:ident, since $since:literal, explained) => {
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            id: $id,
            summary: [$($doc),+][0],
            docs: concat!($($doc, "\n"),+),
            category: $crate::category::Category::$category,
            since: $since,
            default_level: None,
            on_wire: true,
            on_text: false,
            on_call: false,
            is_optional: false,
            check: None,
        };
    };
    (@level error) => { Some(toolcheck_core::Level::Error) };
    (@level warning) => { Some(toolcheck_core::Level::Warning) };
    (@level silent) => { None };
    (@wire wire) => { true };
    (@wire $($other:ident)?) => { false };
    (@text text) => { true };
    (@text $($other:ident)?) => { false };
    (@call call) => { true };
    (@call $($other:ident)?) => { false };
    (@optional) => { false };
    (@optional selected) => { true };
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
    /// Whether the text ends before its value does, so that nobody knows what came then.
    pub is_cut_off: bool,
    /// Its calls and results.
    pub pairing: &'c Pairing<'c, 's>,
    /// What the transcript keeps of what the model had answered, where that is recorded beside it.
    pub(crate) kept: Option<&'c Kept<'c>>,
    /// The schemas of tools that were compiled so far.
    pub schemas: &'c Schemas<'c>,
    /// Whom it is for.
    pub target: &'c Target,
    /// What the user has set.
    pub settings: &'c Settings,
    /// Its calls in plain text, once a rule has asked for them.
    pub(crate) text_calls: OnceCell<TextCalls>,
}

impl Context<'_, '_> {
    /// The tools that are declared beside the transcripts, and those of a list that is kept as a text.
    pub(crate) fn definitions(&self) -> impl DoubleEndedIterator<Item = &Definition> {
        self.schemas.declared.iter().chain(&self.transcript.tools_in_text)
    }

    /// The transcript's calls in plain text.
    #[must_use]
    pub fn text_calls(&self) -> &TextCalls {
        self.text_calls.get_or_init(|| {
            let spoken = self.settings.text_protocols.as_deref();
            TextCalls::read_spoken(self.document, self.transcript, spoken)
        })
    }

    /// Whether the target reads the format that the transcript is written in.
    #[must_use]
    pub fn speaks_own_format(&self) -> bool {
        let format = self.target.format.as_deref();
        format.is_some_and(|format| formats::are_dialects(format, self.transcript.format))
    }

    /// Whether the target may get the very bytes: it reads the format, or stands for several that do not all translate.
    #[must_use]
    pub fn may_be_sent_as_it_is(&self) -> bool {
        self.target.format.is_none() || self.speaks_own_format()
    }

    /// What the target says of a case of a rule.
    #[must_use]
    pub fn verdict(&self, rule: &Rule, case: Option<&str>) -> Verdict<'_> {
        let wire = rule.on_wire.then_some(self.transcript.format);
        self.target.verdict(rule.id, case, self.transcript.model.as_deref(), wire)
    }

    /// What the target says of the first of these cases that it knows, or of the rule as a whole.
    #[must_use]
    pub fn verdict_of(&self, rule: &Rule, cases: &[&str]) -> Verdict<'_> {
        let known = cases.iter().copied().find(|case| self.target.knows_case(rule.id, case));
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
    let Some(check) = rule.check else { return };
    check(context, &mut Sink { rule, findings });
    let mut kept = first;
    for index in first..findings.len() {
        let finding = &mut findings[index];
        let verdict = context.verdict_of(rule, &finding.cases);
        let level = match verdict {
            Verdict::Refused(refusal) => {
                finding.answer = Some(Answer {
                    target: refusal.target.clone(),
                    case: refusal.case.clone(),
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
            // Of a message that is written anew nothing is known.
            Verdict::Unknown if rule.on_wire && !context.may_be_sent_as_it_is() => None,
            Verdict::Unknown => rule.default_level,
        };
        if let Some(level) = level {
            let own = context.settings.levels.get(rule.id);
            finding.level = own.copied().unwrap_or_else(|| level.min(finding.at_most));
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
