//! What is said of what an agent sends next is what is said of the request that it becomes.

use std::collections::{BTreeMap, BTreeSet};

use toolcheck_core::{Level, targets};
use toolcheck_lint::{Finding, Options, Report, lint};
use toolcheck_report::{View, outline};

use crate::common::cases;

/// The rules whose errors only one of both can have, with the reasons.
#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct OneSided {
    only_in_session: BTreeMap<String, String>,
    only_in_request: BTreeMap<String, String>,
    cases: BTreeMap<String, String>,
}

fn errors(report: &Report) -> BTreeSet<String> {
    let is_error = |found: &&Finding| found.level == Level::Error;
    report.findings.iter().filter(is_error).map(|found| found.rule.as_str().to_owned()).collect()
}

/// The rules with errors in what is sent next of a session, and in the request that it becomes; `None` if nothing is sent next.
pub(crate) fn both(name: &str, bytes: &[u8]) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let next = Options::new().conversation(Some(Options::NEXT));
    let made = |options: &Options| {
        let outline = outline(name, bytes, options, &View::new().as_request(true));
        outline.request().map(|request| (request.body.clone(), request.format))
    };
    let (options, (body, format)) = match made(&next)? {
        (None, _) => {
            let of_target = next.target(targets::find("anthropic"));
            let made = made(&of_target)?;
            (of_target, made)
        }
        made => (next, made),
    };
    let own = Options::new().format(format).target(options.named_target().cloned());
    let request = lint("request.json", body?.to_string().as_bytes(), &own);
    Some((errors(&lint(name, bytes, &options)), errors(&request)))
}

#[test]
fn a_session_and_the_request_that_it_becomes_fail_the_same_rules() {
    let known: OneSided = toml::from_str(include_str!("next_request.toml")).unwrap();
    let (mut compared, mut differing, mut used) = (0, Vec::new(), BTreeSet::new());
    for case in cases().filter(|case| case.name.starts_with("inputs/")) {
        let Some((session, request)) = both(&case.name, &case.bytes) else { continue };
        compared += 1;
        let new = |one: &BTreeSet<String>, other: &BTreeSet<String>, known: &BTreeMap<String, String>| {
            one.difference(other).filter(|rule| !known.contains_key(*rule)).cloned().collect::<Vec<_>>()
        };
        let left = new(&session, &request, &known.only_in_session);
        let right = new(&request, &session, &known.only_in_request);
        if left.is_empty() && right.is_empty() {
            continue;
        }
        match known.cases.get_key_value(&case.name) {
            Some((name, _)) => _ = used.insert(name.clone()),
            None => differing.push(format!("{}: only in the session {left:?}, only in the request {right:?}", case.name)),
        }
    }
    assert!(compared > 100, "{compared}");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(known.cases.keys().all(|name| used.contains(name)), "a listed case agrees: {used:?}");
}
