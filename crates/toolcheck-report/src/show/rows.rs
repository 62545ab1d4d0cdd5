//! The rows of a transcript: one for each message, and one for each further part of a message.

use std::borrow::Cow;

use foldhash::HashMap;
use toolcheck_core::ir::{Body, Call, Content, Executor, Message, Named, Part, Place, ToolKind, ToolResult};
use toolcheck_core::protocols::{Reply, TextCalls};
use toolcheck_json::{Document, JsonStr, Span};

use toolcheck_core::text::{Counted, bounded};
use toolcheck_lint::observe::Context;
use toolcheck_lint::observe::Response;
use toolcheck_lint::observe::{PairedWith, Pairing};

use super::Marks;

/// One row of an outline. Its texts fit on one line, are bounded, and contain no hidden characters.
#[derive(Debug)]
pub(crate) struct Row {
    /// The number of its message in the provider's list; `None` for anything outside the messages.
    pub(crate) number: Option<u32>,
    pub(crate) is_first: bool,
    /// The role, as the file writes it if it does.
    pub(crate) speaker: String,
    pub(crate) kind: RowKind,
    /// The number that a call and its results share.
    pub(crate) pair: Option<usize>,
    /// The tool's name, or what the row shows if it is neither call nor result.
    pub(crate) title: String,
    pub(crate) id: Option<String>,
    pub(crate) notes: Vec<Cow<'static, str>>,
    /// The beginning of its text, if texts are shown.
    pub(crate) beginning: Option<String>,
    /// Whether an earlier request of the file contains its message.
    pub(crate) is_known: bool,
    /// Its place in the record.
    pub(crate) span: Span,
    pub(crate) marks: Marks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    Call,
    Result,
    /// A text, reasoning, media and the like.
    Other,
}

/// The part of the record that each row covers.
type Covers = Vec<(Span, Option<usize>)>;

/// The maximum numbers of characters of a name and of a text.
const NAME: usize = 80;
const BEGINNING: usize = 200;

impl Row {
    fn new(kind: RowKind, title: impl Into<String>, span: Span) -> Self {
        Self {
            number: None,
            is_first: false,
            speaker: String::new(),
            kind,
            pair: None,
            title: title.into(),
            id: None,
            notes: Vec::new(),
            beginning: None,
            is_known: false,
            span,
            marks: Marks::default(),
        }
    }

    fn note(mut self, note: impl Into<Cow<'static, str>>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn note_if(self, is_so: bool, note: &'static str) -> Self {
        if is_so { self.note(note) } else { self }
    }

    fn of_call(id: Option<&str>, name: Option<&str>, span: Span) -> Self {
        let title = name.map_or_else(|| "(no name)".to_owned(), |name| bounded(name, NAME));
        Self { id: id.map(|id| bounded(id, NAME)), ..Self::new(RowKind::Call, title, span) }
    }

    pub(crate) fn details(&self) -> String {
        self.notes.join(", ")
    }
}

/// The rows of a transcript, and the parts of the record they cover. Its first `known` messages are in an earlier request too.
pub(super) fn of_transcript(context: &Context<'_, '_>, known: usize, shows_text: bool) -> (Vec<Row>, Covers) {
    let transcript = context.transcript;
    let mut writer = Writer {
        document: context.document,
        pairing: context.pairing,
        shows_text,
        is_continued: transcript.request.continues_remote_state,
        rows: Vec::with_capacity(transcript.parts.len() + 2),
        covers: Vec::new(),
    };
    writer.beside_messages(context);
    let mut in_text = in_text(context.text_calls());
    for (number, (message, parts)) in transcript.messages_with_parts().enumerate() {
        let first = writer.rows.len();
        writer.covers.push((message.place.span, Some(first)));
        for (part_number, part) in (message.parts.start as usize..).zip(parts) {
            writer.part(part, part_number);
        }
        for row in in_text.remove(&(number as u32)).unwrap_or_default() {
            writer.push(row);
        }
        if let Some(place) = message.empty_calls {
            writer.push(Row::new(RowKind::Other, "empty list of calls", place.span));
        }
        if writer.rows.len() == first {
            writer.rows.push(Row::new(RowKind::Other, empty_content(message.content), message.place.span));
        }
        let start = &mut writer.rows[first];
        if message.is_prefix {
            start.notes.push(Cow::Borrowed("to be continued"));
        }
        start.is_first = true;
        for row in &mut writer.rows[first..] {
            row.number = Some(message.index);
            row.speaker = speaker(message);
            row.is_known = number < known;
        }
    }
    (writer.rows, writer.covers)
}

pub(super) fn add_response(
    response: &Response<'_, '_>,
    shows_text: bool,
    rows: &mut Vec<Row>,
    covers: &mut Covers,
) {
    let Some(value) = response.value else { return };
    let (first, span) = (rows.len(), value.span());
    covers.push((span, Some(first)));
    let mut push = |row: Row| {
        covers.push((row.span, Some(rows.len())));
        rows.push(row);
    };
    for (number, answer) in response.answers.iter().enumerate() {
        if number > 0 {
            push(Row::new(RowKind::Other, format!("alternative answer {}", number + 1), span));
        }
        for block in &answer.reasoning {
            let row = Row::new(RowKind::Other, "reasoning", block.place.span);
            push(row.note_if(block.text.is_empty(), "encrypted"));
        }
        if !answer.text.is_empty() {
            let row = Row::new(RowKind::Other, "text", span).note(characters(answer.text.chars().count()));
            let beginning = shows_text.then(|| beginning(&answer.text));
            push(Row { beginning, ..row });
        }
        for call in &answer.calls {
            let row = Row::of_call(call.id.as_deref(), call.name.as_deref(), call.place.span)
                .note_if(call.executor == Executor::Server, BY_PROVIDER);
            let beginning = shows_text.then(|| beginning(&call.arguments));
            push(Row { beginning, ..row });
        }
        if answer.unknown > 0 {
            let title = format!("{} of an unknown kind", Counted(answer.unknown, "part"));
            push(Row::new(RowKind::Other, title, span));
        }
        if !answer.is_whole {
            push(Row::new(RowKind::Other, "incomplete", span));
        }
    }
    if rows.len() == first {
        let title = match response.status {
            Some(status @ 400..) => format!("refused with status {status}"),
            _ if response.answers.is_empty() => "no readable answer".to_owned(),
            _ => "empty answer".to_owned(),
        };
        rows.push(Row::new(RowKind::Other, title, span));
    }
    rows[first].is_first = true;
    for row in &mut rows[first..] {
        row.speaker = "response".to_owned();
    }
}

const BY_PROVIDER: &str = "run by the provider";
const IN_TEXT: &str = "in text";

fn speaker(message: &Message<'_>) -> String {
    bounded(message.speaker().unwrap_or("(no role)"), NAME)
}

fn empty_content(content: Content) -> &'static str {
    match content {
        Content::Missing => "no content",
        Content::Null => "null",
        Content::EmptyText => "empty text",
        Content::EmptyList => "empty list",
        Content::Filled => "other content",
    }
}

fn beginning(text: &str) -> String {
    let start: String = text.chars().take(BEGINNING + 1).collect();
    bounded(&start.replace("\r\n", "\n").replace('\n', "↵"), BEGINNING)
}

fn characters(count: usize) -> String {
    Counted(count, "character").to_string()
}

fn text_of<'n>(name: Option<&'n Named<'_>>) -> Option<&'n str> {
    name.map(|name| &*name.text)
}

fn in_text(calls: &TextCalls) -> HashMap<u32, Vec<Row>> {
    let mut rows: HashMap<u32, Vec<Row>> = HashMap::default();
    for call in &calls.calls {
        let row = Row::of_call(None, Some(&call.name), call.place.span)
            .note(IN_TEXT)
            .note_if(call.reply == Reply::Result, "answered")
            .note_if(call.reply == Reply::Refusal, "not executed");
        rows.entry(call.message).or_default().push(row);
    }
    for block in &calls.malformed {
        let span = block.opening.span.to(block.place.span);
        let row = Row::of_call(None, block.name.as_deref(), span).note(IN_TEXT).note("malformed");
        rows.entry(block.message).or_default().push(row);
    }
    for rows in rows.values_mut() {
        toolcheck_json::sort_by_position(rows, |row| row.span.start as usize);
    }
    rows
}

struct Writer<'c, 's> {
    document: &'c Document<'s>,
    pairing: &'c Pairing<'c, 's>,
    shows_text: bool,
    /// Whether calls may be in the part of the conversation that the server keeps.
    is_continued: bool,
    rows: Vec<Row>,
    covers: Covers,
}

impl Writer<'_, '_> {
    fn push(&mut self, row: Row) {
        self.covers.push((row.span, Some(self.rows.len())));
        self.rows.push(row);
    }

    fn beside_messages(&mut self, context: &Context<'_, '_>) {
        let transcript = context.transcript;
        if let Some(place) = transcript.request.instructions {
            let row = self.with_size(Row::new(RowKind::Other, "instructions", place.span), place);
            self.push(Row { speaker: "system".to_owned(), is_first: true, ..row });
        }
        let tools = &transcript.request.tools;
        // Some formats declare tools in several lists.
        let of_lists = || {
            let (first, last) = (tools.listed().first()?, tools.listed().last()?);
            Some(first.place.span.to(last.place.span))
        };
        let span = tools.place.map(|place| place.span).or_else(of_lists);
        if let (Some(span), Some(declared)) = (span, tools.count()) {
            let title = format!("{declared} declared");
            let row = Row::new(RowKind::Other, title, span);
            self.push(Row { speaker: "tools".to_owned(), is_first: true, ..row });
        }
    }

    fn part(&mut self, part: &Part<'_>, part_number: usize) {
        let span = part.place.span;
        let other = |title: &str| Row::new(RowKind::Other, title, span);
        let row = match &part.body {
            Body::Text(text) if text.string.is_empty() => other("empty text"),
            Body::Text(text) if text.string.is_blank() => other("blank text"),
            Body::Text(text) => self.with_text(other("text"), text.string),
            Body::Call(call) => self.call(call, span, part_number),
            Body::Result(result) => self.result(result, span, part_number),
            Body::Reasoning(reasoning) => other("reasoning").note_if(reasoning.is_redacted, "encrypted"),
            Body::Media => other("media"),
            Body::Empty => other("empty part"),
            _ => other("other part"),
        };
        self.push(row);
    }

    fn call(&self, call: &Call<'_>, span: Span, part_number: usize) -> Row {
        let mut row = Row::of_call(text_of(call.id.as_ref()), text_of(call.name.as_ref()), span)
            .note_if(call.executor == Executor::Server, BY_PROVIDER);
        if !matches!(call.kind, ToolKind::Function | ToolKind::BuiltIn) {
            row = row.note(call.kind.name());
        }
        if self.shows_text && call.arguments.place().is_some() {
            row.beginning = Some(beginning(&String::from_utf8_lossy(&call.arguments.json(self.document))));
        }
        if call.executor == Executor::Client {
            let site = self.pairing.call_at(part_number);
            row.pair = site.map(|site| site.number + 1);
            let is_answered = site.is_some_and(|site| self.pairing.answer_of(site).is_some());
            row = row.note_if(!is_answered, "no result");
        }
        row
    }

    fn result(&self, result: &ToolResult<'_>, span: Span, part_number: usize) -> Row {
        let mut name = text_of(result.name.as_ref());
        let mut pair = None;
        let mut note = None;
        if result.executor == Executor::Client {
            let answers = self.pairing.result_at(part_number).map(|site| site.paired_with);
            let number = answers.and_then(PairedWith::call);
            let call = number.and_then(|number| self.pairing.calls.get(number));
            name = name.or_else(|| text_of(call?.call.name.as_ref()));
            pair = number.map(|number| number + 1);
            note = match answers {
                Some(PairedWith::First(_)) | None => None,
                Some(PairedWith::Repeated(_)) => Some("already answered"),
                Some(PairedWith::LaterCall(_)) => Some("before its call"),
                Some(PairedWith::NoCall) if self.is_continued => Some("call kept by the server"),
                Some(PairedWith::NoCall) => Some("no matching call"),
            };
        }
        let title = name.map_or_else(|| "result".to_owned(), |name| bounded(name, NAME));
        let mut row = Row::new(RowKind::Result, title, span)
            .note_if(result.executor == Executor::Server, BY_PROVIDER)
            .note_if(result.is_error == Some(true), "failed");
        row.id = text_of(result.call_id.as_ref()).map(|id| bounded(id, NAME));
        row.pair = pair;
        row.notes.extend(note.map(Cow::Borrowed));
        match (result.content, result.content_place) {
            (Content::Filled, Some(place)) => self.with_size(row, place),
            (Content::Filled, None) => row,
            (content, _) => row.note(empty_content(content)),
        }
        .note_if(result.has_media, "not only text")
    }

    fn with_text(&self, row: Row, text: JsonStr<'_>) -> Row {
        let beginning = self.shows_text.then(|| beginning(&text.decode()));
        Row { beginning, ..row.note(characters(text.char_count())) }
    }

    fn with_size(&self, row: Row, place: Place) -> Row {
        let value = self.document.value(place.node);
        match value.as_json_str() {
            Some(text) => self.with_text(row, text),
            None => {
                let raw = value.raw();
                let beginning = self.shows_text.then(|| beginning(&String::from_utf8_lossy(raw)));
                Row { beginning, ..row.note(format!("{} of JSON", Counted(raw.len(), "byte"))) }
            }
        }
    }
}
