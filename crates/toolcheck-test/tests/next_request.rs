//! What is said of what an agent sends next is what is said of the request that it becomes.

use std::collections::BTreeSet;

use toolcheck_core::{Format, Level, readers, targets};
use toolcheck_lint::{FileReport, Finding, Options, lint};
use toolcheck_report::{View, outline};

use crate::common::cases;

/// The request that is sent next of a session, with its format and the options for it.
pub(crate) fn request_of(name: &str, bytes: &[u8]) -> Option<(String, Option<&'static Format>, Options)> {
    let made = |options: Options| {
        let outline = outline(name, bytes, &options, &View::new().as_request(true));
        let request = outline.request()?;
        Some((request.text()?, request.format, options))
    };
    let next = Options::new().conversation(Some(Options::NEXT));
    made(next.clone()).or_else(|| made(next.target(targets::find("anthropic"))))
}

/// The rules that fail only in what is sent next of a `session`, or only in the `request` that it becomes.
pub(crate) fn differing(name: &str, bytes: &[u8]) -> Option<Vec<String>> {
    let (body, format, options) = request_of(name, bytes)?;
    let rules = |report: &FileReport, is_failing: &dyn Fn(&Finding) -> bool| -> BTreeSet<&'static str> {
        let failing = report.findings.iter().filter(|found| found.level == Level::Error || is_failing(found));
        failing.map(|found| found.rule.as_str()).collect()
    };
    let of_session = lint(name, bytes, &options);
    // What is in doubt is a warning in the session, and may be one in the request.
    let session = rules(&of_session, &|found| found.message.starts_with("in the next request, "));
    // The request goes to the API that the session names.
    let target = of_session.findings.iter().find_map(|found| targets::find(found.target.as_deref()?));
    let options = options.conversation(None).format(format);
    let options = target.map_or_else(|| options.clone(), |target| options.clone().target(Some(target)));
    let of_request = lint("request", body.as_bytes(), &options);
    let mut request = rules(&of_request, &|found| session.contains(found.rule.as_str()));
    // A late result is the second one of a call that the agent has answered.
    let agent = of_session.format.and_then(readers::NextRequest::of);
    if agent.is_some_and(|agent| agent.answers_late) && session.contains("late-tool-result") {
        request.remove("duplicate-tool-result");
        request.extend(
            ["late-tool-result", "duplicate-tool-result"].into_iter().filter(|rule| session.contains(rule)),
        );
    }
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
