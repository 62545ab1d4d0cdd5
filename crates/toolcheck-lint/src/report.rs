//! The findings of a run, with their line, column, bytes and JSON Pointer.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::readers::{self, ConversationEnd};
use toolcheck_core::text::{Line, bounded};
use toolcheck_core::{Level, RuleId};
use toolcheck_json::origins::LeftOut;
use toolcheck_json::{Document, Head, Position, Record, Span, locate, pointers};

use crate::finding::{Draft, Finding, Label, MOST_BYTES, Spot};
use crate::repeated::ReportedFindings;
use crate::summary::{RuleSummary, Sample, Summary};

/// The results of a run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The files, in the order in which they were given.
    pub files: Vec<FileReport>,
    /// The files in folders that were skipped, because they contain no transcript.
    pub skipped: Vec<SkippedFile>,
}

/// A file in a folder that was skipped, because it contains no transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedFile {
    /// Its name.
    pub path: String,
    /// The reason in one line: what it is, or that it is not JSON.
    pub reason: String,
}

impl SkippedFile {
    /// A file and the reason, on one line.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl Report {
    /// The report of these files.
    pub fn new(files: Vec<FileReport>) -> Self {
        Self { files, skipped: Vec::new() }
    }

    /// The number of findings with a level.
    pub fn count(&self, level: Level) -> usize {
        self.files.iter().map(|file| file.count(level)).sum()
    }

    /// The number of transcripts that were read.
    pub fn transcripts(&self) -> usize {
        self.files.iter().map(|file| file.transcripts).sum()
    }

    /// What was found in the rows of the files. A file whose rows were not linted by themselves is one row.
    pub fn summary(&self) -> Summary {
        let mut sum = Summary::default();
        for file in &self.files {
            match &file.summary {
                Some(summary) => sum.add(summary.clone()),
                None => sum.add_row(&file.path, file),
            }
        }
        sum
    }
}

/// The results for one file.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FileReport {
    /// The path of the file, as it was given; see [`toolcheck_core::text::name_of`] for one that is not UTF-8.
    pub path: String,
    /// The id of the format that it was read as; `None` if no format recognises it.
    pub format: Option<&'static str>,
    /// The id of another format that is nearly as likely.
    pub rival: Option<&'static str>,
    /// The formats that its transcripts were read as: records may be in different formats.
    pub readings: Vec<Reading>,
    /// The id of the target that it was checked against.
    pub target: Option<String>,
    /// The kind of its first transcript.
    pub kind: TranscriptKind,
    /// The number of transcripts that were read.
    pub transcripts: usize,
    /// The number of messages in them.
    pub messages: usize,
    /// The number of calls in them.
    pub tool_calls: usize,
    /// The number of results in them.
    pub tool_results: usize,
    /// Its conversations, if it is a log, a history or a data set; only the first [`ConversationReport::MOST`].
    pub conversations: Vec<ConversationReport>,
    /// The number of its conversations, if it is a log, a history or a data set.
    pub conversations_listed: usize,
    /// Whether something in it is probably a request, although no format recognises it.
    pub is_meant_as_request: bool,
    /// The findings, in the order of the text; and then those that only the end of the file shows.
    pub findings: Vec<Finding>,
    /// The requests that the file shows to be refused, although nothing in them is found to be an error, and no
    /// warning is about the answer.
    pub refusals: Vec<Refusal>,
    /// What is not read of a file that holds requests inside something else.
    pub not_read: Vec<LeftOut>,
    /// The number of findings that the user allows, which are not listed.
    pub allowed: usize,
    /// The number of findings that are in the baseline, which are not listed.
    pub in_baseline: usize,
    /// The number of findings that are not listed because there are too many, by rule and level.
    pub left_out: BTreeMap<(RuleId, Level), usize>,
    /// What was found in the rows of the file, if only that was asked for.
    pub summary: Option<Summary>,
    /// The parts of the text that the findings refer to, for outputs that show them; empty if there are no findings, or
    /// if the options don't ask for it.
    pub(crate) source: Source,
    /// What later conversations of the file may repeat.
    pub(crate) reported: ReportedFindings,
}

impl FileReport {
    /// Whether the file holds a transcript, or something that is probably meant as a request. Any other file of a folder is
    /// skipped.
    pub fn is_transcript(&self) -> bool {
        self.transcripts > 0 || self.is_meant_as_request
    }

    /// The same report with nothing but a finding at one place, for who knows more than the rules find.
    pub fn pointing_at(
        &self,
        document: &Document<'_>,
        record: &Record<'_>,
        place: Place,
        rule: RuleId,
        message: &'static str,
    ) -> Self {
        let mut report = Self {
            format: self.format,
            readings: self.readings.clone(),
            target: self.target.clone(),
            transcripts: self.transcripts,
            messages: self.messages,
            tool_calls: self.tool_calls,
            tool_results: self.tool_results,
            findings: locate_all(document, record, vec![Draft::new(rule, place, message)]),
            ..Self::empty(&self.path, self.kind)
        };
        report.source.keep(record.start, record.bytes);
        report
    }

    /// The report of a file before anything has been read.
    pub fn empty(path: &str, kind: TranscriptKind) -> Self {
        Self { path: path.to_owned(), kind, ..Self::default() }
    }

    pub(crate) fn count_not_read(&mut self, more: LeftOut) {
        match self.not_read.iter_mut().find(|left| left.what == more.what) {
            Some(left) => left.count += more.count,
            None => self.not_read.push(more),
        }
    }

    /// The number of findings with a level, including those that are not listed because there are too many.
    pub fn count(&self, level: Level) -> usize {
        let left_out = self.left_out.iter().filter(|((_, other), _)| *other == level).map(|(_, count)| count);
        self.findings.iter().filter(|finding| finding.level == level).count() + left_out.sum::<usize>()
    }

    /// The parts of the text that the findings refer to; empty if the options don't ask for it.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The number of findings that are not listed because there are too many.
    pub fn left_out(&self) -> usize {
        self.left_out.values().sum()
    }

    /// Counts transcripts that were read as one format and checked against one target.
    pub(crate) fn count_reading(&mut self, reading: Reading) {
        let lists = readers::of_lists().id;
        let is_same = |known: &&mut Reading| {
            known.format == reading.format
                && known.target == reading.target
                && known.as_examples == reading.as_examples
        };
        match self.readings.iter_mut().find(is_same) {
            Some(known) => known.transcripts += reading.transcripts,
            // Lists beside requests come last, wherever they are: a file in pieces may know of them first.
            None if reading.format == lists => self.readings.push(reading),
            None => {
                let before = self.readings.iter().take_while(|known| known.format != lists).count();
                self.readings.insert(before, reading);
            }
        }
    }

    /// Adds the report of the next part of the file, and lists at most `most` findings in total.
    pub fn add(&mut self, mut part: Self, most: usize) {
        // The kind of a file is that of its first transcript. If that was sent to an API, so are its format and target.
        let mut first = (self.format, self.target.take(), self.rival);
        let mut second = (part.format, part.target.take(), part.rival);
        if self.transcripts == 0 && part.transcripts > 0 {
            self.kind = part.kind;
            std::mem::swap(&mut first, &mut second);
        }
        self.format = first.0.or(second.0);
        self.target = first.1.or(second.1);
        self.rival = first.2.or(second.2);
        for reading in part.readings.drain(..) {
            self.count_reading(reading);
        }
        self.transcripts += part.transcripts;
        self.messages += part.messages;
        self.tool_calls += part.tool_calls;
        self.tool_results += part.tool_results;
        let room = ConversationReport::MOST.saturating_sub(self.conversations.len());
        self.conversations_listed += part.conversations_listed;
        self.conversations.extend(part.conversations.drain(..).take(room));
        self.is_meant_as_request |= part.is_meant_as_request;
        self.refusals.append(&mut part.refusals);
        part.not_read.drain(..).for_each(|left| self.count_not_read(left));
        if let Some(summary) = part.summary.take() {
            self.summary.get_or_insert_default().add(summary);
        }
        self.allowed += part.allowed;
        self.in_baseline += part.in_baseline;
        let capacity = most.saturating_sub(self.findings.len());
        for finding in part.findings.drain(capacity.min(part.findings.len())..) {
            self.leave_out(finding.rule, finding.level, 1);
        }
        for ((rule, level), count) in part.left_out {
            self.leave_out(rule, level, count);
        }
        self.findings.append(&mut part.findings);
        // If none of its findings are listed, its text is not needed.
        if capacity > 0 {
            self.source.0.append(&mut part.source.0);
        }
    }

    pub(crate) fn leave_out(&mut self, rule: RuleId, level: Level, count: usize) {
        *self.left_out.entry((rule, level)).or_default() += count;
    }

    /// Puts the findings of a record in order. The first `room` of them can be listed, and the others are counted.
    pub(crate) fn limit(&mut self, drafts: &mut [Draft], room: usize) {
        toolcheck_json::sort_by_positions(drafts, |draft| {
            (draft.place.span.start as usize, draft.rule as usize)
        });
        Draft::only_count_after(drafts, room);
        for draft in drafts.iter().filter(|draft| draft.said().is_none()) {
            self.leave_out(draft.rule, draft.level, 1);
        }
    }

    /// Lists only the first `most` findings, and counts the others.
    pub fn limited_to(self, most: usize) -> Self {
        let mut limited = Self::empty(&self.path, self.kind);
        limited.add(self, most);
        limited
    }
}

/// The most characters of a message in an example of a summary.
const LONGEST_EXAMPLE: usize = 300;

impl Summary {
    /// Counts a row. The key is how its user finds it again.
    pub fn add_row(&mut self, key: &str, report: &FileReport) {
        let count = |count: usize| count as u64;
        self.rows += 1;
        self.unread += u64::from(report.transcripts == 0);
        self.transcripts += count(report.transcripts);
        self.messages += count(report.messages);
        self.tool_calls += count(report.tool_calls);
        self.tool_results += count(report.tool_results);
        for reading in &report.readings {
            *self.formats.entry(reading.format.to_owned()).or_default() += count(reading.transcripts);
        }
        for left in &report.not_read {
            *self.left_out.entry(left.what.to_owned()).or_default() += count(left.count);
        }
        self.add_findings(key, report, 1);
    }

    /// Counts what was found between rows, such as a blank line. It is in none of them.
    pub fn add_between(&mut self, key: &str, report: &FileReport) {
        self.add_findings(key, report, 0);
    }

    fn add_findings(&mut self, key: &str, report: &FileReport, rows: u64) {
        let mut of_row: BTreeMap<(RuleId, Level), RuleSummary> = BTreeMap::new();
        for found in &report.findings {
            let rule = of_row.entry((found.rule, found.level)).or_default();
            rule.findings += 1;
            if rule.samples.is_empty() {
                let message = bounded(&found.message, LONGEST_EXAMPLE);
                rule.samples.push(Sample::new(found.rule.as_str(), key, &found.spot.pointer, message));
            }
        }
        for ((rule, level), left_out) in &report.left_out {
            of_row.entry((*rule, *level)).or_default().findings += *left_out as u64;
        }
        for ((rule, level), mut found) in of_row {
            found.rows = rows;
            self.add_rule(rule.to_string(), level, found);
        }
    }
}

/// A conversation of a file that holds several.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationReport {
    /// Which one it is.
    pub title: String,
    /// What it is for.
    pub kind: TranscriptKind,
    /// The number of messages.
    pub messages: usize,
    /// The number of calls.
    pub tool_calls: usize,
    /// The number of results.
    pub tool_results: usize,
    /// How it ends.
    pub end: ConversationEnd,
    /// Whether it is what the agent sends next.
    pub is_sent_next: bool,
}

impl ConversationReport {
    /// The most conversations that a report lists of a file: a data set may have millions.
    pub const MOST: usize = 1000;
}

/// The format that some transcripts were read as, and the target that they were checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The id of the format.
    pub format: &'static str,
    /// The id of the target; `None` if there is none for the format.
    pub target: Option<String>,
    /// Whether they were checked as examples of a data set. What an API only asks of a request that is sent was not checked,
    /// because no target was named.
    pub as_examples: bool,
    /// The number of transcripts.
    pub transcripts: usize,
}

/// A request that an API refused, although nothing in it is found to be an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The request.
    pub spot: Spot,
    /// The status of the response.
    pub status: u16,
    /// What the API answered.
    pub message: Option<Line>,
}

/// Parts of a file's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source(Vec<(usize, Vec<u8>)>);

impl Source {
    /// The bytes of the file in this range; `None` if they are not kept.
    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        let part = self.0.partition_point(|(start, _)| *start <= range.start).checked_sub(1)?;
        let (start, bytes) = &self.0[part];
        bytes.get(range.start - start..range.end.checked_sub(*start)?)
    }

    /// Keeps bytes from a position in the file, after all bytes that are kept so far.
    pub(crate) fn keep(&mut self, start: usize, bytes: &[u8]) {
        self.0.push((start, bytes.to_vec()));
    }

    /// The records of a text that findings refer to.
    pub(crate) fn of_findings(bytes: &[u8], findings: &[Finding]) -> Self {
        let own = findings.iter().map(|finding| &finding.spot.record_bytes);
        let labels =
            findings.iter().flat_map(|finding| &finding.labels).map(|label| &label.spot.record_bytes);
        let mut ranges: Vec<(usize, usize)> =
            own.chain(labels).map(|range| (range.start, range.end)).collect();
        ranges.sort_unstable();
        ranges.dedup();
        let mut source = Self::default();
        for (start, end) in ranges {
            source.keep(start, &bytes[start..end]);
        }
        source
    }
}

impl Finding {
    /// Converts its places in a part of the file to places in the file.
    pub(crate) fn move_by(&mut self, offset: &Offset) {
        self.spot.move_by(offset);
        self.labels.iter_mut().for_each(|label| label.spot.move_by(offset));
    }

    /// The message, followed by the name of its place if the file holds the request inside something else: a line and
    /// a column say little there.
    pub fn placed_message(&self) -> Line {
        match self.spot.origin {
            Some(_) if !self.spot.name().is_empty() => {
                Line::from(format!("{} ({})", self.message, self.spot.name()))
            }
            _ => self.message.clone(),
        }
    }

    /// A sentence with the target's answer, or with the harm if the target accepts it.
    pub fn provider_sentence(&self) -> Option<Line> {
        let answer = self.provider_error.as_ref().map(|error| {
            let target = &error.target;
            let text = error.text.as_ref().map(|text| text.replace('\n', " "));
            let mut sentence = match (error.status, text) {
                (Some(status), Some(text)) => format!("{target} answers {status}: {text}"),
                (Some(status), None) => format!("{target} answers {status}"),
                (None, Some(text)) => format!("{target} says: {text}"),
                (None, None) => format!("{target} refuses it"),
            };
            // A refusal is an error, unless there is a reason for a warning.
            if let Some(why) = &error.only_warns {
                let _ = write!(sentence, " (only a warning: {})", why.trim_end_matches('.'));
            } else if let Some(doubt) = error.grounds.caution() {
                let _ = write!(sentence, " (in doubt: {})", doubt.trim_end_matches('.'));
            }
            sentence
        });
        let harm = || {
            let target = self.target.as_deref().unwrap_or("the target");
            self.harm.as_ref().map(|harm| format!("{target} accepts it, but {harm}"))
        };
        answer.or_else(harm).map(Line::from)
    }

    /// The URL of its rule's page.
    pub fn url(&self) -> String {
        rule_url(self.rule)
    }
}

/// The URL of a rule's page.
pub fn rule_url(rule: RuleId) -> String {
    format!("{}/blob/main/docs/rules/{rule}.md", env!("CARGO_PKG_REPOSITORY"))
}

/// The start of a part of a file: the number of records, bytes and lines before it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Offset {
    pub(crate) records: usize,
    pub(crate) bytes: usize,
    pub(crate) lines: u64,
}

impl Spot {
    fn move_by(&mut self, offset: &Offset) {
        self.record += offset.records;
        for range in [&mut self.record_bytes, &mut self.bytes] {
            *range = range.start + offset.bytes..range.end + offset.bytes;
        }
        self.start.line += offset.lines;
        self.end.line += offset.lines;
    }
}

/// The place without what follows its value: a turn of several items is reported at the first one, which its pointer names.
fn within(document: &Document<'_>, mut place: Place) -> Place {
    if place.node.index() < document.value_count() {
        let own = document.value(place.node).span();
        if place.span.start == own.start {
            place.span.end = place.span.end.min(own.end);
        }
    }
    place
}

/// Locates places in one record, in one pass over its text and one over its values, regardless of their number.
pub fn locate_places(document: &Document<'_>, record: &Record<'_>, places: &[Place]) -> Vec<Spot> {
    let places: Vec<Place> = places.iter().map(|place| within(document, *place)).collect();
    let offsets: Vec<usize> =
        places.iter().flat_map(|place| [place.span.start as usize, place.span.end as usize]).collect();
    let ids: Vec<_> = places.iter().map(|place| place.node).collect();
    let positions = locate(record.bytes, &offsets).into_iter().map(|at| record.position_in_file(at));
    let positions: Vec<Position> = positions.collect();
    let spots = places.iter().zip(positions.chunks_exact(2)).zip(pointers(document, &ids));
    spots
        .map(|((place, ends), pointer)| Spot {
            record: record.index,
            record_bytes: record.start..record.start + record.bytes.len(),
            start: ends[0],
            end: ends[1],
            bytes: record.start + place.span.start as usize..record.start + place.span.end as usize,
            node: place.node,
            pointer,
            origin: None,
        })
        .collect()
}

/// Locates the findings in one record. Those that are only counted have no place.
pub(crate) fn locate_all(document: &Document<'_>, record: &Record<'_>, drafts: Vec<Draft>) -> Vec<Finding> {
    if drafts.is_empty() {
        return Vec::new();
    }
    let places: Vec<Place> = drafts
        .iter()
        .filter_map(|draft| Some((draft, draft.said()?)))
        .flat_map(|(draft, said)| {
            let here = said.labels.iter().filter(|label| label.elsewhere.is_none());
            std::iter::once(draft.place).chain(here.map(|label| label.place))
        })
        .collect();
    let mut spots = locate_places(document, record, &places).into_iter();
    let mut next = || spots.next().expect("every place has been located");
    let said = drafts.iter().filter(|draft| draft.said().is_some());
    let spans: Vec<Span> = said.map(|draft| within(document, draft.place).span).collect();
    let mut heads = Head::all_of(record.bytes, &spans, MOST_BYTES).into_iter();
    let locate = |mut draft: Draft| {
        let (rule, level, tool_call_id) = (draft.rule, draft.level, draft.tool_call_id.take());
        let said = draft.into_said()?;
        let spot = next();
        let labels = said
            .labels
            .into_iter()
            .map(|label| Label { message: label.message, spot: label.elsewhere.unwrap_or_else(&mut next) });
        Some(Finding {
            rule,
            level,
            message: said.message,
            spot,
            caption: said.caption,
            labels: labels.collect(),
            repeats: said.repeats,
            help: said.help,
            target: said.target,
            harm: said.harm,
            provider_error: said.provider_error,
            tool_call_id,
            tool_name: said.tool_name,
            fixable: None,
            fix: said.fix,
            head: heads.next().unwrap_or_default(),
            reported: said.reported,
            copy_of: None,
        })
    };
    // There may be ten thousand, so the list is not grown.
    let mut findings = Vec::with_capacity(spans.len());
    findings.extend(drafts.into_iter().filter_map(locate));
    findings
}
