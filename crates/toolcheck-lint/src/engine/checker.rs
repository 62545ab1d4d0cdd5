use std::cell::{Cell, OnceCell};

use foldhash::HashSet;
use toolcheck_core::ir::{Contents, Transcript, TranscriptKind};
use toolcheck_core::pairing::Pairing;
use toolcheck_core::response::{self, Choice, Completion};
use toolcheck_core::{Format, Level, RuleId};
use toolcheck_json::{Document, Kind, SyntaxErrorKind, Value};
use toolcheck_schema::Schemas;

use super::causes;
use super::format_rules::FormatRules;
use crate::finding::Draft;
use crate::observe::Observer;
use crate::options::Options;
use crate::rule::{self, Context, Rule};
use crate::rules::{self, altered_arguments, invalid_arguments_json, misplaced_event, unread_content};
use crate::server_state::RemoteHistory;
use crate::view::exchanges::{ExchangeContext, HistoryMatch};
use crate::view::shape;

#[derive(Debug, Clone, Copy)]
pub(super) struct Checker<'r> {
    pub(super) rules: &'r FormatRules<'r>,
    pub(super) options: &'r Options,
    pub(super) schemas: &'r Schemas,
    /// The maximum number of findings of each rule in a transcript that keep what they say.
    pub(super) most_said: usize,
}

impl Checker<'_> {
    /// Runs the rules about single calls on a response to a request, whether it came at once or as a stream.
    pub(super) fn check_response<'s>(
        &self,
        document: &Document<'s>,
        request: &Transcript<'s>,
        (format, root): (&Format, Value<'_, 's>),
        (answers, said): (&[Choice], Vec<Completion<'s>>),
        findings: &mut Vec<Draft>,
    ) {
        let rule = &misplaced_event::RULE;
        if self.runs(rule.id) {
            let faults = answers.iter().filter_map(|answer| answer.fault.as_ref());
            findings.extend(
                faults.map(misplaced_event::of_stream).map(|finding| self.of_response(rule, finding)),
            );
        }
        let is_streamed = |answer: &&Choice| said.is_empty() && !answer.calls.is_empty();
        for answer in answers.iter().filter(|answer| is_streamed(answer) && answer.fault.is_none()) {
            let arguments = answer.arguments();
            let texts = Document::read(arguments.as_bytes());
            let said = answer.as_said(format.key(), root, texts.root());
            self.check_answer(document, request, said, true, findings);
        }
        for said in said {
            self.check_answer(document, request, said.transcript, false, findings);
        }
    }

    /// Runs the rules that check each call by itself on the model's response to a request.
    fn check_answer<'s>(
        &self,
        document: &Document<'s>,
        request: &Transcript<'s>,
        mut said: Transcript<'s>,
        is_assembled: bool,
        findings: &mut Vec<Draft>,
    ) {
        said.unread = response::unread_calls(&said, document).cloned().collect();
        if said.counts().0 == 0 && said.unread.is_empty() {
            return;
        }
        said.kind = TranscriptKind::Session;
        said.request = request.request.after(std::mem::take(&mut said.request));
        let pairing = Pairing::new(&said, self.rules.target());
        let context = Context { is_answer: true, is_assembled, ..self.context(document, &said, &pairing) };
        self.run_rules(|rule| rule.on_call, &context, findings, usize::MAX);
    }

    fn runs(&self, rule: RuleId) -> bool {
        self.rules.rules.iter().any(|known| known.id == rule)
    }

    /// Checks that the arguments of calls are JSON, in a response that is there by itself: no history repeats it.
    pub(super) fn check_calls(&self, document: &Document<'_>, answers: &[Choice]) -> Vec<Draft> {
        let rule = &invalid_arguments_json::RULE;
        let mut findings = Vec::new();
        if !self.runs(rule.id) {
            return findings;
        }
        for answer in answers.iter().filter(|answer| answer.fault.is_none()) {
            let finished = answer.calls[..answer.finished_calls()].iter();
            let broken = finished.filter(|call| invalid_arguments_json::is_broken(call));
            findings.extend(broken.map(|call| self.of_response(rule, invalid_arguments_json::finding(call))));
        }
        debug_assert!(findings.iter().all(|found| found.place.span.end as usize <= document.bytes().len()));
        findings
    }

    /// A finding about a response alone: a warning, as nothing is known of what becomes of it.
    fn of_response(&self, rule: &Rule, mut finding: Draft) -> Draft {
        let level = self.options.settings.levels.get(&rule.id).copied();
        finding.level = level.unwrap_or(Level::Warning);
        finding
    }

    /// Shows an observer a transcript on which no rules run.
    pub(super) fn show<'s>(
        &self,
        document: &Document<'s>,
        transcript: &Transcript<'s>,
        observer: &mut dyn Observer,
    ) {
        let pairing = Pairing::new(transcript, self.rules.target());
        observer.transcript(&self.context(document, transcript, &pairing), 0, false);
    }

    /// Runs the rules whose findings count only if nothing in the rest of the file puts them right.
    pub(super) fn check_end(
        &self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        course: &ExchangeContext<'_>,
    ) -> Vec<Draft> {
        let mut findings = Vec::new();
        let mut rules = self.rules.rules.iter().copied().filter(|rule| rule.on_end).peekable();
        if rules.peek().is_some() && course.answers.iter().any(|answer| !answer.calls.is_empty()) {
            let pairing = Pairing::new(transcript, self.rules.target());
            let context = Context { course: Some(course), ..self.context(document, transcript, &pairing) };
            rule::run(rules, &context, &mut findings, usize::MAX);
        }
        findings
    }

    /// Runs the rules on a transcript, and returns the findings that yield to one about what the client changed. Rules
    /// about the text of the file run only on its first transcript.
    pub(super) fn check(
        &self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        continuation: Continuation<'_>,
        is_first: bool,
        observer: &mut dyn Observer,
        findings: &mut Vec<Draft>,
    ) -> Vec<Draft> {
        let pairing = Pairing::new(transcript, self.rules.target());
        let Continuation { kept, course, server, .. } = continuation;
        let context =
            Context { kept, course, continued: server, ..self.context(document, transcript, &pairing) };
        let before = findings.len();
        // What is sent next may be another conversation than the first.
        let is_sent = |rule: &Rule| context.next_request().is_some() && context.sends_as_written(rule);
        let applies = |rule: &Rule| (is_first || !rule.on_text || is_sent(rule)) && !rule.on_end;
        self.run_rules(applies, &context, findings, self.most_said);
        observer.transcript(&context, continuation.known, findings.is_empty() && course.is_none());
        if context.reports_hidden {
            return Vec::new();
        }
        shape::settle(&context, findings, before);
        unread_content::settle(&context, findings, before);
        if !document.faults().is_empty() {
            forget_what_faults_hide(document, findings, before);
        }
        let mut silenced =
            altered_arguments::settle(&context, findings, before, self.runs(RuleId::DroppedToolCall));
        silenced.extend(causes::settle(&context, findings, before));
        silenced
    }

    /// Runs the rules that apply and look at something in the transcript.
    fn run_rules(
        &self,
        applies: impl Fn(&Rule) -> bool,
        context: &Context<'_, '_>,
        findings: &mut Vec<Draft>,
        most: usize,
    ) {
        let contents = context
            .transcript
            .contents()
            .and_if(!context.document.faults().is_empty(), Contents::FAULTS)
            .and_if(context.kept.is_some(), Contents::ANSWER)
            .and_if(context.course.is_some(), Contents::EXCHANGE);
        let looking = self.rules.that_look_at(contents);
        // The tests run with this check, which finds incomplete declarations.
        if cfg!(debug_assertions) {
            for rule in self.rules.rules.iter().copied().filter(|rule| applies(rule)) {
                let is_right = rule.looks_at.intersects(contents) || rule::is_silent(rule, context);
                assert!(is_right, "{} looks at more than it declares", rule.id);
            }
        }
        rule::run(looking.iter().copied().filter(|rule| applies(rule)), context, findings, most);
    }

    fn context<'c, 's>(
        &'c self,
        document: &'c Document<'s>,
        transcript: &'c Transcript<'s>,
        pairing: &'c Pairing<'c, 's>,
    ) -> Context<'c, 's> {
        self.rules.verdicts.turn_to(transcript.request.model.as_deref());
        Context {
            document,
            transcript,
            wanted_format: self.options.format,
            body_names_model: self.options.is_body.then_some(self.options.names_model),
            is_cut_off: is_cut_off(document),
            pairing,
            kept: None,
            course: None,
            continued: None,
            template: self.options.template_in_use(),
            #[cfg(feature = "template")]
            finds_forms: self.options.marks != crate::options::Marks::Off,
            in_prompt: OnceCell::new(),
            text_calls: OnceCell::new(),
            turns_with_words: OnceCell::new(),
            shape_faults: OnceCell::new(),
            checks: OnceCell::new(),
            bytes_translated: Cell::new(0),
            is_answer: false,
            is_assembled: false,
            is_over: self.options.is_over,
            reports_hidden: self.options.reports_hidden,
            kind: self.options.kind,
            policy: self.rules.policy,
            schemas: self.schemas,
            tools: &self.options.tools,
            known_target: self.rules.known,
            named_target: self.options.target.as_deref(),
            ignored_rules: &self.options.ignored,
            verdicts: &self.rules.verdicts,
            settings: &self.options.settings,
        }
    }
}

/// What a request shares with the exchange that it continues.
#[derive(Default)]
pub(super) struct Continuation<'e> {
    /// How it keeps the answer, if there is anything to compare.
    pub(super) kept: Option<&'e HistoryMatch<'e>>,
    /// What the exchange has to do with those before it.
    pub(super) course: Option<&'e ExchangeContext<'e>>,
    /// The number of its messages that were sent before.
    pub(super) known: usize,
    pub(super) server: Option<&'e RemoteHistory>,
}

/// Drops findings about values of which a fault of the text, which is a finding itself, leaves something unknown: the text ends
/// in them, or they have no key or nothing in them.
fn forget_what_faults_hide(document: &Document<'_>, findings: &mut Vec<Draft>, first: usize) {
    let places = |is_meant: fn(SyntaxErrorKind) -> bool| -> HashSet<u32> {
        let meant = document.faults().iter().filter(|fault| is_meant(fault.kind));
        meant.map(|fault| fault.span.start).collect()
    };
    // A log may have lines that are cut off.
    let cuts = places(SyntaxErrorKind::is_cut);
    let without_key = places(|kind| kind == SyntaxErrorKind::InvalidKey);
    let end = document.bytes().len() as u32;
    let is_hidden = |finding: &mut Draft| {
        let value = document.value(finding.place.node);
        let span = value.span();
        let is_cut = !cuts.is_empty() && (span.end >= end || cuts.contains(&span.end));
        let is_unknown = is_cut || value.kind() == Kind::Invalid || without_key.contains(&span.start);
        is_unknown && !rules::get(finding.rule).on_text
    };
    findings.extract_if(first.., is_hidden).for_each(drop);
}

/// Whether the text ends before its value does.
pub(super) fn is_cut_off(document: &Document<'_>) -> bool {
    document.faults().iter().any(|fault| fault.kind.is_cut())
}
