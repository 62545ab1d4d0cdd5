//! What else may fix a fault of the shape, where the description of the format leaves no way: most of it is a guess, which
//! is kept only where the request is better with it.

use foldhash::HashSet;
use toolcheck_core::fix::{Change, Cost, Fix};
use toolcheck_core::ir::{Body, Executor, Part, Role};
use toolcheck_core::shape::{Action, Detail, JsonType, Kind, ShapeFault, ShapeFaultKind};
use toolcheck_core::text::{Counted, shorten};
use toolcheck_core::{RuleId, formats};
use toolcheck_json::edit::Piece;
use toolcheck_json::{Document, Kind as JsonKind, NodeId, Value};

use super::Refused;
use super::last;
use super::required::required_above;
use super::translated;
use crate::rule::Context;

/// The most members of an object that are looked at.
pub(super) const MOST_KEYS: usize = 64;

/// The types of JSON Schema.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// What may fix a fault.
pub(super) fn of(cx: &Context<'_, '_>, model: Option<&str>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let is_key = fault.kind == ShapeFaultKind::Unknown && fault.object_kind() == Some(Kind::Message);
    let message = || is_key.then(|| translated(cx, fault.object_node(), None)).flatten();
    let others = || message().or_else(|| own(cx, model, refused)).or_else(|| as_advised(cx, model, refused));
    split(cx, refused).or_else(|| fault.alike.is_empty().then(others)?)
}

fn own(cx: &Context<'_, '_>, model: Option<&str>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let object = cx.document.value(fault.node());
    if refused.rule == RuleId::InvalidValue && object.key_text().is_none() && says_nothing(object) {
        return Some(Fix::guess("an object that says nothing is removed", [Change::Remove(object.id())]));
    }
    let lacks_name = fault.kind == ShapeFaultKind::Missing && &*fault.key == "name";
    let named = || tool_name(cx, fault.object_kind(), fault.object_node(), lacks_name);
    match (&fault.detail, fault.kind) {
        (_, ShapeFaultKind::Missing) => missing(cx, refused).or_else(named),
        // A property of a tool that is no schema.
        (Detail::Types { .. }, _)
            if refused.rule == RuleId::InvalidToolSchema && fault.key.ends_with("{}") =>
        {
            let value = cx.document.value(fault.node());
            // The name of a type is meant to be one.
            if let Some(name) = value.as_str().filter(|name| TYPES.contains(&&**name)) {
                return Some(Fix::safe([Change::Write(value.id(), format!("{{\"type\": \"{name}\"}}"))]));
            }
            let key = shorten(&value.key_text()?).into_owned();
            let guess = format!("assumes that the property `{key}`, which is no schema, is not needed");
            Some(Fix::guess(guess, [Change::Remove(value.id())]))
        }
        (Detail::Types { got, .. }, _) => of_type(cx, refused, *got == JsonType::Null).or_else(named),
        (Detail::Values { allowed, .. }, _) => of_value(cx, model, refused, allowed),
        (_, ShapeFaultKind::Value) => of_value(cx, model, refused, &[]),
        // A second document of a name.
        (_, ShapeFaultKind::Unique) if fault.key == "name" => {
            let value = cx.document.value(fault.node());
            let json = serde_json::Value::from(format!("{}-2", value.as_str()?)).to_string();
            Some(Fix::guess("the second gets another name", [Change::Write(value.id(), json)]))
        }
        (_, ShapeFaultKind::Unknown) => unknown(cx, model, refused).or_else(named),
        _ => None,
    }
}

/// Whether an object has only keys without a value.
pub(super) fn says_nothing(object: Value<'_, '_>) -> bool {
    let is_nothing = |member: Value<'_, '_>| matches!(member.kind(), JsonKind::Null | JsonKind::Bool);
    object.is_object() && object.members().all(is_nothing)
}

/// A message of the user in which the model calls tools: what follows the first call becomes one of the model, up to the
/// results.
fn split(cx: &Context<'_, '_>, refused: &Refused<'_>) -> Option<Fix> {
    if refused.rule != RuleId::UnknownContentType || !cx.is_request() {
        return None;
    }
    let messages = &cx.transcript.messages;
    let fix_style = formats::find(cx.transcript.format?.id)?.fix_style;
    let answer = messages.iter().find(|message| message.role == Role::Assistant);
    let role = answer.and_then(|answer| cx.document.value(answer.place.node).get_str("role"));
    let model = serde_json::Value::from(role.as_deref().unwrap_or("assistant")).to_string();
    let node = refused.fault.object_node();
    let number = messages.partition_point(|message| message.place.node < node).checked_sub(1)?;
    let message = &messages[number];
    let parts = cx.transcript.parts_of(message);
    let is_call = |part: &Part<'_>| matches!(part.body, Body::Call(_));
    let called = parts.iter().position(is_call)?;
    let is_result = |part: &&Part<'_>| matches!(part.body, Body::Result(_));
    let mut answers = parts[called..].iter().skip_while(|part| !is_result(part)).peekable();
    let object = cx.document.value(message.place.node);
    let blocks: Vec<Value<'_, '_>> = object.get(fix_style.blocks?)?.elements().collect();
    let ahead_of =
        |part: &Part<'_>| blocks.partition_point(|block| block.span().end <= part.place.span.start);
    let said = ahead_of(&parts[called]);
    let until = answers.peek().map_or(said, |first| ahead_of(first));
    if message.role != Role::User || answers.any(is_call) {
        return None;
    }
    let written = |blocks: &[Value<'_, '_>]| {
        let pieces = blocks.iter().map(|block| Piece::Raw(block.raw().to_vec())).collect();
        // No string has a line end in it.
        Some((fix_style.user)(pieces).json()?.replace(['\n', '\r'], ""))
    };
    let mut before = if said > 0 { vec![written(&blocks[..said])?] } else { Vec::new() };
    let mut changes: Vec<Change> = blocks[..until].iter().map(|block| Change::Remove(block.id())).collect();
    // Its results are of the user.
    match until > said {
        true => before.push(written(&blocks[said..until])?.replacen("\"user\"", &model, 1)),
        false => changes.push(Change::Write(object.get("role")?.id(), model)),
    }
    if !before.is_empty() {
        changes.insert(0, Change::Before(object.id(), before.join(", ")));
    }
    Some(Fix::guess("assumes that the model said what follows its call", changes))
}

fn adds(told: &str) -> bool {
    matches!(Action::of(told), Some(Action::Add { .. }))
}

/// Whether a value is what a tool of the provider has said, which nobody can make up.
fn is_of_server(cx: &Context<'_, '_>, value: Value<'_, '_>) -> bool {
    let parts = &cx.transcript.parts;
    let after = parts.partition_point(|part| part.place.node <= value.id());
    let part = after.checked_sub(1).map(|number| &parts[number]);
    part.is_some_and(|part| {
        matches!(&part.body, Body::Result(result) if result.executor == Executor::Server)
            && part.place.node != value.id()
            && part.place.span.contains(value.span())
    })
}

/// What the advice says, if it leaves only one way, or the nearest number that there may be.
fn as_advised(cx: &Context<'_, '_>, model: Option<&str>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let value = cx.document.value(fault.node());
    // Another type wants other keys, and what a schema lacks may be anything.
    let is_missing = fault.kind == ShapeFaultKind::Missing;
    let is_schema = refused.rule == RuleId::InvalidToolSchema && is_missing;
    // A block is what its other keys say that it is.
    let says_more = || {
        let mut members = cx.document.value(fault.object_node()).members().take(MOST_KEYS);
        fault.object_kind() == Some(Kind::Content) && members.any(|member| member.children().next().is_some())
    };
    if fault.is_of_type() && !is_missing || is_schema || is_missing && says_more() || is_of_server(cx, value)
    {
        return None;
    }
    let mut key = fault.key.to_string();
    let json = if let Detail::Limit { min, max, is_low, .. } = &fault.detail {
        let told = fault.help(cx.known_shape()?, model).and_then(Action::of);
        if told == Some(Action::LeaveOut(Some(&fault.key))) && fault.is_of_request() {
            return last::left_out(cx, value);
        }
        let nearest = if *is_low { min } else { max };
        nearest.clone().filter(|_| value.kind() == JsonKind::Number)?
    } else {
        let added = fault.instead(cx.document).filter(|told| adds(told));
        let told = added.or_else(|| fault.help(cx.known_shape()?, model)).map(str::to_owned);
        let told = told.or_else(|| fault.advice(cx.document))?;
        match (Action::of(&told)?, is_missing) {
            (Action::Add { key: told_key, json }, true) => {
                key = told_key.to_owned();
                json.to_owned()
            }
            (Action::WriteAs(json), false) => json.to_owned(),
            (Action::Use(word), false) => format!("\"{word}\""),
            _ => return None,
        }
    };
    // What has properties is an object.
    let has_properties = cx.document.value(fault.object_node()).has("properties");
    let json = match &*json {
        "\"STRING\"" if has_properties => "\"OBJECT\"".to_owned(),
        _ => json,
    };
    let read = Document::read(json.as_bytes());
    let is_whole = read.faults().is_empty() && read.root().raw().len() == json.len();
    let change = match is_missing {
        true => Change::Add(fault.object_node(), key.clone(), json.clone()),
        false => Change::Write(value.id(), json.clone()),
    };
    (is_whole && !json.contains(['\u{2026}', '`']))
        .then(|| Fix::guess(format!("assumes that {json} was meant"), [change]))
}

/// What a message says that was empty.
pub(crate) const EMPTY: &str = "[This message was empty.]";

fn assumed(key: &str) -> String {
    format!("assumes that `{}` was meant", shorten(key))
}

/// A key that is missing and may be there under another name.
fn missing(cx: &Context<'_, '_>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let object = cx.document.value(fault.object_node());
    let rename = |node: NodeId, key: &str| [Change::Rename(node, key.to_owned())];
    // What is written for another list stands in this one.
    if let Some(told) = fault.instead(cx.document).filter(|told| !adds(told))
        && let Some(list) =
            cx.document.root().members().take(MOST_KEYS).find(|list| list.span().contains(object.span()))
        && let Some(fix) = as_told(cx.document.root(), list, told)
    {
        return Some(fix);
    }
    let says = |node: &NodeId| !cx.document.value(*node).is_null();
    let mut near =
        refused.unknown.iter().filter(|other| other.is_near && other.means.as_deref() == Some(&*fault.key));
    if let (Some(only), None) = (near.next(), near.next()) {
        return Some(Fix::safe(rename(only.node, &fault.key)));
    }
    // Whatever type the arguments of a call have, they are those.
    let is_passed = fault.checked_by().any(|(_, rule)| rule == RuleId::WrongArgumentsType);
    if let ([only], true) = (&refused.unknown[..], is_passed) {
        return Some(Fix::guess(assumed(&fault.key), rename(only.node, &fault.key)));
    }
    let members =
        || object.members().take(MOST_KEYS).filter(|member| says(&member.id()) && fault.takes(*member));
    let is_named =
        |member: &Value<'_, '_>| member.key_text().is_some_and(|key| ends_with_word(&key, &fault.key));
    let is_said = |member: &Value<'_, '_>| {
        SAID.contains(&&*fault.key) && member.key_text().is_some_and(|key| SAID.contains(&&*key))
    };
    let only = |is: &dyn Fn(&Value<'_, '_>) -> bool| {
        let mut found = members().filter(is);
        found.next().filter(|_| found.next().is_none())
    };
    if let Some(only) = only(&is_named).or_else(|| only(&is_said)) {
        return Some(Fix::guess(assumed(&fault.key), rename(only.id(), &fault.key)));
    }
    let takes = |json: &str| fault.takes(Document::read(json.as_bytes()).root());
    (takes("\"\"") && (takes("[]") || &*fault.key == "text")).then(|| said_nothing(cx, fault, None))?
}

/// The keys of what somebody or a tool said.
pub(super) const SAID: [&str; 6] = ["content", "output", "response", "result", "text", "value"];

/// Whether the last word of a key is another key.
fn ends_with_word(key: &str, word: &str) -> bool {
    let before = key.to_ascii_lowercase().strip_suffix(&word.to_ascii_lowercase()).map(str::len);
    let is_id = word == "id" || word.ends_with("_id") || word.ends_with("Id");
    before.filter(|before| *before > 0 && !is_id).is_some_and(|before| {
        key[..before].ends_with(['_', '-'])
            || key[before..].starts_with(|first: char| first.is_ascii_uppercase())
    })
}

/// A message without content that says so.
fn said_nothing(cx: &Context<'_, '_>, fault: &ShapeFault<'_>, value: Option<NodeId>) -> Option<Fix> {
    let json = serde_json::Value::from(EMPTY).to_string();
    let change = |node: NodeId| match value {
        Some(value) => Change::Write(value, json.clone()),
        None => Change::Add(node, fault.key.to_string(), json.clone()),
    };
    let node = fault.object_node();
    if fault.object_kind() == Some(Kind::Content) && &*fault.key == "text" {
        return Some(Fix::guess("a text that is missing says that there was none", [change(node)]));
    }
    if fault.object_kind() != Some(Kind::Message) {
        return None;
    }
    let messages = &cx.transcript.messages;
    let own = messages.get(messages.partition_point(|message| message.place.node < node));
    let Some(message) = own.filter(|message| message.place.node == node) else {
        // It is a part of another, which says more.
        let says_more = |member: Value<'_, '_>| !member.has_key("role") && !member.has_key("type");
        let is_empty = !cx.document.value(node).members().any(says_more);
        return is_empty.then(|| Fix::guess("an empty message is removed", [Change::Remove(node)]));
    };
    let is_said = matches!(message.role, Role::User | Role::Assistant);
    let has_content = cx.transcript.parts_of(message).iter().any(|part| !matches!(part.body, Body::Empty));
    let guess = "an empty message is given a text that says that it was empty";
    (is_said && !has_content).then(|| Fix::guess(guess, [change(node)]))
}

/// A value of another type than the one that is expected.
fn of_type(cx: &Context<'_, '_>, refused: &Refused<'_>, is_null: bool) -> Option<Fix> {
    let fault = &refused.fault;
    let value = cx.document.value(fault.node());
    let node = value.id();
    let expects = |json: &str| fault.expects(Document::read(json.as_bytes()).root());
    let write = |json: &str| [Change::Write(node, json.to_owned())];
    let is_empty = value.as_json_str().is_none() && value.children().next().is_none();
    let mut members = cx.document.value(fault.object_node()).members().take(MOST_KEYS);
    if is_empty && members.any(|other| other.has_key(&fault.key) && fault.expects(other)) {
        let guess = "assumes that the other value of the key was meant";
        return Some(Fix::guess(guess, [Change::Remove(node)]));
    }
    let is_schema = refused.rule == RuleId::InvalidToolSchema;
    if is_schema && matches!(value.raw(), b"null" | b"[]") && expects("{}") {
        return Some(Fix::guess("assumes that there is nothing in it", write("{}")));
    }
    if is_null {
        if fault.checked_by().any(|(_, rule)| rule == RuleId::WrongArgumentsType) {
            return Some(Fix::safe(write(if expects("{}") { "{}" } else { "\"{}\"" })));
        }
        let may_be_text = expects("\"\"") && (expects("[]") || &*fault.key == "text");
        return may_be_text.then(|| said_nothing(cx, fault, Some(node)))?;
    }
    let is_list = expects("[]") && !expects("{}") && fault.holds_objects();
    match value.kind() {
        JsonKind::Object
            if is_list && (!fault.is_of_request() || value.get_any(&["type", "name"]).is_some()) =>
        {
            let guess = "assumes that the object is the only one of the list";
            Some(Fix::guess(guess, [Change::Wrap(node)]))
        }
        JsonKind::String if expects("{}") || expects("[]") => {
            let text = value.as_str()?;
            // As Python prints an object.
            let is_printed = text.starts_with("{'") && !text.contains('"');
            let words = [("'", "\""), (": True", ": true"), (": False", ": false"), (": None", ": null")];
            let words = words.iter().filter(|_| is_printed);
            let text = words.fold(text, |text, (from, to)| text.replace(from, to).into());
            let inner = Document::read(text.as_bytes());
            // Half a character is a fault of its own.
            let is_json = inner.faults().iter().all(|fault| fault.kind.is_in_text());
            let is_only = is_list && inner.root().is_object();
            let is_wanted =
                inner.root().is_object() && expects("{}") || inner.root().is_array() && expects("[]");
            // No string has a line end in it.
            let json = text.trim().replace(['\n', '\r'], "");
            let json = if is_only { format!("[{json}]") } else { json };
            if is_json && (is_wanted || is_only) {
                let guess = "assumes that the text is an object as Python prints it".to_owned();
                let mut fix = Fix::safe(write(&json));
                fix.cost = is_printed.then_some(Cost::Guess(guess));
                return Some(fix);
            }
            let is_list = is_schema && fault.may_be_missing();
            let guess = format!("assumes that `{}` is not needed", shorten(&fault.key));
            is_list.then(|| Fix::guess(guess, [Change::Remove(node)]))
        }
        JsonKind::String if expects("true") => {
            let text = value.as_str()?.trim().to_ascii_lowercase();
            let is_key = || fault.key.to_ascii_lowercase().split('_').any(|word| word == text);
            let meant = match &*text {
                "yes" | "on" => "true",
                "no" | "off" => "false",
                _ if is_key() => "true",
                _ => return None,
            };
            Some(Fix::guess(format!("assumes that the text means `{meant}`"), write(meant)))
        }
        JsonKind::Bool if is_schema => required_above(cx.document.root(), value),
        JsonKind::Bool if value.raw() == b"true" => {
            let told = fault.advice(cx.document)?;
            let Some(Action::WriteAs(meant)) = Action::of(&told) else { return None };
            (meant.starts_with('"') && !meant.contains('\u{2026}'))
                .then(|| Fix::guess(format!("assumes that `true` means {meant}"), write(meant)))
        }
        _ => None,
    }
}

/// A block or a list with one text, where only a text may be.
pub(super) fn text_alone(document: &Document<'_>, fault: &ShapeFault<'_>) -> Option<Fix> {
    let expects = |json: &str| fault.expects(Document::read(json.as_bytes()).root());
    let is_text = expects("\"\"") && !expects("[]") && !expects("{}") && fault.alike.is_empty();
    let value = document.value(fault.node());
    let text = only_text(value).filter(|text| is_text && text.id() != value.id())?;
    Some(Fix::safe([Change::Lift(value.id(), text.id())]))
}

/// The only text in lists of one element.
pub(crate) fn only_text<'d, 's>(mut value: Value<'d, 's>) -> Option<Value<'d, 's>> {
    for _ in 0..4 {
        let mut inner = value.children();
        value = match value.kind() {
            JsonKind::String => return Some(value),
            JsonKind::Array => inner.next().filter(|_| inner.next().is_none())?,
            JsonKind::Object => {
                let is_kind = value.has("type");
                let text = value.get_any(&["text", "value"])?;
                (value.members().count() == 1 + usize::from(is_kind)).then_some(text)?
            }
            _ => return None,
        };
    }
    None
}

/// A value that is none of those that there may be.
fn of_value(
    cx: &Context<'_, '_>,
    model: Option<&str>,
    refused: &Refused<'_>,
    allowed: &[&str],
) -> Option<Fix> {
    let fault = &refused.fault;
    let value = cx.document.value(fault.node());
    let got = value.as_str().unwrap_or_default();
    let write = |json: String| [Change::Write(value.id(), json)];
    let text = got.trim().to_ascii_lowercase();
    let is_taken = || fault.takes(Document::read(text.as_bytes()).root());
    // What is allowed and not there as a text is none.
    if matches!(&*text, "true" | "false") && (allowed.contains(&&*text) || is_taken()) {
        return Some(Fix::safe(write(text)));
    }
    // Of what to do, the first is to write another, or to leave it out.
    let shape = cx.known_shape()?;
    let told = fault.help(shape, model).map(str::to_owned).or_else(|| fault.advice(cx.document))?;
    let is_beside = matches!(fault.object_kind(), Some(Kind::Message | Kind::Content)) && !fault.is_of_type();
    let lost = format!("`{}` with its value ({})", shorten(&fault.key), Counted(value.raw().len(), "byte"));
    let change = [Change::Remove(value.id())];
    match Action::of(&told) {
        Some(Action::Write(meant)) => {
            let guess = format!("assumes that `{}` was meant to be `{meant}`", shorten(&got));
            let is_known = allowed.is_empty() || allowed.contains(&meant);
            return (is_known && value.is_string()).then(|| Fix::guess(guess, write(format!("\"{meant}\""))));
        }
        Some(Action::LeaveOut(Some(key))) if key == fault.key => {
            return Some(Fix::guess(format!("assumes that {lost} is not needed"), change));
        }
        Some(Action::LeaveOut(None)) if fault.may_be_missing() => return Some(Fix::lossy(lost, change)),
        _ => {}
    }
    // A word that says how it is; whether a result failed is more than that.
    let is_word = value.is_string() && value.raw().len() <= LONGEST_WORD;
    if !(is_beside && is_word && fault.may_be_missing() && refused.rule == RuleId::InvalidValue) {
        return None;
    }
    let parts = &cx.transcript.parts;
    let after = parts.partition_point(|part| part.place.node <= fault.object_node());
    let part = after.checked_sub(1).map(|number| &parts[number].body);
    let has_failed = matches!(part, Some(Body::Result(result)) if result.is_error == Some(true));
    Some(match has_failed {
        true => Fix::lossy(lost, change),
        false => Fix::guess(format!("assumes that {lost} is not needed"), change),
    })
}

/// The longest word that may be left out, with its quotes.
pub(super) const LONGEST_WORD: usize = 64;

/// A key that there is not.
fn unknown(cx: &Context<'_, '_>, model: Option<&str>, refused: &Refused<'_>) -> Option<Fix> {
    let fault = &refused.fault;
    let object = cx.document.value(fault.object_node());
    if refused.is_all_unknown() || object.members().count() > 1 && fault.object_kind() == Some(Kind::Content)
    {
        return None;
    }
    let value = cx.document.value(fault.node());
    // The other key may count something else.
    if let Some(Action::Rename(Some(key))) =
        cx.known_shape().and_then(|shape| Action::of(fault.help(shape, model)?))
    {
        return match object.get(key) {
            None => Some(Fix::guess(assumed(key), [Change::Rename(value.id(), key.to_owned())])),
            Some(same) if same.raw() == value.raw() => Some(Fix::safe([Change::Remove(value.id())])),
            Some(_) => last::left_out(cx, value),
        };
    }
    let is_only = object.members().count() == 1 && object.key_text().is_some();
    if value.is_null() && is_only {
        return Some(Fix::safe([Change::Remove(value.id())]));
    }
    let told = fault.advice(cx.document).filter(|_| fault.is_of_request() && value.is_array())?;
    as_told(object, value, &told)
}

/// A member under the only other key that is named in what to do.
fn as_told(object: Value<'_, '_>, member: Value<'_, '_>, told: &str) -> Option<Fix> {
    let mut names = told.split('`').skip(1).step_by(2);
    let (Some(only), None) = (names.next(), names.next()) else { return None };
    let is_free = !member.has_key(only) && object.get(only).is_none();
    is_free.then(|| Fix::guess(assumed(only), [Change::Rename(member.id(), only.to_owned())]))
}

/// The most calls that are looked at for the name of a tool.
const MOST_CALLS: usize = 256;

/// The name of a tool that has none, if the model called only one that is not declared, or of a call or a result, if there
/// is only one tool.
pub(crate) fn tool_name(
    cx: &Context<'_, '_>,
    kind: Option<Kind>,
    node: NodeId,
    lacks_name: bool,
) -> Option<Fix> {
    let tools = &cx.transcript.request.tools;
    let object = cx.document.value(node);
    let is_of_tool =
        tools.place.is_some_and(|place| place.span.contains(object.span())) || kind == Some(Kind::Tool);
    let around = std::iter::once(object).chain(object.members().take(MOST_KEYS));
    let says_none = |name: &Value<'_, '_>| {
        name.is_null() || name.as_json_str().is_some_and(toolcheck_json::JsonStr::is_blank)
    };
    let name = around.clone().find_map(|value| value.get("name").filter(says_none));
    // Of very many, nobody knows.
    let is_many = tools.listed().len() > MOST_KEYS || cx.pairing.calls.len() > MOST_CALLS;
    if is_many || name.is_none() && !lacks_name {
        return None;
    }
    let declared = tools.declared().filter_map(|tool| tool.name.as_ref()).map(|name| &*name.text);
    let declared: HashSet<&str> = declared.filter(|name| !name.is_empty()).collect();
    let called = cx.pairing.calls.iter().filter_map(|site| site.call.name.as_ref()).map(|name| &*name.text);
    let called = called.filter(|name| !name.is_empty() && !declared.contains(name)).collect();
    let mut likely: Vec<&str> = if is_of_tool { called } else { declared.into_iter().collect() };
    likely.sort_unstable();
    likely.dedup();
    let [only] = likely[..] else { return None };
    let guess = match is_of_tool {
        true => {
            format!("assumes that the tool without a name is `{}`, which the model called", shorten(only))
        }
        false => format!("assumes that `{}` is meant, the only tool", shorten(only)),
    };
    let json = serde_json::Value::from(only).to_string();
    let change = match name {
        Some(name) => Change::Write(name.id(), json),
        None => Change::Add(node, "name".to_owned(), json),
    };
    Some(Fix::guess(guess, [change]))
}
