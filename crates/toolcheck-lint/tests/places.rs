//! Lines, columns, bytes and pointers, in every layout of the same request.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_json::{Decoded, Document, Kind, Span, Value, unescape_step};
use toolcheck_lint::{FileReport, Options, lint};

use crate::testing::{files_below, fixtures};

/// A request with an unanswered call after text that is not ASCII.
fn request() -> Json {
    json!({"messages": [
        {"role": "user", "content": "\u{e9}\u{4e2d}\u{1F600} find Adam"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "\u{1F600}\u{1F600} I search."},
            {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"for": "Ad\u{e4}m"}}
        ]},
        {"role": "user", "content": "and?"}
    ]})
}

/// The line and column of a byte, counted without any shortcut.
fn slow(text: &str, at: usize) -> (u64, u64) {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
    (line as u64, column as u64)
}

fn check(text: &str, report: &FileReport, record: usize, record_text: &str) {
    let found: Vec<_> = report.findings.iter().filter(|finding| finding.spot.record == record).collect();
    assert_eq!(found.len(), 1, "{text}");
    let finding = found[0];
    assert_eq!(finding.rule, "unanswered-tool-call");
    assert_eq!(finding.spot.pointer, "/messages/1/content/1");
    let bytes = &text[finding.spot.bytes.clone()];
    let value: Json = serde_json::from_str(bytes).unwrap();
    let document: Json = serde_json::from_str(record_text).unwrap();
    assert_eq!(
        Some(&value),
        document.pointer(&finding.spot.pointer),
        "the bytes are those of the pointer's value"
    );
    assert_eq!((finding.spot.start.line, finding.spot.start.column), slow(text, finding.spot.bytes.start));
    assert_eq!((finding.spot.end.line, finding.spot.end.column), slow(text, finding.spot.bytes.end));
    for label in &finding.labels {
        assert_eq!((label.spot.start.line, label.spot.start.column), slow(text, label.spot.bytes.start));
        let value: Json = serde_json::from_str(&text[label.spot.bytes.clone()]).unwrap();
        assert_eq!(Some(&value), document.pointer(&label.spot.pointer));
    }
}

#[test]
fn places_are_right_in_every_layout() {
    let pretty = serde_json::to_string_pretty(&request()).unwrap();
    let layouts =
        [pretty.clone(), request().to_string(), pretty.replace('\n', "\r\n"), format!("\n\n  {pretty}\n")];
    for text in layouts {
        check(&text, &lint("x", text.as_bytes(), &Options::default()), 0, &text);
    }
}

#[test]
fn places_in_json_lines_are_those_of_the_file() {
    let minified = request().to_string();
    let text = format!("{minified}\r\n\r\n\n{minified}\n  {minified}");
    let report = lint("x", text.as_bytes(), &Options::default());
    for record in 0..3 {
        check(&text, &report, record, &minified);
    }
    assert_eq!(report.transcripts, 3);
    assert_eq!(report.findings.iter().map(|finding| finding.spot.start.line).collect::<Vec<_>>(), [1, 4, 5]);
}

#[test]
fn concatenated_texts_are_separate_records() {
    let pretty = serde_json::to_string_pretty(&request()).unwrap();
    let text = format!("{pretty} {pretty}\n{pretty}");
    let report = lint("x", text.as_bytes(), &Options::default());
    for record in 0..3 {
        check(&text, &report, record, &pretty);
    }
}

#[test]
fn a_malformed_line_does_not_affect_the_others() {
    let minified = request().to_string();
    let text = format!("{minified}\n{{\"messages\": [\n{minified}\n");
    let report = lint("x", text.as_bytes(), &Options::default());
    check(&text, &report, 0, &minified);
    check(&text, &report, 2, &minified);
    let broken: Vec<_> = report.findings.iter().filter(|finding| finding.spot.record == 1).collect();
    assert_eq!(broken.len(), 1);
    assert_eq!((broken[0].rule.as_str(), broken[0].spot.start.line), ("malformed-json", 2));
}

/// The JSON of a finding's bytes, which stand in this many strings.
fn unescaped(text: &str, levels: usize) -> Json {
    let mut text = text.to_owned();
    for _ in 0..levels {
        text = serde_json::from_str(&format!("\"{text}\"")).unwrap();
    }
    serde_json::from_str(&text).unwrap()
}

#[test]
fn places_in_strings_are_those_of_the_file() {
    let call =
        json!({"id": "call_1", "type": "function", "function": {"name": "f\u{e9}", "arguments": "{}"}});
    let list = json!([
        {"role": "user", "content": "\u{1F600} \"find\"\n\tAdam \\"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "user", "content": "and?"}
    ]);
    let mut text = serde_json::to_string_pretty(&list).unwrap();
    for levels in 1..=3 {
        let row = json!({"id": 1, "log": text}).to_string();
        let file = format!("{}\n  {row}\n", json!({"log": [{"role": "user", "content": "a"}]}));
        let report = lint("x.jsonl", file.as_bytes(), &Options::default());
        let found: Vec<_> =
            report.findings.iter().map(|finding| (finding.rule.as_str(), &*finding.spot.pointer)).collect();
        assert_eq!(found, [("unanswered-tool-call", "/log/1/tool_calls/0")], "{levels}");
        let spot = &report.findings[0].spot;
        assert_eq!(unescaped(&file[spot.bytes.clone()], levels), call);
        assert_eq!((spot.start.line, spot.start.column), slow(&file, spot.bytes.start));
        assert_eq!((spot.end.line, spot.end.column), slow(&file, spot.bytes.end));
        assert_eq!((spot.record, file[spot.record_bytes.clone()].trim()), (1, &*row));
        text = serde_json::to_string(&text).unwrap();
    }
}

proptest! {
    #[test]
    fn places_are_right_after_any_text(front in ".{0,30}", indent in 0usize..4, crlf: bool) {
        let mut body = request();
        body["messages"][0]["content"] = json!(format!("{front}x"));
        let mut text = if indent == 0 { body.to_string() } else { serde_json::to_string_pretty(&body).unwrap() };
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        check(&text, &lint("x", text.as_bytes(), &Options::default()), 0, &text);
    }
}

#[test]
fn places_inside_arguments_that_are_json_in_a_string() {
    // After a line break, a quote, an escaped letter, a surrogate pair and letters of several bytes.
    let arguments =
        r#"{\n \"path\": \"a\\\"b\\n\u00e9\ud83d\ude00ä😀\",\n \"content\": 5,\n \"m\u006fde\": \"x\"\n}"#;
    let request = format!(
        r#"{{"tools": [{{"type": "function", "function": {{"name": "write", "parameters": {{"type": "object",
  "additionalProperties": false, "required": ["path"],
  "properties": {{"path": {{"type": "string"}}, "content": {{"type": "string"}}}}}}}}}}],
 "messages": [{{"role": "user", "content": "write"}},
  {{"role": "assistant", "content": null, "tool_calls": [{{"id": "call_1", "type": "function",
   "function": {{"name": "write", "arguments": "{arguments}"}}}}]}},
  {{"role": "tool", "tool_call_id": "call_1", "content": "done"}}]}}"#
    );
    for request in [request.clone(), request.replace('\n', "\r\n")] {
        let report = lint("request.json", request.as_bytes(), &Options::default());
        let shown: Vec<&str> =
            report.findings.iter().map(|found| &request[found.spot.bytes.clone()]).collect();
        assert_eq!(shown, ["5", r#"\"m\u006fde\""#]);
        for found in &report.findings {
            assert_eq!(found.rule, "arguments-schema-mismatch");
            assert_eq!(found.spot.start.line, 6);
            let line_start = request[..found.spot.bytes.start].rfind('\n').unwrap() + 1;
            let column = request[line_start..found.spot.bytes.start].chars().count() + 1;
            assert_eq!(found.spot.start.column, column as u64);
        }
    }
}

#[test]
fn violations_of_one_call_are_bounded() {
    let arguments: Json = (0..30).map(|number| (format!("extra_{number}"), json!(number))).collect();
    let request = json!({
        "tools": [{"name": "tide", "input_schema": {
            "type": "object", "additionalProperties": false, "properties": {"port": {"type": "string"}}}}],
        "messages": [
            {"role": "user", "content": "the tide?"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": arguments}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "high"}]}]
    });
    let report = lint("request.json", request.to_string().as_bytes(), &Options::default());
    assert_eq!(report.findings.len(), 20);
    assert!(report.findings.iter().all(|found| found.rule == "arguments-schema-mismatch"));
}

#[test]
fn places_of_calls_in_plain_text() {
    // After a line break, a quote, an escaped letter, a surrogate pair and letters of several bytes.
    let front = r#"a \"b\"\n\u00e9\ud83d\ude00ä😀\n"#;
    let first =
        r#"\u003cread_file\u003e\n\u003cpath\u003e\"\u00e9\"\u003c/path\u003e\n\u003c/read_file\u003e"#;
    let second = r#"<list_files>\n<path>ä😀</path>\n</list_files>"#;
    let request = format!(
        r#"{{"messages": [{{"role": "user", "content": "go on"}},
  {{"role": "assistant", "content": "{front}{first}\n{second}\n"}},
  {{"role": "user", "content": "[read_file for 'é'] Result:\nx"}}]}}"#
    );
    for request in [request.clone(), request.replace('\n', "\r\n")] {
        let report = lint("request.json", request.as_bytes(), &Options::default());
        assert_eq!(report.findings.len(), 1);
        let found = &report.findings[0];
        assert_eq!(found.rule, "parallel-calls-in-serial-protocol");
        assert_eq!(found.spot.pointer, "/messages/1/content");
        assert_eq!(&request[found.spot.bytes.clone()], second);
        assert_eq!(&request[found.labels[0].spot.bytes.clone()], first);
        assert_eq!((found.spot.start.line, found.spot.start.column), slow(&request, found.spot.bytes.start));
    }
}

#[test]
fn errors_that_are_not_shown_have_a_place_in_a_text_without_a_value() {
    let file = lint("brackets.json", "]\n".repeat(300).as_bytes(), &Options::default());
    let last = file.findings.last().unwrap();
    assert_eq!(last.message, "44 more syntax errors not shown");
    assert!(last.spot.start.line <= 300, "{:?}", last.spot);
}

fn step<'d, 's>(value: Value<'d, 's>, name: &str) -> Vec<Value<'d, 's>> {
    match value.kind() {
        Kind::Array => value.elements().nth(name.parse().unwrap()).into_iter().collect(),
        _ => value
            .members()
            .filter(|member| member.key().is_some_and(|key| key.is_text() && key.decode() == name))
            .collect(),
    }
}

/// The spans of the values that a pointer leads to and of their keys, as a reader that is not ours finds them: several if
/// a key is written twice. A pointer goes on inside a string that is the text of JSON.
fn spans_at(document: &Document<'_>, pointer: &str) -> Vec<Span> {
    let mut found = vec![document.root()];
    let mut rest = pointer;
    while let Some(after) = rest.strip_prefix('/') {
        if let [value] = &*found
            && let Some(string) = value.as_json_str()
        {
            let decoded = Decoded::new(string, value.span().start);
            // A literal of Python is read as JSON, whose places this reader does not find.
            if decoded.text().starts_with("{'") {
                return vec![value.span()];
            }
            let inner = Document::read(decoded.text().as_bytes());
            assert!(inner.faults().is_empty(), "{pointer} leads into a text that is not JSON");
            return spans_at(&inner, rest).into_iter().map(|span| decoded.span_of(span.range())).collect();
        }
        let end = after.find('/').unwrap_or(after.len());
        let name = unescape_step(&after[..end]);
        found = found.into_iter().flat_map(|value| step(value, &name)).collect();
        rest = &after[end..];
    }
    found.iter().flat_map(|value| value.key_span().into_iter().chain([value.span()])).collect()
}

/// Checks that each place is in the value that its pointer leads to, or is its key.
fn assert_places(name: &str, text: &[u8], target: Option<&str>) -> usize {
    let target = target.map(|id| toolcheck_core::targets::all().find(|target| *target.id == *id).unwrap());
    let report = lint(name, text, &Options::default().target(target));
    let mut checked = 0;
    for finding in &report.findings {
        let labels = finding.labels.iter().map(|label| &label.spot);
        for spot in std::iter::once(&finding.spot).chain(labels) {
            let document = Document::read(&text[spot.record_bytes.clone()]);
            // What is broken may stand behind the value, and what is no JSON has none.
            let is_no_json = finding.rule == "unrecognised-format" && !document.faults().is_empty();
            if finding.rule == "malformed-json" || is_no_json {
                continue;
            }
            let base = spot.record_bytes.start;
            let bytes = (spot.bytes.start - base) as u32..(spot.bytes.end - base) as u32;
            let span = Span::new(bytes.start, bytes.end);
            let is_inside = spans_at(&document, &spot.pointer).iter().any(|value| value.contains(span));
            assert!(is_inside, "{name}: {} at {:?} {span:?}", finding.rule, spot.pointer);
            checked += 1;
        }
    }
    checked
}

#[test]
fn every_place_is_where_its_pointer_leads() {
    let (mut checked, mut files) = (0, 0);
    for path in files_below(fixtures()) {
        let name = path.to_string_lossy().into_owned();
        if ![".json", ".jsonl"].iter().any(|end| name.ends_with(end)) || name.ends_with(".expect.json") {
            continue;
        }
        let text = std::fs::read(&path).unwrap();
        checked += assert_places(&name, &text, None);
        if name.contains("responses") {
            checked += assert_places(&name, &text, Some("gemini"));
        }
        files += 1;
    }
    assert!(files > 400 && checked > 1000, "{files} files, {checked} places");
}

#[test]
fn a_turn_of_several_items_is_reported_at_its_first() {
    let text = r#"{"input": [{"type": "message", "role": "assistant", "content": "low"}, {"type": "function_call", "call_id": "a", "name": "tide", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "low"}]}"#;
    assert!(assert_places("turn.json", text.as_bytes(), Some("gemini")) > 0);
    let target = toolcheck_core::targets::all().find(|target| *target.id == *"gemini");
    let report = lint("turn.json", text.as_bytes(), &Options::default().target(target));
    let finding = report.findings.iter().find(|finding| finding.rule == "first-message-role").unwrap();
    let bytes = &text[finding.spot.bytes.clone()];
    assert_eq!(finding.spot.pointer, "/input/0");
    assert_eq!(bytes, r#"{"type": "message", "role": "assistant", "content": "low"}"#);
}

#[test]
fn a_key_that_no_pointer_can_name_is_reported_at_its_object() {
    let text = r#"{"model": "m", "messages": [{"role": "user", "content": "tides"}], "\ud800": {"a": 1, "a": 2}, "\ufffd": {"a": 1}}"#;
    assert!(assert_places("key.json", text.as_bytes(), None) >= 3);
    let report = lint("key.json", text.as_bytes(), &Options::default());
    let finding = report.findings.iter().find(|finding| finding.rule == "duplicate-key").unwrap();
    assert_eq!((&*finding.spot.pointer, &text[finding.spot.bytes.clone()]), ("", "\"a\""));
}
