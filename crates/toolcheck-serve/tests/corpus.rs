//! The mock refuses what the linter reports as refused, with the status and in the words that the linter prints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::common::{raw, send_raw};
use crate::testing::{files_below, fixtures};
use serde_json::Value as Json;
use toolcheck_core::targets::{self, Evidence};
use toolcheck_core::{exchange, formats};
use toolcheck_json::{Document, Records};
use toolcheck_lint::server_state::ServerState;
use toolcheck_lint::{Finding, Options, lint, lint_body};
use toolcheck_serve::{MockProvider, path};

fn path_of(format: &str) -> String {
    path(formats::find(format).unwrap(), "model", false)
}

struct Request {
    path: PathBuf,
    bytes: Vec<u8>,
    options: Options,
    format: &'static str,
}

/// The requests of the corpus by the target that they are checked against.
fn requests() -> BTreeMap<String, Vec<Request>> {
    let mut requests: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for path in files_below(fixtures()) {
        let Ok(expectation) = std::fs::read(path.with_extension("expect.json")) else { continue };
        let expectation: Json = serde_json::from_slice(&expectation).unwrap();
        let text = |key: &str| expectation[key].as_str().unwrap_or_default();
        let is_request = matches!(text("kind"), "" | "request") && expectation["config"].is_null();
        let is_json = path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
        if !is_json || !is_request {
            continue;
        }
        let options = Options::new().format(formats::named(text("format")));
        let options = options.target(targets::find(text("target")));
        let bytes = std::fs::read(&path).unwrap();
        for record in Records::new(&bytes) {
            let report = lint("request.json", record.bytes, &options);
            let document = Document::read(record.bytes);
            // A list of messages is not a body, and an exchange is more than one.
            let is_body = document.root().is_object() && exchange::exchanges(document.root()).is_none();
            // Nor is a row of a data set.
            let is_wire = report.format.is_some_and(|format| formats::find(format).is_some());
            let is_one = is_body && is_wire && report.transcripts == 1 && report.kind.as_str() == "request";
            if let Some(checked) = report.target.filter(|id| is_one && targets::find(id).is_some()) {
                let (path, bytes, options) = (path.clone(), record.bytes.to_vec(), options.clone());
                let format = report.format.unwrap();
                requests.entry(checked).or_default().push(Request { path, bytes, options, format });
            }
        }
    }
    requests
}

/// Whether it is known that the API refuses a request because of this.
fn is_refused(finding: &Finding) -> bool {
    let Some(error) = &finding.provider_error else { return false };
    let grounds = &error.grounds;
    error.only_warns.is_none() && grounds.caution().is_none() && grounds.evidence > Evidence::Inferred
}

fn holds(body: &Json, text: &str) -> bool {
    match body {
        Json::String(own) => own == text,
        Json::Array(items) => items.iter().any(|item| holds(item, text)),
        Json::Object(members) => members.values().any(|value| holds(value, text)),
        _ => false,
    }
}

#[test]
fn each_refusal_that_a_case_meets_is_answered_as_it_is_reported() {
    let (mut accepted, mut refused) = (0, 0);
    let mut met: BTreeSet<(String, &str, Option<String>)> = BTreeSet::new();
    let mut wrong = Vec::new();
    for (target, requests) in requests() {
        let builder = MockProvider::builder().check_on_drop(false);
        let provider = builder.target(&target).unwrap().start().unwrap();
        for Request { path, bytes, options, format: detected } in requests {
            // The path says which format it is, as `--format` does.
            let of_target = targets::find(&target).unwrap().format.as_deref();
            let format = of_target.filter(|own| path_of(own) == path_of(detected)).unwrap_or(detected);
            if of_target.is_some_and(|own| path_of(own) != path_of(format)) {
                // A request that is meant for another API is asked about with `--against`.
                continue;
            }
            let own = formats::named(format).unwrap();
            let of_file = lint("request.json", &bytes, &options.clone().format(Some(own)));
            let report = lint_body(&bytes, own, &options, Some(&ServerState::of_server()), &mut ());
            let expected: Vec<&Finding> = report.findings.iter().filter(|found| is_refused(found)).collect();
            // What is sent has all faults that it has in a file, and may lack more.
            // A file has a key under a wrong name, where an API says which one is missing.
            let is_renamed = |finding: &Finding, other: &Finding| {
                finding.rule == "unknown-field" && other.rule == "missing-parameter"
            };
            let is_kept = |finding: &&Finding| {
                expected.iter().any(|other| other.rule == finding.rule || is_renamed(finding, other))
            };
            let is_lost = |found: &&Finding| is_refused(found) && !is_kept(found);
            if let Some(lost) = of_file.findings.iter().find(is_lost) {
                wrong.push(format!(
                    "{} for {target}: not found: {} {}",
                    path.display(),
                    lost.rule,
                    lost.message
                ));
            }
            let (status, response) = send_raw(&provider.url(), &raw(&path_of(format), "", &bytes));
            let (head, body) = response.split_once("\r\n\r\n").unwrap();
            let shown = format!("{} for {target}: {status} {body}", path.display());
            if expected.is_empty() {
                accepted += 1;
                // Half a character is JSON that a string of Rust can't hold.
                let is_half = String::from_utf8_lossy(&bytes).to_lowercase().contains("\\ud");
                let is_object = serde_json::from_slice::<Json>(&bytes).map(|value| value.is_object());
                if (status == 200) != is_object.unwrap_or(is_half) {
                    wrong.push(shown);
                }
                continue;
            }
            refused += 1;
            let body: Json = serde_json::from_str(body).unwrap_or_default();
            let is_it = |finding: &&&Finding| {
                let error = finding.provider_error.as_ref().unwrap();
                let is_told = match &error.text {
                    Some(text) => holds(&body, text),
                    None => head.contains("x-toolcheck-text: unknown"),
                };
                is_told
                    && error.status.unwrap_or(400) == status
                    && head.contains(&format!("x-toolcheck-rule: {}\r\n", finding.rule))
                    && head.contains("x-toolcheck-source: ")
            };
            match expected.iter().find(is_it) {
                Some(finding) => {
                    let case = finding.provider_error.as_ref().unwrap().case.clone();
                    met.insert((target.clone(), finding.rule.as_str(), case));
                }
                None => wrong.push(shown),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), accepted + refused, wrong.join("\n"));
    assert!(refused > 800 && accepted > 300 && met.len() > 100, "{refused}, {accepted}, {}", met.len());
}
