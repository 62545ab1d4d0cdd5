//! Hints for new users, and output for different terminals.

use std::path::Path;

use crate::common::{CLEAN, folder, run, seen, seen_in, toolcheck, toolcheck_in, unanswered, words, write};

const BEFORE: &str = "fixtures/seeds/coco-before.json";
const AFTER: &str = "fixtures/seeds/coco-after.json";

/// The output of a run with these environment variables.
fn seen_with(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = toolcheck();
    variables.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    seen(&command.args(arguments).output().unwrap())
}

#[test]
#[cfg_attr(not(feature = "serve"), ignore = "needs the feature `serve`")]
fn invalid_command_lines_get_a_hint() {
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
        (&["explain", "parallel-one-fail"], "did you mean `parallel-one-fails`?"),
        (&["explain", "answers-every-call"], "a check of `toolcheck conform`"),
        (&["explain", "UNANSWERED-TOOL-CALL"], "did you mean `unanswered-tool-call`?"),
        (&["explain", BEFORE], "toolcheck explain --error TEXT fixtures/seeds/coco-before.json"),
        (&["explain", "messages.2: something is wrong"], "toolcheck explain --error TEXT"),
        (&["explain", "--error", BEFORE, AFTER], "use `--error - < fixtures/seeds/coco-before.json`"),
        (&["models", ""], "the name of the model is empty"),
        (&["lint", "--max-findings", "x"], "expected a whole number from 0 to 18446744073709551615"),
        (&["serve", "--port", "70000"], "expected a whole number from 0 to 65535"),
        (&["fix", "--dry-run", BEFORE], "`toolcheck fix --diff` shows what would change"),
        (&["lint", "[a"], "`[a` is not a valid glob: invalid range pattern (character 1)"),
    ] {
        let printed = seen(&run(arguments));
        assert!(printed.starts_with("status: 2") && printed.contains(tip), "{arguments:?}\n{printed}");
        assert!(!printed.contains("as a value"), "{arguments:?}\n{printed}");
    }
    let printed = seen(&run(&["shapes", "nope"]));
    assert!(!printed.contains("did you mean") && printed.lines().all(|line| line.len() < 90), "{printed}");
    let printed = seen(&run(&["models", "gpt5"]));
    assert!(printed.contains("about this model; did you mean `gpt-5`?"), "{printed}");
    let printed = seen(&run(&["lint", "--stdin-filename", "x", BEFORE]));
    assert!(printed.contains("note: --stdin-filename is not used"), "{printed}");
}

#[test]
fn colors_follow_flags_and_variables() {
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
fn ci_logs_contain_no_excerpts() {
    let arguments = ["lint", BEFORE];
    let plain = seen(&run(&arguments));
    assert!(plain.contains("│"));
    for value in ["true", "1"] {
        let printed = seen_with(&[("CI", value)], &arguments);
        assert_eq!(printed, seen(&run(&["lint", BEFORE, "--no-excerpt"])), "CI={value}");
        assert!(!printed.contains('│') && !printed.contains('┬'), "no empty boxes\n{printed}");
        assert!(
            printed.contains("--> fixtures/seeds/coco-before.json:41:9 at /messages/1/content/2"),
            "{printed}"
        );
    }
    for value in ["false", ""] {
        assert_eq!(seen_with(&[("CI", value)], &arguments), plain, "CI={value}");
    }
    assert_eq!(seen_with(&[("CI", "true")], &["lint", BEFORE, "--excerpt"]), plain);
    // The last flag wins, so that users of a hook can override the flags of its entry.
    let without = seen(&run(&["lint", BEFORE, "--no-excerpt"]));
    assert_eq!(seen(&run(&["lint", BEFORE, "--excerpt", "--no-excerpt"])), without);
    assert_eq!(seen(&run(&["lint", BEFORE, "--no-excerpt", "--excerpt"])), plain);
    let error = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after";
    let printed = seen_with(&[("CI", "true")], &["explain", "--error", error, BEFORE]);
    assert!(printed.contains("--> fixtures") && !printed.contains('│'), "{printed}");
}

#[test]
fn a_run_that_reads_nothing_is_not_a_success() {
    let printed = seen(&run(&["lint", "nowhere.json"]));
    assert!(printed.starts_with("status: 2\n--- stdout\n--- stderr\nerror: nowhere.json"), "{printed}");
    // The files that were read are still counted.
    let printed = seen(&run(&["lint", "nowhere.json", AFTER]));
    assert!(
        printed.starts_with("status: 2") && printed.contains("0 errors, 0 warnings in 1 transcript"),
        "{printed}"
    );
    // Outputs for machines are still complete.
    let output = run(&["lint", "nowhere.json", "--output-format", "json"]);
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
}

#[test]
fn lists_fit_the_screen() {
    for columns in [40_usize, 60, 80, 120] {
        for list in ["rules", "formats", "targets"] {
            let printed = seen_with(&[("COLUMNS", &columns.to_string())], &[list]);
            for line in printed.lines() {
                assert!(line.chars().count() <= columns, "{list} in {columns} columns: {line}");
            }
        }
    }
    // In a pipe each rule is one line, for grep.
    let printed = seen(&run(&["rules"]));
    let line = printed.lines().find(|line| line.trim_start().starts_with("unanswered-tool-call ")).unwrap();
    assert!(line.contains(" error ") && line.ends_with('.'), "{line}");
    let json = run(&["rules", "--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let rules = json["rules"].as_array().unwrap();
    assert_eq!(rules.len(), toolcheck_lint::rules::ALL.len(), "each rule is listed once");
    assert!(rules.iter().all(|rule| rule["category"].is_string()));
}

#[test]
fn pages_fit_the_screen() {
    let mut ids: Vec<&str> = toolcheck_lint::rules::ALL.iter().map(|rule| rule.id.as_str()).collect();
    ids.push("parallel-one-fails");
    for id in ids {
        let page = seen_with(&[("COLUMNS", "80")], &["explain", id]);
        // Code and links are not broken.
        let is_prose = |line: &&str| !line.starts_with("  ") && line.trim().contains(' ');
        for line in page.lines().filter(is_prose) {
            assert!(line.chars().count() <= 80, "{id}: {line}");
        }
    }
}

#[test]
fn each_command_says_of_itself_what_the_list_of_commands_says() {
    let list = seen(&run(&["--help"]));
    for command in ["lint", "fix", "show", "diff", "explain", "serve", "proxy", "conform", "matrix", "render"]
    {
        let help = String::from_utf8(run(&[command, "--help"]).stdout).unwrap();
        let about = help.lines().next().unwrap().trim_end_matches('.').to_owned();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!about.is_empty() && words(&list).contains(&words(&about)), "{command}: {about}");
    }
}

#[test]
fn errors_name_what_the_user_named() {
    let folder = folder("errors-names");
    write(&folder, "a.json", CLEAN);
    write(&folder, "t.jinja", "{{ messages[0].content ");
    write(&folder, "empty/none.txt", "");
    for (arguments, wanted) in [
        (&["init", "nope"][..], "error: cannot write nope/toolcheck.toml: no such file or directory\n"),
        (
            &["lint", "--isolated", "a.json", "--output-format", "json=nope/x"],
            "error: cannot write nope/x: no such file or directory\n",
        ),
        (
            &["lint", "--isolated", "a.json", "--template", "t.jinja"],
            "error: t.jinja: the chat template is broken: ",
        ),
        (
            &["lint", "--isolated", "a.json", "--template", "empty"],
            "error: empty: the folder has no chat template\n",
        ),
    ] {
        let seen = seen_in(&folder, arguments);
        assert!(seen.starts_with("status: 2\n") && seen.contains(wanted), "{seen}");
    }
}

#[test]
fn all_outputs_say_what_a_file_was_read_as() {
    let folder = folder("read-as");
    write(&folder, "-a.json", r#"{"model":"gpt-4o","messages":[{"role":"human","content":"hi"}]}"#);
    let json = |arguments: &[&str]| -> serde_json::Value {
        let output = toolcheck_in(&folder).args(arguments).args(["--", "-a.json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for (arguments, keys) in [
        (&["lint", "--isolated", "--output-format", "json"][..], ["format", "target"]),
        (&["fix", "--isolated", "--plan"], ["format", "target"]),
    ] {
        let json = json(arguments);
        for key in keys {
            assert_eq!(json["files"][0][key], "openai-chat", "{json:#}");
        }
    }
    let shown = seen_in(&folder, &["show", "--isolated", "--", "-a.json"]);
    assert!(shown.contains("-a.json  read as openai-chat, checked against openai-chat\n"), "{shown}");
    // The command that it ends with can be run.
    assert!(shown.contains("more: toolcheck lint --isolated ./-a.json\n"), "{shown}");
}

#[test]
fn a_page_is_formatted_on_a_terminal_and_markdown_in_a_pipe() {
    let piped = seen(&run(&["explain", "misplaced-tool-result"]));
    assert!(piped.contains("```json") && piped.contains("## Fails"), "{piped}");
    let colored =
        seen_with(&[("FORCE_COLOR", "1"), ("COLUMNS", "60")], &["explain", "misplaced-tool-result"]);
    assert!(!colored.contains("```") && !colored.contains("## "), "{colored}");
    // Each text names its case, so that the list has no duplicates.
    assert!(piped.contains("(assistant-message)") && piped.contains("(after-other-content)"), "{piped}");
    for rule in toolcheck_lint::rules::ALL {
        let page = String::from_utf8(run(&["explain", rule.id.as_str()]).stdout).unwrap();
        let answers: Vec<&str> = page.split("\n- ").skip(1).collect();
        let mut distinct = answers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), answers.len(), "{page}");
    }
}

#[test]
fn all_errors_in_a_configuration_are_reported_at_once() {
    let folder = folder("wrong-configuration");
    write(&folder, "toolcheck.toml", "selekt = []\nkind = \"log\"\n[levels]\nblank-text = \"off\"\n");
    write(&folder, "a.json", CLEAN);
    let printed = seen_in(&folder, &["lint"]);
    for line in ["error: toolcheck.toml:1:1: ", "error: toolcheck.toml:2:8: ", "error: toolcheck.toml:4:14: "]
    {
        assert!(printed.contains(line), "{printed}");
    }
    assert!(printed.contains("to turn a rule off, add it to `ignore`"), "{printed}");
    assert!(!printed.contains("0 errors"), "nothing was linted\n{printed}");
    let printed = seen_in(&folder, &["lint", "--config", "toolcheck.toml"]);
    assert!(printed.contains("toolcheck.toml:4:14: "), "{printed}");
    // Errors in an extended configuration are reported at the place that names it.
    write(&folder, "b/toolcheck.toml", "extend = \"../toolcheck.toml\"\n");
    write(&folder, "b/a.json", CLEAN);
    let printed = seen_in(&folder, &["lint", "b"]);
    assert!(printed.contains("error: b/toolcheck.toml:1:10: toolcheck.toml:1:1: "), "{printed}");
    assert!(printed.contains("; toolcheck.toml:4:14: "), "{printed}");
}

#[test]
fn baselines_and_reports_are_not_linted() {
    let folder = folder("own-files");
    write(&folder, "a.json", unanswered("toolu_1"));
    let arguments =
        words("lint --baseline baseline.json --output-format full,json=report.json,sarif=report.sarif.json");
    for again in [&["--write-baseline"][..], &[], &[]] {
        let printed = seen_in(&folder, &[&arguments[..], again].concat());
        assert!(printed.starts_with("status: 0") && !printed.contains("skipped"), "{printed}");
    }
    // Also if paths are written differently.
    let printed = seen_in(&folder, &["lint", ".", "--baseline", "./baseline.json", "--exclude", "report*"]);
    assert!(!printed.contains("skipped"), "{printed}");
}

#[test]
fn init_can_be_quiet() {
    let folder = folder("quiet-init");
    assert_eq!(seen_in(&folder, &["init", "-q"]), "status: 0\n--- stdout\n--- stderr\n");
    assert!(folder.join("toolcheck.toml").exists());
}

#[test]
fn a_provider_error_about_several_calls_is_printed_once() {
    let folder = folder("one-answer");
    let calls = ["a", "b", "c"]
        .map(|id| format!(r#"{{"type": "tool_use", "id": "toolu_{id}", "name": "tide", "input": {{}}}}"#));
    let request = format!(
        r#"{{"messages": [{{"role": "user", "content": "tides"}}, {{"role": "assistant", "content": [{}]}}, {{"role": "user", "content": "and now?"}}]}}"#,
        calls.join(", ")
    );
    write(&folder, "a.json", request);
    for arguments in [&["lint", "a.json"][..], &["lint", "a.json", "--no-excerpt"]] {
        let printed = seen_in(&folder, arguments);
        assert_eq!(printed.matches("answers 400").count(), 1, "{printed}");
        assert_eq!(printed.matches("same answer as above").count(), 2, "{printed}");
    }
    // In the other outputs, each finding has the text.
    let printed = seen_in(&folder, &["lint", "a.json", "--output-format", "jsonl"]);
    assert_eq!(printed.matches("ids were found without").count(), 3, "{printed}");
}

#[test]
fn provider_errors_have_no_unfilled_placeholders() {
    for target in toolcheck_core::targets::all() {
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
    let explain = |error: &str, file: &str| seen_in(&folder, &["explain", "--error", error, file]);
    let found = explain(known, "broken.json");
    assert!(found.starts_with("status: 0") && found.contains("probably unanswered-tool-call"), "{found}");
    assert!(found.contains("error[unanswered-tool-call]"), "{found}");
    let elsewhere = explain(known, "clean.json");
    assert!(
        elsewhere.starts_with("status: 1") && elsewhere.contains("Is it the request that failed?"),
        "{elsewhere}"
    );
    let other = explain(
        "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9",
        "broken.json",
    );
    assert!(other.starts_with("status: 1") && other.contains("Other problems in this file:"), "{other}");
    assert!(other.contains("error[unanswered-tool-call]"), "{other}");
    let unknown = explain("Something went wrong", "broken.json");
    assert!(unknown.starts_with("status: 1") && unknown.contains("The problems in this file:"), "{unknown}");
    assert!(unknown.contains("error[unanswered-tool-call]"), "{unknown}");
    let nothing = explain("Something went wrong", "clean.json");
    assert!(
        nothing.starts_with("status: 1") && nothing.contains("No problems found in this file"),
        "{nothing}"
    );
    assert!(seen_in(&folder, &["explain", "--error", known]).starts_with("status: 0"));
    assert!(seen_in(&folder, &["explain", "--error", "Something"]).starts_with("status: 1"));
    assert!(explain(known, "nowhere.json").starts_with("status: 2"));
    // An id that is cut off still finds its call.
    write(&folder, "two.json", unanswered("toolu_01AbCdEfGh"));
    let cut = explain(
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
fn long_lines_are_shortened_at_any_width() {
    let folder = folder("long-line");
    let long = unanswered("toolu_1").replace("tides", &"x".repeat(200_000));
    write(&folder, "a.json", &long);
    for columns in ["40", "60"] {
        let output = toolcheck_in(&folder).env("COLUMNS", columns).args(["lint", "a.json"]).output().unwrap();
        let printed = seen(&output);
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
        assert!(printed.contains("  more: toolcheck explain"), "{printed}");
    }
    assert!(Path::new(&folder).exists());
}
