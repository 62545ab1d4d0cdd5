//! One file's text, from bytes to findings.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::LazyLock;

use toolcheck_core::detection::{Detected, Detection};
use toolcheck_core::exchange::{self, Exchange};
use toolcheck_core::formats::Format;
use toolcheck_core::ir::{Place, Room, Transcript, TranscriptKind};
use toolcheck_core::target::{self, Target};
use toolcheck_core::tools::Definition;
use toolcheck_core::{Finding, Level, response, unsupported};
use toolcheck_json::{Document, FaultKind, Layout, NodeId, Position, Record, Records, Span, Value};

use crate::exchanges::{Exchanges, Histories, Kept};
use crate::observe::{Observer, Response};
use crate::pairing::Pairing;
use crate::report::{FileReport, Located, locate_all};
use crate::rule::{self, Context, Rule, Verdicts};
use crate::rules::{self, blank_line, unread_content, unrecognised_format};
use crate::schemas::Schemas;
use crate::settings::Settings;

/// How a file is to be linted.
#[derive(Debug, Clone)]
pub struct Options<'o> {
    /// The format that it is written in; found out from its content where this is `None`.
    pub format: Option<&'static Format>,
    /// Whom it is for; the format's own provider where this is `None`.
    pub target: Option<&'o Target>,
    /// What it is for.
    pub kind: TranscriptKind,
    /// The tools that are declared beside the transcripts, for those that do not declare their own.
    pub tools: &'o [Definition],
    /// What the user has set.
    pub settings: &'o Settings,
    /// The rules to run.
    pub rules: Vec<&'static Rule>,
}

/// The settings of who sets nothing.
static BUILT_IN: LazyLock<Settings> = LazyLock::new(Settings::default);

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            format: None,
            target: None,
            kind: TranscriptKind::default(),
            tools: &[],
            settings: &BUILT_IN,
            rules: rules::ALL.iter().copied().filter(|rule| !rule.is_optional).collect(),
        }
    }
}

/// How many records are looked at to find out a file's format, where the first leaves it open.
pub(crate) const RECORDS_LOOKED_AT: usize = 16;

/// Lints the text of one file. `path` is the name that its report bears.
#[must_use]
pub fn lint(path: &str, bytes: &[u8], options: &Options<'_>) -> FileReport {
    lint_with(path, bytes, options, &mut ())
}

/// Lints the text of one file and shows an observer what is read.
pub fn lint_with(path: &str, bytes: &[u8], options: &Options<'_>, observer: &mut dyn Observer) -> FileReport {
    let mut report = FileReport::empty(path, options.kind);
    let is_wanted = options.rules.iter().any(|rule| rule.id == unrecognised_format::RULE.id);
    if let Some(kind) = unsupported::of_text(bytes).filter(|_| is_wanted) {
        report.findings = find_no_json(bytes, kind, options);
        return report;
    }
    let (mut records, document) = Records::reading(bytes);
    let layout = records.layout();
    let Some(first) = records.next() else { return report };
    let document = document.unwrap_or_else(|| Document::read(first.bytes));
    let more = (layout != Layout::Single).then(|| Records::laid_out(bytes, layout).skip(1));
    let detected = find_format(&document, more, options);
    let lens = Lens::new(detected.map(|detected| detected.format), options);
    lens.tell(detected, &mut report);
    let schemas = Schemas::declaring(options.tools, options.kind);
    let mut run = Run::new(lens, options, &schemas, observer, &mut report);
    let mut record = first;
    let mut document = document;
    let mut room = Room::default();
    loop {
        room = run.lint_record(&record, &document, room);
        let Some(next) = records.next() else { break };
        record = next;
        document = Document::read_in(record.bytes, document.into_arena());
    }
    run.tell_blank_line(&records);
    report
}

/// What is found in a file that is known not to be JSON.
fn find_no_json(bytes: &[u8], kind: &unsupported::Text, options: &Options<'_>) -> Vec<Located> {
    let rule = unrecognised_format::RULE.id;
    // The first line is its place.
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len()).min(LONGEST_MARK);
    let place = place_in_text(Span::new(0, line as u32));
    let mut finding = Finding::new(rule, place, unrecognised_format::message(kind.name));
    finding.level = options.settings.levels.get(rule).copied().unwrap_or(Level::Error);
    finding.caption("nothing in here was checked").help(kind.advice);
    let position = Position { line: 1, column: 1 };
    locate_in_text(&Record { index: 0, bytes, start: 0, position }, vec![finding])
}

/// A place in text that holds no value.
fn place_in_text(span: Span) -> Place {
    Place { node: NodeId::ROOT, span }
}

/// Locates findings whose places are all [in text](place_in_text) that holds no value.
fn locate_in_text(record: &Record<'_>, findings: Vec<Finding>) -> Vec<Located> {
    // A place is in a value: this one stands in.
    locate_all(&Document::read(b"null"), record, findings)
}

/// How many bytes of a line are marked of a file of which nothing is read.
const LONGEST_MARK: usize = 40;

/// The format of a file, told from its first record, and from some that follow where that leaves it open.
pub(crate) fn find_format<'b>(
    first: &Document<'_>,
    more: Option<impl Iterator<Item = Record<'b>>>,
    options: &Options<'_>,
) -> Option<Detected> {
    if let Some(format) = options.format {
        return Some(Detected { format, rival: None });
    }
    let mut detection = Detection::default();
    detection.look(first);
    if !detection.is_certain() {
        for record in more.into_iter().flatten().take(RECORDS_LOOKED_AT) {
            detection.look(&Document::read(record.bytes));
        }
    }
    detection.best(options.target.and_then(|target| target.format.as_deref()))
}

/// How the transcripts of one format are looked at.
pub(crate) struct Lens<'r> {
    format: Option<&'static Format>,
    /// The target, where there is one.
    known: Option<&'r Target>,
    /// The same, or what stands for none.
    target: &'r Target,
    rules: Vec<&'static Rule>,
    verdicts: Verdicts,
}

impl<'r> Lens<'r> {
    /// Says in a report how its file is read and whom it is for.
    pub(crate) fn tell(&self, detected: Option<Detected>, report: &mut FileReport) {
        report.format = self.format.map(|format| format.id);
        report.target = self.known.map(|target| target.id.clone());
        report.rival = detected.and_then(|detected| detected.rival).map(|format| format.id);
    }

    pub(crate) fn new(format: Option<&'static Format>, options: &Options<'r>) -> Self {
        let known = options.target.or_else(|| target::find(format?.id));
        let target = known.unwrap_or_else(|| Target::unknown());
        let id = format.map_or("", |format| format.id);
        let is_named = options.target.is_some();
        let may_speak = |rule: &&'static Rule| rule.may_speak(id, options.kind, target, is_named);
        let rules = options.rules.iter().copied().filter(may_speak).collect();
        Self { format, known, target, rules, verdicts: Verdicts::default() }
    }
}

/// A file that is being linted.
pub(crate) struct Run<'r> {
    lens: Rc<Lens<'r>>,
    /// The lenses for records of other formats than the file's.
    others: Vec<Rc<Lens<'r>>>,
    options: &'r Options<'r>,
    schemas: &'r Schemas<'r>,
    /// Whether it has been said that no format knows the file.
    is_told_unknown: bool,
    /// What is known of the exchanges so far.
    pub(crate) exchanges: Exchanges,
    /// The numbers of the records that hold exchanges, where these are left to who has seen those before them.
    pub(crate) left_exchanges: Option<Vec<usize>>,
    observer: RefCell<&'r mut dyn Observer>,
    report: &'r mut FileReport,
}

impl<'r> Run<'r> {
    pub(crate) fn new(
        lens: Lens<'r>,
        options: &'r Options<'r>,
        schemas: &'r Schemas<'r>,
        observer: &'r mut dyn Observer,
        report: &'r mut FileReport,
    ) -> Self {
        Self {
            lens: Rc::new(lens),
            others: Vec::new(),
            options,
            schemas,
            is_told_unknown: false,
            exchanges: Exchanges::default(),
            left_exchanges: None,
            observer: RefCell::new(observer),
            report,
        }
    }

    /// Lints one record, and gives back the room of its transcript.
    pub(crate) fn lint_record<'s>(
        &mut self,
        record: &Record<'_>,
        document: &Document<'s>,
        mut room: Room<'s>,
    ) -> Room<'s> {
        let root = document.root();
        let mut findings = Vec::new();
        match exchange::exchanges(root) {
            None => {
                let usual = Rc::clone(&self.lens);
                self.lens = self.lens_for(root);
                room = self.lint_transcript(document, root, room, &mut findings);
                self.lens = usual;
            }
            Some(_) if self.left_exchanges.is_some() => {
                self.left_exchanges.get_or_insert_default().push(record.index);
                return room;
            }
            Some(exchanges) => {
                for (number, exchange) in exchanges.into_iter().enumerate() {
                    let is_first = number == 0;
                    let usual = Rc::clone(&self.lens);
                    self.lens = self.lens_for(exchange.request);
                    room = self.lint_exchange(document, exchange, is_first, room, &mut findings);
                    self.lens = usual;
                }
                self.exchanges.leave(document, record);
            }
        }
        self.tell_unknown_once(&mut findings);
        findings.sort_by_key(|finding| (finding.place.span.start, finding.rule));
        let findings = locate_all(document, record, findings);
        self.observer.get_mut().record(record, document, &findings);
        self.report.findings.extend(findings);
        room
    }

    /// Reports the first blank line among the records of a data set, at its place. It belongs to none of them.
    pub(crate) fn tell_blank_line(&mut self, records: &Records<'_>) {
        let rule = &blank_line::RULE;
        let is_asked = self.options.kind == TranscriptKind::Dataset
            && self.lens.rules.iter().any(|asked| asked.id == rule.id);
        let Some(line) = records.first_blank_line().filter(|_| is_asked) else { return };
        let mut finding = blank_line::finding(place_in_text(Span::new(0, line.bytes.len() as u32)));
        let own = self.options.settings.levels.get(rule.id).copied();
        finding.level = own.or(rule.default_level).unwrap_or(Level::Warning);
        let findings = &mut self.report.findings;
        let at = findings.partition_point(|finding| finding.record_bytes.start < line.start);
        findings.splice(at..at, locate_in_text(&line, vec![finding]));
    }

    /// Of a file of no known format, its first record says so for all.
    fn tell_unknown_once(&mut self, findings: &mut Vec<Finding>) {
        if self.lens.format.is_none() {
            let is_told = &mut self.is_told_unknown;
            findings.retain(|finding| unrecognised_format::is_to_be_told(finding.rule, is_told));
        }
    }

    /// The lens for a record, which may be of another format than most of the file.
    fn lens_for(&mut self, record: Value<'_, '_>) -> Rc<Lens<'r>> {
        if self.options.format.is_some() {
            return Rc::clone(&self.lens);
        }
        let format = Detection::of_record(self.lens.format, record);
        let id = |format: Option<&'static Format>| format.map(|format| format.id);
        let is_for = |lens: &&Rc<Lens<'_>>| id(lens.format) == id(format);
        if let Some(known) = std::iter::once(&self.lens).chain(&self.others).find(is_for) {
            return Rc::clone(known);
        }
        let lens = Rc::new(Lens::new(format, self.options));
        self.others.push(Rc::clone(&lens));
        lens
    }

    /// Lints a transcript that stands alone.
    fn lint_transcript<'s>(
        &mut self,
        document: &Document<'s>,
        root: Value<'_, 's>,
        room: Room<'s>,
        findings: &mut Vec<Finding>,
    ) -> Room<'s> {
        let transcript = self.read(document, root, room);
        self.run_rules(document, &transcript, Before::default(), true, findings);
        transcript.into_room()
    }

    /// Lints the request of an exchange, and what it keeps of the response before it.
    fn lint_exchange<'s>(
        &mut self,
        document: &Document<'s>,
        exchange: Exchange<'_, 's>,
        is_first: bool,
        room: Room<'s>,
        findings: &mut Vec<Finding>,
    ) -> Room<'s> {
        let transcript = self.read(document, exchange.request, room);
        let histories = Histories::of(&transcript);
        let (continued, kept) = self.exchanges.continued_by(document, &transcript, &histories).unzip();
        let kept = kept.flatten();
        let mut found = Vec::new();
        let before =
            Before { kept: kept.as_ref(), known: continued.map_or(0, |continued| continued.first_new()) };
        self.run_rules(document, &transcript, before, is_first, &mut found);
        if let Some(continued) = continued.filter(|_| kept.is_some()) {
            self.exchanges.settle(continued);
        }
        let response = exchange.response.zip(self.lens.format);
        let response = response.and_then(|(response, format)| response::read(format, response));
        let (answers, said) = response.unwrap_or_default();
        let response = Response { value: exchange.response, answers: &answers };
        self.observer.get_mut().response(&response);
        let mut found_in_response = Vec::new();
        for said in said {
            self.run_rules_on_answer(document, &transcript, said.transcript, &mut found_in_response);
        }
        let is_new = |finding: &Finding| {
            !continued.is_some_and(|at| self.exchanges.has_told(at, &transcript, finding))
        };
        found.retain(is_new);
        self.exchanges.add(&histories, answers, continued, [&found, &found_in_response]);
        findings.append(&mut found);
        findings.append(&mut found_in_response);
        transcript.into_room()
    }

    /// Reads a transcript; an empty one where the format does not know it.
    fn read<'s>(&mut self, document: &Document<'s>, root: Value<'_, 's>, room: Room<'s>) -> Transcript<'s> {
        let read = self.lens.format.and_then(|format| (format.read_in)(root, room));
        let mut transcript = read.unwrap_or_else(|| Transcript::unrecognised(root));
        transcript.kind = self.report.kind;
        if is_cut_off(document) && transcript.kind == TranscriptKind::Request {
            // What is missing at the end is missing because the text was cut, and that is reported.
            transcript.kind = TranscriptKind::Session;
        }
        if let Some(format) = transcript.format {
            self.report.transcripts += 1;
            self.report.messages += transcript.messages.len();
            let (calls, results) = transcript.counts();
            self.report.tool_calls += calls;
            self.report.tool_results += results;
            self.report.count_reading(format.id, self.lens.known.map(|target| &*target.id), 1);
        } else {
            // With a format that somebody named, a request in another format is just another file of its folder.
            let is_of_another =
                || self.options.format.is_some_and(|format| Detection::instead_of(format.id, root).is_some());
            self.report.is_meant_as_request |= unsupported::is_meant_as_request(root) && !is_of_another();
        }
        transcript
    }

    /// Runs the rules that look at each call by itself on what the model answered to a request.
    fn run_rules_on_answer<'s>(
        &self,
        document: &Document<'s>,
        request: &Transcript<'s>,
        mut said: Transcript<'s>,
        findings: &mut Vec<Finding>,
    ) {
        if said.counts().0 == 0 {
            return;
        }
        said.kind = TranscriptKind::Session;
        said.request = request.request.after(std::mem::take(&mut said.request));
        let pairing = Pairing::new(&said, self.lens.target);
        let context = self.context(document, &said, &pairing, None);
        for rule in self.lens.rules.iter().filter(|rule| rule.on_call) {
            rule::run(rule, &context, findings);
        }
    }

    /// Runs the rules on a transcript; those that are about the text as a whole only on its first.
    fn run_rules(
        &self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        before: Before<'_>,
        is_first: bool,
        findings: &mut Vec<Finding>,
    ) {
        let pairing = Pairing::new(transcript, self.lens.target);
        let context = self.context(document, transcript, &pairing, before.kept);
        self.observer.borrow_mut().transcript(&context, before.known);
        let before = findings.len();
        for rule in self.lens.rules.iter().filter(|rule| is_first || !rule.on_text) {
            rule::run(rule, &context, findings);
        }
        unread_content::settle(&context, findings, before);
        if context.is_cut_off {
            forget_the_cut(document, findings, before);
        }
    }

    fn context<'c, 's>(
        &'c self,
        document: &'c Document<'s>,
        transcript: &'c Transcript<'s>,
        pairing: &'c Pairing<'c, 's>,
        kept: Option<&'c Kept<'c>>,
    ) -> Context<'c, 's> {
        self.lens.verdicts.turn_to(transcript.request.model.as_deref());
        Context {
            document,
            transcript,
            wanted_format: self.options.format,
            is_cut_off: is_cut_off(document),
            pairing,
            kept,
            text_calls: OnceCell::new(),
            schemas: self.schemas,
            target: self.lens.target,
            verdicts: &self.lens.verdicts,
            settings: self.options.settings,
        }
    }
}

/// What a request has of the exchange that it goes on with.
#[derive(Default)]
struct Before<'e> {
    /// What it keeps of the answer, where that owes something.
    kept: Option<&'e Kept<'e>>,
    /// How many of its messages were sent before.
    known: usize,
}

/// Drops what is only said of a value because the text ends in it: what came behind nobody knows, and that the text is
/// cut off is a finding.
fn forget_the_cut(document: &Document<'_>, findings: &mut Vec<Finding>, first: usize) {
    let end = document.bytes().len() as u32;
    let mut number = 0;
    findings.retain(|finding| {
        number += 1;
        let is_about_text = rules::find(finding.rule).is_some_and(|rule| rule.on_text);
        number <= first || is_about_text || document.value(finding.place.node).span().end < end
    });
}

/// Whether the text ends before its value does.
fn is_cut_off(document: &Document<'_>) -> bool {
    let is_cut = |kind| matches!(kind, FaultKind::Unclosed | FaultKind::UnterminatedString);
    document.faults().iter().any(|fault| is_cut(fault.kind))
}
