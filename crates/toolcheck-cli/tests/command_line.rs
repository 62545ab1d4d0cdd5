//! What the command line says to those who don't know it yet, and to screens of all kinds.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod common;

use std::path::Path;

use common::{CLEAN, folder, run, seen, seen_in, toolcheck, toolcheck_in, unanswered, write};

const BEFORE: &str = "fixtures/seeds/coco-before.json";
const AFTER: &str = "fixtures/seeds/coco-after.json";

/// What a run prints with these variables set.
fn seen_with(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = toolcheck();
    variables.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    seen(&command.args(arguments).output().unwrap())
}

#[test]
fn what_is_no_command_line_is_answered_with_a_tip() {
    for (arguments, tip) in [
        (&["check", BEFORE][..], "'toolcheck lint'"),
        (&["validate"], "'toolcheck lint'"),
        (&[BEFORE], "use 'toolcheck lint fixtures/seeds/coco-before.json'"),
        (&["nowhere.json"], "use 'toolcheck lint nowhere.json'"),
        (&["-"], "use 'toolcheck lint -'"),
        (&["lint", "--quite", BEFORE], "'--quiet'"),
        (&["lint", "--zzz"], "'--help' lists the options"),
        (&["lint", BEFORE, "--target", "opnrouter"], "did you mean `openrouter`?"),
        (&["lint", BEFORE, "--format", "llama.cpp"], "did you mean `openai-chat`?"),
        (&["lint", BEFORE, "--format", "antropic"], "did you mean `anthropic`?"),
        (&["lint", BEFORE, "--select", "BLANK_TEXT"], "did you mean `blank-text`?"),
        (&["explain", "UNANSWERED-TOOL-CALL"], "did you mean `unanswered-tool-call`?"),
        (&["explain", BEFORE], "toolcheck explain --error TEXT fixtures/seeds/coco-before.json"),
        (&["explain", "messages.2: something is wrong"], "toolcheck explain --error TEXT"),
    ] {
        let said = seen(&run(arguments));
        assert!(said.starts_with("status: 2") && said.contains(tip), "{arguments:?}\n{said}");
        assert!(!said.contains("as a value"), "{arguments:?}\n{said}");
    }
}

#[test]
fn colors_are_as_the_user_wants_them() {
    let is_colored = |variables: &[(&str, &str)], arguments: &[&str]| {
        seen_with(variables, &[&["lint", BEFORE], arguments].concat()).contains('\u{1b}')
    };
    for output in ["full", "concise", "grouped"] {
        let output = ["--output-format", output];
        assert!(!is_colored(&[], &output), "in a pipe");
        assert!(is_colored(&[("FORCE_COLOR", "1")], &output));
        assert!(is_colored(&[("CLICOLOR_FORCE", "1")], &output));
        assert!(!is_colored(&[("FORCE_COLOR", "0")], &output));
        assert!(!is_colored(&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")], &output));
        assert!(is_colored(&[("FORCE_COLOR", "1"), ("NO_COLOR", "")], &output));
        assert!(is_colored(&[("NO_COLOR", "1")], &[&output[..], &["--color", "always"]].concat()));
        assert!(!is_colored(&[("FORCE_COLOR", "1")], &[&output[..], &["--color", "never"]].concat()));
    }
}

#[test]
fn the_log_of_ci_shows_no_line_of_the_files() {
    let arguments = ["lint", BEFORE];
    let plain = seen(&run(&arguments));
    assert!(plain.contains("│"));
    for value in ["true", "1"] {
        let said = seen_with(&[("CI", value)], &arguments);
        assert_eq!(said, seen(&run(&["lint", BEFORE, "--no-excerpt"])), "CI={value}");
        assert!(!said.contains('│') && !said.contains('┬'), "no empty boxes\n{said}");
        assert!(said.contains("--> fixtures/seeds/coco-before.json:41:9 at /messages/1/content/2"), "{said}");
    }
    for value in ["false", ""] {
        assert_eq!(seen_with(&[("CI", value)], &arguments), plain, "CI={value}");
    }
    assert_eq!(seen_with(&[("CI", "true")], &["lint", BEFORE, "--excerpt"]), plain);
    // The last one counts, so that a hook's users can ask for what its entry leaves out.
    let without = seen(&run(&["lint", BEFORE, "--no-excerpt"]));
    assert_eq!(seen(&run(&["lint", BEFORE, "--excerpt", "--no-excerpt"])), without);
    assert_eq!(seen(&run(&["lint", BEFORE, "--no-excerpt", "--excerpt"])), plain);
    let error = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after";
    let said = seen_with(&[("CI", "true")], &["explain", "--error", error, BEFORE]);
    assert!(said.contains("--> fixtures") && !said.contains('│'), "{said}");
}

#[test]
fn nothing_that_could_be_read_is_no_success() {
    let said = seen(&run(&["lint", "nowhere.json"]));
    assert!(said.starts_with("status: 2\n--- stdout\n--- stderr\nerror: nowhere.json"), "{said}");
    // What was read is still counted.
    let said = seen(&run(&["lint", "nowhere.json", AFTER]));
    assert!(said.starts_with("status: 2") && said.contains("0 errors, 0 warnings in 1 transcript"), "{said}");
    // Outputs for machines stay whole.
    let output = run(&["lint", "nowhere.json", "--output-format", "json"]);
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
}

#[test]
fn lists_fit_the_screen() {
    for columns in [40_usize, 60, 80, 120] {
        for list in ["rules", "formats", "targets"] {
            let said = seen_with(&[("COLUMNS", &columns.to_string())], &[list]);
            for line in said.lines() {
                assert!(line.chars().count() <= columns, "{list} in {columns} columns: {line}");
            }
        }
    }
    // In a pipe each rule is one line, for grep.
    let said = seen(&run(&["rules"]));
    let line = said.lines().find(|line| line.trim_start().starts_with("unanswered-tool-call ")).unwrap();
    assert!(line.contains(" error ") && line.ends_with('.'), "{line}");
    let json = run(&["rules", "--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let rules = json["rules"].as_array().unwrap();
    assert_eq!(rules.len(), toolcheck_lint::rules::ALL.len(), "each rule is in one category");
    assert!(rules.iter().all(|rule| rule["category"].is_string()));
}

#[test]
fn a_page_is_readable_on_a_screen_and_markdown_in_a_pipe() {
    let piped = seen(&run(&["explain", "misplaced-tool-result"]));
    assert!(piped.contains("```json") && piped.contains("## Fails"), "{piped}");
    let colored =
        seen_with(&[("FORCE_COLOR", "1"), ("COLUMNS", "60")], &["explain", "misplaced-tool-result"]);
    assert!(!colored.contains("```") && !colored.contains("## "), "{colored}");
    // Which case an answer is about is told, so that none stands twice without a reason.
    assert!(piped.contains("(assistant-message)") && piped.contains("(after-other-content)"), "{piped}");
    for rule in toolcheck_lint::rules::ALL {
        let page = String::from_utf8(run(&["explain", rule.id]).stdout).unwrap();
        let answers: Vec<&str> = page.split("\n- ").skip(1).collect();
        let mut distinct = answers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), answers.len(), "{page}");
    }
}

#[test]
fn all_that_is_wrong_with_a_configuration_is_told_at_once() {
    let folder = folder("wrong-configuration");
    write(&folder, "toolcheck.toml", "selekt = []\nkind = \"log\"\n[levels]\nblank-text = \"off\"\n");
    write(&folder, "a.json", CLEAN);
    let said = seen_in(&folder, &["lint"]);
    for line in ["error: toolcheck.toml:1:1: ", "error: toolcheck.toml:2:8: ", "error: toolcheck.toml:4:14: "]
    {
        assert!(said.contains(line), "{said}");
    }
    assert!(said.contains("to turn a rule off, add it to `ignore`"), "{said}");
    assert!(!said.contains("0 errors"), "nothing was linted\n{said}");
    let said = seen_in(&folder, &["lint", "--config", "toolcheck.toml"]);
    assert!(said.contains("toolcheck.toml:4:14: "), "{said}");
    // What another one extends is told at the place that names it.
    write(&folder, "b/toolcheck.toml", "extend = \"../toolcheck.toml\"\n");
    write(&folder, "b/a.json", CLEAN);
    let said = seen_in(&folder, &["lint", "b"]);
    assert!(said.contains("error: b/toolcheck.toml:1:10: toolcheck.toml:1:1: "), "{said}");
    assert!(said.contains("; toolcheck.toml:4:14: "), "{said}");
}

#[test]
fn files_of_ones_own_are_no_transcripts() {
    let folder = folder("own-files");
    write(&folder, "a.json", unanswered("toolu_1"));
    let arguments = [
        "lint",
        "--baseline",
        "baseline.json",
        "--output-format",
        "full,json=report.json,sarif=report.sarif.json",
    ];
    for again in [&["--write-baseline"][..], &[], &[]] {
        let said = seen_in(&folder, &[&arguments[..], again].concat());
        assert!(said.starts_with("status: 0") && !said.contains("skipped"), "{said}");
    }
    // In a folder of another name too.
    let said = seen_in(&folder, &["lint", ".", "--baseline", "./baseline.json", "--exclude", "report*"]);
    assert!(!said.contains("skipped"), "{said}");
}

#[test]
fn init_can_be_quiet() {
    let folder = folder("quiet-init");
    assert_eq!(seen_in(&folder, &["init", "-q"]), "status: 0\n--- stdout\n--- stderr\n");
    assert!(folder.join("toolcheck.toml").exists());
}

#[test]
fn an_answer_to_several_calls_is_printed_once() {
    let folder = folder("one-answer");
    let calls = ["a", "b", "c"]
        .map(|id| format!(r#"{{"type": "tool_use", "id": "toolu_{id}", "name": "tide", "input": {{}}}}"#));
    let request = format!(
        r#"{{"messages": [{{"role": "user", "content": "tides"}}, {{"role": "assistant", "content": [{}]}}, {{"role": "user", "content": "and now?"}}]}}"#,
        calls.join(", ")
    );
    write(&folder, "a.json", request);
    for arguments in [&["lint", "a.json"][..], &["lint", "a.json", "--no-excerpt"]] {
        let said = seen_in(&folder, arguments);
        assert_eq!(said.matches("answers 400").count(), 1, "{said}");
        assert_eq!(said.matches("same answer as above").count(), 2, "{said}");
    }
    // Each line of the others stands alone.
    let said = seen_in(&folder, &["lint", "a.json", "--output-format", "jsonl"]);
    assert_eq!(said.matches("ids were found without").count(), 3, "{said}");
}

#[test]
fn no_gap_of_a_known_text_is_shown() {
    for target in toolcheck_core::target::all() {
        for refusal in &target.refusals {
            let Some(text) = &refusal.text else { continue };
            let names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
            let names: Vec<&str> = names.filter(|name| *name != "rest").collect();
            let values: Vec<(&'static str, String)> = names
                .into_iter()
                .map(|name| (&*Box::leak(name.to_owned().into_boxed_str()), "a".to_owned()))
                .collect();
            let filled = refusal.fill(&values).unwrap();
            assert!(!filled.contains('\u{2026}') && !filled.ends_with(':'), "{}: {filled}", target.id);
        }
    }
}

#[test]
fn an_error_in_a_file() {
    let folder = folder("explained");
    write(&folder, "broken.json", unanswered("toolu_1"));
    write(&folder, "clean.json", CLEAN);
    let known = "messages.2: tool_use ids were found without tool_result blocks";
    let said = |error: &str, file: &str| seen_in(&folder, &["explain", "--error", error, file]);
    let found = said(known, "broken.json");
    assert!(found.starts_with("status: 0") && found.contains("probably unanswered-tool-call"), "{found}");
    assert!(found.contains("error[unanswered-tool-call]"), "{found}");
    let elsewhere = said(known, "clean.json");
    assert!(
        elsewhere.starts_with("status: 1") && elsewhere.contains("Is it the request that failed?"),
        "{elsewhere}"
    );
    let other = said(
        "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9",
        "broken.json",
    );
    assert!(other.starts_with("status: 1") && other.contains("Other problems in it:"), "{other}");
    assert!(other.contains("error[unanswered-tool-call]"), "{other}");
    let unknown = said("Something went wrong", "broken.json");
    assert!(unknown.starts_with("status: 1") && unknown.contains("The problems in this file:"), "{unknown}");
    assert!(unknown.contains("error[unanswered-tool-call]"), "{unknown}");
    let nothing = said("Something went wrong", "clean.json");
    assert!(nothing.starts_with("status: 1") && nothing.contains("No problem is found in it"), "{nothing}");
    assert!(seen_in(&folder, &["explain", "--error", known]).starts_with("status: 0"));
    assert!(seen_in(&folder, &["explain", "--error", "Something"]).starts_with("status: 1"));
    assert!(said(known, "nowhere.json").starts_with("status: 2"));
    // A cut id still finds its call.
    write(&folder, "two.json", unanswered("toolu_01AbCdEfGh"));
    let cut = said(
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01AbCd…",
        "two.json",
    );
    assert!(cut.starts_with("status: 0") && cut.contains("toolu_01AbCdEfGh"), "{cut}");
    let json = toolcheck_in(&folder)
        .args(["explain", "--error", "Something", "broken.json", "--output-format", "json"])
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["findings"], serde_json::json!([]));
    assert_eq!(json["other_findings"][0]["rule"], "unanswered-tool-call");
}

#[test]
fn a_long_line_is_cut_on_any_screen() {
    let folder = folder("long-line");
    let long = unanswered("toolu_1").replace("tides", &"x".repeat(200_000));
    write(&folder, "a.json", &long);
    for columns in ["40", "60"] {
        let output = toolcheck_in(&folder).env("COLUMNS", columns).args(["lint", "a.json"]).output().unwrap();
        let said = seen(&output);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        assert!(said.contains("  more: toolcheck explain"), "{said}");
    }
    assert!(Path::new(&folder).exists());
}
