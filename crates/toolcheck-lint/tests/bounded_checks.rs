//! Arguments that can't be checked in bounded time are reported, once, and in the same way however a file is read.

use serde_json::{Value as Json, json};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_lint::{FileReport, Finding, Lines, Options, lint};

/// A request whose assistant calls a tool with each of these arguments.
fn request(schemas: &[(&str, Json)], calls: &[(&str, Json)]) -> Json {
    let tool = |(name, schema): &(&str, Json)| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    for (number, (name, arguments)) in calls.iter().enumerate() {
        let id = format!("call_{number}");
        let function = json!({"name": name, "arguments": arguments.to_string()});
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "done"}));
    }
    json!({"model": "m", "messages": messages, "tools": schemas.iter().map(tool).collect::<Vec<_>>()})
}

/// A schema of a list of these, and what it takes long to compare.
fn slow(count: usize) -> (Json, Json) {
    let constants: Vec<Json> = (0..count).map(|number| json!({"const": number})).collect();
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"anyOf": constants}}}});
    (schema, json!({"a": vec![count - 1; count]}))
}

fn findings(text: &str) -> Vec<Finding> {
    lint("a.json", text.as_bytes(), &Options::default()).findings
}

fn told(findings: &[Finding]) -> Vec<(&str, &str)> {
    findings.iter().map(|finding| (finding.rule.as_str(), &*finding.message)).collect()
}

#[test]
fn calls_that_take_too_long_are_one_finding() {
    let (schema, arguments) = slow(2_000);
    let plain = json!({"type": "object", "properties": {"b": {"type": "string"}}});
    let tools = [("slow", schema), ("plain", plain)];
    let calls = [
        ("plain", json!({"b": 1})),
        ("slow", arguments.clone()),
        ("slow", arguments),
        ("plain", json!({"b": 1})),
    ];
    let findings = findings(&request(&tools, &calls).to_string());
    assert_eq!(
        told(&findings),
        [
            ("arguments-schema-mismatch", "argument `b` is not of type string (schema of `plain`)"),
            (
                "invalid-tool-schema",
                "the schema of tool `slow` takes too long to check against the arguments of a call, so 3 calls are not checked"
            ),
        ]
    );
}

#[test]
fn what_takes_long_but_not_too_long_is_checked() {
    let (schema, arguments) = slow(100);
    assert_eq!(told(&findings(&request(&[("slow", schema)], &[("slow", arguments)]).to_string())), []);
}

#[test]
fn large_expressions_matter_only_if_they_are_used() {
    let schema = |pattern: &str| json!({"type": "object", "properties": {"a": {"pattern": pattern}, "b": {"type": "string"}}});
    let large = schema(r"^(\p{L}{1,900}x){1,9}$");
    for calls in [&[][..], &[("f", json!({"b": "x"}))]] {
        assert_eq!(told(&findings(&request(&[("f", large.clone())], calls).to_string())), []);
    }
    let used = findings(&request(&[("f", large)], &[("f", json!({"a": "x"}))]).to_string());
    assert_eq!(
        told(&used),
        [(
            "invalid-tool-schema",
            "the schema of tool `f` contains a regular expression that is too large to check the arguments of a call"
        )]
    );
    // As generators write them for names and texts.
    for pattern in [
        r"^[^\n]{1,2048}$",
        r"^[\s\S]{0,10000}$",
        r"^[\p{L}\p{N} _.-]{1,64}$",
        r"^(?!-)[a-z0-9-]{1,63}(?<!-)$",
    ] {
        let calls: Vec<_> = (0..5).map(|_| ("f", json!({"a": "x".repeat(50)}))).collect();
        assert_eq!(told(&findings(&request(&[("f", schema(pattern))], &calls).to_string())), [], "{pattern}");
    }
}

#[test]
fn a_text_that_is_too_long_for_lookaround_is_reported_as_not_checked() {
    let wanted = "the schema of tool `f` contains a regular expression with lookaround or backreferences, which takes too long for texts over 16 KiB";
    let text = |length: usize| "a".repeat(length);
    let values = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?!.*b)a"}}});
    let keys = json!({"type": "object", "properties": {"a": {"type": "string"}},
        "patternProperties": {"^(?!b)x": {"type": "number"}}, "additionalProperties": false});
    for (schema, at_most) in [(&values, 16 << 10), (&keys, 16_000)] {
        let told_of = |arguments: Json| {
            let calls = [("f", arguments)];
            let found = findings(&request(&[("f", schema.clone())], &calls).to_string());
            found.into_iter().map(|finding| String::from(&*finding.message)).collect::<Vec<_>>()
        };
        assert_eq!(told_of(json!({"a": text(at_most)})), [""; 0]);
        let short = told_of(json!({"a": "b", "x": "y"}));
        assert!(!short.is_empty() && short.iter().all(|told| told != wanted), "{short:?}");
        // Allowed or not: nobody has looked.
        assert_eq!(told_of(json!({"a": text(20_000), "x": "y"})), [wanted]);
        assert_eq!(told_of(json!({"a": format!("{}b", text(20_000)), "x": "y"})), [wanted]);
    }
    assert_eq!(
        told(&findings(&request(&[("f", keys)], &[("f", json!({"a": text(20_000)}))]).to_string())),
        []
    );
}

#[test]
fn calls_in_a_response_that_take_too_long_are_reported_there() {
    let (schema, arguments) = slow(2_000);
    let request = request(&[("slow", schema)], &[]);
    let function = json!({"name": "slow", "arguments": arguments.to_string()});
    let message = json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}]});
    let response = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let found = findings(&json!([{"request": request, "response": response}]).to_string());
    assert_eq!(
        told(&found),
        [(
            "arguments-schema-mismatch",
            "the arguments are not checked: the schema of `slow` takes too long to check against the arguments of a call"
        )]
    );
}

/// The rules, records and lines of the findings.
fn places(file: &FileReport) -> Vec<(String, String, usize, u32)> {
    let place = |finding: &Finding| {
        (
            finding.rule.to_string(),
            String::from(&*finding.message),
            finding.spot.record,
            finding.spot.start.line as u32,
        )
    };
    file.findings.iter().map(place).collect()
}

#[test]
fn what_is_not_checked_does_not_depend_on_the_pieces_of_a_file() {
    // Schemas around the limit, patterns among them, so that what one record leaves behind would show in the next.
    let mut lines = String::new();
    for number in 0..24 {
        let (schema, arguments) = slow(150 + 100 * (number % 7));
        let text = "ab".repeat(20 * number);
        let pattern = json!({"type": "object", "properties": {"a": {"pattern": format!("[ab]*a[ab]{{{}}}c|^.*$", 3 + number % 5)}}});
        let calls = [
            ("slow", arguments),
            ("pattern", json!({"a": text})),
            ("pattern", json!({"a": "c".repeat(number)})),
        ];
        lines += &request(&[("slow", schema), ("pattern", pattern)], &calls).to_string();
        lines.push('\n');
    }
    let options = Options::default();
    let whole = lint("log.jsonl", lines.as_bytes(), &options);
    let unchecked =
        whole.findings.iter().filter(|finding| finding.message.contains("takes too long")).count();
    assert!((4..20).contains(&unchecked), "{unchecked}");
    for size in [1, 5, 11] {
        let mut log = Lines::new("log.jsonl", lines.as_bytes(), &options).unwrap();
        let all: Vec<&str> = lines.split_inclusive('\n').collect();
        // The last pieces are linted first.
        let mut pieces: Vec<_> = all.chunks(size).map(|chunk| chunk.concat()).collect::<Vec<_>>();
        let mut linted: Vec<_> = pieces.iter().rev().map(|piece| log.lint(piece.as_bytes())).collect();
        linted.reverse();
        let mut file = log.empty_report();
        for (piece, linted) in pieces.drain(..).zip(linted) {
            file.add(log.add(piece.as_bytes(), linted), usize::MAX);
        }
        assert_eq!(places(&file), places(&whole), "{size}");
    }
}

/// What a text is, and whether it has results, is seen near it: to look at all of the conversation for each would take minutes.
#[test]
fn rows_with_many_turns_are_read_in_one_pass() {
    const TURNS: usize = 60_000;
    let options = Options::default().kind(TranscriptKind::Dataset);
    let texts = [
        "It is sunny.",
        r#"{"name": "tide", "parameters": {"port": "Oban"}}"#,
        "[tide(port=\"Oban\")]",
        "<tool_call>\n{\"name\": \"tide\", \"arguments\": {}}\n</tool_call>",
    ];
    for text in texts {
        let turns = (0..TURNS).map(|number| match number % 2 {
            0 => json!({"from": "human", "value": "hi"}),
            _ => json!({"from": "gpt", "value": text}),
        });
        let row = json!([{"conversations": turns.collect::<Vec<_>>()}]).to_string();
        assert_eq!(lint("a.json", row.as_bytes(), &options).messages, TURNS, "{text}");
    }
}
