//! The roles of messages, as the target knows them.

use std::borrow::Cow;

use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::formats;
use toolcheck_core::ir::Role;
use toolcheck_json::NodeId;

use crate::rule::Context;

/// The role of results in other APIs.
pub(crate) const RESULTS: &str = "tool";

/// The roles that the target knows, if it lists them.
pub(crate) fn allowed<'c>(cx: &Context<'c, '_>) -> Option<&'c Vec<String>> {
    cx.target().roles.allowed.as_ref().filter(|_| cx.target_reads_format())
}

/// The id of the call that a message of its own names as only a result does.
pub(crate) fn names_call<'s>(cx: &Context<'_, 's>, message: NodeId) -> Option<Cow<'s, str>> {
    let fix_style = formats::find(cx.transcript.format?.id)?.fix_style;
    let key = fix_style.result_id.filter(|_| fix_style.blocks.is_none())?;
    cx.document.value(message).get_str(key).filter(|id| !id.is_empty())
}

/// What makes a message that names its call a result, if it has the role of somebody else, and no name that this asks for.
pub(crate) fn as_result(cx: &Context<'_, '_>, message: NodeId) -> Option<Fix> {
    let id = names_call(cx, message)?;
    let object = cx.document.value(message);
    let own = object.get("role")?;
    let role = own.as_str()?;
    let is_of_call = || {
        let mut ids = cx.pairing.calls.iter().filter_map(|site| site.call.id.as_ref());
        let (calls, _) = formats::find(cx.transcript.format?.id)?.fix_style.calls?;
        (object.get(calls).is_none() && ids.any(|known| *known.text == *id)).then_some(())
    };
    let messages = &cx.transcript.messages;
    let at = messages.partition_point(|other| other.place.node < message);
    let is_read = messages.get(at).is_some_and(|own| own.place.node == message && own.role == Role::Tool);
    let is_result = is_read || is_of_call().is_some();
    let is_known = allowed(cx).is_some_and(|allowed| allowed.iter().any(|role| role == RESULTS));
    let write = Change::Write(own.id(), format!("\"{RESULTS}\""));
    (role != RESULTS && is_result && is_known).then(|| Fix::safe([write]))
}
