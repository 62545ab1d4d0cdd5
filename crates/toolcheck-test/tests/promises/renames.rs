//! A key that a help names in place of another is what a fix writes, and nothing is removed then.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};
use toolcheck_core::{formats, targets};
use toolcheck_json::escape_step;
use toolcheck_lint::fix::Action;
use toolcheck_lint::{Finding, FixOptions, Fixed, Options, fix};

use crate::common::{Case, cases, fixtures};

fn all() -> FixOptions {
    FixOptions::new().unsafe_fixes(true).accepted(true)
}

/// The key that a help names in place of another, and whether it is to be moved there.
fn named(finding: &Finding) -> Option<(String, String)> {
    let help: &str = finding.help.as_ref()?;
    let words: Vec<&str> = help.split('`').collect();
    match &words[..] {
        ["rename ", key, " to ", meant, ""] => Some(((*key).to_owned(), (*meant).to_owned())),
        ["move it to ", way, ..] => Some((String::new(), (*way).to_owned())),
        _ => None,
    }
}

fn done(fixed: &Fixed<'_>, finding: &Finding) -> Option<Action> {
    let own = (finding.rule, finding.spot.bytes.start);
    fixed.applied.iter().find(|done| (done.rule, done.spot.bytes.start) == own).map(|done| done.action)
}

#[test]
fn a_key_that_a_help_names_is_written_or_the_finding_stays() {
    let (mut written, mut wrong) = (0, Vec::new());
    for Case { name, bytes, options } in cases() {
        let fixed = fix(&name, &bytes, &options, &all());
        for finding in &fixed.before.findings {
            let Some((_, meant)) = named(finding) else { continue };
            let last = meant.rsplit('.').next().unwrap();
            let is_written = String::from_utf8_lossy(&fixed.bytes).contains(&format!("\"{last}\""));
            match done(&fixed, finding) {
                Some(Action::Rewritten | Action::Renamed) if is_written => written += 1,
                // What a help names is known.
                None => wrong.extend(
                    fixed
                        .skipped
                        .iter()
                        .filter(|left| left.rule == finding.rule)
                        .filter(|left| left.reason.contains("no fix") || left.reason.contains("made up"))
                        .map(|left| {
                            format!("{name}: {}: {}, but it is to be named `{meant}`", left.rule, left.reason)
                        }),
                ),
                Some(action) => wrong.push(format!(
                    "{name}:{}: {}: {action:?}, but: {}",
                    finding.spot.start.line,
                    finding.rule,
                    finding.help.as_ref().unwrap()
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {written}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(written > 25, "{written}");
}

/// For each format, what to write in place of keys, from the descriptions of all its objects.
fn instead(format: &str) -> BTreeSet<(String, String)> {
    let file = fixtures().join(format!("../crates/toolcheck-core/shapes/{format}.toml"));
    let shape: toml::Value = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let objects = shape["objects"].as_table().unwrap().values();
    let entries = objects.filter_map(|object| object.get("instead")?.as_table()).flatten();
    let entries = entries.map(|(key, meant)| (key.clone(), meant.as_str().unwrap().to_owned()));
    entries.filter(|(_, meant)| !meant.contains(' ')).collect()
}

fn objects(body: &Json, at: &str, found: &mut Vec<String>) {
    match body {
        Json::Object(members) => {
            found.push(at.to_owned());
            for (key, value) in members {
                objects(value, &format!("{at}/{}", escape_step(key)), found);
            }
        }
        Json::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(number, item)| objects(item, &format!("{at}/{number}"), found));
        }
        _ => {}
    }
}

/// An object with the wrong key for what is under the right one.
fn with_wrong_key(object: &Map<String, Json>, key: &str, meant: &str) -> Option<Map<String, Json>> {
    if object.contains_key(key) {
        return None;
    }
    let mut wrong = object.clone();
    let value = match meant.split_once('.') {
        Some((around, inner)) => {
            let members = wrong.get_mut(around)?.as_object_mut()?;
            let value = members.remove(inner)?;
            if members.is_empty() {
                wrong.remove(around);
            }
            value
        }
        None => wrong.remove(meant)?,
    };
    wrong.insert(key.to_owned(), value);
    Some(wrong)
}

#[test]
fn every_key_that_the_descriptions_know_under_another_name_gets_the_right_one_and_none_is_removed() {
    let mut wrong = Vec::new();
    let mut written: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for format in formats::ALL.iter().map(|format| format.id) {
        let entries = instead(format);
        let options = Options::new().format(formats::find(format)).target(targets::find(format));
        let (folder, mut tried) = (format!("shapes/{format}/"), BTreeSet::new());
        for case in cases().filter(|case| case.name.starts_with(&folder)) {
            let Ok(body) = serde_json::from_slice::<Json>(&case.bytes) else { continue };
            let mut places = Vec::new();
            objects(&body, "", &mut places);
            for place in places {
                let pattern: String =
                    place.split('/').filter(|part| part.parse::<usize>().is_err()).collect();
                for (key, meant) in &entries {
                    let object = body.pointer(&place).unwrap().as_object().unwrap();
                    let Some(object) = with_wrong_key(object, key, meant) else { continue };
                    if !tried.insert((pattern.clone(), key, meant)) {
                        continue;
                    }
                    let mut broken = body.clone();
                    *broken.pointer_mut(&place).unwrap() = object.into();
                    let text = broken.to_string();
                    let fixed = fix("body.json", text.as_bytes(), &options, &all());
                    let after: Json = serde_json::from_slice(&fixed.bytes).unwrap();
                    if after == body {
                        written.entry(format.to_owned()).or_default().insert((key.clone(), meant.clone()));
                        continue;
                    }
                    let removed = fixed.applied.iter().any(|done| {
                        done.action == Action::Removed && done.spot.pointer.ends_with(&format!("/{key}"))
                    });
                    let helps = fixed.before.findings.iter().any(|finding| {
                        named(finding)
                            .is_some_and(|(own, to)| (own.is_empty() || own == *key) && to == *meant)
                    });
                    if removed && helps {
                        wrong.push(format!("{format}: {}{place}: `{key}` for `{meant}`", case.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are removed:\n{}", wrong.len(), wrong.join("\n"));
    let counts: BTreeMap<&String, usize> =
        written.iter().map(|(format, keys)| (format, keys.len())).collect();
    assert!(counts.values().sum::<usize>() > 80, "{counts:?}");
    for (format, key) in [
        ("openai-responses", "max_tokens"),
        ("openai-responses", "response_format"),
        ("openai-responses", "reasoning_effort"),
    ] {
        assert!(written[format].iter().any(|(own, _)| own == key), "{key} of {format}: {written:?}");
    }
}
