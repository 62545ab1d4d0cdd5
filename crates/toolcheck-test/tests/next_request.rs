//! What is said of what an agent sends next is what is said of the request that it becomes.

use std::collections::BTreeSet;

use toolcheck_core::{Level, readers, targets};
use toolcheck_lint::{FileReport, Options, lint};
use toolcheck_report::{View, outline};

use crate::common::cases;

/// The rules that fail only in what is sent next of a `session`, or only in the `request` that it becomes.
pub(crate) fn differing(name: &str, bytes: &[u8]) -> Option<Vec<String>> {
    let made = |options: Options| {
        let outline = outline(name, bytes, &options, &View::new().as_request(true));
        let request = outline.request()?;
        Some((request.body.clone()?.to_string(), request.format, options))
    };
    let next = Options::new().conversation(Some(Options::NEXT));
    let known = made(next.clone()).or_else(|| made(next.target(targets::find("anthropic"))));
    let (body, format, options) = known?;
    let errors = |report: &FileReport| -> BTreeSet<&'static str> {
        let errors = report.findings.iter().filter(|found| found.level == Level::Error);
        errors.map(|found| found.rule.as_str()).collect()
    };
    let of_session = lint(name, bytes, &options);
    let session = errors(&of_session);
    // The request goes to the API that the session names.
    let target = of_session.findings.iter().find_map(|found| targets::find(found.target.as_deref()?));
    let options = options.conversation(None).format(format);
    let options = target.map_or_else(|| options.clone(), |target| options.clone().target(Some(target)));
    let request = errors(&lint("request", body.as_bytes(), &options));
    let of_session = session.difference(&request).map(|rule| format!("session {rule}"));
    Some(of_session.chain(request.difference(&session).map(|rule| format!("request {rule}"))).collect())
}

#[test]
fn a_session_and_the_request_that_it_becomes_fail_the_same_rules() {
    let known: toml::Table = include_str!("next_request.toml").parse().unwrap();
    let is_agent = |name: &str| readers::NextRequest::of(name).is_some();
    let mut listed: BTreeSet<&str> = known["cases"].as_table().unwrap().keys().map(|name| &**name).collect();
    for case in cases().filter(|one| one.name.split('/').nth(1).is_some_and(is_agent)) {
        let Some(rules) = differing(&case.name, &case.bytes) else { continue };
        let agrees = rules.iter().all(|rule| known["rules"].get(rule).is_some());
        assert_ne!(agrees, listed.remove(&*case.name), "{}: {rules:?}", case.name);
    }
    assert!(listed.is_empty(), "{listed:?}");
}
