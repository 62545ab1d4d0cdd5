//! Calls between `<tool_call>` tags in the texts of data sets, as Hermes writes them: JSON with a name and arguments.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use toolcheck_json::{Decoded, Document, JsonStr, SyntaxErrorKind, Value};

use super::parts::{self, said_alone};
use super::turns::{ARGUMENTS, RESPONSE, TEXTS, is_sentence};
use crate::ir::{Arguments, Body, Call, Malformation, MalformedTextCall, Named, Place, ToolKind, Transcript};

pub(crate) const OPENING: &str = "<tool_call>";
const CLOSING: &str = "</tool_call>";
const WORD: &str = "tool_call";

/// What Nemotron has around a list of calls (<https://huggingface.co/datasets/nvidia/When2Call>).
const AROUND_LIST: [&str; 2] = ["<TOOLCALL>", "</TOOLCALL>"];

/// Whether a text begins with such a list, or with a thought before it.
pub(crate) fn has_list(text: Value<'_, '_>) -> bool {
    // The tag of most models, which need not be looked through.
    let is_other = text.raw().starts_with(b"\"<tool_call>");
    let may_have_one =
        |text: &JsonStr<'_>| !is_other && text.may_begin_with(b"<") && text.may_have("TOOLCALL");
    text.as_json_str().filter(may_have_one).is_some_and(|text| lists_in(&text.decode()).next().is_some())
}

/// The lists of a text, none of which is inside of the thought. Behind the first, words may name the tags.
fn lists_in(text: &str) -> impl Iterator<Item = Block<'_>> {
    let [opening, closing] = AROUND_LIST;
    let thought = text.trim_start().starts_with("<think>").then(|| text.find("</think>"));
    let mut at = thought.map_or(0, |end| end.unwrap_or(text.len()));
    let mut is_first = true;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(opening)?;
            let tag = start..start + opening.len();
            at = tag.end;
            let is_list = |list: &str| is_first || list.trim_start().starts_with('{');
            if text[at..].trim_start().strip_prefix('[').is_some_and(is_list) {
                is_first = false;
                let end = text[at..].find(closing).map(|end| at + end);
                at = end.unwrap_or(text.len());
                let inside = text[tag.end..at].trim_start();
                let first = at - inside.len();
                return Some(Block { tag, inside: inside.trim_end(), first, is_closed: end.is_some() });
            }
        }
    })
}

/// Whether a turn of a list has calls between tags.
pub(crate) fn has_tags(list: Value<'_, '_>) -> bool {
    let is_own = |turn: Value<'_, '_>| {
        let text = turn.get_any(&TEXTS).and_then(Value::as_json_str);
        text.is_some_and(|text| text.may_have("tool_call") && text.decode().contains(OPENING))
    };
    list.elements().take(crate::claim::MESSAGES_LOOKED_AT).any(is_own)
}

/// Whether calls stand between tags in what the assistant says, or what they returned in what the user says, of a list of
/// texts none of which has calls of its own.
pub(crate) fn has_tagged_calls(list: Value<'_, '_>) -> bool {
    let is_begun = |text: &str| {
        let tags = FINDERS[0].find_iter(text.as_bytes());
        tags.into_iter().any(|tag| text[tag + OPENING.len()..].trim_start().starts_with(['{', '[']))
    };
    let says_call = |turn: Value<'_, '_>| {
        let content = turn.get("content").map(said_alone);
        let content = content.filter(|_| turn.is("role", "assistant"));
        let has_tag = |text: JsonStr<'_>| text.may_have(WORD) && is_begun(&text.decode());
        content.is_some_and(|said| said.as_json_str().is_some_and(has_tag) || has_list(said))
    };
    let is_other = |turn: Value<'_, '_>| {
        let calls = turn.get_any(&["tool_calls", "function_call"]);
        let mut blocks = turn.list("content");
        calls.is_some_and(|calls| calls.children().next().is_some())
            || blocks.any(|block| !block.is("type", "text"))
    };
    (list.elements().any(says_call) || has_lost_calls(list)) && !list.elements().any(is_other)
}

/// Whether the user hands on what tools returned, each time after a sentence of the model: their calls were lost.
fn has_lost_calls(list: Value<'_, '_>) -> bool {
    let is_of = |turn: Value<'_, '_>, role: &str| turn.is("role", role);
    let is_response = |text: JsonStr<'_>| {
        text.may_have("tool_response") && text.decode().trim_start().starts_with(RESPONSE)
    };
    let returns = |turn: Value<'_, '_>| {
        is_of(turn, "user") && turn.get("content").and_then(Value::as_json_str).is_some_and(is_response)
    };
    let turns = list.elements().zip(list.elements().skip(1));
    let mut after = turns.filter(|(_, turn)| returns(*turn)).map(|(before, _)| before).peekable();
    after.peek().is_some() && after.all(|turn| is_of(turn, "assistant") && is_sentence(turn))
}

/// A text with the way back to the file.
pub(crate) struct MappedText<'d, 's> {
    value: Value<'d, 's>,
    string: JsonStr<'s>,
    decoded: Decoded<'s>,
}

impl<'d, 's> MappedText<'d, 's> {
    pub(crate) fn of(value: Value<'d, 's>) -> Option<Self> {
        let string = value.as_json_str()?;
        Some(Self { value, string, decoded: Decoded::new(string, value.span().start) })
    }

    pub(crate) fn text(&self) -> &str {
        self.decoded.text()
    }

    pub(crate) fn place(&self, range: Range<usize>) -> Place {
        Place { node: self.value.id(), span: self.decoded.span_of(range) }
    }

    /// A part of the text as a string of its own, with the place that such a string with its quotes would have.
    pub(crate) fn part(&self, range: Range<usize>) -> (JsonStr<'s>, Place) {
        let mut place = self.place(range);
        let inside = self.value.span().start + 1;
        let raw = (place.span.start - inside) as usize..(place.span.end - inside) as usize;
        place.span.start -= 1;
        place.span.end += 1;
        (self.string.slice(raw), place)
    }
}

/// A call between tags while it is read.
struct Block<'t> {
    tag: Range<usize>,
    /// What stands in it, without the space around.
    inside: &'t str,
    first: usize,
    is_closed: bool,
}

/// The calls between tags in a text, which belongs to the last message. Those that no program reads as they are meant are
/// added to the details of the transcript.
pub(crate) fn calls<'s>(value: Value<'_, 's>, transcript: &mut Transcript<'s>) -> Vec<Body<'s>> {
    let is_list = has_list(value);
    if !is_list && !value.as_json_str().is_some_and(|text| text.may_have(WORD)) {
        return Vec::new();
    }
    let Some(said) = MappedText::of(value) else { return Vec::new() };
    if is_list {
        return lists_in(said.text()).flat_map(|block| calls_of(&said, &block, transcript)).collect();
    }
    let mut found = Vec::new();
    let mut at = Position { next: 0, closing: find(said.text(), CLOSING) };
    while let Some(block) = at.next(said.text()) {
        found.extend(calls_of(&said, &block, transcript));
    }
    found
}

/// The calls in the JSON that follows a thought, or the call of Glaive's that the text is. LLaMA-Factory takes the thought out
/// and reads the rest (`FunctionFormatter` in `src/llamafactory/data/formatter.py`).
pub(crate) fn untagged_calls<'s>(value: Value<'_, 's>, transcript: &mut Transcript<'s>) -> Vec<Body<'s>> {
    let Some(said) = MappedText::of(value) else { return Vec::new() };
    let text = said.text();
    if is_quoted_call(text) {
        return vec![Body::Call(quoted_call(&said, 0..text.len()))];
    }
    let rest = text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    let Some(inside) = rest.map(|(_, rest)| rest.trim_start()) else { return Vec::new() };
    let first = text.len() - inside.len();
    let inside = inside.trim_end();
    if !inside.starts_with('{')
        && !inside.strip_prefix('[').is_some_and(|list| list.trim_start().starts_with('{'))
    {
        return Vec::new();
    }
    calls_of(&said, &Block { tag: first..first, inside, first, is_closed: true }, transcript)
}

/// Whether a text is a call as Glaive has it, and nothing else.
fn is_quoted_call(text: &str) -> bool {
    let given = || text.split_once("\"arguments\"")?.1.trim_start().strip_prefix(':');
    text.trim_start().starts_with('{')
        && given().is_some_and(|given| given.trim_start().starts_with('\''))
        && Document::read(text.as_bytes()).root().get_str("name").is_some()
}

/// The call at a place of a text: JSON, but its arguments may stand between single quotes, as Glaive has them.
pub(crate) fn quoted_call<'s>(said: &MappedText<'_, 's>, range: Range<usize>) -> Call<'s> {
    let text = &said.text()[range.clone()];
    let within = |inside: Range<usize>| range.start + inside.start..range.start + inside.end;
    let mut call = parts::call(None, None, None);
    // What comes after the name may be no JSON.
    let document = Document::read(text.as_bytes());
    call.name = document.root().get("name").and_then(|name| {
        let text = name.as_str()?.into_owned().into();
        Some(Named { text, place: said.place(within(name.span().range())), instead: None })
    });
    let quoted = text.split_once("\"arguments\"").and_then(|(before, rest)| {
        let start = before.len() + "\"arguments\"".len() + rest.len();
        let inside = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('\'')?;
        Some(start - inside.len()..text.rfind('\'')?).filter(|inside| inside.start <= inside.end)
    });
    let (arguments, is_read) = match (quoted, document.root().get("arguments")) {
        // What is escaped in Python is not what JSON has there.
        (Some(inside), _) => (inside.clone(), !text[inside].contains("\\'")),
        (None, Some(given)) if document.faults().is_empty() => (given.span().range(), given.is_object()),
        _ => (0..text.len(), true),
    };
    if is_read {
        let (string, place) = said.part(within(arguments));
        call.arguments = Arguments::Text(string, place);
    } else {
        call.kind = ToolKind::Custom;
    }
    call
}

/// The call in JSON at a place of a text.
pub(crate) fn call_at<'s>(said: &MappedText<'_, 's>, range: Range<usize>) -> Call<'s> {
    let inside = &said.text()[range.clone()];
    read(said, &Block { tag: range.start..range.start, inside, first: range.start, is_closed: true }).0
}

fn calls_of<'s>(
    said: &MappedText<'_, 's>,
    block: &Block<'_>,
    transcript: &mut Transcript<'s>,
) -> Vec<Body<'s>> {
    let message = transcript.messages.len().saturating_sub(1) as u32;
    let read = read_all(said, block).into_iter();
    read.map(|(call, malformation)| {
        if let Some(malformation) = malformation {
            let opening = said.place(block.tag.clone());
            let name = call.name.as_ref().filter(|name| !name.text.is_empty());
            let name = name.map(|name| name.text.clone().into_owned());
            let whole = said.place(block.tag.start..block.first + block.inside.len());
            let place = if malformation == Malformation::Unclosed { opening } else { whole };
            let found = MalformedTextCall { name, opening, malformation, place, message };
            transcript.details.malformed_text_calls.push(found);
        }
        Body::Call(call)
    })
    .collect()
}

struct Position {
    next: usize,
    /// The next closing tag, which is searched for only once.
    closing: Option<usize>,
}

/// The tags in the order of their constants.
static FINDERS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| [OPENING, CLOSING].map(Finder::new));

fn find(text: &str, tag: &str) -> Option<usize> {
    FINDERS[usize::from(tag == CLOSING)].find(text.as_bytes())
}

impl Position {
    fn next<'t>(&mut self, text: &'t str) -> Option<Block<'t>> {
        loop {
            let start = self.next + find(&text[self.next..], OPENING)?;
            let tag = start..start + OPENING.len();
            if self.closing.is_some_and(|closing| closing < tag.end) {
                self.closing = find(&text[tag.end..], CLOSING).map(|closing| tag.end + closing);
            }
            let end = self.closing.unwrap_or(text.len());
            // Another block may begin before this one is closed. In a string of the JSON the tag means nothing.
            let opened = find(&text[tag.end..end], OPENING).map(|opened| tag.end + opened);
            let again = opened.filter(|opened| is_json(text[tag.end..*opened].trim()));
            let end = again.unwrap_or(end);
            let inside = text[tag.end..end].trim_start();
            let first = end - inside.len();
            // Granite 3 has a list, and closes nothing.
            let is_closed = self.closing.is_some() && again.is_none() || inside.starts_with('[');
            // An empty block in a line of prose is a mention of the tags.
            let begins_line = || {
                let before = text[..tag.start].trim_end_matches([' ', '\t']);
                before.is_empty() || before.ends_with('\n') || before.ends_with(CLOSING)
            };
            // What follows the last of many mentions is read once, and not with each of them.
            if inside.starts_with('{')
                || opened.is_none() && is_list_of_calls(inside.trim_end())
                || inside.is_empty() && is_closed && begins_line()
            {
                self.next = end;
                return Some(Block { tag, inside: inside.trim_end(), first, is_closed });
            }
            // A mention of the tag: a block may begin before what closes it.
            self.next = tag.end;
        }
    }
}

fn is_json(text: &str) -> bool {
    text.starts_with('{') && Document::read(text.as_bytes()).faults().is_empty()
}

fn is_list_of_calls(text: &str) -> bool {
    if !text.starts_with('[') {
        return false;
    }
    let document = Document::read(text.as_bytes());
    let mut elements = document.root().elements().peekable();
    document.faults().is_empty()
        && elements.peek().is_some()
        && elements.all(|element| element.is_object() && element.has("name"))
}

/// Reads the calls of a block: mostly one, but some models write a list, or one object after another, which programs do not
/// read.
fn read_all<'s>(said: &MappedText<'_, 's>, block: &Block<'_>) -> Vec<(Call<'s>, Option<Malformation>)> {
    let part = |range: Range<usize>| Block {
        tag: block.tag.clone(),
        inside: &block.inside[range.clone()],
        first: block.first + range.start,
        is_closed: block.is_closed,
    };
    if block.inside.starts_with('[') {
        let document = Document::read(block.inside.as_bytes());
        if document.faults().is_empty() {
            return document.root().elements().map(|call| read(said, &part(call.span().range()))).collect();
        }
    }
    let objects = objects_in_row(block.inside);
    if objects.len() < 2 {
        return vec![read(said, block)];
    }
    let mut calls: Vec<_> = objects.into_iter().map(|object| read(said, &part(object))).collect();
    // One mistake, whatever else is wrong with each.
    calls.iter_mut().for_each(|(_, malformation)| *malformation = None);
    calls[0].1 = Some(Malformation::Json(SyntaxErrorKind::TrailingContent));
    calls
}

/// The objects of a text that is nothing but objects one after another; none if it is anything else.
pub(crate) fn objects_in_row(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let document = Document::read(&text.as_bytes()[at..]);
        let root = document.root();
        let is_followed =
            document.faults().iter().all(|fault| fault.kind == SyntaxErrorKind::TrailingContent);
        if !root.is_object() || !is_followed || found.len() == MOST_IN_ROW {
            return Vec::new();
        }
        let span = root.span().range();
        found.push(at + span.start..at + span.end);
        let rest = &text[at + span.end..];
        at = text.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', ',', ';']).len();
    }
    found
}

/// The most objects in one block. Each is read together with all after it.
const MOST_IN_ROW: usize = 16;

/// Reads the call of a block, and what is wrong with it apart from its JSON.
fn read<'s>(said: &MappedText<'_, 's>, block: &Block<'_>) -> (Call<'s>, Option<Malformation>) {
    let mut call = parts::call(None, None, None);
    if block.inside.is_empty() {
        return (call, Some(Malformation::Nameless));
    }
    let (json, first) = (block.inside, block.first);
    let document = Document::read(json.as_bytes());
    let in_text = |value: Value<'_, '_>| {
        let span = value.span().range();
        first + span.start..first + span.end
    };
    call.name = document.root().get_any(&["name", "tool_name"]).and_then(|name| {
        let text = name.as_str()?.into_owned();
        Some(Named { text: Cow::Owned(text), place: said.place(in_text(name)), instead: None })
    });
    if document.faults().iter().any(|fault| !fault.kind.is_in_text()) {
        // JSON with a fault, which is reported as that.
        let (string, place) = said.part(first..first + json.len());
        call.arguments = Arguments::Text(string, place);
        return (call, None);
    }
    let arguments = document.root().get_any(&ARGUMENTS);
    match arguments {
        Some(arguments) if arguments.is_object() => {
            let (string, place) = said.part(in_text(arguments));
            call.arguments = Arguments::Text(string, place);
        }
        None => {}
        // A text in the text.
        Some(_) => call.kind = ToolKind::Custom,
    }
    let malformation = if !block.is_closed {
        Some(Malformation::Unclosed)
    } else if call.name.as_ref().is_none_or(|name| name.text.is_empty()) {
        Some(Malformation::Nameless)
    } else {
        arguments.filter(|arguments| !arguments.has_key("arguments")).map(|_| Malformation::OtherKey)
    };
    (call, malformation)
}
