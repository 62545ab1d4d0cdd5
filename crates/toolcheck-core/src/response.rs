//! What a model answered to a request: the calls that its application has to keep.
//!
//! A response comes as one JSON value, as a list of the events in which it was streamed, or as the text of those
//! events in a string.

use std::collections::BTreeMap;
use std::ops::Range;

use toolcheck_json::{Decoded, Document, Records, Value};

use crate::formats::Format;
use crate::ir::{Body, Call, Executor, Named, Place, Transcript};

/// One answer of a response: there are as many as the request asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The calls that it makes, in their order.
    pub calls: Vec<AnsweredCall>,
    /// What it says beside them.
    pub text: String,
    /// Whether it came to its end: one that was cut off, filtered or aborted owes nothing.
    pub is_whole: bool,
}

/// A call that an answer makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredCall {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// Its arguments, as JSON; empty where there are none.
    pub arguments: String,
    /// Who carries it out.
    pub executor: Executor,
    /// Where it stands; of a streamed one, where it begins.
    pub place: Place,
}

impl AnsweredCall {
    /// The call that stands at `value`.
    pub(crate) fn new<'d, 's>(call: &Call<'s>, value: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) -> Self {
        let text = |name: &Option<Named<'_>>| {
            name.as_ref().map(|name| name.text.to_string()).filter(|name| !name.is_empty())
        };
        let arguments = String::from_utf8_lossy(&call.arguments.json(value.document())).into_owned();
        let (id, name) = (text(&call.id), text(&call.name));
        Self { id, name, arguments, executor: call.executor, place: locate(value) }
    }
}

/// Where a value stands in the file: a response in a string is read as a document of its own.
pub(crate) type Locate<'l, 'd, 's> = dyn Fn(Value<'d, 's>) -> Place + 'l;

impl Answer {
    /// The answer as a summary of what was said in the document of `root`.
    pub(crate) fn new<'d, 's>(said: &Said<'s>, root: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) -> Self {
        let mut answer = Self { calls: Vec::new(), text: String::new(), is_whole: said.is_whole };
        for part in &said.transcript.parts {
            match &part.body {
                Body::Call(call) => {
                    let value = root.document().value(part.place.node);
                    answer.calls.push(AnsweredCall::new(call, value, locate));
                }
                Body::Text(text) => text.decode_into(&mut answer.text),
                _ => {}
            }
        }
        answer
    }
}

/// Whether the reason that an answer gives for its end is one of `whole`. Without the key it has come to its end as far
/// as anybody knows; with `null` it was never told.
pub(crate) fn is_whole(reason: Option<Value<'_, '_>>, whole: &[&str]) -> bool {
    reason.is_none_or(|reason| reason.as_str().is_some_and(|reason| whole.contains(&&*reason)))
}

/// A response that comes in events, as far as it has come.
#[derive(Debug, Default)]
pub struct Assembly {
    answers: BTreeMap<u64, Growing>,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
struct Growing {
    /// The calls, each with its number in the stream.
    calls: Vec<(u64, AnsweredCall)>,
    /// What it says beside them.
    text: String,
    /// How it ended, where it has.
    is_whole: Option<bool>,
}

impl Assembly {
    /// A call begins, or goes on under its number. A server that gives all calls one number tells them apart by their
    /// ids.
    pub(crate) fn call(&mut self, answer: u64, number: u64, call: AnsweredCall) {
        let calls = &mut self.answers.entry(answer).or_default().calls;
        let known = calls.iter_mut().rev().find(|(known, _)| *known == number).map(|(_, call)| call);
        match known {
            Some(known) if call.id.is_none() || known.id.is_none() || known.id == call.id => {
                known.id = known.id.take().or(call.id);
                known.name = known.name.take().or(call.name);
                known.arguments.push_str(&call.arguments);
            }
            _ => calls.push((number, call)),
        }
    }

    /// A call that is of no number, or the first to be of its number.
    pub(crate) fn next_call(&mut self, answer: u64, number: Option<u64>, call: AnsweredCall) {
        let calls = &mut self.answers.entry(answer).or_default().calls;
        calls.push((number.unwrap_or(calls.len() as u64), call));
    }

    /// A piece of the arguments of the call with this number.
    pub(crate) fn arguments(&mut self, answer: u64, number: Option<u64>, piece: Option<Value<'_, '_>>) {
        let calls = &mut self.answers.entry(answer).or_default().calls;
        let known = calls.iter_mut().rev().find(|(known, _)| Some(*known) == number);
        if let (Some((_, call)), Some(piece)) = (known, piece.and_then(Value::as_json_str)) {
            // The placeholder with which a call begins.
            if call.arguments == "{}" {
                call.arguments.clear();
            }
            piece.decode_into(&mut call.arguments);
        }
    }

    /// A piece of the text of an answer.
    pub(crate) fn text(&mut self, answer: u64, piece: Option<Value<'_, '_>>) {
        if let Some(piece) = piece.and_then(Value::as_json_str) {
            piece.decode_into(&mut self.answers.entry(answer).or_default().text);
        }
    }

    /// An answer ends.
    pub(crate) fn end(&mut self, answer: u64, is_whole: bool) {
        self.answers.entry(answer).or_default().is_whole = Some(is_whole);
    }

    /// The response as a whole, which the last event of some streams repeats.
    pub(crate) fn replace(&mut self, answers: Vec<Answer>) {
        self.answers = (0u64..)
            .zip(answers)
            .map(|(number, answer)| {
                let calls = (0u64..).zip(answer.calls).collect();
                (number, Growing { calls, text: answer.text, is_whole: Some(answer.is_whole) })
            })
            .collect();
    }

    fn finish(self) -> Vec<Answer> {
        let answers = self.answers.into_values().map(|answer| Answer {
            calls: answer.calls.into_iter().map(|(_, call)| call).collect(),
            text: answer.text,
            // A stream without its end was aborted.
            is_whole: answer.is_whole == Some(true),
        });
        answers.collect()
    }
}

/// An answer that came at once, as the messages that it is.
#[derive(Debug)]
pub struct Said<'s> {
    /// The messages, as a request would hold them.
    pub transcript: Transcript<'s>,
    /// Whether it came to its end.
    pub is_whole: bool,
}

/// Reads a response of a format; `None` where it is none: an error, or something else. Beside it what was said, where
/// it came at once and stands in the document itself.
#[must_use]
pub fn read<'s>(format: &Format, value: Value<'_, 's>) -> Option<(Vec<Answer>, Vec<Said<'s>>)> {
    let value = unwrapped(value);
    if value.is_object() {
        let said = (format.answers)(value)?;
        let answers = said.iter().map(|said| Answer::new(said, value, &|value| Place::of(value))).collect();
        return Some((answers, said));
    }
    let mut pieces = Pieces { format, count: 0, whole: None, assembly: Assembly::default() };
    if value.as_json_str().is_some() {
        pieces.add_value(value);
    } else {
        value.elements().for_each(|event| pieces.add_value(event));
    }
    Some((pieces.finish()?, Vec::new()))
}

/// The pieces in which a response came.
struct Pieces<'f> {
    format: &'f Format,
    count: usize,
    /// What the first piece is, taken for a response that came at once.
    whole: Option<Vec<Answer>>,
    assembly: Assembly,
}

impl Pieces<'_> {
    /// Adds what stands in a value: what the server sent as the data of an event, an object that holds the data beside
    /// the event's name, or a text of either.
    fn add_value(&mut self, value: Value<'_, '_>) {
        let data = value.get("data").filter(|data| data.is_object() || data.as_json_str().is_some());
        let data = data.unwrap_or(value);
        let Some(text) = data.as_json_str() else {
            self.add(data, &|value| Place::of(value));
            return;
        };
        let string = Place::of(data);
        let decoded = Decoded::new(text, string.span.start);
        in_text(decoded.text(), |data, before| {
            let locate = |value: Value<'_, '_>| {
                let span = value.span().range();
                Place { node: string.node, span: decoded.span_of(before + span.start..before + span.end) }
            };
            self.add(data, &locate);
        });
    }

    fn add<'d, 's>(&mut self, data: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
        if self.count == 0 {
            let said = (self.format.answers)(data);
            self.whole = said.map(|said| said.iter().map(|said| Answer::new(said, data, locate)).collect());
        }
        self.count += 1;
        (self.format.event)(&mut self.assembly, data, locate);
    }

    /// What came at once came alone: the chunks of some streams look like it.
    fn finish(self) -> Option<Vec<Answer>> {
        let whole = self.whole.filter(|_| self.count == 1);
        whole.or_else(|| Some(self.assembly.finish()).filter(|assembled| !assembled.is_empty()))
    }
}

/// The response itself, where it is wrapped as clients and recorders of HTTP do it.
fn unwrapped<'d, 's>(value: Value<'d, 's>) -> Value<'d, 's> {
    let is_of_http = value.get_any(&["status", "statusCode", "status_code", "headers"]).is_some();
    let body = value.get("body").filter(|_| is_of_http);
    let inner = body.or_else(|| value.get("stream").filter(|stream| stream.is_array()));
    inner.unwrap_or(value)
}

/// Shows `see` the JSON in a text, the text itself or the data of the server-sent events in it, and behind how many bytes
/// of the text each begins.
fn in_text(text: &str, mut see: impl FnMut(Value<'_, '_>, usize)) {
    let mut show = |data: &str, before: usize| {
        let document = Document::read(data.as_bytes());
        let root = document.root();
        if root.is_object() || root.is_array() {
            if root.is_object() {
                see(root, before);
            } else {
                root.elements().for_each(|element| see(element, before));
            }
        }
    };
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let text = &text[start..];
    if text.trim_start().starts_with(['{', '[']) {
        // One value, or one a line.
        for record in Records::new(text.as_bytes()) {
            show(&text[record.start..record.start + record.bytes.len()], start + record.start);
        }
        return;
    }
    for lines in payloads(text) {
        // The lines of one event are one text; in a recording that lost its blank lines each is its own.
        let joined: Vec<&str> = lines.iter().map(|line| &text[line.clone()]).collect();
        let joined = joined.join("\n");
        if lines.len() > 1 && Document::read(joined.as_bytes()).faults().is_empty() {
            // Places behind its first line are near enough.
            show(&joined, start + lines[0].start);
        } else {
            lines.into_iter().for_each(|line| show(&text[line.clone()], start + line.start));
        }
    }
}

/// The lines of data of the server-sent events in a text, as the HTML standard reads an event stream.
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
    // The standard drops an event without its blank line; a recording may lack it at its end.
    payloads.push(open);
    payloads.retain(|lines| !lines.is_empty());
    payloads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Vec<String> {
        let show = |lines: Vec<Range<usize>>| {
            lines.into_iter().map(|line| &text[line]).collect::<Vec<_>>().join("\n")
        };
        payloads(text).into_iter().map(show).collect()
    }

    #[test]
    fn event_streams_are_read_as_the_standard_says() {
        assert_eq!(
            data("event: a\ndata: {1}\n\ndata:{2}\r\n\r\n: comment\rdata: {3}"),
            ["{1}", "{2}", "{3}"]
        );
        assert_eq!(data("data: {\ndata: }\n\n"), ["{\n}"]);
        assert_eq!(data("id: 7\nretry: 3\n\n"), [""; 0]);
        assert_eq!(data(""), [""; 0]);
    }
}
