use std::cell::RefCell;
use std::rc::Rc;

use toolcheck_core::detection::Detected;
use toolcheck_core::formats::Format;
use toolcheck_core::ir::{Contents, TranscriptKind};
use toolcheck_core::readers::{NextRequest, Policy, Reader, SourceKind};
use toolcheck_core::targets::{self, Target};

use crate::category::Category;
use crate::options::Options;
use crate::report::{FileReport, Reading};
use crate::rule::{Rule, Verdicts};

/// Rules that several transcripts need.
type SharedRules = Rc<[&'static Rule]>;

/// The most sets of contents whose rules are kept.
const MOST_CONTENTS: usize = 16;

/// The rules that apply to the transcripts of one format, and the target that they are checked against.
#[derive(Debug)]
pub(crate) struct FormatRules<'r> {
    pub(crate) format: Option<&'static Format>,
    pub(crate) known: Option<&'r Target>,
    pub(crate) rules: Vec<&'static Rule>,
    /// Those that look at what transcripts contain, for each set of it so far.
    by_contents: RefCell<Vec<(Contents, SharedRules)>>,
    pub(crate) verdicts: Verdicts,
    /// What may be said of the files, if they are not requests.
    pub(crate) policy: Option<&'static Policy>,
}

impl<'r> FormatRules<'r> {
    pub(crate) fn new(format: Option<&'static Format>, options: &'r Options) -> Self {
        Self::against(format.and_then(|format| targets::find(format.id)), format, options)
    }

    /// The rules for transcripts that are checked against this target, unless the user names one.
    fn against(target: Option<&'r Target>, format: Option<&'static Format>, options: &'r Options) -> Self {
        let known = options.target.as_deref().or(target);
        let target = known.unwrap_or_else(|| Target::unknown());
        let is_named = options.target.is_some();
        let can_report = |rule: &&'static Rule| {
            has_what_it_needs(rule, options)
                && (options.reports_hidden || rule.can_report(format, options.kind, target, is_named))
        };
        let rules = options.rules.iter().copied().filter(can_report).collect();
        Self {
            format,
            known,
            rules,
            by_contents: RefCell::default(),
            verdicts: Verdicts::default(),
            policy: None,
        }
    }

    /// The rules for what a reader reads. They depend on no target, because nobody sends it as it is; what an agent sends
    /// next does.
    pub(crate) fn of_reader(reader: &Reader, target: Option<&'r Target>, options: &Options) -> Self {
        let policy = reader.kind.policy();
        let next = (reader.kind == SourceKind::AgentLog).then(Policy::of_next_request);
        let sent = target.map(|_| Policy::of_sent_messages());
        let level = |rule: &Rule| [Some(policy), next, sent].into_iter().find_map(|one| one?.level(rule.id));
        let breaks = NextRequest::of(reader.id).map(|agent| &agent.breaks);
        let has_level =
            |rule: &Rule| level(rule).is_some() || breaks.is_some_and(|breaks| breaks.contains_key(&rule.id));
        let can_report = |rule: &&'static Rule| {
            has_what_it_needs(rule, options) && !rule.only_explains() && has_level(rule)
        };
        let rules = options.rules.iter().copied().filter(can_report).collect();
        let by_contents = RefCell::default();
        let policy = Some(policy);
        Self { format: None, known: target, rules, by_contents, verdicts: Verdicts::default(), policy }
    }

    /// The rules for tools without a conversation, which are checked against a target.
    pub(crate) fn of_tools(options: &'r Options) -> Self {
        let is_about_tools = |rule: &&'static Rule| {
            rule.category == Category::Files || rule.category == Category::Tools && !rule.on_wire
        };
        let rules = Self::new(None, options);
        Self { rules: rules.rules.iter().copied().filter(is_about_tools).collect(), ..rules }
    }

    /// The rules that look at something of what a transcript contains. There are few such sets, and many rules.
    pub(crate) fn that_look_at(&self, contents: Contents) -> SharedRules {
        let mut known = self.by_contents.borrow_mut();
        if let Some((_, rules)) = known.iter().find(|(of, _)| *of == contents) {
            return Rc::clone(rules);
        }
        let rules = self.rules.iter().copied().filter(|rule| rule.looks_at.intersects(contents)).collect();
        known.truncate(MOST_CONTENTS - 1);
        known.push((contents, Rc::clone(&rules)));
        rules
    }

    /// The target, or one that enforces nothing.
    pub(crate) fn target(&self) -> &'r Target {
        self.known.unwrap_or_else(|| Target::unknown())
    }

    pub(crate) fn reading(&self, format: &'static str, options: &Options) -> Reading {
        Reading {
            format,
            target: self.known.map(|target| target.id.to_string()),
            as_examples: options.kind == TranscriptKind::Dataset && options.target.is_none(),
            transcripts: 1,
        }
    }

    /// Records in a report how its file is read.
    pub(crate) fn describe(&self, detected: Option<Detected>, report: &mut FileReport) {
        report.format = self.format.map(|format| format.id);
        report.target = self.known.map(|target| target.id.to_string());
        report.rival = detected.and_then(|detected| detected.rival).map(|format| format.id);
    }
}

/// The rules of the formats that a file has so far, and of the APIs that its requests were sent to.
#[derive(Debug, Default)]
pub(crate) struct KnownRules<'r> {
    of_formats: Vec<Rc<FormatRules<'r>>>,
    of_apis: Vec<Rc<FormatRules<'r>>>,
}

impl<'r> KnownRules<'r> {
    /// With the rules of the format that most of the file is in.
    pub(crate) fn with(rules: Rc<FormatRules<'r>>) -> Self {
        Self { of_formats: vec![rules], of_apis: Vec::new() }
    }

    pub(crate) fn of(
        &mut self,
        format: Option<&'static Format>,
        options: &'r Options,
    ) -> Rc<FormatRules<'r>> {
        let id = |format: Option<&'static Format>| format.map(|format| format.id);
        if let Some(known) = self.of_formats.iter().find(|rules| id(rules.format) == id(format)) {
            return Rc::clone(known);
        }
        let rules = Rc::new(FormatRules::new(format, options));
        self.of_formats.push(Rc::clone(&rules));
        rules
    }

    /// The rules for requests in a format that were sent to an API.
    pub(crate) fn of_api(
        &mut self,
        target: &'static Target,
        format: &'static Format,
        options: &'r Options,
    ) -> Rc<FormatRules<'r>> {
        let is_same = |rules: &&Rc<FormatRules<'r>>| {
            rules.known.is_some_and(|known| known.id == target.id)
                && rules.format.is_some_and(|known| known.id == format.id)
        };
        if let Some(known) = self.of_apis.iter().find(is_same) {
            return Rc::clone(known);
        }
        let rules = Rc::new(FormatRules::against(Some(target), Some(format), options));
        self.of_apis.push(Rc::clone(&rules));
        rules
    }
}

/// Whether a rule can say anything: those about templates need one.
fn has_what_it_needs(rule: &Rule, options: &Options) -> bool {
    rule.category != Category::Templates || options.template.is_some()
}
