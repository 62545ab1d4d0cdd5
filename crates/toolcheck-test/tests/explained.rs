//! What `explain --error` says of a request is true: for each finding of the corpus that has an API's answer, this answer
//! leads to the finding, however it is pasted.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value as Json, json};
use toolcheck_core::RuleId;
use toolcheck_core::recognise::{NamedPlace, Pasted, texts};
use toolcheck_embed::explain_error;
use toolcheck_lint::{Category, FileReport, Finding, lint, lint_opened, rules};
use toolcheck_report::explained::Places;

use crate::common;

/// Cases whose answer does not lead to their finding, with the reasons.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "targets/groq/responses.jsonl missing-field /input/2",
        "read without its target, where a missing id has a rule of its own",
    ),
    (
        "targets/fireworks/keys-of-tools.json unknown-field",
        "read without its address, as a request in OpenAI's format, in which the whole tool is another API's",
    ),
];

struct Case {
    name: String,
    bytes: Vec<u8>,
    report: FileReport,
}

type Form = (&'static str, fn(&str) -> String);

const FORMS: [Form; 9] = [
    ("plain", str::to_owned),
    ("cut", cut),
    ("cut with dots", |text| format!("{}...", cut(text))),
    ("wrapped at 60", |text| wrapped(text, 60, "    ")),
    ("wrapped at 80", |text| wrapped(text, 80, "")),
    ("a body", body),
    ("escaped again", |text| Json::from(body(text)).to_string()),
    ("an exception", |text| {
        format!(
            "openai.BadRequestError: Error code: 400 - {{'error': {{'message': {}, 'type': 'invalid_request_error', 'param': None}}}}",
            python(text)
        )
    }),
    ("short ids", short_ids),
];

fn body(text: &str) -> String {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}, "request_id": "req_1"}).to_string()
}

/// The first three quarters of a text, and at least 40 characters.
fn cut(text: &str) -> String {
    let all = text.chars().count();
    text.chars().take((all * 3 / 4).max(40)).collect()
}

fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + word.chars().count() < width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(format!("{indent}{word}"));
        }
    }
    lines.join("\n")
}

fn python(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut written = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            _ if character == quote => written.extend(['\\', quote]),
            _ => written.push(character),
        }
    }
    written.push(quote);
    written
}

/// With all that looks like an id cut after its first letters.
fn short_ids(text: &str) -> String {
    let mut written = String::new();
    for word in text.split_inclusive(' ') {
        let prefix = ["toolu_", "call_", "tooluse_", "fc_"].into_iter().find(|prefix| word.contains(prefix));
        let Some(start) = prefix.and_then(|prefix| Some(word.find(prefix)? + prefix.len())) else {
            written.push_str(word);
            continue;
        };
        let length = word[start..].find(|one: char| !one.is_alphanumeric()).unwrap_or(word.len() - start);
        written.push_str(&word[..start]);
        written.push_str(if length > 3 { "..." } else { &word[start..start + length] });
        written.push_str(&word[start + length..]);
    }
    written
}

/// The cases of the corpus. Each record of those with the answers that were seen is one.
fn cases() -> Vec<Case> {
    let of_file = |file: common::Case| {
        let parts: Vec<(String, &[u8])> = if file.name.ends_with("/seen.jsonl") {
            let records = file.bytes.split(|byte| *byte == b'\n').enumerate();
            let records = records.filter(|(_, record)| !record.is_empty());
            records.map(|(line, record)| (format!("{}:{}", file.name, line + 1), record)).collect()
        } else {
            vec![(file.name.clone(), &*file.bytes)]
        };
        let folder = file.name.rsplit('/').nth(1);
        let case = |(name, bytes): (String, &[u8])| {
            let container = folder.and_then(toolcheck_open::find);
            let report = match toolcheck_open::open_as(container, bytes, toolcheck_open::Limits::default()) {
                Some(opened) => lint_opened("case", bytes, &opened, &file.options),
                None => lint("case", bytes, &file.options),
            };
            Case { name, bytes: bytes.to_vec(), report }
        };
        parts.into_iter().map(case).collect::<Vec<_>>()
    };
    common::all_cases().flat_map(of_file).collect()
}

fn answer(finding: &Finding) -> Option<&str> {
    finding.provider_error.as_ref()?.text.as_deref()
}

/// Why an error as it is pasted does not lead to a finding.
fn failure(case: &Case, finding: &Finding, error: &str) -> Option<String> {
    let explained = explain_error(error, Some(&case.bytes));
    let places = explained.places.as_ref().unwrap();
    let found: Vec<&Finding> = places.report().files.iter().flat_map(|file| &file.findings).collect();
    if !explained.is_explained() {
        return Some(format!("no cause, but {} others", found.len()));
    }
    let is_it = |other: &&&Finding| {
        (other.rule, &other.spot.pointer, other.spot.record)
            == (finding.rule, &finding.spot.pointer, finding.spot.record)
    };
    if found.iter().any(|other| is_it(&other)) {
        return None;
    }
    // Another finding may have the same answer, unless the error names a place.
    let named = NamedPlace::all_in(error);
    let nearness =
        |finding: &Finding| named.iter().filter_map(|place| place.nearness(&finding.spot.pointer)).max();
    let pasted = Pasted::new(error);
    let is_same = |other: &&&Finding| {
        answer(other).is_some_and(|text| pasted.contains(text).is_some())
            && nearness(other) >= nearness(finding)
    };
    if found.iter().any(|other| is_same(&other)) {
        return None;
    }
    let found: Vec<String> =
        found.iter().map(|other| format!("{} {}", other.rule, other.spot.pointer)).collect();
    let kind = format!("{places:?}");
    Some(format!("{} {found:?}", kind.split('(').next().unwrap_or_default()))
}

#[test]
fn each_answer_leads_to_its_finding() {
    let cases = cases();
    let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures: Mutex<BTreeSet<String>> = Mutex::default();
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut seen = BTreeSet::new();
            for finding in &case.report.findings {
                let Some(text) = answer(finding) else { continue };
                if !seen.insert((text, finding.rule)) {
                    continue;
                }
                for (name, form) in &FORMS {
                    count.fetch_add(1, Ordering::Relaxed);
                    let error = form(text);
                    if let Some(why) = failure(case, finding, &error) {
                        let place = format!("{} {} {}", case.name, finding.rule, finding.spot.pointer);
                        failures.lock().unwrap().insert(format!("{place} ({name}): {why}\n    {error}"));
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().unwrap();
    let is_excepted = |failure: &&String| EXCEPTIONS.iter().any(|(name, _)| failure.starts_with(name));
    let failures: Vec<&String> = failures.iter().filter(|failure| !is_excepted(failure)).collect();
    let count = count.into_inner();
    assert!(count > 9000, "the corpus has answers: {count}");
    let lines: Vec<&str> = failures.iter().map(|line| line.as_str()).collect();
    assert!(
        failures.is_empty(),
        "{} errors do not lead to their finding:\n{}",
        lines.len(),
        lines.join("\n")
    );
}

/// A request that has each place which the texts below name, and is in order there as far as can be seen.
const HAS_ALL: &str = r#"{"model": "harbour", "tide": "low", "messages": [{"role": "user", "content": "When?"},
    {"role": "assistant", "content": "At six.", "tide": "low", "id": "msg_quay"}, {"role": "user", "content": "Which?"}],
    "tools": [{"type": "function", "function": {"name": "tides", "description": "The tides.", "parameters": {"type": "object", "properties": {}}}}]}"#;

/// What stands for a placeholder of a text, if it names something that the request has. A path leads to a key, or to the
/// object of a key that the text names too.
fn named(placeholder: &str, has_field: bool) -> Option<&'static str> {
    Some(match placeholder {
        "id" | "ids" => "msg_quay",
        "name" => "tides",
        "field" => "tide",
        name if name.ends_with("path") && (has_field || name.starts_with("parent")) => "messages.1",
        name if name.ends_with("path") => "messages.1.tide",
        _ => return None,
    })
}

/// A text with values, and whether one of them is a place of the request.
fn filled(text: &str) -> (String, bool) {
    let has_field = text.contains("{field}");
    let (mut filled, mut rest, mut names_any) = (String::new(), text, false);
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((name, behind)) = after.split_once('}') else { break };
        let value = named(name, has_field);
        names_any |= value.is_some();
        filled.push_str(value.unwrap_or("1"));
        rest = behind;
    }
    (filled + rest, names_any)
}

/// Whether the request shows all that an error of a rule is about, so that there is nothing more to say of a place.
fn is_seen(rule: RuleId) -> bool {
    use RuleId::{MissingField, UnresolvedReference};
    let category = rules::get(rule).category;
    let is_of_pairs = matches!(category, Category::Pairing | Category::Order | Category::Ids);
    is_of_pairs && rule != UnresolvedReference || rule == MissingField
}

#[test]
fn what_an_error_names_is_never_denied() {
    let texts: BTreeSet<&str> = texts().map(|(_, _, text)| text).collect();
    let texts: Vec<String> =
        texts.into_iter().map(filled).filter_map(|(text, names)| names.then_some(text)).collect();
    assert!(texts.len() > 200, "{}", texts.len());
    let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let denied: Mutex<Vec<String>> = Mutex::default();
    let work = || {
        while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let explained = explain_error(text, Some(HAS_ALL.as_bytes()));
            // What is further inside is not in the request.
            let is_deeper = text.contains("tide.") && !text.ends_with("tide.");
            if is_deeper || explained.reading.matches.first().is_none_or(|found| is_seen(found.refusal.rule))
            {
                continue;
            }
            let has_name =
                |value: &str| ["msg_quay", "tide", "messages.1"].iter().any(|name| value.contains(name));
            let mut captures = explained.reading.matches.iter().flat_map(|found| &found.captures);
            if !captures.any(|(name, value)| named(name, false).is_some() && has_name(value)) {
                continue;
            }
            count.fetch_add(1, Ordering::Relaxed);
            if matches!(explained.places, Some(Places::Others(_))) {
                denied.lock().unwrap().push(text.clone());
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let (denied, count) = (denied.into_inner().unwrap(), count.into_inner());
    assert!(count > 150, "the texts have places: {count}");
    assert!(denied.is_empty(), "{} of {count} texts are denied:\n{}", denied.len(), denied.join("\n"));
}
