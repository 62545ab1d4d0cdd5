//! What is done where nothing shows what was meant, and told as what is lost: a block becomes text, and a setting goes.

use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::fix_style::{FixStyle, NO_CALL, says_something};
use toolcheck_core::ir::{Body, Part};
use toolcheck_core::shape::{Action, Kind, ShapeFault, ShapeFaultKind};
use toolcheck_core::text::{Counted, shorten};
use toolcheck_core::tools::rewritten;
use toolcheck_core::{RuleId, formats};
use toolcheck_json::edit::Piece;
use toolcheck_json::{Document, Kind as JsonKind, NodeId, Value};

use super::Refused;
use super::guesses::{LONGEST_WORD, MOST_KEYS, SAID, only_text};
use crate::rule::Context;

/// The longest block that becomes text.
const LONGEST: usize = 16 << 10;

/// How pictures begin in base64, and what they are.
const PICTURES: [(&str, &str); 4] =
    [("iVBOR", "png"), ("/9j/", "jpeg"), ("R0lGOD", "gif"), ("UklGR", "webp")];

/// A tool that is written as another API has it, or a block of which nothing is known.
pub(super) fn in_another_form(cx: &Context<'_, '_>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let is_nothing = |object: Value<'_, '_>| object.members().count() == refused.unknown.len();
    let object = cx.document.value(fault.object_node());
    let is_block = fault.object_kind() == Some(Kind::Content) && fault.alike.is_empty();
    if is_block && fault.kind == ShapeFaultKind::Missing && &*fault.key == "type" && is_nothing(object) {
        return of_block(cx, object.id());
    }
    let is_tool = fault.object_kind() == Some(Kind::Tool) && refused.rule != RuleId::InvalidToolSchema;
    (is_tool && is_of_form(fault)).then(|| tool(cx, object))?
}

/// Whether a fault may mean that an object is none of this API.
fn is_of_form(fault: &ShapeFault<'_>) -> bool {
    use ShapeFaultKind::{Missing, Type, Unknown};
    matches!(fault.kind, Missing | Type | Unknown) || fault.is_of_type() || &*fault.key == "type"
}

pub(super) fn of(cx: &Context<'_, '_>, model: Option<&str>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let (value, object) = (cx.document.value(fault.node()), cx.document.value(fault.object_node()));
    // What is to be moved or renamed is no mistake by itself, and a picture stays one.
    let told = fault.help(cx.known_shape()?, model).map(str::to_owned).or_else(|| fault.advice(cx.document));
    let is_known =
        told.is_some_and(|told| matches!(Action::of(&told), Some(Action::Rename(_) | Action::Move(_))));
    // What only other models have may be meant, and so may a tool of an API.
    let is_known = is_known
        || fault.kind == ShapeFaultKind::Unknown && fault.is_of_known_key()
        || fault.object_kind() == Some(Kind::Tool) && fault.is_of_type();
    if is_known || refused.rule == RuleId::UnsupportedMedia || !fault.alike.is_empty() {
        return None;
    }
    let request = &cx.transcript.request;
    let choice = request.tool_choice.as_ref().filter(|choice| choice.place.span.contains(object.span()));
    if let Some(choice) = choice {
        return left_out(cx, cx.document.value(choice.place.node));
    }
    let is_said = || {
        let mut messages = cx.transcript.messages.iter().map(|message| message.place.span);
        messages.any(|span| span.contains(object.span()))
            || request.tools.place.is_some_and(|tools| tools.span.contains(object.span()))
    };
    let is_form = is_of_form(fault);
    match fault.object_kind() {
        // What a block has besides is less than the block.
        Some(Kind::Content)
            if is_form && (fault.kind != ShapeFaultKind::Unknown || refused.is_all_unknown()) =>
        {
            of_block(cx, object.id())
        }
        Some(Kind::Message) if fault.kind == ShapeFaultKind::Type => joined(fault, value),
        Some(Kind::Message) if &*fault.key == "role" && fault.kind == ShapeFaultKind::Missing => {
            let add = Change::Add(object.id(), "role".to_owned(), "\"user\"".to_owned());
            Some(Fix::guess("assumes that the user says it", [add]))
        }
        _ => None,
    }
    .or_else(|| missing_in_schema(cx, refused))
    .or_else(|| {
        let is_left = fault.kind == ShapeFaultKind::Unknown
            || fault.kind != ShapeFaultKind::Missing && &*fault.key != "type" && fault.may_be_missing();
        let is_short = value.raw().len() <= LONGEST_WORD && value.children().next().is_none();
        let is_part = matches!(fault.object_kind(), Some(Kind::Message | Kind::ToolCall | Kind::Content));
        match is_left {
            true if is_short || !is_part => left_out(cx, value),
            true => is_form.then(|| of_block(cx, object.id()))?,
            false => left_out(cx, object).filter(|_| object.raw().len() <= LONGEST_WORD && !is_said()),
        }
    })
}

/// A tool in another form.
pub(super) fn tool(cx: &Context<'_, '_>, tool: Value<'_, '_>) -> Option<Fix> {
    let json = rewritten(tool, style(cx)?.tool)?;
    let guess = "assumes that the tool is no more than its name, description and schema";
    let lost = "what else is in the definition of the tool than its name, description and schema";
    Some(Fix::or_lossy(guess, lost, [Change::Write(tool.id(), json)]))
}

/// The tools of a list in which some are in a form that is not read.
pub(crate) fn tools(cx: &Context<'_, '_>, list: NodeId) -> Option<Fix> {
    let fixes = cx.document.value(list).elements().take(MOST_KEYS).filter_map(|one| tool(cx, one));
    fixes.map(Some).reduce(|one, other| one?.and(other?)).flatten()
}

/// A member that is left out, unless it says something to the model, or is of what the model said.
pub(crate) fn left_out(cx: &Context<'_, '_>, value: Value<'_, '_>) -> Option<Fix> {
    let (key, transcript) = (value.key_text()?, cx.transcript);
    let tools = transcript.request.tools.place;
    let read = || transcript.messages.iter().map(|message| message.place).chain(tools);
    let around = cx.document.root().members().find(|member| member.span().contains(value.span()));
    let around = around.filter(|around| !read().any(|place| around.span().contains(place.span)));
    let holds_some = read().any(|place| value.span().contains(place.span));
    let is_in_prompt = around.and_then(Value::key_text).is_some_and(|key| says_something(&key));
    let is_said = |part: &Part<'_>| match &part.body {
        Body::Empty => false,
        Body::Call(call) if call.arguments.place().is_some_and(|own| own.span.contains(value.span())) => true,
        Body::Media if part.place.span.contains(value.span()) => true,
        _ => value.span().contains(part.place.span),
    };
    if holds_some || is_in_prompt || says_something(&key) || transcript.parts.iter().any(is_said) {
        return None;
    }
    let lost = format!("`{}` with its value ({})", shorten(&key), Counted(value.raw().len(), "byte"));
    Some(Fix::or_lossy(format!("assumes that {lost} is not needed"), lost, [Change::Remove(value.id())]))
}

/// What a schema has to say, and does not: that it is one of an object, or what is told.
fn missing_in_schema(cx: &Context<'_, '_>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let (schema, value) = (cx.document.value(fault.object_node()), cx.document.value(fault.node()));
    let is_type = &*fault.key == "type" && schema.has_object("properties");
    let is_missing = fault.kind == ShapeFaultKind::Missing;
    if refused.rule != RuleId::InvalidToolSchema || !fault.alike.is_empty() || !is_missing && !value.is_null()
    {
        return None;
    }
    let told = fault.advice(cx.document)?;
    let json = match Action::of(&told) {
        _ if is_type && (told.contains("STRING") || told.contains("OBJECT")) => "\"OBJECT\"",
        _ if is_type => "\"object\"",
        Some(Action::Add { json, .. }) => json,
        _ => return None,
    };
    let change = match is_missing {
        true => Change::Add(schema.id(), fault.key.to_string(), json.to_owned()),
        false => Change::Write(value.id(), json.to_owned()),
    };
    (!json.contains('\u{2026}')).then(|| Fix::guess(format!("assumes that {json} was meant"), [change]))
}

/// A list of blocks where a message has one text.
fn joined(fault: &ShapeFault<'_>, content: Value<'_, '_>) -> Option<Fix> {
    let takes = |json: &str| fault.expects(Document::read(json.as_bytes()).root());
    let is_short = content.raw().len() <= LONGEST && content.elements().next().is_some();
    let has_picture = || content.elements().any(|block| found(block, 0).is_some());
    if !takes("\"\"") || takes("[]") || !is_short || has_picture() {
        return None;
    }
    let texts = content.elements().map(|block| match only_text(block).and_then(Value::as_str) {
        Some(text) => text.into_owned(),
        None => String::from_utf8_lossy(block.raw()).into_owned(),
    });
    let text = serde_json::Value::from(texts.collect::<Vec<_>>().join("\n\n")).to_string();
    let lost = "what kinds of blocks they are (they become one text)";
    Some(Fix::or_lossy("the blocks become one text", lost, [Change::Write(content.id(), text)]))
}

/// A block that the API does not take: a picture as it has them, or text.
pub(crate) fn of_block(cx: &Context<'_, '_>, node: NodeId) -> Option<Fix> {
    let block = cx.document.value(node);
    // What says a picture is no text.
    let is_element = block.key_text().is_none()
        && block.is_object()
        && block.raw().len() <= LONGEST
        && found(block, 0).is_none();
    let picture = || picture(cx, block).or_else(|| unread_block(cx, block, true));
    picture().or_else(|| {
        let text = is_element.then(|| as_text(cx, block))??;
        let lost = "what kind of block it is (it becomes text)";
        Some(Fix::or_lossy("the block becomes text", lost, [Change::Write(block.id(), text)]))
    })
}

fn style(cx: &Context<'_, '_>) -> Option<&'static FixStyle> {
    Some(formats::find(cx.transcript.format?.id)?.fix_style)
}

/// What a block says: its only text, or all of it.
fn as_text(cx: &Context<'_, '_>, block: Value<'_, '_>) -> Option<String> {
    let is_said = |member: &Value<'_, '_>| !matches!(member.key_text().as_deref(), Some("type" | "kind"));
    let mut members = block.members().filter(is_said);
    let only = members.next().filter(|_| members.next().is_none());
    let text = only.filter(|only| only.is_string());
    let text = text.map(|text| text.raw().to_vec());
    (style(cx)?.text)(Piece::Raw(text.unwrap_or_else(|| whole(block)))).json()
}

/// A picture in the form of another API.
pub(super) fn picture(cx: &Context<'_, '_>, block: Value<'_, '_>) -> Option<Fix> {
    let template = style(cx)?.picture.filter(|_| block.is_object() && block.key_text().is_none())?;
    let (kind, data) = found(block, 0)?;
    let json = template.replace("KIND", kind).replace("DATA", data);
    let is_same = json.len() == block.raw().len() && json.as_bytes() == block.raw();
    let (guess, lost) = ("assumes that the block is a picture", "what else the block says than its picture");
    (!is_same).then(|| Fix::or_lossy(guess, lost, [Change::Write(block.id(), json)]))
}

/// The data of the only picture in a value.
fn found<'s>(value: Value<'_, 's>, depth: usize) -> Option<(&'static str, &'s str)> {
    if value.kind() != JsonKind::String {
        return value
            .children()
            .take(MOST_KEYS)
            .filter(|_| depth < 4)
            .find_map(|inner| found(inner, depth + 1));
    }
    let text = std::str::from_utf8(value.raw()).ok()?.trim_matches('"');
    let data = text.split_once(";base64,").map_or(text, |(_, data)| data);
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let (_, kind) = PICTURES.iter().find(|(start, _)| data.starts_with(start))?;
    (data.len() > LONGEST_WORD && data.bytes().all(is_base64)).then_some((*kind, data))
}

/// Whether an object may be a call in any form: it has a name, and an object besides.
pub(crate) fn names_a_call(value: Value<'_, '_>) -> bool {
    let is_name = |member: Value<'_, '_>| {
        let is_own = |key: &str| key.ends_with("name") || key.ends_with("Name");
        member.key_text().is_some_and(|key| is_own(&key)) && member.is_string()
    };
    let mut members = value.members().take(MOST_KEYS);
    members.clone().any(is_name) && members.any(Value::is_object)
}

/// A call or a result in a form that nobody can tell, as text. What names a tool may also have another fix: `may_be_named`.
pub(super) fn unread_block(cx: &Context<'_, '_>, block: Value<'_, '_>, may_be_named: bool) -> Option<Fix> {
    let only = block.members().next().filter(|member| member.is_object() && block.members().count() == 1);
    let (mut id, mut name, mut said) = (None, None, None);
    for member in only.unwrap_or(block).members().take(MOST_KEYS).filter(|member| !member.is_null()) {
        match &*member.key_text()? {
            key if key.ends_with("id") || key.ends_with("Id") => id = member.as_str(),
            key if SAID.contains(&key) && said.is_none() => said = only_text(member),
            key if key.ends_with("name") || key.ends_with("Name") => name = member.as_str(),
            _ => {}
        }
    }
    let (id, fix_style) = (id?, style(cx).filter(|fix_style| fix_style.blocks.is_some())?);
    let is_read = || cx.pairing.calls.iter().any(|site| site.part.place.node == block.id());
    let is_known = || {
        let mut ids = cx.pairing.calls.iter().filter_map(|site| site.call.id.as_ref());
        ids.any(|own| own.text == id)
    };
    let (what, head, text) = match (said, name) {
        (Some(said), name) if (may_be_named || name.is_none()) && !is_known() => {
            ("result", format!("[result of tool call {id}, {NO_CALL}]\n"), said.raw().to_vec())
        }
        (None, Some(name)) if may_be_named && !is_read() && block.raw().len() <= LONGEST => {
            ("call", format!("[call of tool {name}, which could not be read]\n"), whole(block))
        }
        _ => return None,
    };
    let head = serde_json::Value::from(head).to_string();
    let text = [head.strip_suffix('"')?.as_bytes(), text.strip_prefix(b"\"")?].concat();
    let json = (fix_style.text)(Piece::Raw(text)).json()?;
    let lost = format!("the fact that it is a {what} (it becomes text)");
    Some(Fix::or_lossy(format!("the {what} becomes text"), lost, [Change::Write(block.id(), json)]))
}

/// The JSON of a value, in a string.
fn whole(value: Value<'_, '_>) -> Vec<u8> {
    serde_json::Value::from(String::from_utf8_lossy(value.raw())).to_string().into_bytes()
}
