//! The objects of a request by the names that targets have for them.

use toolcheck_core::ir::Body;
use toolcheck_json::Value;

use crate::rule::Context;

/// Shows `see` every object that has a name: the body, messages by role, calls, tools, and what stands under their keys
/// as far as `is_named` knows of it.
pub(crate) fn visit(
    cx: &Context<'_, '_>,
    is_named: impl Fn(&str) -> bool,
    mut see: impl FnMut(&str, Value<'_, '_>),
) {
    let value = |place: toolcheck_core::Place| cx.document.value(place.node);
    let mut open = Vec::new();
    if cx.transcript.is_body {
        open.push(("body".to_owned(), value(cx.transcript.place)));
    }
    for (message, parts) in cx.transcript.messages_with_parts() {
        let role = message.role_name.as_ref().map_or("", |role| &*role.text);
        open.push((format!("message.{role}"), value(message.place)));
        let calls = parts.iter().filter(|part| matches!(part.body, Body::Call(_)));
        open.extend(calls.map(|part| ("call".to_owned(), value(part.place))));
    }
    open.extend(cx.transcript.tools.iter().flatten().map(|tool| ("tool".to_owned(), value(tool.place))));
    while let Some((name, object)) = open.pop() {
        if is_named(&name) {
            see(&name, object);
        }
        for member in object.members().filter(|member| member.is_object()) {
            let below = format!("{name}.{}", member.key_text().unwrap_or_default());
            if is_named(&below) {
                open.push((below, member));
            }
        }
    }
}
