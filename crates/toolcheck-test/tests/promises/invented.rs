//! No text appears in a row of a data set that was not in it before: a model would learn it.

use serde_json::Value as Json;
use toolcheck_core::RuleId;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_lint::{FixOptions, fix};

use crate::common::{Case, cases};

/// The texts of a value and of the JSON in them.
fn texts(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::String(text) => match serde_json::from_str::<Json>(text) {
            Ok(inner) if inner.is_array() || inner.is_object() => texts(&inner, found),
            _ => found.push(text.clone()),
        },
        Json::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Json::Object(members) => members.iter().for_each(|(key, item)| {
            found.push(key.clone());
            texts(item, found);
        }),
        _ => {}
    }
}

fn texts_of(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let whole = serde_json::from_slice::<Json>(bytes).ok();
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    match whole {
        Some(value) => texts(&value, &mut found),
        None => lines.for_each(|line| texts(&line, &mut found)),
    }
    found
}

#[test]
fn a_fix_of_a_data_set_makes_no_text_up() {
    let (mut wrong, mut changed) = (Vec::new(), 0);
    for Case { name, bytes, options } in cases() {
        let options = options.kind(TranscriptKind::Dataset);
        let fixed = fix(&name, &bytes, &options, &FixOptions::new().unsafe_fixes(true).accepted(true));
        // U+FFFD stands for half a character, and what is read of a log is what its program sends.
        let has_half = fixed.applied.iter().any(|done| done.rule == RuleId::LoneSurrogate);
        if fixed.is_unchanged() || has_half || fixed.before.kind != TranscriptKind::Dataset {
            continue;
        }
        changed += 1;
        let before = texts_of(&bytes).join("\n");
        // Text that is joined has a blank line between its parts, and a name, an id or a type has no space.
        let is_new = |text: &&str| text.trim().contains(' ') && !before.contains(text.trim());
        let after = texts_of(&fixed.bytes);
        let new = after.iter().flat_map(|text| text.split("\n\n")).find(is_new);
        let rules: Vec<_> = fixed.applied.iter().map(|done| done.rule.as_str()).collect();
        wrong.extend(new.map(|text| format!("{name}: {rules:?} write {text:?}")));
    }
    assert!(wrong.is_empty(), "{} of {changed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(changed > 300, "{changed}");
}
