use std::rc::Rc;

use toolcheck_core::endpoint::{Purpose, model_of};
use toolcheck_core::exchange::{self, Exchange, PUT};
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::{Buffers, Transcript, TranscriptKind};
use toolcheck_core::response::{self, Choice, Completion, KeptIds};
use toolcheck_core::{RuleId, readers, unsupported};
use toolcheck_json::origins::LeftOut;
use toolcheck_json::{Document, NodeId, Record, Records, Value};
use toolcheck_schema::Schemas;

use super::checker::{Checker, Continuation, is_cut_off};
use super::format_rules::FormatRules;
use super::log::Log;
use super::record_rules::{RecordRules, is_of_another, parse};
use super::refusals::{self, Refused};
use super::{rows, text};
use crate::finding::Draft;
use crate::marks;
use crate::observe::{Observer, Response};
use crate::options::Options;
use crate::report::{FileReport, locate_all};
use crate::rule::Rule;
use crate::rules::unrecognised_format;
use crate::server_state::{RemoteHistory, ServerState};
use crate::view::exchanges::{Continued, ExchangeContext, Exchanges, Histories, UnansweredCalls};

/// An exchange whose address is of something else, such as a count of the tokens of a conversation.
const NOT_FOR_LLM: LeftOut =
    LeftOut { one: "request that is not to an LLM", what: "requests that are not to an LLM", count: 1 };

fn answer_of<'s>(
    exchange: &Exchange<'_, 's>,
    rules: &FormatRules<'_>,
) -> Option<(Vec<Choice>, Vec<Completion<'s>>)> {
    response::read(rules.format?, exchange.response?)
}

/// Counts a conversation of which a part is on the server and nowhere in the file.
fn count_unseen(report: &mut FileReport, transcript: &Transcript<'_>, server: Option<&RemoteHistory>) {
    if transcript.request.continues_remote_state && !server.is_some_and(|server| server.is_whole) {
        const STARTS: &str = "earlier content that only the server has";
        report.count_not_read(LeftOut { one: STARTS, what: STARTS, count: 1 });
    }
}

/// Counts the response of an exchange that is not read, if it is no error.
fn count_unread(report: &mut FileReport, exchange: &Exchange<'_, '_>, request: &Transcript<'_>) {
    const ONE: &str = "response in an unsupported format";
    const MORE: &str = "responses in an unsupported format";
    let is_answer = |response| response::error_text(response).is_none();
    let is_taken = exchange.status.is_none() || exchange.is_accepted();
    if request.format.is_some() && is_taken && exchange.response.is_some_and(is_answer) {
        report.count_not_read(LeftOut { one: ONE, what: MORE, count: 1 });
    }
}

/// Counts the parts of a response that nothing is known of, but for the calls among them that are reported, and what a stream
/// that breaks off does not show.
fn count_unknown(
    report: &mut FileReport,
    answers: &[Choice],
    said: &[Completion<'_>],
    document: &Document<'_>,
) {
    const PARTS: &str = "parts of responses of unknown kinds";
    let reported: usize =
        said.iter().map(|said| response::unread_calls(&said.transcript, document).count()).sum();
    let count = answers.iter().map(|answer| answer.unknown).sum::<usize>().saturating_sub(reported);
    if count > 0 {
        report.count_not_read(LeftOut { one: PARTS, what: PARTS, count });
    }
    const ONE: &str = "end of a stream that breaks off";
    const MORE: &str = "ends of streams that break off";
    let count = answers.iter().filter(|answer| answer.breaks_off).count();
    if count > 0 {
        report.count_not_read(LeftOut { one: ONE, what: MORE, count });
    }
}

/// Counts what a row has for a grader, which is not what a model learns to write.
fn count_expected(report: &mut FileReport, row: Value<'_, '_>) {
    const ANSWERS: &str = "answers that a verifier expects";
    let count = readers::expected_answers(row);
    if count > 0 {
        report.count_not_read(LeftOut { one: ANSWERS, what: ANSWERS, count });
    }
}

/// Counts the records of no format behind the one that a finding reports.
pub(super) fn count_unrecognised(report: &mut FileReport, count: usize) {
    const RECORD: &str = "record in an unsupported format";
    const RECORDS: &str = "records in an unsupported format";
    if count > 0 {
        report.count_not_read(LeftOut { one: RECORD, what: RECORDS, count });
    }
}

pub(super) struct FileLinter<'r> {
    rules: RecordRules<'r>,
    pub(super) options: &'r Options,
    schemas: &'r Schemas,
    unrecognised: ReportOnce,
    /// For records that hold lists of messages at places that no format knows.
    lists: Option<Log<'r>>,
    /// The exchanges so far, which later ones may continue.
    pub(super) exchanges: Exchanges,
    /// The requests of the record that were refused for no known reason.
    refused: Vec<Refused>,
    observer: &'r mut dyn Observer,
    pub(super) report: &'r mut FileReport,
    listed: usize,
    /// Whether the file is one document.
    is_single: bool,
    /// Whether it is in no format and holds lists of messages all the same.
    pub(super) has_lists: bool,
}

/// The least number of findings of a rule in a transcript that keep what they say until they are settled. A finding may
/// yield to another one, and then the next is listed.
pub(super) const LEAST_SAID: usize = 1_000;

/// A rule of which only the first finding in a file is reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReportOnce {
    rule: RuleId,
    is_reported: bool,
}

impl ReportOnce {
    pub(super) fn new(rule: &'static Rule) -> Self {
        Self { rule: rule.id, is_reported: false }
    }

    /// Keeps the findings of other rules, and the first of this one, and counts the others.
    pub(super) fn retain<F>(&mut self, findings: &mut Vec<F>, rule_of: impl Fn(&F) -> RuleId) -> usize {
        let before = findings.len();
        findings.retain(|finding| {
            rule_of(finding) != self.rule || !std::mem::replace(&mut self.is_reported, true)
        });
        before - findings.len()
    }
}

impl<'r> FileLinter<'r> {
    pub(super) fn new(
        of_file: FormatRules<'r>,
        options: &'r Options,
        schemas: &'r Schemas,
        observer: &'r mut dyn Observer,
        report: &'r mut FileReport,
    ) -> Self {
        Self {
            rules: RecordRules::new(of_file, options),
            options,
            schemas,
            unrecognised: ReportOnce::new(&unrecognised_format::RULE),
            lists: None,
            exchanges: Exchanges::default(),
            refused: Vec::new(),
            observer,
            report,
            listed: 0,
            is_single: false,
            has_lists: false,
        }
    }

    /// The same for a file that is one document, or not.
    pub(super) fn of_one_document(self, is_single: bool) -> Self {
        Self { is_single, ..self }
    }

    /// Lints one record, and returns the buffers of its transcript.
    pub(super) fn lint_record<'s>(
        &mut self,
        record: &Record<'_>,
        document: &Document<'s>,
        buffers: Buffers<'s>,
    ) -> Buffers<'s> {
        match exchange::exchanges(document.root()) {
            None => self.lint_transcript(record, document, buffers),
            Some(exchanges) => self.lint_exchanges(record, document, exchanges, buffers),
        }
    }

    pub(super) fn lint_transcript<'s>(
        &mut self,
        record: &Record<'_>,
        document: &Document<'s>,
        buffers: Buffers<'s>,
    ) -> Buffers<'s> {
        let root = document.root();
        let alone =
            exchange::response_alone(root).and_then(|value| Some((value, response::read_any(value)?)));
        if let Some((value, (format, answers, said))) = alone {
            self.lint_response(record, document, (value, format), answers, said);
            return buffers;
        }
        let rules = self.rules.for_record(root, None);
        let transcript = parse(self.options, &rules, root, buffers);
        if self.may_be_lists(&transcript, root) && self.lint_lists(record, document) {
            return transcript.into_buffers();
        }
        let is_whole = document.faults().iter().all(|fault| fault.kind.is_harmless());
        // Beside lists of messages, or requests on other lines.
        let is_aside = || {
            self.has_lists
                || self.rules.of_file.format.is_some()
                    && !self.is_single
                    && root.is_object()
                    && self.options.format.is_none()
                    && self.options.kind != TranscriptKind::Dataset
                    && !unsupported::is_meant_as_request(root)
                    && !unsupported::is_unread_request(root)
        };
        if transcript.format.is_none() && is_whole && is_aside() && !unsupported::holds_messages(root) {
            if !self.lint_unknown(record, document) {
                count_unrecognised(self.report, 1);
            }
            return transcript.into_buffers();
        }
        let from = self.report.findings.len();
        let transcript = self.lint_read(rules, record, document, transcript, None);
        if transcript.place.node == NodeId::ROOT {
            let own = &mut self.report.findings[from..];
            let again = |bytes: &[u8], options: &Options| super::lint_again(bytes, options, self.schemas);
            marks::mark_request(own, record, document, &transcript, self.options, self.is_single, &again);
        }
        transcript.into_buffers()
    }

    /// Lints a transcript that was read from a record, with what is known of what it goes on from.
    pub(super) fn lint_read<'s>(
        &mut self,
        rules: Rc<FormatRules<'r>>,
        record: &Record<'_>,
        document: &Document<'s>,
        mut transcript: Transcript<'s>,
        server: Option<&RemoteHistory>,
    ) -> Transcript<'s> {
        let mut findings = Vec::new();
        let rules = &*self.rules.of_model(rules, &transcript);
        self.count(rules, document, document.root(), &mut transcript);
        count_unseen(self.report, &transcript, server);
        if self.options.kind == TranscriptKind::Dataset {
            count_expected(self.report, document.root());
            for (what, count) in readers::left_out_of_row(&transcript, document.root()).iter() {
                self.report.count_not_read(LeftOut { one: what, what, count });
            }
        }
        let checker = self.checker(rules, self.options.max_findings.max(LEAST_SAID));
        let continuation = Continuation { server, ..Continuation::default() };
        checker.check(document, &transcript, continuation, true, self.observer, &mut findings);
        if transcript.format.is_some() {
            findings.extend(rows::of_another(document.root(), self.options, &mut self.report.reported));
        }
        self.finish_record(record, document, findings);
        transcript
    }

    /// The rules of most of the file.
    pub(super) fn rules(&self) -> Rc<FormatRules<'r>> {
        Rc::clone(&self.rules.of_file)
    }

    /// Lints a response that is there without its request.
    fn lint_response<'s>(
        &mut self,
        record: &Record<'_>,
        document: &Document<'s>,
        (value, format): (Value<'_, 's>, &'static Format),
        answers: Vec<Choice>,
        said: Vec<Completion<'s>>,
    ) {
        let rules = self.rules.of_format(Some(format));
        let mut request = Transcript::without_messages(format.key(), document.root());
        request.kind = TranscriptKind::Session;
        let checker = self.checker(&rules, usize::MAX);
        let mut findings = checker.check_calls(document, &answers);
        checker.show(document, &request, self.observer);
        count_unknown(self.report, &answers, &said, document);
        checker.check_response(document, &request, (format, value), (&answers, said), &mut findings);
        self.observer.response(&Response { value: Some(value), answers: &answers, status: None });
        self.report.format = self.report.format.or(Some(format.id));
        self.report.transcripts += 1;
        self.report.messages += answers.len();
        self.report.tool_calls += answers.iter().map(|answer| answer.calls.len()).sum::<usize>();
        self.report.count_reading(rules.reading(format.id, self.options));
        self.finish_record(record, document, findings);
    }

    pub(super) fn lint_exchanges<'s>(
        &mut self,
        record: &Record<'_>,
        document: &Document<'s>,
        exchanges: Vec<Exchange<'_, 's>>,
        mut buffers: Buffers<'s>,
    ) -> Buffers<'s> {
        let mut findings = Vec::new();
        for (number, exchange) in exchanges.into_iter().enumerate() {
            let url = exchange.url.and_then(|url| url.as_str());
            let sent_to = url.as_deref().map(|url| (url, self.rules.endpoint_of(url)));
            if exchange.is_fetch || sent_to.is_some_and(|(_, endpoint)| endpoint.purpose == Purpose::Other) {
                self.report.count_not_read(NOT_FOR_LLM);
                continue;
            }
            let mut rules = self.rules.for_record(exchange.request, exchange.response);
            let of_address = sent_to.and_then(|to| self.rules.of_address(to, exchange.request, &rules));
            if let Some(of_address) = of_address {
                rules = of_address;
                // How the file is read, if the request is its first.
                if self.report.transcripts == 0 {
                    rules.describe(None, self.report);
                }
            }
            buffers = self.lint_exchange(rules, document, exchange, number == 0, buffers, &mut findings);
            Draft::only_count_after(&mut findings, self.options.max_findings);
        }
        self.exchanges.locate_calls(document, record);
        self.report.refusals.extend(Refused::locate(std::mem::take(&mut self.refused), document, record));
        self.finish_record(record, document, findings);
        buffers
    }

    fn finish_record(&mut self, record: &Record<'_>, document: &Document<'_>, mut findings: Vec<Draft>) {
        // In a file of no known format, the first record reports it for all.
        if self.rules.of_file.format.is_none() {
            let count = self.unrecognised.retain(&mut findings, |finding| finding.rule);
            count_unrecognised(self.report, count);
        }
        let room = self.options.max_findings.saturating_sub(self.listed);
        self.report.limit(&mut findings, room);
        let findings = locate_all(document, record, findings);
        self.observer.record(record, document, &findings);
        self.listed += findings.len();
        self.report.findings.extend(findings);
    }

    /// Reports what only the end of the file shows. These findings come after all others.
    pub(super) fn finish(&mut self) {
        let room = self.options.max_findings.saturating_sub(self.listed);
        for (number, finding) in self.exchanges.unpaid().into_iter().enumerate() {
            if number < room {
                self.report.findings.push(finding);
            } else {
                self.report.leave_out(finding.rule, finding.level, 1);
            }
        }
    }

    /// Reports the first blank line among the records of a data set, at its place. It belongs to none of them.
    pub(super) fn report_blank_line(&mut self, records: &Records<'_>) {
        text::report_blank_line(records, self.options, self.report);
    }

    /// The request of an exchange, counted, and the rules for it.
    fn request_of<'s>(
        &mut self,
        rules: Rc<FormatRules<'r>>,
        document: &Document<'s>,
        exchange: &Exchange<'_, 's>,
        buffers: Buffers<'s>,
    ) -> (Rc<FormatRules<'r>>, Transcript<'s>) {
        let is_put = exchange.put_into.is_some();
        let rules = if is_put { self.rules.of_format(Some(PUT)) } else { rules };
        let mut transcript = parse(self.options, &rules, exchange.request, buffers);
        if transcript.request.model.is_none() && transcript.format.is_some() {
            let url = exchange.url.and_then(|url| url.as_str());
            transcript.request.model = url.and_then(|url| model_of(&url)).map(Into::into);
        }
        let rules = self.rules.of_model(rules, &transcript);
        self.count(&rules, document, exchange.request, &mut transcript);
        if is_put {
            transcript.kind = TranscriptKind::Session;
            transcript.request.continues_remote_state = true;
            transcript.request.conversation.clone_from(&exchange.put_into);
        }
        (rules, transcript)
    }

    /// Lints the request of an exchange, and compares it with the response that it continues.
    fn lint_exchange<'s>(
        &mut self,
        rules: Rc<FormatRules<'r>>,
        document: &Document<'s>,
        exchange: Exchange<'_, 's>,
        is_first: bool,
        buffers: Buffers<'s>,
        findings: &mut Vec<Draft>,
    ) -> Buffers<'s> {
        let is_put = exchange.put_into.is_some();
        let (rules, transcript) = self.request_of(rules, document, &exchange, buffers);
        let rules = &*rules;
        let histories = Histories::of(document, &transcript);
        let (answers, said) = answer_of(&exchange, rules).unwrap_or_else(|| {
            count_unread(self.report, &exchange, &transcript);
            Default::default()
        });
        count_unknown(self.report, &answers, &said, document);
        let resent = self.exchanges.again(&exchange);
        // No line of a batch goes on from another one.
        let before = Some(&histories).filter(|_| !exchange.is_of_batch);
        let before = before.and_then(|own| self.exchanges.continued_by(document, &transcript, own));
        let (continued, kept) = before.unzip();
        let kept = kept.flatten();
        let known = continued.map_or(0, Continued::first_new);
        let (run, is_failing) = self.exchanges.run_of(continued, &transcript, document, &answers);
        let merged = self.exchanges.merged_in(&transcript, known);
        let course = ExchangeContext { merged, ..ExchangeContext::new(&answers, resent, &run, is_failing) };
        let mut found = Vec::new();
        let mut server = self.exchanges.server.continued_by(&transcript);
        if let Some(server) = server.as_mut().filter(|_| is_put) {
            server.defer();
        }
        refusals::believe_missing(&exchange, server.as_mut());
        count_unseen(self.report, &transcript, server.as_ref());
        let continuation =
            Continuation { kept: kept.as_ref(), course: Some(&course), known, server: server.as_ref() };
        // What an exchange reports is compared with later ones by what it says.
        let checker = self.checker(rules, usize::MAX);
        let silenced =
            checker.check(document, &transcript, continuation, is_first, self.observer, &mut found);
        if let Some(continued) = continued.filter(|_| kept.is_some()) {
            self.exchanges.mark_compared(continued);
        }
        // Where nothing goes on from a call, no history shows its arguments.
        let broken = checker.check_calls(document, &answers).into_iter();
        let mut owed = broken.chain(checker.check_end(document, &transcript, &course));
        let owed =
            owed.next().filter(|_| !exchange.is_of_batch).map(|draft| UnansweredCalls::new(&answers, draft));
        if let Some(sent) = ServerState::sent(&transcript, server.as_ref()) {
            // Without a response, nobody says what became of the request.
            let ids = exchange.response.map(KeptIds::of).unwrap_or_default();
            self.exchanges.server.keep(sent.put(is_put), &ids, &answers, exchange.status);
        }
        let response = Response { value: exchange.response, answers: &answers, status: exchange.status };
        self.observer.response(&response);
        let mut found_in_response = Vec::new();
        if exchange.is_of_batch {
            found_in_response = checker.check_calls(document, &answers);
        }
        if let Some(read) = rules.format.zip(exchange.response) {
            checker.check_response(document, &transcript, read, (&answers, said), &mut found_in_response);
        }
        if self.options.target.is_none() {
            refusals::believe(&exchange, &mut found);
        }
        self.refused.extend(Refused::of(&exchange, &found));
        let is_new = |finding: &Draft| {
            !self.exchanges.knows_tool(finding)
                && !continued.is_some_and(|at| self.exchanges.was_reported(at, &transcript, finding))
        };
        found.retain(is_new);
        self.exchanges.note_answers(document, &transcript, &histories, known);
        let reported = [&found, &found_in_response, &silenced].map(|found| &**found);
        self.exchanges.add(&histories, answers, continued, reported, run, owed);
        findings.append(&mut found);
        findings.append(&mut found_in_response);
        transcript.into_buffers()
    }

    /// Completes a transcript, and counts what is in it.
    fn count<'s>(
        &mut self,
        rules: &FormatRules<'r>,
        document: &Document<'s>,
        root: Value<'_, 's>,
        transcript: &mut Transcript<'s>,
    ) {
        transcript.kind = self.options.kind;
        if transcript.kind == TranscriptKind::Dataset && transcript.format.is_some() {
            readers::add_unread(transcript, root);
        } else {
            readers::add_hidden(transcript, root);
        }
        if is_cut_off(document) && transcript.kind == TranscriptKind::Request {
            // The cut is reported, and not what is missing because of it.
            transcript.kind = TranscriptKind::Session;
        }
        if let Some(format) = transcript.format {
            self.report.transcripts += 1;
            self.report.messages += transcript.messages.len();
            let (calls, results) = transcript.counts();
            self.report.tool_calls += calls;
            self.report.tool_results += results;
            let reading = rules.reading(format.id, self.options);
            // A file of no format that is known from its start is of that of its first transcript, whose model may say
            // more of the target.
            // What looks like one and has fewer mistakes as another is of that.
            let is_only = self.is_single && formats::find(format.id).is_some();
            let is_first = |known| self.report.transcripts == 1 && (known == format.id || is_only);
            if self.report.format.is_none_or(is_first) {
                self.report.format = Some(format.id);
                self.report.rival = self.report.rival.filter(|rival| *rival != format.id);
                self.report.target.clone_from(&reading.target);
            }
            self.report.count_reading(reading);
        } else {
            self.report.is_meant_as_request |= unsupported::is_meant_as_request(root)
                && !is_of_another(self.options, root)
                || unsupported::is_unread_request(root);
        }
    }

    /// Whether a record holds conversations that its format does not read: lists at another place, or in a text.
    fn may_be_lists(&self, transcript: &Transcript<'_>, record: Value<'_, '_>) -> bool {
        if self.options.format.is_some() {
            return exchange::are_bodies(record);
        }
        match transcript.format {
            None => readers::may_hold_lists(record),
            Some(_) => {
                self.options.kind == TranscriptKind::Dataset && readers::has_calls_in_text(transcript, record)
            }
        }
    }

    fn lint_lists(&mut self, record: &Record<'_>, document: &Document<'_>) -> bool {
        let (options, schemas) = (self.options, self.schemas);
        let log = self.lists.get_or_insert_with(|| Log::new(readers::of_lists(), options, schemas));
        let kind = self.report.kind;
        let is_read = log.lint_lists(record, document, self.observer, self.report);
        // Lists beside requests do not say what the file is.
        if self.rules.of_file.format.is_some() {
            self.report.kind = kind;
        }
        is_read
    }

    /// Reports what looks like a call or a result in a record of no format, beside records with lists of messages.
    fn lint_unknown(&mut self, record: &Record<'_>, document: &Document<'_>) -> bool {
        let Some(reading) = readers::read_unknown(document.root()) else { return false };
        let (options, schemas) = (self.options, self.schemas);
        let log = self.lists.get_or_insert_with(|| Log::new(readers::of_lists(), options, schemas));
        let records = [document.root()];
        log.lint_reading(record, document, (&records, reading), None, self.observer, self.report);
        true
    }

    fn checker<'c>(&self, rules: &'c FormatRules<'r>, most_said: usize) -> Checker<'c>
    where
        'r: 'c,
    {
        Checker { rules, options: self.options, schemas: self.schemas, most_said }
    }
}
