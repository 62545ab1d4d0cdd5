//! A role under another word becomes the one that is meant, and nothing else changes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use toolcheck_core::diff::Level;
use toolcheck_core::diff::files::{File, compare};
use toolcheck_core::{InputFormat, formats, targets};
use toolcheck_lint::fix::Fixable;
use toolcheck_lint::{FixOptions, Options, fix, lint};

use crate::common::{Case, cases, fixtures};

/// For each role of a format, the words for it that its description knows.
fn words(format: &str) -> BTreeMap<String, BTreeSet<String>> {
    let file = fixtures().join(format!("../crates/toolcheck-core/shapes/{format}.toml"));
    let shape: toml::Value = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let objects = shape["objects"].as_table().unwrap().values();
    let roles = objects.filter_map(|object| object.get("fields")?.get("role")?.get("instead")?.as_table());
    let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (word, role) in roles.flatten() {
        words.entry(role.as_str().unwrap().to_owned()).or_default().insert(word.clone());
    }
    words
}

#[test]
fn a_role_under_another_word_is_written_and_the_rest_stays_in_its_place() {
    let (mut wrong, mut written) = (Vec::new(), BTreeMap::<(&str, String), usize>::new());
    for format in formats::ALL {
        let words = words(format.id);
        let options = Options::new().format(Some(*format)).target(targets::find(format.id));
        let folders =
            ["same/".to_owned(), format!("shapes/{}/", format.id), format!("mistakes/{}/", format.id)];
        let is_own = |case: &Case| folders.iter().any(|folder| case.name.starts_with(folder));
        for case in cases().filter(is_own) {
            let text = String::from_utf8(case.bytes).unwrap();
            let Ok(body) = serde_json::from_str::<Json>(&text) else { continue };
            let report = lint("case", text.as_bytes(), &options);
            if report.format != Some(format.id) || !report.findings.is_empty() {
                continue;
            }
            // In the text, so that the order of the keys stays.
            for (role, others) in &words {
                let whole = format!("\"role\": \"{role}\"");
                let places: Vec<usize> = text.match_indices(&whole).map(|(at, _)| at).collect();
                for (at, other) in places.iter().flat_map(|at| others.iter().map(move |other| (*at, other))) {
                    let mut broken = text.clone();
                    broken.replace_range(at..at + whole.len(), &format!("\"role\": \"{other}\""));
                    let before = lint("case", broken.as_bytes(), &options);
                    let Some(found) = before.findings.iter().find(|found| found.rule == "unknown-role")
                    else {
                        continue;
                    };
                    let name = format!("{}: `{other}` for `{role}` at {at}", case.name);
                    // Where the API takes the role for another, more follows from it.
                    if before.findings.len() > 1 && found.level == toolcheck_core::Level::Error {
                        let rules: Vec<_> = before.findings.iter().map(|found| found.rule).collect();
                        wrong.push(format!("{name}: {rules:?}"));
                    }
                    if found.fixable != Some(Fixable::Safe) {
                        continue;
                    }
                    let fixed = fix("case", broken.as_bytes(), &options, &FixOptions::new().accepted(true));
                    if fixed.bytes != text.as_bytes() {
                        let done: Vec<_> =
                            fixed.applied.iter().map(|done| (done.rule, done.action)).collect();
                        wrong.push(format!("{name}: {done:?}"));
                        continue;
                    }
                    let named = InputFormat::named(format.id);
                    let [old, new] =
                        [broken.as_bytes(), text.as_bytes()].map(|text| File::read(text, named).unwrap());
                    let changes = compare(&old, &new, None).changes;
                    let lost = changes.iter().find(|change| change.level == Level::Loss);
                    wrong.extend(
                        lost.map(|change| format!("{name}: diff says {} {}", change.kind, change.about)),
                    );
                    *written.entry((format.id, role.clone())).or_default() += 1;
                }
            }
            assert!(body.is_object() || body.is_array());
        }
    }
    assert!(wrong.is_empty(), "{} of {written:?}:\n{}", wrong.len(), wrong.join("\n"));
    let results = written.iter().filter(|((_, role), _)| role == "tool").map(|(_, count)| count);
    assert!(results.sum::<usize>() > 20 && written.len() > 10, "{written:?}");
}
