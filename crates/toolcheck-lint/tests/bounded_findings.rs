//! At most so many findings are listed, and the others are counted, however they are found.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use toolcheck_core::ir::MOST_HELD;
use toolcheck_core::{Level, RuleId};
use toolcheck_lint::{FileReport, Finding, Lines, Options, lint};

use crate::testing::{files_below, fixtures};

/// The number of findings of each rule and level, listed or not.
fn counts(file: &FileReport) -> BTreeMap<(RuleId, Level), usize> {
    let mut counts = file.left_out.clone();
    for finding in &file.findings {
        *counts.entry((finding.rule, finding.level)).or_default() += 1;
    }
    counts
}

fn told(finding: &Finding) -> (&'static str, usize, String) {
    (finding.rule.as_str(), finding.spot.bytes.start, String::from(&*finding.message))
}

/// Lints a file with and without limits, and returns the number of findings.
fn check(name: &str, bytes: &[u8]) -> usize {
    let options = Options::default();
    let all = lint(name, bytes, &options);
    assert!(all.left_out.is_empty());
    for most in [0, 1, 7, 1_100] {
        let options = options.clone().max_findings(most);
        let some = lint(name, bytes, &options);
        assert_eq!(counts(&some), counts(&all), "{name}, at most {most}");
        assert!(some.findings.len() <= most && some.findings.len() <= all.findings.len(), "{name}");
        assert_eq!(some.findings.is_empty(), most == 0 || all.findings.is_empty(), "{name}, at most {most}");
        // They are in the order of the text, and say the same as without a limit.
        let mut rest = all.findings.iter().map(told);
        for finding in &some.findings {
            assert!(rest.any(|other| other == told(finding)), "{name}, at most {most}: {finding:?}");
        }
    }
    all.findings.len()
}

#[test]
fn what_is_not_listed_is_counted() {
    let mut found = 0;
    for path in files_below(fixtures()) {
        let name = path.to_str().unwrap();
        if name.contains(".json") && !name.ends_with(".expect.json") {
            found += check(name, &std::fs::read(&path).unwrap());
        }
    }
    assert!(found > 1000, "{found}");
}

/// A request in which the shape, pairing and others have much to say about the same things.
fn request(count: usize) -> Json {
    let mut messages = vec![json!({"role": "user", "content": "tides"})];
    for number in 0..count {
        let id = format!("toolu_{number}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "tide", "input": {}}, {"type": "text", "text": ""}]}));
        let block = match number % 4 {
            0 => json!({"type": "tool_resxlt", "tool_use_id": id, "content": "high"}),
            1 => json!({"type": "tool_result", "tool_use_id": "other", "content": [{"type": "texd"}]}),
            2 => json!({"type": "tool_result", "id": id, "content": 5}),
            _ => json!(number),
        };
        messages.push(json!({"role": "user", "content": [block]}));
    }
    json!({"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": messages})
}

#[test]
fn findings_that_are_not_listed_settle_with_the_others() {
    for count in [3, 60, 2_500] {
        let found = check("many", request(count).to_string().as_bytes());
        assert!(found >= count, "{count}: {found}");
    }
    let numbers = json!({"messages": vec![1; 5_000]}).to_string();
    check("numbers", numbers.as_bytes());
    let keys = format!("{{\"messages\": [], {}", "\"a\": {\"b\": 1, \"b\": 2, ".repeat(3_000));
    assert!(check("keys", keys.as_bytes()) > 3_000);
}

#[test]
fn what_is_listed_does_not_depend_on_the_pieces_of_a_file() {
    let lines: Vec<String> = (0..12).map(|number| request(number * 40).to_string() + "\n").collect();
    let text = lines.concat();
    for most in [1, 50, 1_200] {
        let options = Options::default().max_findings(most);
        let whole = lint("log.jsonl", text.as_bytes(), &options);
        assert!(whole.findings.len() == most && whole.left_out() > 0);
        for size in [1, 5] {
            let mut log = Lines::new("log.jsonl", text.as_bytes(), &options).unwrap();
            let mut file = log.empty_report();
            for piece in lines.chunks(size).map(|chunk| chunk.concat()) {
                let linted = log.lint(piece.as_bytes());
                file.add(log.add(piece.as_bytes(), linted), most);
            }
            assert_eq!(counts(&file), counts(&whole), "{most}, {size}");
            let lists = [&file, &whole].map(|file| file.findings.iter().map(told).collect::<Vec<_>>());
            assert_eq!(lists[0], lists[1], "{most}, {size}");
        }
    }
}

/// The messages of the findings in a request of Anthropic's.
fn said_of(messages: &[Json]) -> Vec<String> {
    let request = json!({"model": "m", "max_tokens": 9, "system": "s", "messages": messages}).to_string();
    let options = Options::default().format(toolcheck_core::formats::find("anthropic"));
    let file = lint("many.json", request.as_bytes(), &options);
    file.findings.iter().map(|finding| String::from(&*finding.message)).collect()
}

#[test]
fn of_very_many_objects_with_one_mistake_all_are_counted() {
    // Around the number of those that are held one by one.
    for count in [3, 254, 255, 256, 257, 258, 600] {
        let user = |number: usize| {
            let key = if number.is_multiple_of(2) { "even" } else { "odd" };
            json!({"role": "user", "content": "hi", key: 1})
        };
        let messages: Vec<Json> = (0..2 * count).map(user).collect();
        let unknown = |key: &str| format!("unknown key `{key}` (in {count} places)");
        assert_eq!(said_of(&messages), [unknown("even"), unknown("odd")], "{count}");

        let other = |number: usize| {
            let id = format!("call_{number}");
            let call = json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
            [
                json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": id, "content": "done"}),
            ]
        };
        let mut messages = vec![json!({"role": "user", "content": "hi"})];
        messages.extend((0..count).flat_map(other));
        let foreign = format!(
            "{} messages are in the format of OpenAI Chat Completions, not of Anthropic Messages",
            2 * count
        );
        assert_eq!(said_of(&messages), [foreign], "{count}");
    }
}

/// Many requests may go on from one response with many calls.
#[test]
fn owed_calls_of_a_kept_response_are_one_finding_of_a_request() {
    let start = "tool call `call_1` to `tide`";
    for (count, rest) in
        [(2, ""), (3, " and `call_2`"), (4, " and 2 others"), (300, " and at least 20 others")]
    {
        let call = |number| json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "name": "tide", "arguments": "{}"});
        let output: Vec<Json> = (0..count).map(call).collect();
        let first = json!({"request": {"model": "m", "input": "tides"}, "response": {"id": "resp_1", "object": "response", "status": "completed", "output": output}});
        let next = |number| json!({"request": {"model": "m", "previous_response_id": "resp_1", "input": [{"type": "function_call_output", "call_id": format!("call_{number}"), "output": "high"}]}});
        let lines: String =
            std::iter::once(first).chain((0..count).map(next)).map(|line| format!("{line}\n")).collect();
        let found = lint("forks.jsonl", lines.as_bytes(), &Options::default()).findings;
        let found: Vec<&Finding> =
            found.iter().filter(|finding| finding.rule == RuleId::UnansweredToolCall).collect();
        let verb = if count == 2 { "has" } else { "have" };
        assert_eq!(found.len(), count);
        assert_eq!(&*found[0].message, format!("{start}{rest} {verb} no result"));
    }
}

#[test]
fn what_is_not_held_is_told() {
    let many = MOST_HELD + 9;
    let body = |each: &str| {
        let start = r#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}"#;
        let mut body = String::with_capacity(start.len() + (each.len() + 1) * many + 2);
        body.push_str(start);
        (0..many).for_each(|_| body.extend([",", each]));
        body + "]}"
    };
    let report = lint("a.json", body("1").as_bytes(), &Options::default().max_findings(10));
    assert!(report.findings.iter().any(|finding| finding.rule == RuleId::UnreadContent));
}
