//! What a fix does to a file, for programs.

use serde_json::{Value as Json, json};
use toolcheck_core::text::shown;
use toolcheck_json::locate;
use toolcheck_lint::Fixed;
use toolcheck_lint::fix::Cost;

use crate::unified;

fn edits(before: &[u8], after: &[u8]) -> Vec<Json> {
    let edits = unified::edits(before, after);
    let offsets: Vec<usize> = edits.iter().flat_map(|(old, _)| [old.start, old.end]).collect();
    let places = locate(before, &offsets);
    let edits = edits.iter().zip(places.chunks_exact(2));
    edits
        .map(|((old, new), places)| {
            json!({
                "byte_start": old.start, "byte_end": old.end, "new_length": new.len(),
                "line": places[0].line, "column": places[0].column,
                "end_line": places[1].line, "end_column": places[1].column,
            })
        })
        .collect()
}

/// What is done to a file, as an element of `files` in `schemas/fix-plan.v1.schema.json` of the repository. It holds no text of
/// the file.
pub fn plan_v1(name: &str, bytes: &[u8], fixed: &Fixed<'_>) -> Json {
    let applied = fixed.applied.iter().map(|done| {
        json!({
            "rule": done.rule, "action": done.action.as_str(), "safe": done.cost.is_none(),
            "lost": done.cost.as_ref().and_then(Cost::lost), "guess": done.cost.as_ref().and_then(Cost::guess),
            "pointer": done.spot.pointer, "record": done.spot.record,
            "line": done.spot.start.line, "column": done.spot.start.column,
        })
    });
    let skipped = fixed.skipped.iter().map(|left| {
        json!({
            "rule": left.rule, "unsafe": left.cost.is_some(), "reason": left.reason,
            "lost": left.cost.as_ref().and_then(Cost::lost), "guess": left.cost.as_ref().and_then(Cost::guess),
            "pointer": left.was.pointer,
            "record": left.was.record, "line": left.was.start.line, "column": left.was.start.column,
        })
    });
    json!({
        "edits": edits(bytes, &fixed.bytes),
        "bytes_before": bytes.len(), "bytes_after": fixed.bytes.len(),
        "path": shown(name).to_string(), "format": fixed.before.format, "target": fixed.before.target,
        "first_changed_byte": fixed.first_changed_byte(bytes),
        "applied": applied.collect::<Vec<_>>(), "skipped": skipped.collect::<Vec<_>>(),
        "findings_left": fixed.report().findings.len(),
    })
}
