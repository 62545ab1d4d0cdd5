//! The outputs of a report.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value as Json;
use toolcheck_core::shape::Asked;
use toolcheck_core::targets;
use toolcheck_lint::{Options, Report, lint};
use toolcheck_report::{Style, outputs};

use crate::testing::{files_below, fixtures, ids_in, root};

fn report(path: &str, target: Option<&str>) -> Report {
    let bytes = std::fs::read(fixtures().join(path)).unwrap();
    of_bytes(path, bytes, target)
}

fn of_bytes(path: &str, bytes: Vec<u8>, target: Option<&str>) -> Report {
    let target = target.map(|id| targets::find(id).unwrap());
    let file = lint(path, &bytes, &Options::new().target(target));
    Report::new(vec![file])
}

fn show(report: &Report, output: &str, width: usize) -> String {
    let mut text = Vec::new();
    (outputs::find(output).unwrap().write)(report, &Style::new().width(width), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// A request on one line of two megabytes, with an unanswered call in the middle.
fn one_long_line() -> Vec<u8> {
    let filler = "lorem ipsum \u{4e2d}\u{6587} dolor ".repeat(40_000);
    let message = format!("{{\"role\":\"user\",\"content\":\"{filler}\"}}");
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"search","input":{"q":"x"}}]}"#;
    format!("{{\"messages\":[{message},{call},{message}]}}").into_bytes()
}

#[test]
fn one_line_of_two_megabytes() {
    let bytes = one_long_line();
    assert!(bytes.len() > 2_000_000);
    let shown = show(&of_bytes("long.json", bytes, None), "full", 80);
    assert!(shown.len() < 3_000, "{} bytes", shown.len());
    insta::assert_snapshot!(shown);
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let cases = ["seeds/coco-before.json", "seeds/litellm-before.json", "seeds/roo-duplicate-result.json"];
    for case in cases {
        for width in [60, 80, 100] {
            let shown = show(&report(case, None), "full", width);
            // The two lines of the summary are sentences, which the terminal wraps.
            let (findings, _) = shown.trim_end().rsplit_once("\n1 error").unwrap();
            for line in findings.lines() {
                // The place in the file is never cut: terminals turn it into a link.
                if !line.contains(case) {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn control_characters_are_made_visible() {
    let text = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": [\
         {\"type\": \"tool_use\", \"id\": \"\\u001b[31mred\\u202e\", \"name\": \"\u{202e}evil\", \"input\": {}}]}, \
         {\"role\": \"user\", \"content\": \"b\"}]}";
    let report = of_bytes("\u{1b}[2Jname.json", text.as_bytes().to_vec(), None);
    assert!(!report.files[0].findings.is_empty());
    for output in outputs::ALL {
        let shown = show(&report, output.id, 80);
        let is_control =
            |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
        assert!(!shown.chars().any(is_control), "{}: {shown:?}", output.id);
    }
}

#[test]
fn no_message_quotes_a_value() {
    let planted = "hunter2-SECRET";
    let text = format!(
        "{{\"messages\": [{{\"role\": \"user\", \"content\": \"{planted}\"}}, {{\"role\": \"assistant\", \"content\": [\
         {{\"type\": \"text\", \"text\": \"\"}}, {{\"type\": \"thinking\", \"thinking\": \"{planted}\", \"signature\": \"\"}}, \
         {{\"type\": \"tool_use\", \"id\": \"a\", \"name\": \"f\", \"input\": {{\"{planted}\": \"{planted}\"}}}}]}}, \
         {{\"role\": \"user\", \"content\": [{{\"type\": \"tool_result\", \"tool_use_id\": \"b\", \"content\": \"{planted}\"}}]}}]}}"
    );
    let report = of_bytes("secret.json", text.into_bytes(), None);
    assert!(report.files[0].findings.len() >= 3);
    // `full` shows excerpts of the file.
    for output in outputs::ALL.iter().filter(|output| output.id != "full") {
        assert!(!show(&report, output.id, 80).contains(planted), "{}", output.id);
    }
}

#[test]
fn json_is_valid_against_its_schema() {
    let schema: Json =
        serde_json::from_slice(&std::fs::read(root().join("schemas/report.v1.schema.json")).unwrap())
            .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let reports = [
        report("seeds/coco-before.json", None),
        report("seeds/coco-after.json", None),
        report("seeds/litellm-before.json", Some("bedrock")),
        of_bytes("empty.json", Vec::new(), None),
        of_bytes("other.json", b"{\"a\": 1}".to_vec(), None),
    ];
    for report in reports {
        let json: Json = serde_json::from_str(&show(&report, "json", 80)).unwrap();
        let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{json:#}");
        let lines = show(&report, "jsonl", 80);
        let lines: Vec<Json> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(json["findings"], Json::from(lines));
    }
    let mut wrong: Json =
        serde_json::from_str(&show(&report("seeds/coco-before.json", None), "json", 80)).unwrap();
    wrong["findings"][0]["line"] = 0.into();
    assert!(!validator.is_valid(&wrong), "the schema rejects an invalid report");
}

#[test]
fn the_table_equals_its_directory() {
    let ids: Vec<&str> = outputs::ALL.iter().map(|output| output.id).collect();
    assert_eq!(ids, ids_in("src/outputs", "rs"));
}

/// Characters with a meaning in terminals, workflow commands, XML, HTML, Markdown, JSON or SARIF.
const HOSTILE: &str =
    "\u{1b}[31m\n::error::%0A##[a]]]><script>|`\u{202e}\"'\\ @u,line=#1 [x](//e) {0} &lt; \u{fffe}www.e.e";

/// A report of files whose names, ids, tools and keys are hostile.
fn hostile_report() -> Report {
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    let anthropic = format!(
        r#"{{"max_tokens": 1, "model": {quoted}, {quoted}: 1, {quoted}: 2, "tools": [{{"name": "f", "input_schema": {{"type": "object"}}}}], "messages": [
 {{"role": "user", "content": "a"}},
 {{"role": "assistant", "content": [{{"type": "tool_use", "id": {quoted}, "name": {quoted}, "input": {{}}}}]}},
 {{"role": {quoted}, "content": [{{"type": "tool_result", "tool_use_id": "x{HOSTILE_TAIL}", "content": "b"}}]}}]}}"#
    );
    let chat = format!(
        r#"{{"messages": [{{"role": "user", "content": "a"}},
 {{"role": "assistant", "content": null, "tool_calls": [{{"id": {quoted}, "type": "function", "function": {{"name": {quoted}, "arguments": "{{"}}}}]}},
 {{"role": "user", "content": "b"}}, {{"role": "tool", "tool_call_id": {quoted}, "content": "c"}}, {{"role": {quoted}, "content": "c"}}]}}"#
    );
    let mut files = of_bytes(HOSTILE, anthropic.into_bytes(), None).files;
    files.extend(of_bytes(&format!("/{HOSTILE}/../x.json"), chat.into_bytes(), None).files);
    files.extend(
        of_bytes(HOSTILE, b"{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}".to_vec(), None).files,
    );
    Report::new(files)
}

const HOSTILE_TAIL: &str = "|</failure>%0D%0A::warning::";

#[test]
fn nothing_is_injected_into_any_output() {
    let report = hostile_report();
    let findings: Vec<_> = report.files.iter().flat_map(|file| &file.findings).collect();
    assert!(findings.len() >= 6, "{findings:#?}");
    assert!(findings.iter().any(|found| found.message.contains("::error::")));
    assert!(findings.iter().any(|found| found.spot.pointer.contains("::error::")), "{findings:#?}");
    assert_eq!(report.files[2].findings.len(), 0);
    for output in outputs::ALL {
        let mut text = Vec::new();
        let style = Style::new().with_statistics(true);
        (output.write)(&report, &style, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let hidden = |character: char| character != '\n' && toolcheck_core::text::is_hidden(character);
        assert!(!text.chars().any(hidden), "{}: {text:?}", output.id);
        match output.id {
            "agent" | "concise" | "grouped" => {
                // No line begins with text from a name that contains a line end.
                let lines = text.lines().filter(|line| line.contains(" error") || line.contains(" warning"));
                assert!(lines.count() >= findings.len(), "{text}");
                assert!(!text.lines().any(|line| line.starts_with("::")), "{text}");
                // The two lines of the summary, the one about fixes, a blank line, and the rules.
                let rules: std::collections::BTreeSet<_> = findings.iter().map(|found| found.rule).collect();
                let extra = if output.id == "grouped" { 2 * 2 } else { 0 };
                assert_eq!(text.lines().count(), findings.len() + 4 + rules.len() + extra, "{text}");
            }
            "full" => assert!(!text.lines().any(|line| line.starts_with("::")), "{text}"),
            "github" => {
                for line in text.lines() {
                    let (head, data) = line[2..].split_once("::").unwrap();
                    let (command, properties) = head.split_once(' ').unwrap();
                    assert!(line.starts_with("::") && ["error", "warning"].contains(&command), "{line}");
                    let keys: Vec<&str> =
                        properties.split(',').map(|property| property.split_once('=').unwrap().0).collect();
                    let on_one_line = ["file", "line", "endLine", "col", "endColumn", "title"];
                    assert!(keys == on_one_line || keys == ["file", "line", "endLine", "title"], "{line}");
                    // An escape sequence in a name is not read as an escape.
                    assert!(!properties.contains("%0A"), "{line}");
                    assert!(data.split("%0A").count() <= 3, "{line}");
                }
                assert_eq!(text.lines().count(), findings.len(), "{text}");
            }
            "json" => assert_eq!(
                serde_json::from_str::<Json>(&text).unwrap()["files"][0]["path"],
                HOSTILE,
                "the escaped path is read back unchanged"
            ),
            "jsonl" => {
                assert_eq!(text.lines().count(), findings.len());
                for (line, finding) in text.lines().zip(&findings) {
                    let json: Json = serde_json::from_str(line).unwrap();
                    assert_eq!(json["pointer"], finding.spot.pointer);
                }
            }
            "gitlab" => {
                let json: Json = serde_json::from_str(&text).unwrap();
                let issues = json.as_array().unwrap();
                assert_eq!(issues.len(), findings.len());
                let fingerprints: std::collections::HashSet<_> =
                    issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
                assert_eq!(fingerprints.len(), findings.len());
            }
            "sarif" => {
                assert_valid_sarif(&text);
                let json: Json = serde_json::from_str(&text).unwrap();
                let results = json["runs"][0]["results"].as_array().unwrap();
                assert_eq!(results.len(), findings.len());
                for result in results {
                    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
                    let uri = uri.as_str().unwrap();
                    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%:".contains(&byte);
                    assert!(uri.bytes().all(is_plain), "{uri}");
                    assert_eq!(uri.contains(':'), uri.starts_with("file:///"), "{uri}");
                    let message = result["message"]["text"].as_str().unwrap();
                    assert!(!message.replace("\\[", "").contains("[x"), "{message}");
                }
            }
            "junit" => {
                let document = roxmltree::Document::parse(&text).unwrap();
                let count = |name| document.descendants().filter(|node| node.has_tag_name(name)).count();
                assert_eq!((count("testsuite"), count("testcase")), (3, findings.len() + 1));
                assert_eq!(count("failure"), findings.len());
                let known = ["testsuites", "testsuite", "testcase", "failure"];
                let mut elements = document.descendants().filter(roxmltree::Node::is_element);
                assert!(elements.all(|node| known.contains(&node.tag_name().name())));
            }
            "markdown" => {
                assert!(
                    !text.contains("<script") && !text.contains("[x]") && !text.contains("://e"),
                    "{text}"
                );
                assert!(!text.contains('`') && !text.contains("www.e") && !text.contains("@u"), "{text}");
                let mut columns = 0;
                for line in text.lines() {
                    let own = line.matches('|').count();
                    if !line.starts_with('|') {
                        assert_eq!(own, 0, "{line}");
                    } else if columns > 0 {
                        assert_eq!(own, columns, "{line}");
                    }
                    columns = own;
                }
            }
            "summary" => {
                let summary = report.summary();
                let of_rules: usize = summary.rules.values().map(|rule| 2 + rule.samples.len()).sum();
                assert_eq!(text.lines().count(), of_rules + 2, "{text}");
                assert!(!text.lines().any(|line| line.starts_with("::")), "{text}");
            }
            "summary-json" => {
                let json: Json = serde_json::from_str(&text).unwrap();
                assert_eq!(text.lines().count(), 1);
                assert_eq!(json["rules"][0]["samples"][0]["row"], HOSTILE);
            }
            other => panic!("{other} is not tested with hostile names"),
        }
    }
}

fn assert_valid_sarif(text: &str) {
    let path = root().join("schemas/third-party/sarif-2.1.0.schema.json");
    let mut schema: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // The standard's pattern for languages has an extra bracket, so the validator rejects it as a regular expression.
    for owner in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][owner]["properties"]["language"];
        assert!(language.as_object_mut().unwrap().remove("pattern").is_some());
    }
    let validator = jsonschema::draft7::options().should_validate_formats(true).build(&schema).unwrap();
    let json: Json = serde_json::from_str(text).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let mut wrong = json;
    wrong["runs"][0]["columnKind"] = "bytes".into();
    assert!(!validator.is_valid(&wrong), "the schema rejects an invalid report");
}

#[test]
fn sarif_is_valid_against_the_standard_schema() {
    let reports = [
        report("seeds/coco-before.json", None),
        report("seeds/coco-after.json", None),
        report("seeds/litellm-before.json", Some("bedrock")),
        report("seeds/goclaw-last-kept.jsonl", None),
        of_bytes("empty.json", Vec::new(), None),
    ];
    for report in reports {
        let text = show(&report, "sarif", 80);
        assert_valid_sarif(&text);
        let json: Json = serde_json::from_str(&text).unwrap();
        let run = &json["runs"][0];
        for result in run["results"].as_array().unwrap() {
            let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(rule["help"]["markdown"].as_str().unwrap().contains("## Why is this bad?"));
        }
    }
}

/// A report with the finding of a sample `count` times; every third is a warning.
fn many(count: usize) -> Report {
    let mut report = report("seeds/coco-before.json", None);
    let mut finding = report.files[0].findings.remove(0);
    finding.labels.clear();
    report.files[0].findings = (0..count)
        .map(|number| {
            let mut finding = finding.clone();
            if number % 3 == 0 {
                finding.level = toolcheck_core::Level::Warning;
            }
            finding
        })
        .collect();
    report
}

#[test]
fn sarif_is_limited_and_says_how_many_findings_are_left_out() {
    let json: Json = serde_json::from_str(&show(&many(25_010), "sarif", 80)).unwrap();
    let run = &json["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 25_000);
    let errors = results.iter().filter(|result| result["level"] == "error").count();
    assert_eq!(errors, 25_010 - 25_010usize.div_ceil(3), "no error is left out");
    let notes = &run["invocations"][0]["toolExecutionNotifications"];
    assert!(notes[0]["message"]["text"].as_str().unwrap().starts_with("10 of 25010 findings are left out"));
}

#[test]
fn github_gets_ten_findings_per_level_and_the_number_of_the_rest() {
    let text = show(&many(40), "github", 80);
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("::error "), count("::warning "), count("::notice ")), (10, 10, 1), "{text}");
    assert!(text.ends_with(
        "::notice title=toolcheck::20 more findings than GitHub shows; \
         26 errors, 14 warnings in 1 transcript (3 messages, 2 calls, 1 result)\n"
    ));
}

#[test]
fn markdown_fits_into_a_comment() {
    let text = show(&many(2_000), "markdown", 80);
    assert!(text.len() < 65_536, "{}", text.len());
    let rows = text.lines().filter(|line| line.starts_with("| 41:9")).count();
    assert!(text.ends_with(&format!("\n... and {} more findings.\n", 2_000 - rows)), "{rows}");
}

#[test]
fn a_fingerprint_does_not_depend_on_the_place() {
    let fingerprints = |bytes: Vec<u8>| -> Vec<String> {
        let json: Json = serde_json::from_str(&show(&of_bytes("a.json", bytes, None), "gitlab", 80)).unwrap();
        let issues = json.as_array().unwrap().iter();
        issues.map(|issue| issue["fingerprint"].as_str().unwrap().to_owned()).collect()
    };
    let call = |id: &str| {
        format!(
            r#"{{"role": "assistant", "content": [{{"type": "tool_use", "id": "{id}", "name": "f", "input": {{}}}}]}},
               {{"role": "user", "content": "b"}}"#
        )
    };
    let with = |messages: &[String]| {
        format!(r#"{{"messages": [{{"role": "user", "content": "a"}}, {}]}}"#, messages.join(",\n\n"))
            .into_bytes()
    };
    let alone = fingerprints(with(&[call("y")]));
    let later = fingerprints(with(&[call("x"), call("y")]));
    assert_eq!((alone.len(), later.len()), (1, 2));
    assert_eq!(alone[0], later[1]);
    assert_ne!(later[0], later[1]);
    // Equal findings have different fingerprints.
    let json: Json = serde_json::from_str(&show(&many(3), "gitlab", 80)).unwrap();
    let all: std::collections::HashSet<_> =
        json.as_array().unwrap().iter().map(|issue| issue["fingerprint"].to_string()).collect();
    assert_eq!(all.len(), 3);
}

#[test]
fn statistics_follow_the_report_and_quiet_omits_the_summary() {
    let report = many(5);
    let shown = |is_quiet, with_statistics, output: &str| {
        let style = Style::new().is_quiet(is_quiet).with_statistics(with_statistics);
        let mut text = Vec::new();
        (outputs::find(output).unwrap().write)(&report, &style, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    for output in ["agent", "concise", "full", "grouped"] {
        let text = shown(false, true, output);
        assert!(
            text.ends_with("checked against anthropic\n[*] 5 fixable with `toolcheck fix`\n\n5  unanswered-tool-call  3 errors, 2 warnings\n"),
            "{text}"
        );
        let text = shown(true, false, output);
        assert!(!text.contains("transcript (") && text.contains("unanswered-tool-call"), "{text}");
    }
    for output in outputs::ALL {
        let is_for_machines = ["json", "jsonl", "sarif", "gitlab", "junit"].contains(&output.id);
        if is_for_machines {
            assert_eq!(shown(true, true, output.id), shown(false, false, output.id), "{}", output.id);
        }
    }
}

#[test]
fn a_rule_is_a_link_if_the_terminal_supports_links() {
    let (mut linked, mut plain) = (Vec::new(), Vec::new());
    let output = outputs::find("full").unwrap();
    let style = Style::new().color(true);
    (output.write)(&report("seeds/coco-before.json", None), &style.has_links(true), &mut linked).unwrap();
    (output.write)(&report("seeds/coco-before.json", None), &style, &mut plain).unwrap();
    assert!(String::from_utf8(linked).unwrap().contains("\x1b]8;;https://"));
    assert!(!String::from_utf8(plain).unwrap().contains("https://github"));
}

/// A value that no output may show without excerpts.
const SECRET: &str = "sk-hunter2";

/// The keys that have only a few values somewhere.
fn settings() -> &'static BTreeSet<String> {
    static SETTINGS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let shapes = targets::all().filter_map(|target| target.shape());
        let demands = shapes.flat_map(|shape| shape.demands());
        let of_values = demands.filter(|(_, demand)| matches!(demand.asked, Asked::OneOf { .. }));
        of_values.map(|(_, demand)| demand.key.into_owned()).collect()
    });
    &SETTINGS
}

/// Plants the secret in every text, argument and result, and returns their number.
fn plant(value: &mut Json, is_content: bool) -> usize {
    match value {
        Json::String(text) if is_content => {
            *text = format!("{SECRET}{text}{SECRET}");
            1
        }
        Json::Array(items) => items.iter_mut().map(|item| plant(item, is_content)).sum(),
        Json::Object(members) => {
            // What an API answered: the words of a refusal are reported as they are.
            let is_exchange = members.contains_key("request");
            let contents = [
                "text",
                "content",
                "input",
                "arguments",
                "args",
                "output",
                "thinking",
                "response",
                "reasoning",
            ];
            // Messages may name ids, tools, roles and types, and settings of which only a few are allowed.
            // Rig has an id under who gave it.
            let names = ["id", "Id", "name", "Name", "type", "Type", "role", "provider"];
            let plant = |(key, value): (&String, &mut Json)| {
                let is_name =
                    names.iter().any(|name| key.ends_with(name)) || settings().contains(key.as_str());
                let is_body = is_exchange && key == "response";
                // What a tool's schema requires is named where it is missing.
                let is_tools = key == "tools";
                plant(
                    value,
                    !is_name && !is_body && !is_tools && (is_content || contents.contains(&key.as_str())),
                )
            };
            members.iter_mut().map(plant).sum()
        }
        _ => 0,
    }
}

#[test]
fn no_output_shows_a_planted_secret() {
    let (mut planted, mut findings) = (0, 0);
    for path in files_below(fixtures()) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".json") || name.ends_with(".expect.json") {
            continue;
        }
        let Ok(mut value) = serde_json::from_slice::<Json>(&std::fs::read(&path).unwrap()) else { continue };
        planted += plant(&mut value, false);
        let report = of_bytes(&name, value.to_string().into_bytes(), None);
        findings += report.files[0].findings.len();
        for output in outputs::ALL {
            let mut text = Vec::new();
            let style = Style::new().has_excerpts(false).with_statistics(true);
            (output.write)(&report, &style, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(!text.contains(SECRET), "{} in {}:\n{text}", path.display(), output.id);
        }
    }
    assert!(planted > 2000 && findings > 200, "{planted} planted, {findings} findings");
}

#[test]
fn without_excerpts_the_places_are_listed() {
    let report = report("seeds/coco-before.json", None);
    let mut text = Vec::new();
    let style = Style::new().has_excerpts(false);
    (outputs::find("full").unwrap().write)(&report, &style, &mut text).unwrap();
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
}

#[test]
fn a_record_of_another_format_names_its_own_target() {
    let chat = r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}"#;
    let result = |id: &str| {
        format!(
            r#"{{"role": "user", "content": [{{"type": "tool_result", "tool_use_id": "{id}", "content": "x"}}]}}"#
        )
    };
    let call = |id: &str| format!(r#"{{"type": "tool_use", "id": "{id}", "name": "tide", "input": {{}}}}"#);
    let anthropic = format!(
        r#"{{"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "go", "messages": [{{"role": "user", "content": "go"}}, {{"role": "assistant", "content": [{}, {}]}}, {}, {}]}}"#,
        call("toolu_01"),
        call("toolu_02"),
        result("toolu_01"),
        result("toolu_02")
    );
    let text = format!("{chat}\n{chat}\n{anthropic}\n");
    let file = lint("log.jsonl", text.as_bytes(), &Options::default());
    assert_eq!(file.target.as_deref(), Some("openai-chat"));
    let split = file.findings.iter().find(|finding| finding.rule == "split-tool-results").unwrap();
    assert_eq!(split.target.as_deref(), Some("anthropic"));
    assert!(split.provider_sentence().unwrap().starts_with("anthropic accepts it, but "));
}
