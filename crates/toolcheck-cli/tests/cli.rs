//! The program as users run it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use crate::common::{folder, root, run, run_with_input, seen, toolcheck, words, write};

const CLEAN: &[u8] = br#"{"messages": [{"role": "user", "content": "hello"}]}"#;
const BROKEN: &[u8] = br#"{"messages": [{"role": "user", "content": "hello"},]}"#;

#[test]
fn the_first_command_of_the_readme() {
    insta::assert_snapshot!(seen(&run(&["lint", "fixtures/seeds/coco-before.json"])));
}

#[test]
fn concise_over_several_files() {
    let files = "fixtures/seeds/coco-*.json fixtures/seeds/litellm-before.json";
    insta::assert_snapshot!(seen(&run(&words(&format!("lint {files} --output-format concise")))));
}

#[test]
fn help() {
    insta::assert_snapshot!(seen(&run(&["lint", "--help"])));
}

#[test]
#[cfg_attr(not(feature = "serve"), ignore = "needs the feature `serve`")]
fn a_mistyped_flag_rule_and_target() {
    insta::assert_snapshot!("mistyped-flag", seen(&run(&["lint", "x.json", "--targt", "bedrock"])));
    insta::assert_snapshot!("mistyped-rule", seen(&run(&["explain", "unanswered-tool-cal"])));
    let output = run(&["lint", "fixtures/seeds/coco-after.json", "--target", "bedrok"]);
    insta::assert_snapshot!("mistyped-target", seen(&output));
}

#[test]
fn aliases_are_accepted() {
    let case = "fixtures/seeds/coco-after.json";
    let found =
        |arguments: &[&str]| seen(&run(&[&["lint", case, "--output-format", "json"], arguments].concat()));
    for (short, id) in [("openai", "openai-chat"), ("claude", "anthropic"), ("aws", "bedrock-converse")] {
        assert_eq!(found(&["--target", short]), found(&["--target", id]));
    }
    // `bedrock` is a target of its own, but as a format it is an alias.
    assert_ne!(found(&["--target", "bedrock"]), found(&["--target", "bedrock-converse"]));
    assert_eq!(found(&["--format", "bedrock"]), found(&["--format", "bedrock-converse"]));
    let mistyped = seen(&run(&["lint", case, "--target", "opnai"]));
    assert!(mistyped.contains("did you mean `openai`?"), "{mistyped}");
}

#[test]
fn a_transcript_is_shown() {
    insta::assert_snapshot!("show", seen(&run(&["show", "fixtures/seeds/goclaw-orphan.json"])));
    insta::assert_snapshot!("show-help", seen(&run(&["show", "--help"])));
    let arguments = ["show", "-", "--target", "bedrock", "--kind", "session", "--isolated", "--text"];
    insta::assert_snapshot!("show-stdin", seen(&run_with_input(&arguments, BROKEN)));
    insta::assert_snapshot!("show-trouble", seen(&run(&["show", "no/such file.json"])));
    insta::assert_snapshot!("show-directory", seen(&run(&["show", "fixtures"])));
    insta::assert_snapshot!(
        "show-mistyped",
        seen(&run(&["show", "fixtures/seeds/coco-after.json", "--output-format", "htm"]))
    );
}

#[test]
fn outlines_fit_the_screen() {
    let widest = |columns: &str| {
        let mut command = toolcheck();
        let output = command
            .args(["show", "fixtures/seeds/litellm-after.json"])
            .env("COLUMNS", columns)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.chars().count()).max().unwrap()
    };
    assert!(widest("40") <= 40 && widest("100") > 80);
    assert_eq!(widest("no number"), widest("80"));
}

/// The last line of an outline is a command that prints the same findings.
#[test]
fn the_command_at_the_end_of_an_outline_works() {
    let folder = folder("it's here");
    let path = folder.join("a b.json");
    std::fs::copy(root().join("fixtures/seeds/litellm-before.json"), &path).unwrap();
    let shown = run(&["show", path.to_str().unwrap(), "--target", "bedrock", "--format", "openai-chat"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let more = text.lines().last().unwrap().strip_prefix("more: toolcheck ").unwrap();
    let line = format!("'{}' {more} --output-format concise", env!("CARGO_BIN_EXE_toolcheck"));
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("split-assistant-turn") && output.stderr.is_empty(), "{line}: {text}");
}

#[test]
fn lists() {
    insta::assert_snapshot!("rules", seen(&run(&["rules"])));
    insta::assert_snapshot!("formats", seen(&run(&["formats"])));
    insta::assert_snapshot!("targets", seen(&run(&["targets"])));
    for list in ["rules", "formats", "targets"] {
        let output = run(&[list, "--output-format", "json"]);
        let json: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert!(json[list].as_array().unwrap().len() > 5, "{list}");
    }
}

#[test]
fn explain_a_rule() {
    insta::assert_snapshot!(seen(&run(&["explain", "split-assistant-turn"])));
}

#[test]
fn exit_statuses() {
    let status = |arguments: &[&str]| run(arguments).status.code().unwrap();
    let (before, after) = ("fixtures/seeds/coco-before.json", "fixtures/seeds/coco-after.json");
    assert_eq!(status(&["lint", after]), 0);
    assert_eq!(status(&["lint", before]), 1);
    assert_eq!(status(&["lint", before, "--exit-zero"]), 0);
    assert_eq!(status(&["lint", before, "--ignore", "unanswered-tool-call"]), 0);
    assert_eq!(status(&["lint", before, "--select", "blank-text"]), 0);
    assert_eq!(status(&["lint", "no/such/file.json"]), 2);
    assert_eq!(status(&["lint", "no/such/*.json"]), 2);
    assert_eq!(status(&["lint", after, "--format", "nonsense"]), 2);
    // Warnings fail the run only with `--fail-on warning`.
    let warned = folder("warned").join("warned.json");
    std::fs::write(&warned, br#"{"messages": [{"role": "user", "role": "user", "content": "x"}]}"#).unwrap();
    let warned = warned.to_str().unwrap();
    assert_eq!(status(&["lint", warned]), 0);
    assert_eq!(status(&["lint", warned, "--fail-on", "warning"]), 1);
}

#[test]
fn an_unreadable_file_does_not_hide_findings_in_others() {
    let output =
        run(&["lint", "fixtures/seeds/coco-before.json", "no/such/file.json", "--output-format", "concise"]);
    assert_eq!(output.status.code(), Some(2));
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(out.contains("unanswered-tool-call"), "{out}");
    assert!(err.contains("no/such/file.json"), "{err}");
}

#[test]
fn standard_input() {
    let arguments = ["lint", "-", "--stdin-filename", "request.json", "--output-format", "concise"];
    let output = run_with_input(&arguments, BROKEN);
    insta::assert_snapshot!(seen(&output));
    assert_eq!(run_with_input(&["lint", "-"], CLEAN).status.code(), Some(0));
}

#[test]
fn a_directory_is_searched_and_other_files_are_skipped() {
    let folder = folder("searched");
    std::fs::create_dir(folder.join("logs")).unwrap();
    std::fs::write(folder.join("logs/a.json"), CLEAN).unwrap();
    std::fs::write(folder.join("logs/b.jsonl"), [BROKEN, b"\n", CLEAN].concat()).unwrap();
    std::fs::write(folder.join("package.json"), br#"{"name": "x"}"#).unwrap();
    // A configuration file with comments is not a broken transcript.
    std::fs::write(folder.join("tsconfig.json"), b"{\n  // strict\n  \"strict\": true,\n}\n").unwrap();
    std::fs::write(folder.join("notes.txt"), b"nothing").unwrap();
    let output = run(&["lint", folder.to_str().unwrap(), "--output-format", "json"]);
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["summary"]["files"], 2, "{json:#}");
    assert_eq!(json["summary"]["transcripts"], 3);
    assert_eq!(json["summary"]["errors"], 1);
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("skipped 2 files without a transcript (1 is not valid JSON)")
    );
    // A file that is named is never skipped.
    let named = run(&["lint", folder.join("package.json").to_str().unwrap(), "--output-format", "concise"]);
    assert_eq!(named.status.code(), Some(1));
    assert!(String::from_utf8(named.stdout).unwrap().contains("unrecognised-format"));
}

#[test]
fn a_target_from_a_file() {
    let folder = folder("own-target");
    let path = folder.join("gateway.toml");
    std::fs::write(
        &path,
        "id = \"gateway\"\nname = \"Ours\"\nextends = \"anthropic\"\n[[refusal]]\nrule = \"unanswered-tool-call\"\n\
         status = 422\ntext = \"{ids}?\"\nevidence = \"specified\"\nsources = [\"https://example.com\"]\nseen = \"2026\"\n",
    )
    .unwrap();
    let arguments = ["lint", "fixtures/seeds/coco-before.json", "--output-format", "json", "--target"];
    let output = run(&[&arguments[..], &[path.to_str().unwrap()]].concat());
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["findings"][0]["status"], 422);
    assert_eq!(json["files"][0]["target"], "gateway");
    assert!(json["findings"][0]["provider_error"].as_str().unwrap().starts_with("toolu_"));
    std::fs::write(&path, "id = 1\n").unwrap();
    let output = run(&[&arguments[..], &[path.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("gateway.toml:1:"));
}

#[test]
fn litellm_before_and_after() {
    let findings = |arguments: &[&str]| -> Vec<Json> {
        let output = run(&[&["lint", "--output-format", "json"], arguments].concat());
        let json: Json = serde_json::from_slice(&output.stdout).unwrap();
        json["findings"].as_array().unwrap().clone()
    };
    let before = findings(&["fixtures/seeds/litellm-before.json"]);
    assert_eq!(before.len(), 1);
    assert_eq!((&before[0]["rule"], &before[0]["level"]), (&"split-assistant-turn".into(), &"error".into()));
    assert_eq!(before[0]["labels"].as_array().unwrap().len(), 5);
    let bedrock = findings(&["fixtures/seeds/litellm-before.json", "--target", "bedrock"]);
    assert_eq!(bedrock.len(), 1);
    assert!(
        bedrock[0]["provider_error"].as_str().unwrap().starts_with("Expected toolResult blocks at messages.")
    );
    assert_eq!(findings(&["fixtures/seeds/litellm-after.json"]), Vec::<Json>::new());
    assert_eq!(findings(&["fixtures/seeds/litellm-after.json", "--target", "bedrock"]), Vec::<Json>::new());
    assert_eq!(findings(&["fixtures/seeds/litellm-input.json"]), Vec::<Json>::new());
    assert_eq!(findings(&["fixtures/seeds/litellm-input.json", "--target", "bedrock"]), Vec::<Json>::new());
}

#[test]
fn colors_are_used_only_if_wanted() {
    let has_escapes = |mut command: Command| command.output().unwrap().stdout.contains(&0x1b);
    let lint = |more: &[&str]| {
        let mut command = toolcheck();
        command.args(["lint", "fixtures/seeds/coco-before.json"]).args(more);
        command
    };
    assert!(!has_escapes(lint(&[])), "a pipe gets no colors");
    assert!(has_escapes(lint(&["--color", "always"])));
    // Forced colors may end up in logs, which show terminal links as garbage.
    let colored = lint(&["--color", "always"]).output().unwrap().stdout;
    assert!(!String::from_utf8(colored).unwrap().contains("\x1b]8;"));
    let mut forced = lint(&[]);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(has_escapes(forced));
    let mut refused = lint(&[]);
    refused.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!has_escapes(refused));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = toolcheck()
        .args(["lint", "fixtures", "--output-format", "full"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!err.contains("panicked") && !err.contains("ipe"), "{err}");
}

#[test]
fn the_corpus_runner() {
    let output = run(&["test", "fixtures/seeds"]);
    assert_eq!(output.status.code(), Some(0), "{}", seen(&output));
    let folder = folder("corpus");
    std::fs::write(folder.join("case.json"), CLEAN).unwrap();
    let output = run(&["test", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "a missing expectation fails");
    assert_eq!(run(&["test", "no/such/directory"]).status.code(), Some(2));
}

#[test]
fn any_bytes_give_an_exit_status() {
    let inputs: [&[u8]; 8] =
        [b"", b"\xff\xfe\x00", b"\x00\x00", b"{", b"[[[[", b"\"\\ud800", b"null\nnull", b"{\"messages\": 7}"];
    for input in inputs {
        for output in toolcheck_report::outputs::ALL {
            let output = run_with_input(&["lint", "-", "--output-format", output.id], input);
            assert!(matches!(output.status.code(), Some(0..=2)), "{input:?}: {}", seen(&output));
            assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{input:?}");
        }
    }
}

const API_ERROR: &str = "400 {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': 'messages.2: tool_use ids \
                      were found without tool_result blocks immediately after: toolu_01Bj5QgHPWs34DBZ8UKgxtdJ. Each tool_use \
                      block must have a corresponding tool_result block in the next message.'}}";

#[test]
fn explain_an_error() {
    insta::assert_snapshot!("explain-error", seen(&run(&["explain", "--error", API_ERROR])));
    let output = run(&["explain", "--error", API_ERROR, "fixtures/seeds/coco-before.json"]);
    insta::assert_snapshot!("explain-error-in-a-file", seen(&output));
    insta::assert_snapshot!("explain-error-unknown", seen(&run(&["explain", "--error", "The tide is low"])));
    // No rule finds these.
    let template = "jinja2.exceptions.TemplateError: Unexpected item type in content";
    insta::assert_snapshot!("explain-error-known", seen(&run(&["explain", "--error", template])));
    let words =
        "Error code: 400 - {'error': {'message': 'The requested model does not exist: messages[1].content'}}";
    insta::assert_snapshot!("explain-error-by-words", seen(&run(&["explain", "--error", words])));
    let output = run(&["explain", "--error", words, "fixtures/seeds/coco-before.json"]);
    insta::assert_snapshot!("explain-error-by-words-in-a-file", seen(&output));
}

#[test]
fn an_error_that_is_cut_off() {
    let (sentence, _) = API_ERROR.split_once(". Each").unwrap();
    for error in [sentence.to_owned(), format!("{sentence}. Each `tool_us")] {
        let output = run(&["explain", "--error", &error, "--output-format", "json"]);
        let json: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["matches"][0]["rule"], "unanswered-tool-call", "{error}");
        let ids = json["matches"][0]["captures"]["ids"].as_str().unwrap();
        assert!(sentence.ends_with(ids), "{ids}");
    }
}

#[test]
fn explain_an_error_as_json() {
    let arguments =
        ["explain", "--error", API_ERROR, "fixtures/seeds/coco-before.json", "--output-format", "json"];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0));
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    let best = &json["matches"][0];
    assert_eq!(
        (&json["version"], &best["rule"], &best["target"]),
        (&1.into(), &"unanswered-tool-call".into(), &"anthropic".into())
    );
    assert_eq!(best["status"], 400);
    assert_eq!(best["captures"]["index"], "2");
    assert_eq!(json["findings"][0]["pointer"], "/messages/1/content/2");
    assert_eq!(json["findings"].as_array().unwrap().len(), 1);
    let unknown = run(&["explain", "--error", "The tide is low", "--output-format", "json"]);
    assert_eq!(unknown.status.code(), Some(1));
    let json: Json = serde_json::from_slice(&unknown.stdout).unwrap();
    assert_eq!(json["matches"], serde_json::json!([]));
}

#[test]
fn an_error_from_standard_input() {
    let output =
        run_with_input(&["explain", "--error", "-", "--output-format", "json"], API_ERROR.as_bytes());
    let json: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["matches"][0]["rule"], "unanswered-tool-call");
}

#[test]
fn tools_from_a_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools");
    std::fs::create_dir_all(&folder).unwrap();
    let (tools, history) = (folder.join("tools.json"), folder.join("history.json"));
    std::fs::write(
        &tools,
        br#"{"result": {"tools": [{"name": "tide", "inputSchema": {"type": "object", "required": ["port"]}}]}}"#,
    )
    .unwrap();
    std::fs::write(
        &history,
        br#"{"messages": [{"role": "user", "content": "the tide?"},
 {"role": "assistant", "content": null, "tool_calls": [
  {"id": "a", "type": "function", "function": {"name": "tide", "arguments": "{\"place\": 1}"}},
  {"id": "b", "type": "function", "function": {"name": "moon", "arguments": "{}"}}]},
 {"role": "tool", "tool_call_id": "a", "content": "high"}, {"role": "tool", "tool_call_id": "b", "content": "full"}]}"#,
    )
    .unwrap();
    let lint = |extra: &[&str]| {
        let arguments = ["lint", "--output-format", "json", history.to_str().unwrap()];
        let output = run(&[&arguments, extra].concat());
        let report: Json = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|found| found["rule"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lint(&[]), Vec::<String>::new());
    assert_eq!(lint(&["--tools", tools.to_str().unwrap()]), ["arguments-schema-mismatch", "unknown-tool"]);
    let without = "contains no tool definitions";
    let misfit = "tools.json:1:2: this is not a tool definition, as it has no `name`";
    let misspelt = r#"[{"type": "function", "function": {"title": "tide"}}]"#;
    for (declared, message) in [
        ("{}", without),
        ("[]", without),
        (r#"[{"type": "web_search"}]"#, without),
        (misspelt, misfit),
        (r#"[{"role": "user", "content": "When is low tide?"}]"#, misfit),
    ] {
        std::fs::write(&tools, declared).unwrap();
        let output = run(&["lint", "--tools", tools.to_str().unwrap(), history.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{declared}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(message), "{declared}: {stderr}");
    }
}

#[test]
fn policies_of_the_closest_configuration() {
    insta::assert_snapshot!(seen(&run(&["lint", "fixtures/policies", "--output-format", "concise"])));
    let isolated = run(&["lint", "fixtures/policies", "--isolated"]);
    assert_eq!(isolated.status.code(), Some(0), "{}", seen(&isolated));
    // A configuration that is named applies to every file.
    let config = "fixtures/policies/toolcheck.toml";
    let named = run(&["lint", "fixtures/seeds/ollama-code-create.json", "--config", config]);
    assert_eq!(named.status.code(), Some(1), "{}", seen(&named));
    let both = run(&["lint", "fixtures/policies", "--config", config, "--isolated"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn the_closest_configuration_applies() {
    let folder = folder("configured");
    std::fs::create_dir_all(folder.join("loose/deep")).unwrap();
    std::fs::write(folder.join("toolcheck.toml"), "select = [\"blank-text\"]\n").unwrap();
    std::fs::write(folder.join("loose/toolcheck.toml"), "ignore = [\"malformed-json\"]\n").unwrap();
    std::fs::write(folder.join("strict.json"), BROKEN).unwrap();
    std::fs::write(folder.join("loose/deep/a.json"), BROKEN).unwrap();
    let status = |arguments: &[&str]| {
        toolcheck().current_dir(&folder).arg("lint").args(arguments).output().unwrap().status.code()
    };
    assert_eq!(status(&["strict.json", "loose"]), Some(0));
    // The command line takes precedence over the configuration.
    assert_eq!(status(&["loose", "--select", "malformed-json"]), Some(1));
    assert_eq!(status(&["loose", "--extend-select", "malformed-json"]), Some(1));
    assert_eq!(status(&["strict.json", "--isolated"]), Some(1));
}

#[test]
fn a_broken_configuration_does_not_hide_findings_elsewhere() {
    let folder = folder("misconfigured");
    std::fs::create_dir(folder.join("broken")).unwrap();
    std::fs::write(folder.join("broken/toolcheck.toml"), "# ours\n\n[rules]\n  [rules.shell-file-writ]\n")
        .unwrap();
    std::fs::write(folder.join("broken/a.json"), BROKEN).unwrap();
    std::fs::write(folder.join("broken/b.json"), BROKEN).unwrap();
    std::fs::write(folder.join("c.json"), BROKEN).unwrap();
    let output = toolcheck()
        .current_dir(&folder)
        .args(["lint", ".", "--output-format", "concise", "--color", "never"])
        .output()
        .unwrap();
    insta::assert_snapshot!(seen(&output));
}

#[test]
fn exchanges_of_a_log() {
    insta::assert_snapshot!(seen(&run(&["lint", "fixtures/seeds/goclaw-last-kept.jsonl"])));
    let output = run(&["lint", "fixtures/seeds/goclaw-last-kept.jsonl", "--output-format", "json"]);
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    let finding = &report["findings"][0];
    assert_eq!((&finding["record"], &finding["line"]), (&Json::from(1), &Json::from(2)));
    // The calls are in the record before it.
    let labels = finding["labels"].as_array().unwrap();
    assert_eq!(labels.len(), 2);
    for label in labels {
        assert_eq!((&label["record"], &label["line"]), (&Json::from(0), &Json::from(1)));
        assert!(label["pointer"].as_str().unwrap().starts_with("/response/content/"), "{label}");
    }
}

#[test]
fn opt_in_rules_run_if_selected() {
    let file = "fixtures/seeds/ollama-code-echo.json";
    let findings = |arguments: &[&str]| {
        let output = run(&[&["lint", file, "--output-format", "json"], arguments].concat());
        let report: Json = serde_json::from_slice(&output.stdout).unwrap();
        report["summary"]["warnings"].as_u64().unwrap()
    };
    assert_eq!(findings(&[]), 0);
    assert_eq!(findings(&["--extend-select", "shell-file-write"]), 1);
    assert_eq!(findings(&["--select", "shell-file-write"]), 1);
}

#[test]
fn a_rule_that_is_not_selected_silences_no_other() {
    let folder = folder("one-rule");
    let body = r#"{"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": [
        {"role": "user", "content": "tides"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_resxlt", "tool_use_id": "toolu_1", "content": "high"}]}]}"#;
    write(&folder, "a.json", body);
    let lint = |more: &[&str]| {
        let lint = words("lint --isolated --output-format concise");
        let output = run(&[&lint[..], &[folder.join("a.json").to_str().unwrap()], more].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let all = lint(&[]);
    assert!(all.contains("unknown-content-type"), "{all}");
    let one = lint(&["--select", "unknown-content-type"]);
    assert!(one.contains("unknown-content-type"), "{one}");
    // Whoever ignores a rule does not want to hear the same from another.
    let ignored = lint(&["--ignore", "unanswered-tool-call"]);
    assert!(!ignored.contains("unknown-content-type"), "{ignored}");
}

#[test]
fn several_outputs_at_once() {
    let folder = folder("outputs");
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (sarif, junit, missing) = (file("out.sarif"), file("out.xml"), file("no/such/out.json"));
    let before = "fixtures/seeds/coco-before.json";
    // Only the screen gets colors.
    let outputs = format!("concise,sarif={sarif}");
    let junit_output = format!("--output-format=junit={junit}");
    let output = run(&["lint", before, "--output-format", &outputs, &junit_output, "--color", "always"]);
    assert_eq!(output.status.code(), Some(1), "{}", seen(&output));
    let out = String::from_utf8(output.stdout).unwrap();
    let colored = "\u{1b}[1mfixtures/seeds/coco-before.json\u{1b}[0m:41:9: \u{1b}[1m\u{1b}[31merror\u{1b}[0m \u{1b}[2munanswered";
    assert!(out.starts_with(colored), "{out}");
    let json: Json = serde_json::from_slice(&std::fs::read(&sarif).unwrap()).unwrap();
    assert_eq!(json["version"], "2.1.0");
    assert!(std::fs::read_to_string(&junit).unwrap().ends_with("</testsuites>\n"));
    // An output that can't be written is an error, but the other outputs are complete.
    std::fs::remove_file(&sarif).unwrap();
    let outputs = format!("json={missing},sarif={sarif},concise");
    let output = run(&["lint", before, "--output-format", &outputs]);
    assert_eq!(output.status.code(), Some(2), "{}", seen(&output));
    assert!(Path::new(&sarif).exists());
    assert!(String::from_utf8(output.stdout).unwrap().contains("unanswered-tool-call"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write"));
    // If all outputs go to files, the standard output is empty.
    let full = file("out.txt");
    let output = run(&["lint", before, "--output-format", &format!("full={full}"), "--color", "always"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(!std::fs::read(&full).unwrap().contains(&0x1b), "no colors in a file");
}

#[test]
fn invalid_outputs_are_rejected() {
    let folder = folder("no-outputs");
    let (input, out) = (folder.join("a.json"), folder.join("out"));
    std::fs::write(&input, CLEAN).unwrap();
    let (input, out) = (input.to_str().unwrap(), out.to_str().unwrap());
    let cases = [
        ("full,json".to_owned(), "`full` and `json` can't both"),
        (format!("json={out},sarif={out}"), "two outputs can't"),
        (format!("json={input}"), "is an input"),
        ("json=".to_owned(), "is missing"),
        ("jsno=x".to_owned(), "invalid value 'jsno'"),
    ];
    for (outputs, message) in cases {
        let output = run(&["lint", input, "--output-format", &outputs]);
        assert_eq!(output.status.code(), Some(2), "{}", seen(&output));
        assert!(String::from_utf8(output.stderr).unwrap().contains(message), "{outputs}");
    }
    assert_eq!(std::fs::read(input).unwrap(), CLEAN, "inputs are not overwritten");
}

#[test]
fn quiet_and_statistics() {
    let folder = folder("quiet");
    std::fs::write(folder.join("a.json"), BROKEN).unwrap();
    std::fs::write(folder.join("package.json"), br#"{"name": "x"}"#).unwrap();
    let arguments = ["lint", folder.to_str().unwrap(), "--output-format", "concise", "--quiet"];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr, b"", "no note about skipped files");
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(out.lines().count(), 1, "{out}");
    let output = run(&[&arguments[..], &["--statistics"]].concat());
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("\n\n1  malformed-json  1 error\n"));
}
