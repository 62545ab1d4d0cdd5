//! Files that a reader reads: logs, histories and data sets.

use std::cell::{LazyCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use toolcheck_core::detection::{Candidate, Detection};
use toolcheck_core::ir::{Place, Transcript, TranscriptKind};
use toolcheck_core::readers::{self, Conversation, ConversationEnd, Reader, Reading, SourceKind, Unit};
use toolcheck_core::text::shorten;
use toolcheck_core::{Level, RuleId, exchange, formats, targets};
use toolcheck_json::origins::LeftOut;
use toolcheck_json::{Document, Expanded, Layout, Position, Record, Records, Value, locate};
use toolcheck_schema::Schemas;

use super::checker::{Checker, Continuation};
use super::file_linter::LEAST_SAID;
use super::format_rules::{FormatRules, KnownRules};
use super::{rows, text};
use crate::finding::{Draft, Finding, Spot};
use crate::marks;
use crate::observe::Observer;
use crate::options::Options;
use crate::repeated::Originals;
use crate::report::{self, ConversationReport, FileReport, locate_all};
use crate::rules::{malformed_json, unrecognised_format};

/// The bytes in which a record must begin for a reader to look at it.
const HEAD: usize = 1 << 20;

const NOTHING_READ: &str = "records without a conversation";

/// The reader of a file, by its first records; `None` if it is for the formats.
pub(super) fn detect<'b>(
    first: &Document<'_>,
    more: Option<impl Iterator<Item = Record<'b>>>,
    options: &Options,
) -> Option<&'static Reader> {
    if options.at.is_some() {
        return Some(readers::of_lists());
    }
    if options.format.is_some() || options.reader.is_some() {
        return options.reader;
    }
    let more = more.into_iter().flatten().take(readers::LOOKED_AT - 1);
    let near = more.take_while(|record| record.start < HEAD);
    let documents: Vec<Document<'_>> = near.map(|record| Document::read(record.bytes)).collect();
    let records: Vec<Value<'_, '_>> =
        std::iter::once(first.root()).chain(documents.iter().map(Document::root)).collect();
    let columns = &options.settings.columns;
    if !columns.messages.is_empty() && records.iter().any(|record| columns.fit(*record)) {
        return Some(readers::of_lists());
    }
    readers::detect(&records)
}

pub(super) struct Log<'r> {
    reader: &'static Reader,
    rules: FormatRules<'r>,
    /// The rules for conversations that are checked as requests, by their formats.
    of_requests: RefCell<KnownRules<'r>>,
    options: &'r Options,
    schemas: &'r Schemas,
}

impl<'r> Log<'r> {
    pub(super) fn new(reader: &'static Reader, options: &'r Options, schemas: &'r Schemas) -> Self {
        let rules = FormatRules::of_reader(reader, None, options);
        Self { reader, rules, of_requests: RefCell::default(), options, schemas }
    }

    /// Lints a file whose records belong together.
    pub(super) fn lint_file(
        &self,
        bytes: &[u8],
        layout: Layout,
        observer: &mut dyn Observer,
        report: &mut FileReport,
    ) {
        let whole = Record { index: 0, bytes, start: 0, position: Position { line: 1, column: 1 } };
        let document = Records::laid_out(bytes, layout).document();
        let records: Vec<Value<'_, '_>> = document.root().elements().collect();
        let lines = Records::laid_out(bytes, layout);
        let lines: Vec<Range<usize>> =
            lines.map(|record| record.start..record.start + record.bytes.len()).collect();
        let from = report.findings.len();
        if let Some(opened) = self.reader.opened(&document) {
            let text = Records::laid_out(opened.text(), layout).document();
            let records: Vec<Value<'_, '_>> = text.root().elements().collect();
            let (read, source) = ((&*records, self.read(&records)), Some((&opened, &document)));
            self.lint_reading(&whole, &text, read, source, observer, report);
        } else {
            self.lint_unit(&whole, &document, &records, observer, report);
        }
        report.findings[from..].iter_mut().for_each(|finding| place_in_record(finding, &lines));
    }

    /// Lints records that each stand for themselves. The first of them has been read.
    pub(super) fn lint_records<'b>(
        &self,
        (mut record, mut document): (Record<'b>, Document<'b>),
        mut more: Records<'b>,
        observer: &mut dyn Observer,
        report: &mut FileReport,
    ) {
        loop {
            self.lint_unit(&record, &document, &[document.root()], observer, report);
            let Some(next) = more.next() else { break };
            record = next;
            document = Document::read_in(record.bytes, document.into_arena());
        }
        self.report_blank_line(&more, report);
    }

    /// Lints the records of one unit. Several records are the elements of the document's root.
    pub(super) fn lint_unit(
        &self,
        record: &Record<'_>,
        document: &Document<'_>,
        records: &[Value<'_, '_>],
        observer: &mut dyn Observer,
        report: &mut FileReport,
    ) {
        if let Some(opened) = self.reader.opened(document) {
            self.lint_opened(record, document, (&opened, true), observer, report);
        } else {
            let reading = self.read(records);
            self.lint_reading(record, document, (records, reading), None, observer, report);
        }
    }

    /// Lints a record that neither a reader nor a format knows, if it holds conversations.
    pub(super) fn lint_lists(
        &self,
        record: &Record<'_>,
        document: &Document<'_>,
        observer: &mut dyn Observer,
        report: &mut FileReport,
    ) -> bool {
        let format = report.format;
        let is_read = match self.reader.opened(document) {
            Some(opened) => self.lint_opened(record, document, (&opened, false), observer, report),
            None => {
                let records = [document.root()];
                let reading = self.reader.read(&records);
                let is_read = !reading.conversations.is_empty();
                if is_read {
                    self.lint_reading(record, document, (&records, reading), None, observer, report);
                }
                is_read
            }
        };
        if is_read {
            report.format = format.or(Some(self.reader.id));
        }
        is_read
    }

    /// Lints a record that has lists in strings, and says whether it holds conversations. One without is left to others,
    /// unless it is certainly for this reader.
    fn lint_opened(
        &self,
        record: &Record<'_>,
        document: &Document<'_>,
        (opened, is_certain): (&Expanded<'_>, bool),
        observer: &mut dyn Observer,
        report: &mut FileReport,
    ) -> bool {
        let original = document;
        let document = opened.document();
        let records = [document.root()];
        let reading = self.read(&records);
        let is_read = !reading.conversations.is_empty();
        if is_read || is_certain {
            self.lint_reading(
                record,
                &document,
                (&records, reading),
                Some((opened, original)),
                observer,
                report,
            );
        }
        is_read
    }

    /// Reads the records of one unit. A record of another shape may still hold lists of messages.
    fn read<'s>(&self, records: &[Value<'_, 's>]) -> Reading<'s> {
        let (at, columns) = (self.options.at.as_deref(), &self.options.settings.columns);
        if let [record] = records
            && self.is_searched()
            && (at.is_some() || !columns.messages.is_empty())
        {
            return readers::read_at(*record, at, self.options.format, columns);
        }
        let reading = self.reader.read(records);
        let is_empty =
            |one: &Conversation<'_>| one.transcript.messages.is_empty() && one.transcript.unread.is_empty();
        let is_whole = self.reader.unit == Unit::File;
        // It is another file if the user has said that it is one of this reader.
        let is_other = is_whole && self.options.reader.is_some();
        if is_other || !reading.conversations.iter().all(is_empty) {
            return reading;
        }
        let mut other = readers::of_lists().read(records);
        if is_whole && other.conversations.is_empty() {
            return reading;
        }
        if other.conversations.is_empty() && self.reader.kind != SourceKind::Dataset {
            other.left_out.add(NOTHING_READ, records.len());
        }
        reading.left_out.iter().for_each(|(what, count)| other.left_out.add(what, count));
        other
    }

    /// Runs the rules on what was read. `opened` is the text of the document and that of the file, if they differ.
    pub(super) fn lint_reading(
        &self,
        record: &Record<'_>,
        document: &Document<'_>,
        (records, mut reading): (&[Value<'_, '_>], Reading<'_>),
        opened: Option<(&Expanded<'_>, &Document<'_>)>,
        observer: &mut dyn Observer,
        report: &mut FileReport,
    ) {
        let checker = self.checker(&self.rules);
        // Of a search, a list that is known and not read is all that there may be.
        let has_messages = |one: &Conversation<'_>| {
            !one.transcript.messages.is_empty() || self.is_searched() && !one.transcript.unread.is_empty()
        };
        // Whose messages were read need not be asked.
        let is_read = !reading.conversations.is_empty() && reading.conversations.iter().all(has_messages);
        let is_own = is_read || self.reader.knows(records);
        if !is_own {
            // The user has named the wrong reader: it takes what it does not know for an empty conversation.
            reading.conversations.retain(has_messages);
        }
        let is_first = report.transcripts == 0 && !reading.conversations.is_empty();
        if is_first || is_own && report.format.is_none() {
            report.format = Some(self.reader.id);
        }
        let (mut drafts, mut repeated) = (Vec::new(), Vec::new());
        // A trace that is known by its lists alone.
        let is_trace = LazyCell::new(|| {
            self.is_searched() && records.iter().any(|record| self.reader.repeats_lists(*record))
        });
        for (number, conversation) in reading.conversations.iter_mut().enumerate() {
            let as_request = self.as_request(document, &mut conversation.transcript);
            self.list(conversation, report);
            if !self.is_wanted(conversation, report.conversations_listed) {
                continue;
            }
            observer.conversation(conversation);
            let transcript = &conversation.transcript;
            let start = drafts.len();
            let next = self.as_next(transcript);
            let rules = as_request.as_deref().or(next.as_ref()).unwrap_or(&self.rules);
            let checker = self.checker(rules);
            checker.check(document, transcript, Continuation::default(), number == 0, observer, &mut drafts);
            if drafts.len() > start && !self.is_example(transcript, || *is_trace) {
                repeated.extend(report.reported.leave_out(document, transcript, &mut drafts, start));
            }
            let target = rules.known.filter(|_| next.is_none() || self.options.target.is_some());
            self.count(conversation, target.map(|target| &*target.id), report);
        }
        if reading.conversations.iter().any(|one| !one.transcript.messages.is_empty()) {
            drafts.extend(rows::of_another(document.root(), self.options, &mut report.reported));
        }
        keep_worst(&mut drafts);
        if reading.conversations.is_empty() {
            self.check_text(&checker, document, (records, is_own), &mut drafts);
        }
        // Of a file of another reader, nothing was left out.
        let is_other = !is_own && reading.conversations.is_empty() && self.options.reader.is_some();
        for (what, count) in reading.left_out.iter().filter(|_| !is_other) {
            report.count_not_read(LeftOut { one: what, what, count });
        }
        let room = self.options.max_findings.saturating_sub(report.findings.len());
        report.limit(&mut drafts, room);
        let own = Record { bytes: document.bytes(), ..*record };
        let own = if opened.is_some() { &own } else { record };
        let mut findings = locate_all(document, own, drafts);
        if opened.is_none() {
            let told = findings.len();
            let repeated = locate_all(document, own, repeated);
            let known = (&*report.readings, told >= room);
            self.mark(&mut findings, repeated, document, &reading.conversations, known);
            observer.conversations(own, document, &reading.conversations, &findings);
            findings.truncate(told);
        }
        observer.record(own, document, &findings);
        if let Some((opened, original)) = opened {
            place_in_source(&mut findings, record, original, opened);
        }
        report.findings.extend(findings);
    }

    /// Says of findings how they are fixed, and adds those that repeat one of them, which are fixed with it. A record is fixed
    /// by itself, where what an earlier one has told is still to be seen.
    fn mark(
        &self,
        findings: &mut Vec<Finding>,
        repeated: Vec<Finding>,
        document: &Document<'_>,
        conversations: &[Conversation<'_>],
        (readings, is_cut): (&[report::Reading], bool),
    ) {
        let again = |bytes: &[u8], options: &Options| super::lint_again(bytes, options, self.schemas);
        let reader = (self.reader.unit == Unit::Record).then_some(self.reader);
        let mut originals = Originals::default();
        if !repeated.is_empty() {
            findings.iter().enumerate().for_each(|(number, finding)| originals.add(number, finding));
        }
        let mut of_earlier = Vec::new();
        for mut finding in repeated {
            finding.copy_of = originals.of(&finding);
            let list = if finding.copy_of.is_some() { &mut *findings } else { &mut of_earlier };
            list.push(finding);
        }
        let own = findings.len();
        for mut finding in of_earlier.into_iter().filter(|_| reader.is_some()) {
            finding.copy_of = originals.of(&finding);
            if finding.copy_of.is_none() {
                originals.add(findings.len(), &finding);
            }
            findings.push(finding);
        }
        let how = (self.options, reader, readings, is_cut);
        marks::mark_conversations(findings, document, conversations, how, &again);
        findings.truncate(own);
    }

    /// Whether a conversation is an example: they are learnt one by one, so that each of them counts. What names a model was
    /// sent to it, and so was what is in a trace.
    fn is_example(&self, transcript: &Transcript<'_>, is_trace: impl FnOnce() -> bool) -> bool {
        let is_sent = || self.is_searched() && transcript.request.model.is_some() || is_trace();
        self.options.kind == TranscriptKind::Dataset || self.reader.kind == SourceKind::Dataset && !is_sent()
    }

    fn checker<'c>(&'c self, rules: &'c FormatRules<'r>) -> Checker<'c> {
        let most_said = self.options.max_findings.max(LEAST_SAID);
        Checker { rules, options: self.options, schemas: self.schemas, most_said }
    }

    /// The rules for a list of messages if it is in the body of a request, or if the user has named the API that it is sent
    /// to, or its format: what looks like an example of a data set is a request then. Also those for tools alone, which an
    /// API is named for.
    fn as_request(
        &self,
        document: &Document<'_>,
        transcript: &mut Transcript<'_>,
    ) -> Option<Rc<FormatRules<'r>>> {
        if self.reader.kind == SourceKind::Protocol
            && transcript.messages.is_empty()
            && transcript.request.tools.list.is_some()
            && self.options.target.is_some()
        {
            return Some(Rc::new(FormatRules::of_tools(self.options)));
        }
        let value = document.value(transcript.place.node);
        // Where the user says that a request is, it is one whatever its keys are.
        let is_at = || self.options.at.is_some() && value.has("model");
        let is_body =
            || self.options.kind != TranscriptKind::Dataset && (is_at() || exchange::is_body(value));
        let is_named = self.options.target.is_some() || self.options.format.is_some();
        if !self.is_searched() || !(is_named || is_body()) {
            return None;
        }
        let format = formats::find(transcript.format?.id)?;
        transcript.kind = self.options.kind;
        Some(self.of_requests.borrow_mut().of(Some(format), self.options))
    }

    /// The rules for what an agent sends next, if it is known which API answers it.
    fn as_next(&self, transcript: &Transcript<'_>) -> Option<FormatRules<'r>> {
        transcript.sent_next_by?;
        let model = transcript.request.model.as_deref();
        let known = || Some(targets::find(transcript.sent_next_to?)?.for_model(model));
        let target = self.options.target.as_deref().or_else(known);
        Some(FormatRules::of_reader(self.reader, Some(target?), self.options))
    }

    /// Whether the reader searches records for lists of messages.
    fn is_searched(&self) -> bool {
        self.reader.id == readers::of_lists().id
    }

    /// The finding for a file that is not written as the user says.
    fn wrong_reader(&self, document: &Document<'_>, records: &[Value<'_, '_>]) -> Option<Draft> {
        let message = format!("this does not look like `{}`", self.reader.id);
        let mut draft = self.unrecognised(document.root(), message)?;
        let format = || {
            let record = Candidate::new(*records.first()?);
            Detection::of_record(None, &record).0.map(|format| format.id)
        };
        let other = readers::detect(records).map(|reader| reader.id).or_else(format);
        match other {
            Some(other) => draft.help(format!("it looks like `{other}`: use that, or leave out --format")),
            None => draft.help("leave out --format, and toolcheck detects the format"),
        };
        Some(draft)
    }

    fn unrecognised(&self, root: Value<'_, '_>, message: String) -> Option<Draft> {
        let rule = self.options.rules.iter().find(|rule| rule.id == unrecognised_format::RULE.id)?;
        let mut draft = Draft::new(rule.id, Place::of(root), message);
        draft.level = self.options.settings.levels.get(&rule.id).copied().unwrap_or(Level::Error);
        draft.caption(unrecognised_format::NOT_CHECKED);
        Some(draft)
    }

    /// Reports the first blank line of a data set.
    pub(super) fn report_blank_line(&self, records: &Records<'_>, report: &mut FileReport) {
        if self.reader.kind != SourceKind::Dataset {
            return;
        }
        let options = self.options.clone().kind(TranscriptKind::Dataset);
        text::report_blank_line(records, &options, report);
    }

    /// Checks a unit without conversations: the rules about the text hold, and it may be none of the reader's.
    fn check_text(
        &self,
        checker: &Checker<'_>,
        document: &Document<'_>,
        (records, is_own): (&[Value<'_, '_>], bool),
        drafts: &mut Vec<Draft>,
    ) {
        let root = document.root();
        if let Some(pointer) = self.options.at.as_deref().filter(|_| self.is_searched()) {
            let message = format!("no messages or request found at `{}` in this record", shorten(pointer));
            drafts.extend(self.unrecognised(root, message));
        }
        let is_row = self.reader.unit == Unit::Record && self.reader.kind == SourceKind::Dataset;
        let is_empty =
            || root.members().any(|member| member.is_array() && member.elements().next().is_none());
        if !is_own && drafts.is_empty() && self.options.reader.is_some() {
            drafts.extend(self.wrong_reader(document, records));
            return;
        }
        let unrecognised = FormatRules::new(None, self.options);
        let (checker, empty) = if !drafts.is_empty() || is_own && (!is_row || is_empty()) {
            (*checker, Transcript::of_conversation(self.reader.key(), root))
        } else if is_own {
            (*checker, Transcript::unrecognised(root))
        } else {
            (Checker { rules: &unrecognised, ..*checker }, Transcript::unrecognised(root))
        };
        let before = drafts.len();
        checker.check(document, &empty, Continuation::default(), true, &mut (), drafts);
        // What is a loss of one record elsewhere is here why nothing was read.
        let broken = drafts[before..].iter_mut().filter(|draft| draft.rule == malformed_json::RULE.id);
        for draft in broken.filter(|_| is_own && self.reader.kind == SourceKind::AgentLog) {
            if !self.options.settings.levels.contains_key(&draft.rule) {
                draft.level = Level::Error;
            }
        }
    }

    fn is_wanted(&self, conversation: &Conversation<'_>, number: usize) -> bool {
        let Some(wanted) = self.options.conversation.as_deref() else { return true };
        let is_next = wanted == Options::NEXT && conversation.transcript.sent_next_by.is_some();
        is_next || conversation.title == wanted || wanted.parse() == Ok(number)
    }

    fn list(&self, conversation: &Conversation<'_>, report: &mut FileReport) {
        let transcript = &conversation.transcript;
        let (tool_calls, tool_results) = transcript.counts();
        report.conversations_listed += 1;
        if report.conversations.len() < ConversationReport::MOST {
            report.conversations.push(ConversationReport {
                title: conversation.title.clone(),
                kind: transcript.kind,
                messages: transcript.messages.len(),
                tool_calls,
                tool_results,
                end: conversation.end,
                is_sent_next: transcript.sent_next_by.is_some(),
            });
        }
    }

    fn count(&self, conversation: &Conversation<'_>, target: Option<&str>, report: &mut FileReport) {
        let transcript = &conversation.transcript;
        let (tool_calls, tool_results) = transcript.counts();
        if report.transcripts == 0 {
            report.kind = transcript.kind;
        }
        report.transcripts += 1;
        report.target = report.target.take().or_else(|| target.map(str::to_owned));
        // What took its place is in the file too.
        if conversation.end != ConversationEnd::Replaced || self.options.conversation.is_some() {
            report.messages += transcript.messages.len();
            report.tool_calls += tool_calls;
            report.tool_results += tool_results;
        }
        report.count_reading(report::Reading {
            format: self.reader.id,
            target: target.map(str::to_owned),
            as_examples: false,
            transcripts: 1,
        });
    }
}

/// Of the findings about half a character, which each conversation that is sent next has too, the worst.
fn keep_worst(drafts: &mut Vec<Draft>) {
    let mut worst: BTreeMap<u32, Level> = BTreeMap::new();
    for draft in drafts.iter().filter(|draft| draft.rule == RuleId::LoneSurrogate) {
        let level = worst.entry(draft.place.span.start).or_insert(draft.level);
        *level = draft.level.max(*level);
    }
    drafts.retain(|draft| {
        let mut is_worst = |at: u32| worst.get(&at) == Some(&draft.level) && worst.remove(&at).is_some();
        draft.rule != RuleId::LoneSurrogate || is_worst(draft.place.span.start)
    });
}

/// Converts the places of a finding in an array of all records to places in its record. `lines` has the bytes of the records.
fn place_in_record(finding: &mut Finding, lines: &[Range<usize>]) {
    let spots = finding.labels.iter_mut().map(|label| &mut label.spot);
    for spot in std::iter::once(&mut finding.spot).chain(spots) {
        // What is not a value of a record, such as what follows it on its line, has no pointer.
        let rest = spot.pointer.strip_prefix('/').and_then(|name| Some((name.find('/')?, name)));
        spot.pointer = rest.map_or_else(String::new, |(at, name)| name[at..].to_owned());
        spot.record = lines.partition_point(|line| line.start <= spot.bytes.start).saturating_sub(1);
        if let Some(line) = lines.get(spot.record) {
            // A finding about all records, which start in this one.
            spot.record_bytes = line.start.min(spot.bytes.start)..line.end.max(spot.bytes.end);
        }
    }
}

/// Converts the places of findings in a text that was made of the record to places in the record.
fn place_in_source(
    findings: &mut [Finding],
    record: &Record<'_>,
    document: &Document<'_>,
    opened: &Expanded<'_>,
) {
    if findings.is_empty() {
        return;
    }
    let opened = opened.mapped();
    fn spots(findings: &mut [Finding]) -> impl Iterator<Item = &mut Spot> {
        findings.iter_mut().flat_map(|finding| {
            let labels = finding.labels.iter_mut().map(|label| &mut label.spot);
            std::iter::once(&mut finding.spot).chain(labels)
        })
    }
    let mut offsets = Vec::new();
    for spot in spots(findings) {
        let source = opened.source_of(spot.bytes.start - record.start..spot.bytes.end - record.start);
        let source = source.unwrap_or_default();
        spot.bytes = record.start + source.start..record.start + source.end;
        spot.node = document.last_at(source.start as u32);
        spot.record_bytes = record.start..record.start + record.bytes.len();
        offsets.extend([source.start, source.end]);
    }
    let positions = locate(record.bytes, &offsets);
    for (spot, ends) in spots(findings).zip(positions.chunks_exact(2)) {
        spot.start = record.position_in_file(ends[0]);
        spot.end = record.position_in_file(ends[1]);
    }
}
