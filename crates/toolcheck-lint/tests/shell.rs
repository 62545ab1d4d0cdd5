//! The rules about shell commands: the limits, the places of findings, and what messages never quote.

use serde_json::{Value as Json, json};
use toolcheck_lint::settings::{CommandLimit, Settings, ToolNames, Unit};
use toolcheck_lint::{FileReport, Options, lint, rules};

fn request(tool: &str, arguments: &Json) -> String {
    json!({"messages": [
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"}
    ]})
    .to_string()
}

fn run(text: &str, settings: &Settings) -> FileReport {
    let selected = ["oversized-command", "shell-file-write"].map(|id| rules::find(id).unwrap());
    lint("request.json", text.as_bytes(), &Options::new().rules(selected.to_vec()).settings(settings.clone()))
}

fn messages(report: &FileReport) -> Vec<&str> {
    report.findings.iter().map(|found| found.message.as_str()).collect()
}

#[test]
fn both_rules_are_opt_in() {
    let text = request("bash", &json!({"command": format!("echo {} > f", "a".repeat(10_000))}));
    assert!(lint("request.json", text.as_bytes(), &Options::default()).findings.is_empty());
    assert_eq!(run(&text, &Settings::default()).findings.len(), 2);
}

#[test]
fn each_system_has_its_own_limit() {
    let settings = Settings::default();
    let messages_for = |command: Json| {
        let report = run(&request("bash", &json!({"command": command})), &settings);
        messages(&report).iter().map(|&message| message.to_owned()).collect::<Vec<_>>()
    };
    assert!(messages_for(json!("a".repeat(8191))).is_empty());
    let start = "the command of tool call `call_1` has";
    assert_eq!(
        messages_for(json!("a".repeat(8192))),
        [format!("{start} 8192 UTF-16 code units, over the limit of Windows (8191)")]
    );
    // 8,000 UTF-16 code units, and 24,000 bytes: below all limits.
    assert!(messages_for(json!("\u{4e2d}".repeat(8000))).is_empty());
    assert_eq!(
        messages_for(json!("a".repeat(131_072))),
        [format!(
            "{start} 131072 UTF-16 code units, over the limit of Windows (8191) and the limit of Linux (131071)"
        )]
    );
    assert_eq!(
        messages_for(json!("a".repeat(1_048_576)))[0].strip_prefix(start).unwrap(),
        " 1048576 UTF-16 code units, over the limit of Windows (8191) and the limit of Linux (131071) \
         and the limit of macOS (1048575)"
    );
    // The length of a list includes the separators.
    assert!(messages_for(json!(["a".repeat(4095), "b".repeat(4095)])).is_empty());
    assert_eq!(messages_for(json!(["a".repeat(4096), "b".repeat(4095)])).len(), 1);
}

#[test]
fn limits_and_tools_can_be_configured() {
    let mut settings = Settings::default();
    settings.command_limits = vec![CommandLimit::own(1000, Unit::Characters)];
    settings.shell_tools = ToolNames::new(["mcp__*__run"]).unwrap();
    let arguments = json!({"command": "\u{e9}".repeat(1001)});
    assert_eq!(
        messages(&run(&request("mcp__box__run", &arguments), &settings)),
        ["the command of tool call `call_1` has 1001 characters, over the configured limit (1000)"]
    );
    assert!(run(&request("bash", &arguments), &settings).findings.is_empty());
    let mut none = Settings::default();
    none.command_limits = Vec::new();
    assert!(run(&request("bash", &arguments), &none).findings.is_empty());
}

#[test]
fn a_write_is_located_inside_the_arguments() {
    // After a line break, quotes, an escaped letter, a surrogate pair and letters of several bytes.
    let command = r#"echo \\\"a\\n\\u00e9\\ud83d\\ude00\u00e4\\\" \\u003e \\\"n\u006ftes.md\\\" \\n ls"#;
    let text = format!(
        r#"{{"messages": [{{"role": "user", "content": "go on"}},
  {{"role": "assistant", "content": null, "tool_calls": [{{"id": "call_1", "type": "function",
   "function": {{"name": "bash", "arguments": "{{\"timeout\": 5, \"command\": \"{command}\"}}"}}}}]}},
  {{"role": "tool", "tool_call_id": "call_1", "content": "done"}}]}}"#
    );
    let report = run(&text, &Settings::default());
    let found = &report.findings[0];
    assert_eq!(&text[found.spot.bytes.clone()], r#"\\u003e \\\"n\u006ftes.md\\\""#);
    assert_eq!(found.spot.start.line, 3);
    assert_eq!(found.spot.pointer, "/messages/1/tool_calls/0/function/arguments");
    // The same in arguments that are an object; if the key appears twice, the last one counts.
    let text = r#"{"messages": [{"role": "user", "content": "go on"},
  {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {
    "command": "ls", "command": "echo \ud83d\ude00 \u003e f; ls"}}]},
  {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]}]}"#;
    let report = run(text, &Settings::default());
    assert_eq!(&text[report.findings[0].spot.bytes.clone()], r"\u003e f");
    assert_eq!(report.findings[0].spot.start.line, 3);
}

#[test]
fn messages_quote_neither_command_nor_file() {
    let secret = "hunter2";
    let filler = "a".repeat(9000);
    for command in [
        format!("echo {secret} > {secret} # {filler}"),
        format!("cat <<< {secret} > {secret} # {filler}"),
        format!("echo {filler} | tee {secret}"),
    ] {
        let report = run(&request("bash", &json!({"command": command})), &Settings::default());
        assert_eq!(report.findings.len(), 2, "{command}");
        assert!(!report.findings.iter().any(|found| {
            let labels = found.labels.iter().map(|label| &*label.message);
            let words = [found.message.as_str(), found.help.as_deref().unwrap_or_default()];
            words.into_iter().chain(labels).any(|text| text.contains(secret))
        }));
    }
}

#[test]
fn each_call_has_one_finding() {
    let text = request("bash", &json!({"command": "echo a > f; echo b > g\ncat <<A > h\nA\n"}));
    assert_eq!(
        messages(&run(&text, &Settings::default())),
        ["the command of tool call `call_1` writes a file with `echo`"]
    );
}
