//! Reads a model's response to a request: the calls that the application has to keep.
//!
//! A response is one JSON value, a list of the events of a stream, or a string with the text of those events.

use std::borrow::Cow;
use std::ops::Range;

use toolcheck_json::{Decoded, Document, Kind, Records, Value, to_base64};

use crate::assembly::{Assembly, Locate};
pub use crate::assembly::{Choice, ChoiceCall, ChoiceReasoning, Completion, Missing, StreamFault};
use crate::formats::{self, Format};
use crate::ir::{Body, Message, Part, Place, Signature, Transcript};
pub use crate::unread::unread_calls;
use crate::{details, targets};

/// Reads a response of a format; `None` if the value is something else, such as an error. The completions are empty if
/// the response was streamed or is inside a string.
pub fn read<'s>(format: &Format, value: Value<'_, 's>) -> Option<(Vec<Choice>, Vec<Completion<'s>>)> {
    let value = unwrapped(value);
    if value.is_object() {
        let said = (format.answers)(value)?;
        let answers = said
            .iter()
            .map(|said| Choice::new(said, value, format.read_reasoning, &|value| Place::of(value)))
            .collect();
        return Some((answers, said));
    }
    let mut pieces = Pieces {
        format,
        count: 0,
        is_streamed: false,
        whole: None,
        has_model: false,
        assembly: Assembly::default(),
    };
    if value.is_string() {
        pieces.add_value(value);
    } else {
        value.elements().for_each(|event| pieces.add_value(event));
    }
    Some((pieces.finish()?, Vec::new()))
}

/// Reads a response whose format is not known: as the one that finds the most in it, of equals as that of the model's
/// provider, and as one in which it ends.
pub fn read_any<'s>(value: Value<'_, 's>) -> Option<(&'static Format, Vec<Choice>, Vec<Completion<'s>>)> {
    let of_call = |call: &ChoiceCall| {
        1 + usize::from(call.id.is_some()) + usize::from(call.name.is_some()) + call.arguments.len()
    };
    let found = |choices: &[Choice]| -> usize {
        let of_choice = |choice: &Choice| choice.text.len() + usize::from(choice.fault.is_some());
        choices.iter().map(|choice| of_choice(choice) + choice.calls.iter().map(of_call).sum::<usize>()).sum()
    };
    let mut model = None;
    each_data(value, |data| model = model.take().or_else(|| Some(data.get_str("model")?.into_owned())));
    let is_of = |format: &Format| {
        let marks = &format.marks;
        marks.has_own_models_only() && model.as_deref().is_some_and(|model| marks.has_model(model))
    };
    let ends = |choices: &[Choice]| choices.iter().all(|choice| !choice.breaks_off);
    let mut best: Option<((usize, bool, bool), _)> = None;
    for format in formats::ALL {
        let Some((choices, completions)) = read(format, value) else { continue };
        let found = (found(&choices), is_of(format), ends(&choices));
        // Of equals the last one: the common form of a dialect comes after it.
        if best.as_ref().is_none_or(|(most, _)| found >= *most) {
            best = Some((found, (*format, choices, completions)));
        }
    }
    best.map(|(_, read)| read)
}

/// How many bytes of a stream show its first piece.
const PIECE_LOOKED_AT: usize = 4096;

/// The formats that the keys of a response show; none if it is an error or its keys do not tell. A stream is judged by its
/// first piece.
pub fn formats_of(value: Value<'_, '_>) -> Vec<&'static Format> {
    let shown = |data: Value<'_, '_>| {
        formats::ALL.iter().copied().filter(|format| format.marks.shows_answer(data)).collect::<Vec<_>>()
    };
    let value = unwrapped(value);
    let first = value.elements().next().unwrap_or(value);
    let data = data_of(first);
    let Some(text) = data.as_json_str() else { return shown(data) };
    // Its beginning is enough. No escape has a comma in it.
    let start = &text.raw()[..text.raw().len().min(PIECE_LOOKED_AT)];
    let is_cut = start.len() < text.raw().len();
    let end = start.iter().rposition(|byte| *byte == b',').filter(|_| is_cut).unwrap_or(start.len());
    let text = text.slice(0..end).decode();
    let json = |line: &str| line.starts_with('{').then(|| shown(Document::read(line.as_bytes()).root()));
    let mut lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim_start());
    lines.find_map(json).unwrap_or_default()
}

struct Pieces<'f> {
    format: &'f Format,
    count: usize,
    is_streamed: bool,
    /// The first piece, read as a response that was not streamed.
    whole: Option<Vec<Choice>>,
    /// Whether the first piece names a model of the provider.
    has_model: bool,
    assembly: Assembly,
}

impl Pieces<'_> {
    /// Adds the contents of a value: the data of an event, an object with the data and the event's name, or a string
    /// with either.
    fn add_value(&mut self, value: Value<'_, '_>) {
        let data = data_of(value);
        let Some(text) = data.as_json_str() else {
            self.add(data, &|value| Place::of(value));
            return;
        };
        let string = Place::of(data);
        let decoded = Decoded::new(text, string.span.start);
        in_text(decoded.text(), |data, before, is_event| {
            // An event may look like a response that was not streamed, and be cut off after it.
            self.is_streamed |= is_event;
            let locate = |value: Value<'_, '_>| {
                let span = value.span().range();
                Place { node: string.node, span: decoded.span_of(before + span.start..before + span.end) }
            };
            self.add(data, &locate);
        });
    }

    fn add<'d, 's>(&mut self, data: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
        if self.count == 0 {
            self.has_model = data.get_str("model").is_some_and(|model| self.format.marks.has_model(&model));
            let said = (self.format.answers)(data);
            self.whole = said.map(|said| {
                said.iter().map(|said| Choice::new(said, data, self.format.read_reasoning, locate)).collect()
            });
        }
        self.count += 1;
        (self.format.event)(&mut self.assembly, data, locate);
    }

    /// Returns the choices. A complete response counts only if it is the only piece: the chunks of some streams look
    /// like one.
    fn finish(self) -> Option<Vec<Choice>> {
        let whole = self.whole.filter(|_| self.count == 1 && !self.is_streamed);
        // Compatible servers of dialects of Chat Completions, which keep calls in a list of their own, may give none.
        let style = self.format.fix_style;
        let ids = style.call_id.map(|_| style.calls.is_none() || self.has_model);
        whole.or_else(|| Some(self.assembly.finish(ids)).filter(|assembled| !assembled.is_empty()))
    }
}

/// The data of an event, of which a recorder may keep more. llama-stack has it beside its type in Python (`llamastack/llama-stack`,
/// `tests/integration/recordings`).
fn data_of<'d, 's>(event: Value<'d, 's>) -> Value<'d, 's> {
    let data = event.get_any(&["data", "__data__"]);
    data.filter(|data| data.is_object() || data.is_string()).unwrap_or(event)
}

/// Calls `see` with a response, or with the data of each of its events.
fn each_data(value: Value<'_, '_>, mut see: impl FnMut(Value<'_, '_>)) {
    let value = unwrapped(value);
    if value.is_object() {
        return see(value);
    }
    let mut see_event = |event: Value<'_, '_>| {
        let data = data_of(event);
        match data.as_json_str() {
            Some(text) => in_text(Decoded::new(text, 0).text(), |data, _, _| see(data)),
            None => see(data),
        }
    };
    if value.is_string() {
        see_event(value);
    } else {
        value.elements().for_each(see_event);
    }
}

/// The id of a response, and whether it is made: one that is made in the background is fetched until it is.
pub fn id_and_progress(response: Value<'_, '_>) -> Option<(String, bool)> {
    let is_made = !matches!(&*response.get_str("status")?, "queued" | "in_progress");
    Some((response.get_str("id")?.into(), is_made))
}

/// The ids in a response by which a later request may refer to what the server keeps of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptIds {
    /// The id of the response.
    pub response: Option<String>,
    /// The id of each of its items, with the id of the call that the item is, if it is one. A stream may name an item twice.
    pub items: Vec<(String, Option<String>)>,
}

impl KeptIds {
    /// Reads the ids of a response in any of its forms.
    pub fn of(value: Value<'_, '_>) -> Self {
        let mut ids = Self::default();
        each_data(value, |data| ids.add(data));
        ids
    }

    /// Adds the ids in a response, or in an event that brings one, or an item of one.
    fn add(&mut self, value: Value<'_, '_>) {
        let response =
            value.get_any(&["response", "message", "interaction"]).filter(|inner| inner.is_object());
        if let Some(item) = value.get("item").filter(|item| item.is_object()) {
            self.add_item(item);
        }
        let is_alone = || value.get_any(&["output", "content", "steps"]).is_some_and(|list| list.is_array());
        let Some(response) = response.or_else(|| is_alone().then_some(value)) else { return };
        self.response = response.get_str("id").map(Into::into).or(self.response.take());
        for item in response.list("output") {
            self.add_item(item);
        }
    }

    fn add_item(&mut self, item: Value<'_, '_>) {
        let call = item.get_str("call_id").map(Into::into);
        self.items.extend(item.get_str("id").map(|id| (id.into(), call)));
    }
}

/// Reads the reasoning in a part of a transcript; `None` if it is something else.
pub fn reasoning(
    transcript: &Transcript<'_>,
    part: &Part<'_>,
    document: &Document<'_>,
) -> Option<ChoiceReasoning> {
    let Body::Reasoning(_) = part.body else { return None };
    let format = formats::find(transcript.format?.id)?;
    let read = (format.read_reasoning)(document.value(part.place.node));
    Some(ChoiceReasoning::new(read, part.place))
}

/// The reasoning that a gateway keeps in a message, with its signatures.
pub fn details(message: &Message<'_>, document: &Document<'_>) -> Vec<ChoiceReasoning> {
    let list = document.value(message.place.node).get(details::KEY);
    let blocks = list.into_iter().flat_map(details::read);
    blocks.map(|(block, read)| ChoiceReasoning::new(read, Place::of(block))).collect()
}

/// The signature of a call in a transcript; `None` if it has none, or one that is taken from whoever has no real one.
pub fn signature_of_call(
    transcript: &Transcript<'_>,
    part: &Part<'_>,
    document: &Document<'_>,
) -> Option<String> {
    let Body::Call(call) = &part.body else { return None };
    if call.signature != Signature::Present {
        return None;
    }
    let format = formats::find(transcript.format?.id)?;
    let signature = (format.read_reasoning)(document.value(part.place.node)).signature?;
    let is_known =
        |known: &String| signature == *known || is_same_signature(&signature, &to_base64(known.as_bytes()));
    // In the formats of others there are signatures of the same API.
    let signs = targets::find(formats::of_signed_calls().id)?;
    (!signs.content.signature_placeholders.iter().any(is_known)).then_some(signature)
}

/// Whether two signatures are the same: libraries that keep bytes write Base64 in either alphabet.
pub fn is_same_signature(one: &str, other: &str) -> bool {
    let digits = |text: &str| -> Vec<u8> {
        let digit = |byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        };
        text.trim_end_matches('=').bytes().map(digit).collect()
    };
    one == other || digits(one) == digits(other)
}

/// What an API says in a response that is an error.
pub fn error_text<'s>(value: Value<'_, 's>) -> Option<Cow<'s, str>> {
    let value = unwrapped(value);
    // Some APIs answer with a list of errors.
    let value = value.elements().next().unwrap_or(value);
    let error = value.get_any(&["error", "errors"]).unwrap_or(value);
    let error = error.elements().next().unwrap_or(error);
    let text = |value: Value<'_, 's>| value.as_str().filter(|text| !text.trim().is_empty());
    text(error).or_else(|| ["message", "detail", "Message"].iter().find_map(|key| text(error.get(key)?)))
}

/// The response itself, without the wrapper that HTTP clients and recorders add.
pub fn unwrapped<'d, 's>(value: Value<'d, 's>) -> Value<'d, 's> {
    let is_of_http =
        value.get_any(&["status", "statusCode", "status_code", "headers", "is_streaming"]).is_some();
    // claude-trace has the text of a stream under a name of its own.
    let body = value.get_any(&["body", "body_raw"]).filter(|_| is_of_http);
    let inner = body.or_else(|| value.get("stream").filter(|stream| stream.is_array()));
    let inner = inner.unwrap_or(value);
    inner.get("__data__").filter(|data| data.is_object()).unwrap_or(inner)
}

/// Calls `see` with each JSON value in a text (the text itself, or the data of its server-sent events), the number of
/// bytes before it, and whether it is an event.
fn in_text(text: &str, mut see: impl FnMut(Value<'_, '_>, usize, bool)) {
    let mut show = |data: &str, before: usize, is_event: bool| {
        let document = Document::read(data.as_bytes());
        let root = document.root();
        if root.is_object() || root.is_array() {
            if root.is_object() {
                see(root, before, is_event);
            } else {
                root.elements().for_each(|element| see(element, before, is_event));
            }
        }
    };
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let text = &text[start..];
    if text.trim_start().starts_with(['{', '[']) {
        // One value, or one per line.
        for record in Records::new(text.as_bytes()) {
            show(&text[record.start..record.start + record.bytes.len()], start + record.start, false);
        }
        return;
    }
    for lines in payloads(text) {
        // The lines of an event form one text; in a recording that lost its blank lines, each is a separate event.
        let joined: Vec<&str> = lines.iter().map(|line| &text[line.clone()]).collect();
        let joined = joined.join("\n");
        if lines.len() > 1 && Document::read(joined.as_bytes()).faults().is_empty() {
            // Places after the first line are only approximate, which is good enough.
            show(&joined, start + lines[0].start, true);
        } else {
            lines.into_iter().for_each(|line| show(&text[line.clone()], start + line.start, true));
        }
    }
}

/// The JSON values in the text of a stream: the data of its server-sent events, or the values that are one per line. Each
/// is given as its lines, which are usually one.
pub fn values_in(text: &str) -> Vec<Vec<Range<usize>>> {
    let mut values = Vec::new();
    each_in(text, |lines, is_whole| values.extend(is_whole.then_some(lines)));
    values
}

/// The events in the text of a stream that begin as JSON objects and are none: the first one, and how many there are.
pub fn broken_in(text: &str) -> Option<(Range<usize>, usize)> {
    let (mut first, mut count) = (None, 0);
    each_in(text, |lines, is_whole| {
        let start = lines.first().filter(|line| !is_whole && text[line.start..].starts_with('{'));
        count += usize::from(start.is_some());
        first = first.take().or_else(|| start.cloned());
    });
    Some((first?, count))
}

/// Calls `see` with the lines of each event in the text of a stream, and whether they are a value of JSON.
fn each_in(text: &str, mut see: impl FnMut(Vec<Range<usize>>, bool)) {
    let is_value = |text: &str| {
        let document = Document::read(text.as_bytes());
        let is_whole = document.faults().iter().all(|fault| fault.kind.is_in_text());
        is_whole && matches!(document.root().kind(), Kind::Object | Kind::Array)
    };
    let see_line = |line: Range<usize>, see: &mut dyn FnMut(Vec<Range<usize>>, bool)| {
        let is_whole = is_value(&text[line.clone()]);
        see(vec![line], is_whole);
    };
    if text.trim_start().starts_with(['{', '[']) {
        for record in Records::new(text.as_bytes()) {
            see_line(record.start..record.start + record.bytes.len(), &mut see);
        }
        return;
    }
    for lines in payloads(text) {
        let joined: Vec<&str> = lines.iter().map(|line| &text[line.clone()]).collect();
        if lines.len() > 1 && is_value(&joined.join("\n")) {
            see(lines, true);
        } else {
            // In a recording that lost its blank lines, each line is a separate event.
            lines.into_iter().for_each(|line| see_line(line, &mut see));
        }
    }
}

/// The data lines of the server-sent events in a text, as the HTML standard reads an event stream.
fn payloads(text: &str) -> Vec<Vec<Range<usize>>> {
    let mut payloads = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    while at <= text.len() {
        let rest = &text[at..];
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let line = &rest[..length];
        if line.is_empty() {
            payloads.push(std::mem::take(&mut open));
        } else if let Some(data) = line.strip_prefix("data:") {
            let data = data.strip_prefix(' ').unwrap_or(data);
            open.push(at + length - data.len()..at + length);
        }
        let is_pair = rest[length..].starts_with("\r\n");
        at += length + if is_pair { 2 } else { 1 };
    }
    // The standard drops an event without a blank line after it; a recording may lack the last one.
    payloads.push(open);
    payloads.retain(|lines| !lines.is_empty());
    payloads
}
