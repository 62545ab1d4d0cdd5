//! Hints for new users, and output for different terminals.

use crate::common::{EXPLAINED, folder, run, seen, toolcheck, toolcheck_in, unanswered, write};

/// The output of a run with these environment variables.
fn seen_with(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = toolcheck();
    variables.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    seen(&command.args(arguments).output().unwrap())
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
fn a_page_is_formatted_on_a_terminal_and_markdown_in_a_pipe() {
    let piped = seen(&run(&["explain", "misplaced-tool-result"]));
    assert!(piped.contains("```json") && piped.contains("## Fails"), "{piped}");
    let colored =
        seen_with(&[("FORCE_COLOR", "1"), ("COLUMNS", "60")], &["explain", "misplaced-tool-result"]);
    assert!(!colored.contains("```") && !colored.contains("## "), "{colored}");
    // Each text names its case, so that the list has no duplicates.
    assert!(piped.contains("(assistant-message)") && piped.contains("(after-other-content)"), "{piped}");
    for explained in EXPLAINED.iter() {
        let page = std::str::from_utf8(&explained.stdout).unwrap();
        let answers: Vec<&str> = page.split("\n- ").skip(1).collect();
        let mut distinct = answers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), answers.len(), "{page}");
    }
}

#[test]
fn provider_errors_have_no_unfilled_placeholders() {
    for target in toolcheck_core::targets::all() {
        for refusal in target.refusals() {
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
}
