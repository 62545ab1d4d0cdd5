use std::io;
use std::rc::Rc;

use foldhash::HashMap;
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};
use toolcheck_core::{Level, RuleId};
use toolcheck_lint::Finding;
use toolcheck_lint::finding::Spot;

use super::{Output, repository_path, write_json};
use crate::Style;
use toolcheck_core::text::{Line, bounded, bytes_of};
use toolcheck_lint::Rule;
use toolcheck_lint::fingerprint::Fingerprints;
use toolcheck_lint::report::{FileReport, Report, rule_url};
use toolcheck_lint::rules;

pub(super) static OUTPUT: Output = Output::new("sarif", "SARIF 2.1.0, for code scanning", write);

/// The maximum number of results per run on GitHub, which rejects a file with more.
const MOST: usize = 25_000;
/// The maximum number of related places per result that GitHub shows.
const MOST_RELATED: usize = 100;
/// The maximum length of a rule's description on GitHub, in characters.
const LONGEST: usize = 1_000;

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Json,
    column_kind: &'static str,
    invocations: [Json; 1],
    results: Results<'r>,
}

/// The results, each made when it is written: all of them would take ten times the memory of the findings.
struct Results<'r>(Vec<Chosen<'r>>);

struct Chosen<'r> {
    file: &'r FileReport,
    uri: Rc<str>,
    finding: &'r Finding,
    rule_index: usize,
    fingerprint: String,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(result))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: RuleId,
    rule_index: usize,
    level: &'static str,
    message: Json,
    locations: [Json; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Json>,
    partial_fingerprints: Json,
    properties: Json,
}

fn write(report: &Report, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let all: usize = report.files.iter().map(|file| file.findings.len()).sum();
    let left_out = all.saturating_sub(MOST);
    // If there are too many, warnings are left out first.
    let mut warnings = report.count(Level::Warning).saturating_sub(left_out);
    let mut fingerprints = Fingerprints::default();
    let mut indices = HashMap::default();
    let mut descriptions = Vec::new();
    let mut results = Vec::new();
    for file in &report.files {
        let path = repository_path(&file.path);
        let uri: Rc<str> = uri(&path).into();
        for finding in &file.findings {
            // Computed for every finding, so that a fingerprint does not depend on what is left out.
            let fingerprint = fingerprints.next(&path, finding);
            if finding.level == Level::Warning {
                let Some(rest) = warnings.checked_sub(1) else { continue };
                warnings = rest;
            }
            if results.len() == MOST {
                continue;
            }
            let rule_index = *indices.entry(finding.rule).or_insert_with(|| {
                descriptions.push(description(finding.rule));
                descriptions.len() - 1
            });
            results.push(Chosen { file, uri: Rc::clone(&uri), finding, rule_index, fingerprint });
        }
    }
    let mut invocation = json!({"executionSuccessful": true});
    if left_out > 0 {
        let text = format!("{left_out} of {all} findings are left out: a run can have at most {MOST}");
        invocation["toolExecutionNotifications"] = json!([{"level": "warning", "message": {"text": text}}]);
    }
    let log = Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: json!({"driver": {
                "name": "toolcheck",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": descriptions,
            }}),
            column_kind: "unicodeCodePoints",
            invocations: [invocation],
            results: Results(results),
        }],
    };
    write_json(&log, out)
}

fn description(id: RuleId) -> Json {
    let mut description = json!({"id": id, "helpUri": rule_url(id)});
    let rule = rules::get(id);
    // In the examples, a comment for the rule's test marks the flagged lines.
    let docs = rule.page().replace("  // flagged", "  <-- flagged");
    let why = docs.split("## ").find_map(|section| section.strip_prefix("Why is this bad?\n"));
    let why = why.unwrap_or(rule.summary()).split_whitespace().collect::<Vec<_>>().join(" ");
    // Without Markdown the examples are hard to read.
    let text = docs.split("## Fails").next().unwrap_or(&docs).replace("## ", "");
    let level = rule.default_level.unwrap_or(Level::Warning).as_str();
    description["shortDescription"] = json!({"text": bounded(rule.summary(), LONGEST)});
    description["fullDescription"] = json!({"text": bounded(&why, LONGEST)});
    description["help"] = json!({"text": text.trim_end(), "markdown": docs.trim_end()});
    description["defaultConfiguration"] = json!({"level": level});
    description["properties"] = json!({"tags": tags(rule), "problem.severity": level});
    description
}

fn tags(rule: &Rule) -> Vec<&'static str> {
    let tags = [
        (true, "tool-calling"),
        (rule.on_text, "text"),
        (rule.on_wire, "wire"),
        (rule.on_call, "call"),
        (rule.is_optional, "optional"),
    ];
    tags.into_iter().filter_map(|(has, tag)| has.then_some(tag)).collect()
}

fn result(chosen: &Chosen<'_>) -> SarifResult {
    let Chosen { file, uri, finding, rule_index, fingerprint } = chosen;
    let mut text = finding.message.to_string();
    let help = finding.help.as_ref().map(|help| Line::from(format!("help: {help}")));
    for paragraph in [finding.provider_sentence(), help].into_iter().flatten() {
        text.push_str("\n\n");
        text.push_str(&paragraph);
    }
    let related = finding.labels.iter().take(MOST_RELATED).enumerate().map(|(index, label)| {
        let mut location = location(uri, &label.spot);
        location["id"] = json!(index + 1);
        // Viewers show a related place by its message, so it must have one.
        let text = if label.message.is_empty() { "see also" } else { &label.message };
        location["message"] = message(text);
        location
    });
    let mut properties = json!({"record": finding.spot.record});
    if let Some(target) = finding.target.as_deref().or(file.target.as_deref()) {
        properties["target"] = json!(target);
    }
    if let Some(status) = finding.provider_error.as_ref().and_then(|answer| answer.status) {
        properties["status"] = json!(status);
    }
    if let Some(answer) = &finding.provider_error {
        properties["evidence"] = json!(answer.grounds.evidence.to_string());
        if let Some(doubt) = answer.only_warns.as_deref().or_else(|| answer.grounds.caution()) {
            properties["doubt"] = json!(doubt);
        }
    }
    SarifResult {
        rule_id: finding.rule,
        rule_index: *rule_index,
        level: finding.level.as_str(),
        message: message(&text),
        locations: [location(uri, &finding.spot)],
        related_locations: related.collect(),
        partial_fingerprints: json!({"toolcheckFinding/v1": fingerprint}),
        properties,
    }
}

/// A message. In SARIF `[text](target)` is a link, so a bracket of such a text is escaped.
fn message(text: &str) -> Json {
    let text = if text.contains("](") { text.replace('[', "\\[") } else { text.to_owned() };
    json!({"text": text})
}

/// The longest name of a place, in bytes. Longer ones are cut in the middle or near it, so they name nothing, and of
/// ten thousand findings they would be most of the output.
const LONGEST_NAME: usize = 256;

fn location(uri: &str, spot: &Spot) -> Json {
    let mut location = json!({"physicalLocation": {
        "artifactLocation": {"uri": uri},
        "region": {
            "startLine": spot.start.line,
            "startColumn": spot.start.column,
            "endLine": spot.end.line,
            "endColumn": spot.end.column,
            "byteOffset": spot.bytes.start,
            "byteLength": spot.bytes.len(),
        },
    }});
    // The root has the empty pointer, which is not a name.
    let name = spot.name();
    if !name.is_empty() && name.len() <= LONGEST_NAME {
        location["logicalLocations"] = json!([{"fullyQualifiedName": name}]);
    }
    location
}

/// The path as a URI reference; relative if the path is relative.
fn uri(path: &str) -> String {
    let is_drive = cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    let mut uri = String::from(match path.as_bytes().first() {
        Some(b'/') => "file://",
        _ if is_drive => "file:///",
        _ => "",
    });
    for (at, byte) in bytes_of(path).into_iter().enumerate() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) || is_drive && at == 1 {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
