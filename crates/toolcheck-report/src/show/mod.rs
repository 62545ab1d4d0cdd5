//! A conversation at a glance: its messages, tool calls, results and problems.
//!
//! An outline is built while the file is linted, from the context of the rules. Its size is bounded, however large the
//! file is: rows that are left out are counted, and marked rows are left out last.

mod changed;
mod fold;
pub mod outputs;
mod request;
mod rows;

use std::ops::Range;

use toolcheck_core::ir::Place;
use toolcheck_core::readers::{Conversation, ConversationEnd};
use toolcheck_core::{Level, RuleId, setters};
use toolcheck_json::origins::Opened;
use toolcheck_json::{Document, Record, Span};

use toolcheck_core::text::{Counted, bounded, shown};
use toolcheck_lint::Finding;
use toolcheck_lint::observe::Context;
use toolcheck_lint::observe::{Observer, Response};
use toolcheck_lint::report::{Report, locate_places, rule_url};
use toolcheck_lint::{FileReport, Options, lint_opened_with, lint_with};

pub(crate) use fold::{Fold, Line};
pub use request::Request;
pub(crate) use rows::{Row, RowKind};

/// The contents of an outline.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
#[must_use]
pub struct View<'v> {
    /// Whether to leave nothing out.
    pub shows_all: bool,
    /// Whether to show the beginning of each text. Transcripts may contain secrets.
    pub shows_text: bool,
    /// The command that shows the findings in full, for the last line; without that line if it is empty.
    pub more: &'v str,
    /// Whether the user allows a finding, which is then not marked; `None` if nothing is allowed.
    pub is_allowed: Option<&'v dyn Fn(&Finding) -> bool>,
    /// The bytes of the text that a fix has changed, in their order.
    pub changed: &'v [Range<usize>],
    /// Whether to write the first conversation as a request, for outputs that print it.
    pub as_request: bool,
}

impl<'v> View<'v> {
    /// The default view: long parts are folded, texts are not shown, and nothing is allowed.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        shows_all: bool,
        shows_text: bool,
        more: &'v str,
        is_allowed: &'v dyn Fn(&Finding) -> bool,
        changed: &'v [Range<usize>],
        as_request: bool,
    }

    fn allows(&self, finding: &Finding) -> bool {
        self.is_allowed.is_some_and(|is_allowed| is_allowed(finding))
    }
}

/// The outline of a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outline {
    /// The report on it.
    pub report: Report,
    /// The command that shows the findings in full.
    more: String,
    pub(crate) sections: Vec<Section>,
    pub(crate) total: usize,
    /// The sections that are left out at the end.
    pub(crate) left_out: LeftOut,
    /// The number of findings without a mark in the outline.
    pub(crate) unmarked: usize,
    /// The first conversation as a request, if the view asks for it.
    pub(crate) request: Option<Request>,
}

/// A conversation of a file that holds several.
#[derive(Debug, Clone)]
struct Known {
    title: String,
    end: ConversationEnd,
    is_sent_next: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) sections: usize,
    /// The number of them with findings.
    pub(crate) marked: usize,
}

/// One transcript, or one exchange.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its number in the file, from 1.
    pub(crate) number: usize,
    pub(crate) is_exchange: bool,
    conversation: Option<Known>,
    pub(crate) line: u64,
    /// Its format; empty if it was not recognised.
    format: &'static str,
    /// Whether that differs from the format of the file: a gateway's log may contain several.
    is_of_other_format: bool,
    /// The sections that are left out before it.
    pub(crate) left_out: LeftOut,
    pub(crate) lines: Vec<Line>,
    /// Marks outside all lines.
    pub(crate) marks: Marks,
    /// The offset of its record in the text that was linted.
    record_start: usize,
    /// The offset at which it begins in that text.
    start: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub(crate) shown: Vec<Mark>,
    /// The number of further findings.
    pub(crate) more: usize,
}

/// A finding, or a label of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) finding: usize,
    /// Its rule; `None` where a fix has changed something.
    pub(crate) rule: Option<RuleId>,
    pub(crate) level: Level,
    pub(crate) message: String,
    /// Whether it is a label: another place that the finding refers to.
    pub(crate) is_label: bool,
    pub(crate) line: u64,
}

impl Mark {
    /// The id of its rule; empty if it has none.
    pub(crate) fn rule_id(&self) -> &'static str {
        self.rule.map_or("", RuleId::as_str)
    }

    pub(crate) fn url(&self) -> String {
        self.rule.map(rule_url).unwrap_or_default()
    }
}

/// The maximum number of marks shown for a line.
const MARKS_SHOWN: usize = 6;
/// The maximum numbers of sections shown: without findings and with.
const SECTIONS_SHOWN: (usize, usize) = (8, 40);

impl Marks {
    fn add(&mut self, mark: Mark) {
        if mark.is_label {
            // A finding with its label on the same line, or several findings with the same label, mark it once.
            let is_duplicate = |other: &Mark| {
                other.finding == mark.finding || other.is_label && other.message == mark.message
            };
            if self.shown.len() < MARKS_SHOWN && !self.shown.iter().any(is_duplicate) {
                self.shown.push(mark);
            }
            return;
        }
        self.shown.retain(|other| other.finding != mark.finding);
        if self.findings() < MARKS_SHOWN {
            self.shown.push(mark);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The highest level of the line's own findings.
    pub(crate) fn worst(&self) -> Option<Level> {
        self.shown.iter().filter(|mark| !mark.is_label).map(|mark| mark.level).max()
    }

    fn findings(&self) -> usize {
        self.shown.iter().filter(|mark| !mark.is_label).count()
    }
}

/// Lints the text of one file and makes its outline. `path` is the name to show for it.
pub fn outline(path: &str, bytes: &[u8], options: &Options, view: &View<'_>) -> Outline {
    make(view, None, |builder| lint_with(path, bytes, options, builder))
}

/// Lints what is inside a file that was opened, and makes its outline. `source` is the text of the file.
pub fn outline_opened(
    path: &str,
    source: &[u8],
    opened: &Opened,
    options: &Options,
    view: &View<'_>,
) -> Outline {
    let made = Made { source, opened };
    make(view, Some(made), |builder| lint_opened_with(path, source, opened, options, builder))
}

/// The file that a text was made of.
#[derive(Clone, Copy)]
struct Made<'m> {
    source: &'m [u8],
    opened: &'m Opened,
}

impl Made<'_> {
    /// Gives sections and marks the lines of the file. The findings have them already.
    fn relocate(self, sections: &mut [Section], findings: &[Finding]) {
        let start = |at: usize| self.opened.origins.locate(at..at + 1).map_or(0, |found| found.source.start);
        let starts: Vec<usize> = sections.iter().map(|section| start(section.start)).collect();
        for (section, position) in sections.iter_mut().zip(self.opened.locate(self.source, &starts)) {
            section.line = position.line;
            for mark in section.all_marks_mut() {
                let Some(finding) = findings.get(mark.finding) else { continue };
                let label = finding.labels.iter().find(|label| *label.message == mark.message);
                let spot = label.filter(|_| mark.is_label).map_or(&finding.spot, |label| &label.spot);
                mark.line = spot.start.line;
            }
        }
    }
}

fn make<'v>(
    view: &View<'v>,
    made: Option<Made<'_>>,
    lint: impl Fn(&mut OutlineBuilder<'v>) -> FileReport,
) -> Outline {
    let new = |has_all_rows| OutlineBuilder { view: *view, has_all_rows, ..OutlineBuilder::default() };
    let mut builder = new(view.shows_all);
    let mut file = lint(&mut builder);
    if builder.lacks_rows {
        builder = new(true);
        file = lint(&mut builder);
    }
    let found = file.findings.len();
    file.findings.retain(|finding| !view.allows(finding));
    file.allowed += found - file.findings.len();
    let mut sections = builder.sections;
    mark_from_elsewhere(&mut sections, builder.elsewhere);
    let changed = changed::places(&sections, view.changed);
    mark_from_elsewhere(&mut sections, changed);
    if let Some(made) = made {
        made.relocate(&mut sections, &file.findings);
    }
    for section in &mut sections {
        section.is_of_other_format = !section.format.is_empty() && file.format != Some(section.format);
    }
    let found = file.findings.len();
    let mut outline = Outline {
        unmarked: 0,
        report: Report::new(vec![file]),
        more: view.more.to_owned(),
        sections,
        total: builder.total,
        left_out: builder.left_out,
        request: builder.request,
    };
    outline.unmarked = found - outline.marks().filter(|mark| !mark.is_label).count();
    outline
}

impl Outline {
    pub(crate) fn path(&self) -> &str {
        self.report.files.first().map_or("", |file| &file.path)
    }

    /// The first conversation as a request, if the view asks for it.
    pub fn request(&self) -> Option<&Request> {
        self.request.as_ref()
    }

    /// The number of conversations, exchanges or records in the file.
    pub fn total(&self) -> usize {
        self.total
    }

    pub(crate) fn has_findings(&self) -> bool {
        self.report.files.iter().any(|file| !file.findings.is_empty())
    }

    /// The command that shows the findings in full, if there are any.
    pub(crate) fn more(&self) -> Option<String> {
        (self.has_findings() && !self.more.is_empty()).then(|| shown(&self.more))
    }

    pub(crate) fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.sections.iter().flat_map(Section::all_marks)
    }

    /// The format that the file was read as, and the target it was checked against.
    pub(crate) fn reading(&self) -> String {
        let Some(file) = self.report.files.first() else { return String::new() };
        let Some(format) = file.format else { return "unknown format".to_owned() };
        let mut reading = format!("read as {format}");
        reading.extend(file.target.as_deref().map(|target| format!(", checked against {}", shown(target))));
        reading.extend(file.rival.map(|rival| format!(" ({rival} is nearly as likely)")));
        reading
    }
}

impl Section {
    /// The rows that are shown, with the numbers of their lines.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.lines.iter().enumerate().filter_map(|(number, line)| match line {
            Line::Row(row) => Some((number, row)),
            Line::Fold(_) => None,
        })
    }

    pub(crate) fn all_marks(&self) -> impl Iterator<Item = &Mark> {
        self.marks.shown.iter().chain(self.rows().flat_map(|(_, row)| &row.marks.shown))
    }

    fn all_marks_mut(&mut self) -> impl Iterator<Item = &mut Mark> {
        let rows = self.lines.iter_mut().filter_map(|line| match line {
            Line::Row(row) => Some(&mut row.marks.shown),
            Line::Fold(_) => None,
        });
        self.marks.shown.iter_mut().chain(rows.flatten())
    }

    /// Its heading, for files that contain several.
    pub(crate) fn heading(&self, total: usize) -> String {
        if let Some(known) = &self.conversation {
            let next = if known.is_sent_next { ", sent next" } else { "" };
            let end = match known.end {
                ConversationEnd::Open => String::new(),
                end => format!(", {}", end.as_str()),
            };
            return format!(
                "{}{end}{next} ({} of {total}), line {}",
                shown(&bounded(&known.title, LONGEST_TITLE)),
                self.number,
                self.line
            );
        }
        let word = if self.is_exchange { "exchange" } else { "record" };
        let format = if self.is_of_other_format { format!(", {}", self.format) } else { String::new() };
        format!("{word} {} of {total}, line {}{format}", self.number, self.line)
    }
}

impl LeftOut {
    /// The sections that are left out, in words; `None` if nothing is left out.
    pub(crate) fn words(self) -> Option<String> {
        let records = Counted(self.sections, "more record");
        match (self.sections, self.marked) {
            (0, _) => None,
            (_, 0) => Some(format!("{records} without findings")),
            (_, marked) => Some(format!("{records}, {marked} with findings")),
        }
    }
}

/// Builds an outline while a file is read.
#[derive(Default)]
struct OutlineBuilder<'v> {
    view: View<'v>,
    /// The sections of the record that is being read.
    drafts: Vec<Draft>,
    /// The conversation that is read next.
    conversation: Option<Known>,
    sections: Vec<Section>,
    total: usize,
    /// The numbers of sections kept: without findings and with.
    shown: (usize, usize),
    left_out: LeftOut,
    /// The number of findings in the records before.
    findings: usize,
    /// The places that they refer to in other records than their own.
    elsewhere: Vec<(Range<usize>, Mark)>,
    /// The first conversation as a request, if the view asks for it.
    request: Option<Request>,
    /// Whether each section gets its rows, and not only those that are probably shown.
    has_all_rows: bool,
    /// Whether a section is shown whose rows were not made.
    lacks_rows: bool,
}

/// The most characters of a conversation's title that are shown.
const LONGEST_TITLE: usize = 80;

/// A section without marks.
#[derive(Default)]
struct Draft {
    place: Option<Place>,
    conversation: Option<Known>,
    is_exchange: bool,
    format: &'static str,
    /// Whether its rows were made, if it is shown.
    has_rows: bool,
    rows: Vec<Row>,
    /// The part of the record that each row, or the section as a whole, covers.
    covers: Vec<(Span, Option<usize>)>,
    marks: Marks,
}

impl Observer for OutlineBuilder<'_> {
    fn conversation(&mut self, conversation: &Conversation<'_>) {
        self.conversation = Some(Known {
            title: conversation.title.clone(),
            end: conversation.end,
            is_sent_next: conversation.transcript.sent_next_by.is_some(),
        });
    }

    fn transcript(&mut self, context: &Context<'_, '_>, known: usize, is_clean: bool) {
        if self.view.as_request && self.request.is_none() {
            self.request = Some(Request::of(context));
        }
        let conversation = self.conversation.take();
        let first = context.transcript.messages.first().filter(|_| conversation.is_some());
        let place = first.map_or(context.transcript.place, |first| first.place);
        let is_left_out = is_clean && conversation.is_none() && self.shown.0 >= SECTIONS_SHOWN.0;
        let has_rows = self.has_all_rows || !is_left_out;
        let (rows, mut covers) = match has_rows {
            true => rows::of_transcript(context, known, self.view.shows_text),
            false => Default::default(),
        };
        covers.push((context.transcript.place.span, None));
        self.drafts.push(Draft {
            place: Some(place),
            conversation,
            format: context.transcript.format.map_or("", |format| format.id),
            has_rows,
            rows,
            covers,
            ..Draft::default()
        });
    }

    fn response(&mut self, response: &Response<'_, '_>) {
        let Some(draft) = self.drafts.last_mut() else { return };
        draft.is_exchange = true;
        rows::add_response(response, self.view.shows_text, &mut draft.rows, &mut draft.covers);
    }

    fn record(&mut self, record: &Record<'_>, document: &Document<'_>, findings: &[Finding]) {
        let mut drafts = std::mem::take(&mut self.drafts);
        if drafts.is_empty() {
            drafts.push(Draft { has_rows: true, ..Draft::default() });
        }
        let findings: Vec<&Finding> = findings.iter().filter(|finding| !self.view.allows(finding)).collect();
        mark(&mut drafts, record, &findings, self.findings);
        self.elsewhere.extend(places_elsewhere(&findings, self.findings));
        self.findings += findings.len();
        // Only exchanges and conversations may occur several times in one record.
        let places: Vec<Place> =
            drafts.iter().filter(|draft| draft.is_one_of_several()).filter_map(|draft| draft.place).collect();
        let mut spots = locate_places(document, record, &places).into_iter();
        for draft in drafts {
            let spot = draft.place.filter(|_| draft.is_one_of_several()).and_then(|_| spots.next());
            let (line, start) =
                spot.map_or((record.position.line, record.start), |spot| (spot.start.line, spot.bytes.start));
            self.keep(draft, record, (line, start));
        }
    }
}

impl Draft {
    fn is_one_of_several(&self) -> bool {
        self.is_exchange || self.conversation.is_some()
    }
}

impl OutlineBuilder<'_> {
    /// Keeps a section, or only counts it.
    fn keep(&mut self, draft: Draft, record: &Record<'_>, (line, start): (u64, usize)) {
        self.total += 1;
        let is_marked = !draft.marks.is_empty() || draft.rows.iter().any(|row| !row.marks.is_empty());
        let (count, most) = if is_marked {
            (&mut self.shown.1, SECTIONS_SHOWN.1)
        } else {
            (&mut self.shown.0, SECTIONS_SHOWN.0)
        };
        if *count == most && !self.view.shows_all {
            self.left_out.sections += 1;
            self.left_out.marked += usize::from(is_marked);
            return;
        }
        *count += 1;
        self.lacks_rows |= !draft.has_rows;
        self.sections.push(Section {
            number: self.total,
            is_exchange: draft.is_exchange,
            conversation: draft.conversation,
            line,
            format: draft.format,
            is_of_other_format: false,
            left_out: std::mem::take(&mut self.left_out),
            lines: fold::fold(draft.rows, self.view.shows_all),
            marks: draft.marks,
            record_start: record.start,
            start,
        });
    }
}

fn mark(drafts: &mut [Draft], record: &Record<'_>, findings: &[&Finding], first: usize) {
    if findings.is_empty() {
        return;
    }
    let mut places = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        places.push((finding.spot.bytes.clone(), mark_of(first + number, finding)));
        let here = finding.labels.iter().filter(|label| label.spot.record == finding.spot.record);
        for label in here {
            let mark = label_of(first + number, finding, &label.message, label.spot.start.line);
            places.push((label.spot.bytes.clone(), mark));
        }
    }
    let mut covers: Vec<Cover> = Vec::new();
    for (section, draft) in drafts.iter().enumerate() {
        let offset = |span: &Span| record.start + span.start as usize..record.start + span.end as usize;
        covers.extend(draft.covers.iter().map(|(span, row)| Cover {
            bytes: offset(span),
            section,
            row: *row,
        }));
    }
    for (mark, found) in innermost(covers, places) {
        let (section, row) = found.unwrap_or_default();
        // A label outside all lines is not shown.
        match (drafts.get_mut(section), row) {
            (Some(draft), Some(row)) => draft.rows[row].marks.add(mark),
            (Some(draft), None) if !mark.is_label => draft.marks.add(mark),
            _ => {}
        }
    }
}

/// The places in other records that findings refer to.
fn places_elsewhere(findings: &[&Finding], first: usize) -> Vec<(Range<usize>, Mark)> {
    let mut places = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        for label in finding.labels.iter().filter(|label| label.spot.record != finding.spot.record) {
            let mark = label_of(first + number, finding, &label.message, label.spot.start.line);
            places.push((label.spot.bytes.clone(), mark));
        }
    }
    places
}

/// Marks the places that findings refer to in records other than their own, if they are shown.
fn mark_from_elsewhere(sections: &mut [Section], places: Vec<(Range<usize>, Mark)>) {
    if places.is_empty() {
        return;
    }
    let mut covers = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        covers.extend(section.rows().map(|(line, row)| {
            let start = section.record_start;
            let bytes = start + row.span.start as usize..start + row.span.end as usize;
            Cover { bytes, section: number, row: Some(line) }
        }));
    }
    for (mark, found) in innermost(covers, places) {
        if let Some((section, Some(line))) = found
            && let Line::Row(row) = &mut sections[section].lines[line]
        {
            row.marks.add(mark);
        }
    }
}

fn mark_of(number: usize, finding: &Finding) -> Mark {
    Mark {
        finding: number,
        rule: Some(finding.rule),
        level: finding.level,
        message: finding.message.to_string(),
        is_label: false,
        line: finding.spot.start.line,
    }
}

fn label_of(number: usize, finding: &Finding, message: &str, line: u64) -> Mark {
    Mark { message: message.to_owned(), is_label: true, line, ..mark_of(number, finding) }
}

/// The part of the file that a row, or a section as a whole, covers.
struct Cover {
    bytes: Range<usize>,
    section: usize,
    row: Option<usize>,
}

/// The maximum number of nested covers searched around a place, such as a call in its message in its request.
const DEPTH: usize = 16;

/// Finds the innermost cover that contains each place. One pass over both, in the order of the file.
fn innermost(
    mut covers: Vec<Cover>,
    mut places: Vec<(Range<usize>, Mark)>,
) -> impl Iterator<Item = (Mark, Option<(usize, Option<usize>)>)> {
    toolcheck_json::sort_by_positions(&mut covers, |cover| (cover.bytes.start, usize::MAX - cover.bytes.end));
    // Findings come before labels, in the order of the report.
    places.sort_by_key(|(bytes, mark)| (bytes.start, mark.is_label, mark.finding));
    let mut next = 0;
    let mut open: Vec<usize> = Vec::new();
    places.into_iter().map(move |(bytes, mark)| {
        while covers.get(next).is_some_and(|cover| cover.bytes.start <= bytes.start) {
            while open.last().is_some_and(|last| covers[*last].bytes.end <= covers[next].bytes.start) {
                open.pop();
            }
            open.push(next);
            next += 1;
        }
        while open.last().is_some_and(|last| covers[*last].bytes.end < bytes.start) {
            open.pop();
        }
        let around = open.iter().rev().take(DEPTH).map(|cover| &covers[*cover]);
        let found = around.into_iter().find(|cover| bytes.end <= cover.bytes.end);
        (mark, found.map(|cover| (cover.section, cover.row)))
    })
}
