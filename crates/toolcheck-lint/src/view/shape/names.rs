//! The names of tools that have none, and what else an advice leaves open.

use foldhash::HashSet;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Place, ToolDef};
use toolcheck_core::shape::{Kind, ShapeFault};
use toolcheck_core::text::shorten;
use toolcheck_json::{Kind as JsonKind, NodeId, Value};

use super::guesses::{EMPTY, MOST_KEYS, only_text};
use crate::rule::Context;

/// What an advice says to write, with what nobody knows: any arguments, no description, and a name that says so.
pub(super) fn completed(cx: &Context<'_, '_>, fault: &ShapeFault<'_>, told: &str) -> String {
    let object = cx.document.value(fault.object_node());
    let name = likely_name(cx, fault.object_kind() == Some(Kind::Tool), object).unwrap_or(UNNAMED);
    let name = serde_json::Value::from(name).to_string();
    let empty = serde_json::Value::from(EMPTY).to_string();
    if &*fault.key == "text" && told == "\"\u{2026}\"" {
        return empty;
    }
    let told = told.replace("\"text\": \"\u{2026}\"", &format!("\"text\": {empty}"));
    let json = told.replace("{\u{2026}}", "{}").replace("\"description\": \"\u{2026}\", ", "");
    json.replace("\"name\": \"\u{2026}\"", &format!("\"name\": {name}"))
}

/// The most calls that are looked at for the name of a tool.
const MOST_CALLS: usize = 256;

/// What a tool is called whose name nobody knows.
const UNNAMED: &str = "unnamed_tool";

/// The name of a tool that has none, or of a call or a result: the likely one, or else one that says that it is unknown.
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
    let says_none = |name: &Value<'_, '_>| match name.as_json_str() {
        Some(text) => text.is_blank(),
        None => name.kind() != JsonKind::Number && only_text(*name).is_none(),
    };
    let name = around.clone().find_map(|value| value.get("name").filter(says_none));
    if name.is_none() && !lacks_name {
        return None;
    }
    let is_in = |place: Place| place.span.contains(object.span()) || object.span().contains(place.span);
    let mut parts = cx.transcript.parts.iter().take(MOST_CALLS);
    let mut is_of_call =
        || parts.any(|part| matches!(part.body, Body::Call(_) | Body::Result(_)) && is_in(part.place));
    // Of several without a name, the first is the one that was called.
    let is_nameless = |tool: &&ToolDef<'_>| tool.name.as_ref().is_none_or(|name| name.text.is_empty());
    let before = tools.listed().iter().take(MOST_KEYS).filter(is_nameless);
    let before = before.filter(|tool| is_of_tool && tool.place.span.end <= object.span().start).count();
    let (text, guess) = match likely_name(cx, is_of_tool, object).filter(|_| before == 0) {
        Some(only) if is_of_tool => {
            let guess = "assumes that the tool without a name is `{}`, which the model called";
            (only.to_owned(), guess.replace("{}", &shorten(only)))
        }
        Some(only) => (only.to_owned(), format!("assumes that `{}` is meant, the only tool", shorten(only))),
        None if !is_of_tool && kind != Some(Kind::ToolCall) && !is_of_call() => return None,
        None => {
            let number = if before == 0 { String::new() } else { format!("_{}", before + 1) };
            let guess = "the name of the tool is unknown, and it gets one that says so";
            (format!("{UNNAMED}{number}"), guess.to_owned())
        }
    };
    let json = serde_json::Value::from(text).to_string();
    let change = match name {
        Some(name) => Change::Write(name.id(), json),
        None => Change::Add(node, "name".to_owned(), json),
    };
    Some(Fix::guess(guess, [change]))
}

/// The name that a tool, a call or a result without one has: that of the only tool which was called and is not declared, or
/// of the only tool.
fn likely_name<'c>(cx: &Context<'c, '_>, is_of_tool: bool, object: Value<'_, '_>) -> Option<&'c str> {
    let tools = &cx.transcript.request.tools;
    // Of very many, nobody knows.
    if tools.listed().len() > MOST_KEYS || cx.pairing.calls.len() > MOST_CALLS {
        return None;
    }
    let declared = tools.declared().filter(|tool| !object.span().contains(tool.place.span));
    let declared = declared.filter_map(|tool| tool.name.as_ref()).map(|name| &*name.text);
    let declared: HashSet<&str> = declared.filter(|name| !name.is_empty()).collect();
    let called = cx.pairing.calls.iter().filter_map(|site| site.call.name.as_ref()).map(|name| &*name.text);
    let called = called.filter(|name| !name.is_empty() && !declared.contains(name)).collect();
    let mut likely: Vec<&str> = if is_of_tool { called } else { declared.into_iter().collect() };
    likely.sort_unstable();
    likely.dedup();
    let [only] = likely[..] else { return None };
    Some(only)
}

/// A list of properties, each with its name, as an object.
pub(super) fn by_name(list: Value<'_, '_>) -> Option<String> {
    let property = |property: Value<'_, '_>| {
        let name = property.get("name").filter(|name| name.as_json_str().is_some())?;
        let rest = property.members().filter(|member| member.id() != name.id());
        let rest = rest.map(|member| {
            let key = serde_json::Value::from(&*member.key_text()?).to_string();
            Some(format!("{key}: {}", String::from_utf8_lossy(member.raw()).replace(['\n', '\r'], "")))
        });
        let rest = rest.collect::<Option<Vec<_>>>()?.join(", ");
        Some(format!("{}: {{{rest}}}", String::from_utf8_lossy(name.raw())))
    };
    let all = list.elements().take(MOST_KEYS).map(property).collect::<Option<Vec<_>>>()?;
    Some(format!("{{{}}}", all.join(", ")))
}
