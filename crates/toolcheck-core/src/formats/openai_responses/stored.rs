//! Outputs whose calls are named by the ids of their items.

use std::borrow::Cow;

use foldhash::HashMap;
use toolcheck_json::Value;

use crate::ir::{Body, Named, ToolKind, Transcript, UnpairedReason};

/// How the ids of calls begin that the server keeps, so that a request may only refer to them. Calls of functions must be
/// in the request.
const KEPT: [(ToolKind, &[&str]); 5] = [
    (ToolKind::Custom, &["ctc_"]),
    (ToolKind::Computer, &["cu_"]),
    (ToolKind::LocalShell, &["lsh_"]),
    (ToolKind::Shell, &["sh_", "shc_"]),
    (ToolKind::Patch, &["apc_"]),
];

/// Finds the calls of outputs that are not paired by the id of the call.
pub(super) fn settle<'s>(transcript: &mut Transcript<'s>, list: Value<'_, 's>) {
    let stored = &transcript.details.stored_items;
    let is_kept = |kind: ToolKind| {
        let starts = KEPT.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, starts)| starts);
        starts.iter().any(|start| stored.iter().any(|item| item.text.starts_with(start)))
    };
    let kept = KEPT.map(|(kind, _)| (kind, is_kept(kind)));
    let is_local =
        |part: &Body<'_>| matches!(part, Body::Result(result) if result.kind == Some(ToolKind::LocalShell));
    let mut calls: HashMap<Cow<'s, str>, Cow<'s, str>> = HashMap::default();
    if transcript.parts.iter().any(|part| is_local(&part.body)) {
        let named = |item: Value<'_, 's>, key| item.get(key).and_then(Named::of).map(|name| name.text);
        let of_shell = list.elements().filter(|item| item.is("type", "local_shell_call"));
        calls.extend(of_shell.filter_map(|item| Some((named(item, "id")?, named(item, "call_id")?))));
    }
    for part in &mut transcript.parts {
        let Body::Result(result) = &mut part.body else { continue };
        let Some(kind) = result.kind else { continue };
        if let Some(id) = result.call_id.as_mut().filter(|_| kind == ToolKind::LocalShell)
            && let Some(call) = calls.get(&id.text)
        {
            id.text = call.clone();
        }
        if kept.contains(&(kind, true)) {
            result.unpaired = Some(UnpairedReason::Elsewhere);
        }
    }
}
