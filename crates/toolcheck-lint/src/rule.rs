//! Rules, and the context that they check.

mod run;
mod verdicts;

use std::cell::{Cell, LazyCell, OnceCell};
use std::collections::BTreeSet;

use foldhash::HashSet;
use toolcheck_core::fix_style::FixStyle;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::{Contents, Gap, Message, Part, Place, Transcript, TranscriptKind};
use toolcheck_core::pairing::{CallSite, Pairing, ResultSite};
use toolcheck_core::protocols::TextCalls;
use toolcheck_core::readers::{self, NextRequest, Policy};
use toolcheck_core::shape::Shape;
use toolcheck_core::targets::{Target, Verdict};
use toolcheck_core::tools::Definition;
use toolcheck_core::{Level, RuleId};
use toolcheck_json::{Document, SyntaxError};
use toolcheck_schema::Schemas;

use crate::category::Category;
use crate::finding::Draft;
use crate::server_state::RemoteHistory;
use crate::settings::Settings;
use crate::template::ChatTemplate;
use crate::view::checks::{self, Checks};
use crate::view::exchanges::{ExchangeContext, HistoryMatch};
use crate::view::prompt::Observed;
use crate::view::shape::{self, ShapeFaults};
use crate::vocabulary::Term;

pub(crate) use verdicts::Verdicts;

pub(crate) use self::run::{Sink, answer, is_silent, run};

/// A rule: a value, pure, infallible and stateless.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// The id.
    pub id: RuleId,
    /// The category.
    pub category: Category,
    /// The version that added it.
    pub since: &'static str,
    /// The level of a finding if the target's data has no entry for it; `None` to report nothing then.
    pub default_level: Option<Level>,
    /// The level of a finding in a data set.
    pub in_dataset: InDataset,
    /// Whether it is about the form of messages, and not about their content. It then applies only if the target reads
    /// the same format, because a translation to another format rewrites the messages.
    pub on_wire: bool,
    /// Whether it reports what is wrong with the shape of requests.
    pub reports_shape: bool,
    /// Whether it is about the text of the file, and not about a conversation. It then runs once for each text,
    /// regardless of the number of conversations in it.
    pub on_text: bool,
    /// Whether it checks each call by itself, so that it also applies to a response, which is not a conversation.
    pub on_call: bool,
    /// Whether it reports what something later in the file may put right, so that its findings count only at the end.
    pub on_end: bool,
    /// What it looks at. If a transcript contains none of it, the rule is skipped.
    pub looks_at: Contents,
    /// Whether it is opt-in, because what it reports is not always a problem.
    pub is_optional: bool,
    /// The cases that targets can distinguish, the most specific first. If a finding has several, the first one that
    /// the target has an entry for counts.
    pub cases: &'static [Term],
    /// The placeholders for error texts that only this rule fills in.
    pub values: &'static [Term],
    /// The groups of placeholders that it shares with other rules.
    pub common_values: &'static [&'static [Term]],
    /// Another rule of whose refusals the target's answers to this one are: it is the same mistake, seen better.
    pub answered_as: Option<&'static Rule>,
    /// What `toolcheck fix` does to its findings; `None` if nothing.
    pub fix: Option<FixSummary>,
    /// Why a finding without a fix of its own is left, for a rule whose findings are not fixed in general.
    pub(crate) unfixed: &'static str,
    /// Checks a transcript; `None` if the problem is not visible in one, and the rule only explains an error.
    pub(crate) check: Option<fn(&Context<'_, '_>, &mut Sink<'_>)>,
}

/// What `toolcheck fix` does to findings of a rule, in sentences. Of the first two, one may be empty.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FixSummary {
    /// What it does without being asked.
    pub safe: &'static str,
    /// What it does with `--unsafe-fixes`.
    pub lossy: &'static str,
    /// Why neither is possible where nothing more special is known: a clause.
    pub otherwise: &'static str,
    /// Whether the help of a finding says what there is to do instead.
    pub(crate) has_help: bool,
}

impl FixSummary {
    /// What it does, in Markdown.
    pub fn description(&self) -> String {
        match (self.safe, self.lossy) {
            (safe, "") => safe.to_owned(),
            ("", lossy) => format!("With `--unsafe-fixes`: {lossy}"),
            (safe, lossy) => format!("{safe}\nWith `--unsafe-fixes`: {lossy}"),
        }
    }
}

/// The level of a rule's findings in a data set. A data set is used to train a model and is not sent to an API, so it
/// does not matter what the API accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InDataset {
    /// The same as elsewhere.
    AsElsewhere,
    /// At least this level, even if the target accepts it, because the model learns the mistake.
    AtLeast(Level),
    /// Not reported, unless the user names the target: it matters only to an API, and the model learns nothing wrong.
    OfNamedTarget,
}

impl Rule {
    /// Whether the problem is not visible in a transcript, so that the rule reports nothing and only explains an error.
    pub fn only_explains(&self) -> bool {
        self.check.is_none()
    }

    /// The note after its summary in lists of rules: whether it only explains errors, or is opt-in.
    pub fn note(&self) -> &'static str {
        match (self.check.is_some(), self.is_optional) {
            (false, _) => " (only for `explain --error`)",
            (true, true) => " (opt-in)",
            (true, false) => "",
        }
    }

    /// The level of a finding if the target's data has no entry for it: a level, `target` or `none`.
    pub fn level(&self) -> &'static str {
        match (self.check, self.default_level) {
            (None, _) => "none",
            (Some(_), Some(level)) => level.as_str(),
            (Some(_), None) => "target",
        }
    }

    /// The first line of its documentation.
    pub fn summary(&self) -> &'static str {
        self.page().lines().next().unwrap_or_default()
    }

    /// Its documentation in Markdown, which is also its test: lines that the examples flag end in `// flagged`.
    pub fn page(&self) -> &'static str {
        PAGES[self.id.number()].text
    }

    /// The case with this name.
    pub fn case(&self, name: &str) -> Option<&'static Term> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// The placeholders that a target's error text may contain.
    pub fn placeholders(&self) -> impl Iterator<Item = &'static Term> {
        self.common_values.iter().copied().flatten().chain(self.values)
    }

    /// Checks a finding against the declaration, and sorts its cases in the declared order.
    fn sort_cases(&self, finding: &mut Draft) {
        let position = |name: &str| self.cases.iter().position(|case| case.name == name);
        let said = finding.say();
        for case in &said.cases {
            debug_assert!(position(case).is_some(), "{} does not declare the case `{case}`", self.id);
        }
        for (name, _) in &said.values {
            let is_declared = self.placeholders().any(|value| value.name == *name);
            debug_assert!(is_declared, "{} does not declare the value `{name}`", self.id);
        }
        toolcheck_json::sort_by_position(&mut said.cases, |case| position(case).unwrap_or_default());
    }

    /// The note about data sets on its page, if they are treated differently.
    pub fn dataset_note(&self) -> Option<&'static str> {
        match self.in_dataset {
            InDataset::AsElsewhere => None,
            InDataset::AtLeast(Level::Error) => Some(
                "In a data set it is always an error, whatever the target accepts, because the model learns it.",
            ),
            InDataset::AtLeast(Level::Warning) => Some(
                "In a data set it is at least a warning, whatever the target accepts, because the model learns it.",
            ),
            InDataset::OfNamedTarget => {
                Some("In a data set it is reported only where a target is named (`--target`).")
            }
        }
    }

    /// Whether it can report anything about transcripts of this format and kind for this target, which the user has named
    /// or not.
    pub(crate) fn can_report(
        &self,
        format: Option<&'static Format>,
        kind: TranscriptKind,
        target: &Target,
        is_named: bool,
    ) -> bool {
        let in_dataset =
            if kind == TranscriptKind::Dataset { self.in_dataset } else { InDataset::AsElsewhere };
        let wire = self.on_wire.then_some(format.map_or("", |format| format.family));
        let has_level = match in_dataset {
            InDataset::AtLeast(_) => true,
            InDataset::OfNamedTarget if !is_named => return false,
            _ => self.default_level.is_some(),
        };
        let has_shape =
            || self.reports_shape && format.is_some_and(|format| target.has_shape_for(format.key()));
        self.check.is_some() && (has_level || target.has_entry(self.id, wire) || has_shape())
    }
}

/// What the file of a rule's page says.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    text: &'static str,
    pub(crate) fix: Option<FixSummary>,
    pub(crate) unfixed: &'static str,
    pub(crate) cases: &'static [Term],
    pub(crate) values: &'static [Term],
}

/// The pages of the rules, by id.
pub(crate) const PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Declares a rule, whose page is the Markdown file beside it. The page ends with what `toolcheck fix` does, and with the
/// names of cases and placeholders that only this rule has. A rule that only looks at certain things says which
/// (`looks at [RESULTS]`, of [`Contents`]), and is skipped if a transcript has none of them.
macro_rules! declare_rule {
    ($id:ident in $category:ident, since $since:literal, $level:ident $(($training:ident in dataset))? $(on $scope:ident)? $(reports $shape:ident)? $(if $selected:ident)? $(looks at [$($content:ident),+])? $(answered as $other:ident)?, $check:ident
        $(, values $($common:ident),+)?
    ) => {
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            id: toolcheck_core::RuleId::$id,
            category: $crate::category::Category::$category,
            since: $since,
            default_level: declare_rule!(@level $level),
            in_dataset: declare_rule!(@dataset $($training)?),
            on_wire: declare_rule!(@is wire $($scope)?),
            reports_shape: declare_rule!(@is shape $($shape)?),
            on_text: declare_rule!(@is text $($scope)?),
            on_call: declare_rule!(@is call $($scope)?),
            on_end: declare_rule!(@is end $($scope)?),
            looks_at: declare_rule!(@contents $($($content)+)?),
            is_optional: declare_rule!(@is selected $($selected)?),
            cases: $crate::rule::PAGES[toolcheck_core::RuleId::$id.number()].cases,
            values: $crate::rule::PAGES[toolcheck_core::RuleId::$id.number()].values,
            common_values: &[$($($crate::vocabulary::$common),+)?],
            answered_as: declare_rule!(@answered $($other)?),
            fix: $crate::rule::PAGES[toolcheck_core::RuleId::$id.number()].fix,
            unfixed: $crate::rule::PAGES[toolcheck_core::RuleId::$id.number()].unfixed,
            check: declare_rule!(@check $check),
        };
    };
    (@level error) => { Some(toolcheck_core::Level::Error) };
    (@level warning) => { Some(toolcheck_core::Level::Warning) };
    (@level silent) => { None };
    (@dataset error) => { $crate::rule::InDataset::AtLeast(toolcheck_core::Level::Error) };
    (@dataset warning) => { $crate::rule::InDataset::AtLeast(toolcheck_core::Level::Warning) };
    (@dataset silent) => { $crate::rule::InDataset::OfNamedTarget };
    (@dataset) => { $crate::rule::InDataset::AsElsewhere };
    // Whether a rule has a mark that it may have.
    (@is wire wire) => { true };
    (@is shape shape) => { true };
    (@is text text) => { true };
    (@is end end) => { true };
    (@is call call) => { true };
    (@is selected selected) => { true };
    (@is $mark:ident $($other:ident)?) => { false };
    // A problem that is not visible in a transcript: the page explains the error.
    (@check explained) => { None };
    (@check $check:ident) => { Some($check) };
    (@contents) => { toolcheck_core::ir::Contents::ANYTHING };
    (@contents $first:ident $($other:ident)*) => {
        toolcheck_core::ir::Contents::$first$(.and(toolcheck_core::ir::Contents::$other))*
    };
    (@answered) => { None };
    (@answered $other:ident) => { Some(&$other::RULE) };
}
pub(crate) use declare_rule;

/// The input of a rule.
#[derive(Debug)]
#[non_exhaustive]
pub struct Context<'c, 's> {
    /// The document.
    pub document: &'c Document<'s>,
    /// The transcript that was read from it.
    pub transcript: &'c Transcript<'s>,
    /// The format that the user named; `None` if it was detected.
    pub(crate) wanted_format: Option<&'static Format>,
    /// Whether it is the body of a request as the API got it, and if so, whether its path names the model.
    pub(crate) body_names_model: Option<bool>,
    /// Whether the text is cut off, so that its end is unknown.
    pub(crate) is_cut_off: bool,
    /// The pairing of its calls and results.
    pub pairing: &'c Pairing<'c, 's>,
    /// How the transcript keeps the model's previous answer, if that is recorded beside it.
    pub(crate) kept: Option<&'c HistoryMatch<'c>>,
    /// What its exchange has to do with those before it, if it is recorded as one.
    pub(crate) course: Option<&'c ExchangeContext<'c>>,
    /// What it goes on from on the server.
    pub(crate) continued: Option<&'c RemoteHistory>,
    /// The schemas of tools that were compiled so far.
    pub(crate) schemas: &'c Schemas,
    /// The tools that are declared outside the transcripts.
    pub(crate) tools: &'c [Definition],
    /// The target to check against; `None` if there is none for the format.
    pub(crate) known_target: Option<&'c Target>,
    /// The target that the user has named, which may be another one than it is checked against: nobody sends a log.
    pub(crate) named_target: Option<&'c Target>,
    /// The rules whose findings the user does not want.
    pub(crate) ignored_rules: &'c [&'static Rule],
    pub(crate) verdicts: &'c Verdicts,
    pub(crate) settings: &'c Settings,
    /// The chat template of the model, if the user has named one.
    pub(crate) template: Option<&'c ChatTemplate>,
    /// Whether it is worth finding what fixes what the template makes of it.
    #[cfg(feature = "template")]
    pub(crate) finds_forms: bool,
    /// What the template makes of it, found when a rule first asks.
    pub(crate) in_prompt: OnceCell<Vec<Observed>>,
    /// Its calls in plain text.
    pub(crate) text_calls: OnceCell<TextCalls>,
    /// The turns with calls in words that nothing reads, found when a rule first asks.
    pub(crate) turns_with_words: OnceCell<HashSet<usize>>,
    /// What is wrong with its shape, found when a rule first asks.
    pub(crate) shape_faults: OnceCell<ShapeFaults<'c>>,
    /// What checking the arguments of its calls has shown.
    pub(crate) checks: OnceCell<Checks>,
    /// How many bytes of messages in another API's form were written anew.
    pub(crate) bytes_translated: Cell<usize>,
    /// Whether it is the model's response to a request, which has the tools.
    pub(crate) is_answer: bool,
    /// Whether it was put together from the events of a stream, so that the arguments of its calls have no places.
    pub(crate) is_assembled: bool,
    /// Whether it is over, although it is not a request: nothing at its end is still running.
    pub(crate) is_over: bool,
    /// Whether what is otherwise hidden is reported too.
    pub(crate) reports_hidden: bool,
    /// What the user calls the file.
    pub(crate) kind: TranscriptKind,
    /// What may be said of the file, if it is not a request.
    pub(crate) policy: Option<&'static Policy>,
}

impl<'c> Context<'c, '_> {
    /// The target to check against; one that enforces nothing if there is none for the format.
    pub fn target(&self) -> &'c Target {
        self.known_target.unwrap_or_else(|| Target::unknown())
    }

    /// What it goes on from on the server, if known.
    pub fn continued(&self) -> Option<&'c RemoteHistory> {
        self.continued
    }

    /// How its agent makes a request of it, if it is what the agent sends next.
    pub(crate) fn next_request(&self) -> Option<&'static NextRequest> {
        self.transcript.sent_next_by.and_then(NextRequest::of)
    }

    /// The first of these results behind a gap of the log, if its call is before the gap and the agent sends it without.
    pub(crate) fn behind_gap<'r>(
        &self,
        gap: &Gap,
        results: &'r [ResultSite<'r, 'r>],
    ) -> Option<(&'r ResultSite<'r, 'r>, &CallSite<'_, '_>)> {
        self.next_request().filter(|next| !next.repairs(RuleId::OrphanToolResult))?;
        let site = results.get(results.partition_point(|site| site.message_number < gap.message))?;
        let call = &self.pairing.calls[site.paired_with.call()?];
        (call.message_number < gap.message).then_some((site, call))
    }

    /// Whether the API is asked about what a rule finds in what an agent sends next.
    pub(crate) fn is_sent_next(&self, rule: &Rule) -> bool {
        let next = self.next_request().filter(|next| self.known_target.is_some() && !next.repairs(rule.id));
        next.is_some_and(|next| next.level(rule.id).is_some() || self.sends_as_written(rule))
    }

    /// Whether a rule is about messages that an agent sends as they are.
    pub(crate) fn sends_as_written(&self, rule: &Rule) -> bool {
        let is_own = || Policy::of_sent_messages().level(rule.id).is_some();
        self.policy.is_some() && (self.target_reads_format() && is_own() || self.doubt_of(rule).is_some())
    }

    /// Why it is in doubt whether what a rule finds is sent next as it is, if that is only inferred.
    pub(crate) fn doubt_of(&self, rule: &Rule) -> Option<&'static str> {
        self.next_request().and_then(|next| next.doubted.get(&rule.id)).map(|doubt| &**doubt)
    }

    /// Whether nothing at its end is still running.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
            || self.transcript.details.is_answered
            || self.next_request().is_some_and(|next| next.has_no_open_end)
    }

    /// The target that the user has named.
    pub fn named_target(&self) -> Option<&'c Target> {
        self.named_target
    }

    /// Whether a string is cut off by the end of the text, or of its line.
    pub(crate) fn is_cut_off_in(&self, string: Place) -> bool {
        let faults = self.document.faults();
        let first = faults.partition_point(|fault| fault.span.start < string.span.start);
        let mut within = faults[first..].iter().take_while(|fault| fault.span.start <= string.span.end);
        within.any(|fault| fault.kind.may_cut_string())
    }

    /// Whether the text, or its line, ends inside a value, so that more of it may be missing.
    pub(crate) fn ends_inside(&self, value: Place) -> bool {
        let end = self.document.value(value.node).span().end;
        let faults = self.document.faults();
        let first = faults.partition_point(|fault| fault.span.start < end);
        let is_cut = |fault: &&SyntaxError| fault.kind.is_cut() && fault.span.start == end;
        self.is_cut_off
            && (end as usize == self.document.bytes().len() || faults.get(first).filter(is_cut).is_some())
    }

    /// What the target enforces of the shape of the transcript's format, if it is described.
    pub(crate) fn known_shape(&self) -> Option<&'c Shape> {
        self.known_target.zip(self.transcript.format).and_then(|(target, format)| target.shape_for(format))
    }

    /// The tools declared outside the transcripts, and those in a list in a string.
    pub(crate) fn definitions(&self) -> impl DoubleEndedIterator<Item = &Definition> {
        self.tools.iter().chain(&self.transcript.request.tools.in_text)
    }

    /// Those of them that are called: a record may call a few of very many.
    pub(crate) fn definitions_called(&self) -> impl DoubleEndedIterator<Item = &Definition> {
        let names = self.transcript.parts.iter().filter_map(|part| part.call()?.name.as_ref());
        // Most runs have none.
        let called = LazyCell::new(|| names.map(|name| &*name.text).collect::<BTreeSet<&str>>());
        self.definitions().filter(move |tool| called.contains(&*tool.name))
    }

    /// What checking the arguments of the transcript's calls has shown.
    pub(crate) fn checks(&self) -> &Checks {
        self.checks.get_or_init(|| checks::of(self))
    }

    pub(crate) fn shape_faults(&self) -> &ShapeFaults<'c> {
        self.shape_faults.get_or_init(|| shape::find(self))
    }

    /// The transcript's calls in plain text.
    pub fn text_calls(&self) -> &TextCalls {
        self.text_calls.get_or_init(|| {
            let spoken = self.settings.text_protocols.as_deref();
            TextCalls::read_spoken(self.document, self.transcript, spoken)
        })
    }

    /// How its messages are written; `None` if that is not known.
    pub(crate) fn fix_style(&self) -> Option<&'static FixStyle> {
        let id = self.transcript.format?.id;
        let of_log = || readers::find(id)?.file_style.map(|file_style| file_style.fix_style);
        formats::find(id).map(|format| format.fix_style).or_else(of_log)
    }

    /// The family of the format that the transcript is sent in.
    fn family(&self) -> Option<&'c str> {
        let next = self.next_request().and_then(|next| next.wire_format.as_deref());
        next.or(self.transcript.format.map(|format| format.family))
    }

    /// Whether the target reads the format that the transcript is written in.
    pub(crate) fn target_reads_format(&self) -> bool {
        self.family().is_some_and(|family| self.target().family() == Some(family))
    }

    /// Whether the target may receive the unchanged bytes: it reads the format, or combines several targets, of which
    /// not all translate.
    pub(crate) fn accepts_unmodified_bytes(&self) -> bool {
        self.target().format.is_none() || self.target_reads_format()
    }

    /// The target's verdict on a case of a rule, or on the rule as a whole.
    fn verdict(&self, rule: &Rule, case: Option<&str>) -> Verdict<'_> {
        let family = self.doubt_of(rule).and_then(|_| self.target().family()).or(self.family());
        let wire = rule.on_wire.then(|| family.unwrap_or_default());
        self.verdicts.of(self.target(), rule, case, self.transcript.request.model.as_deref(), wire)
    }

    /// The target's entry for exactly this case of a rule, or with `None` for the rule as a whole.
    ///
    /// The cases of a finding decide its level, so rules need this only for another rule's finding, or to skip findings
    /// that most transcripts have and no target refuses.
    pub fn entry(&self, rule: &Rule, case: Option<&str>) -> Verdict<'_> {
        match self.verdict(rule, case) {
            Verdict::Refused(refusal) if refusal.case.as_deref() == case => Verdict::Refused(refusal),
            Verdict::Tolerated(tolerance) if tolerance.case.as_deref() == case => {
                Verdict::Tolerated(tolerance)
            }
            _ => Verdict::Unknown,
        }
    }

    /// Whether the target says anything about a finding with these cases. Without, the finding of a silent rule is not
    /// reported.
    pub(crate) fn has_verdict(&self, rule: &Rule, cases: &[&str]) -> bool {
        self.reports_hidden || !matches!(self.verdict_of(rule, cases), Verdict::Unknown)
    }

    /// The verdict on the first of these cases that the target knows, or on the rule as a whole.
    fn verdict_of(&self, rule: &Rule, cases: &[&str]) -> Verdict<'_> {
        let known = cases.iter().copied().find(|case| self.target().knows_case(rule.id, case));
        self.verdict(rule, known)
    }

    /// Whether the transcript is a request, so that nothing may be missing at its end.
    pub fn is_request(&self) -> bool {
        self.transcript.kind == TranscriptKind::Request
    }

    pub(crate) fn is_training_example(&self) -> bool {
        self.transcript.kind == TranscriptKind::Dataset
    }
}

/// A place in a transcript, for the numbers that providers print: the number of its message in the transcript, the message,
/// and the part, unless it is the whole message.
pub(crate) struct Site<'m, 's>(usize, &'m Message<'s>, Option<&'m Part<'s>>);

macro_rules! sites {
    ($($site:pat, $kind:ty => $number:expr, $message:expr, $part:expr;)+) => {
        $(impl<'m, 's> From<$kind> for Site<'m, 's> {
            fn from($site: $kind) -> Self {
                Self($number, $message, $part)
            }
        })+
    };
}

sites! {
    (number, message), (usize, &'m Message<'s>) => number, message, None;
    (number, message, part), (usize, &'m Message<'s>, &'m Part<'s>) => number, message, Some(part);
    (number, message, part), (usize, &'m Message<'s>, Option<&'m Part<'s>>) => number, message, part;
    call, &CallSite<'m, 's> => call.message_number, call.message, Some(call.part);
    result, &ResultSite<'m, 's> => result.message_number, result.message, Some(result.part);
}

impl Draft {
    /// Sets the numbers of a site, if the provider's numbers are known.
    pub(crate) fn at<'m, 's: 'm>(
        &mut self,
        context: &Context<'_, '_>,
        site: impl Into<Site<'m, 's>>,
    ) -> &mut Self {
        let Site(number, Message { index, .. }, part) = site.into();
        if !context.pairing.knows_index(number) {
            return self;
        }
        self.value("index", *index).value("member", index + 1);
        if let Some(part) = part {
            self.value("part", part.index).value("part-member", part.index + 1);
        }
        self
    }
}
