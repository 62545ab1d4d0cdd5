//! Checks the documentation: runs every command in it, reads every configuration in it, and compares the files in it.
//!
//! `TOOLCHECK_BLESS=1 cargo test --package toolcheck-cli --test all docs::` updates the output and the files in the pages.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cases::words;
use crate::common::{EXPLAINED, assert_fits, root, text, validator};

/// The pages written by hand: those of rules and targets are generated.
fn pages() -> Vec<PathBuf> {
    let mut pages = pages_in("docs");
    pages.retain(|path| !path.ends_with("targets.md"));
    pages.extend(pages_in("docs/inputs"));
    pages.extend(pages_in("docs/recipes"));
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

fn pages_in(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// A file of the corpus that a page shows, or some of its lines.
struct Shown<'p> {
    path: &'p str,
    first: usize,
    last: usize,
}

impl<'p> Shown<'p> {
    /// What a fence says, such as ```` ```json fixtures/a.json lines 3-9 ````; `None` if it names no file.
    fn of_fence(line: &'p str) -> Option<Self> {
        let mut words = line.strip_prefix("```")?.split(' ').skip(1);
        let path = words.next().filter(|path| path.starts_with("fixtures/"))?;
        if words.next() != Some("lines") {
            return Some(Self { path, first: 1, last: usize::MAX });
        }
        let (first, last) = words.next().unwrap().split_once('-').unwrap();
        Some(Self { path, first: first.parse().unwrap(), last: last.parse().unwrap() })
    }

    fn text(&self) -> String {
        let text = std::fs::read_to_string(root().join(self.path)).unwrap();
        let lines = text.lines().take(self.last).skip(self.first - 1);
        lines.map(|line| format!("{line}\n")).collect()
    }
}

/// Both streams of the program, as in a terminal with 80 columns.
fn output(line: &str) -> String {
    let arguments = line.strip_prefix("toolcheck").or_else(|| line.strip_prefix("cargo run --"));
    let arguments = words(arguments.unwrap_or_else(|| panic!("`{line}` does not run the program")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolcheck"));
    command.current_dir(root()).args(arguments);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM", "COLUMNS", "CI", "TF_BUILD"]
    {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// The options of rules in the template of a configuration, as if they were set.
fn rule_options() -> String {
    let template = include_str!("../src/commands/init.toml");
    let (_, options) = template.split_once("# Options of rules.\n").unwrap();
    let (options, _) = options.split_once("\n# Settings for some files.").unwrap();
    options.lines().map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

#[test]
fn every_rule_with_options_shows_them() {
    let schema: serde_json::Value = serde_json::from_str(&text("schemas/config.v1.schema.json")).unwrap();
    let shown = toolcheck_config::Config::default().rule_options();
    for rule in schema["$defs"]["RulesTable"]["properties"].as_object().unwrap().keys() {
        assert!(rule_options().contains(&format!("[rules.{rule}]\n")), "`init` does not show {rule}");
        let is_shown = shown.iter().any(|option| option.rule.as_str() == rule);
        assert!(is_shown, "`--show-settings` does not show {rule}");
    }
}

#[test]
fn every_fix_is_in_the_table() {
    let page = text("docs/fix.md");
    let rows = || page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    for rule in toolcheck_lint::rules::ALL {
        let Some(fix) = &rule.fix else { continue };
        let name = format!("`{}`", rule.id);
        for (column, said) in [(2, fix.safe), (3, fix.lossy)] {
            let is_told = |row: &[&str]| row.len() == 5 && row[1].contains(&name) && !row[column].is_empty();
            let is_there = said.is_empty() || rows().any(|row| is_told(&row));
            assert!(is_there, "docs/fix.md does not tell this of {name}: {said}");
        }
    }
}

#[test]
fn every_command_prints_the_output_on_its_page() {
    let is_blessing = std::env::var_os("TOOLCHECK_BLESS").is_some();
    let mut commands = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let mut written = String::new();
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            written.push_str(line);
            written.push('\n');
            if line == "## Rule options" {
                written.push_str(&format!("\n```toml\n{}```\n", rule_options()));
                lines.by_ref().skip(2).take_while(|line| *line != "```").for_each(drop);
                continue;
            }
            if let Some(shown) = Shown::of_fence(line) {
                written.push_str(&format!("{}```\n", shown.text()));
                lines.by_ref().take_while(|line| *line != "```").for_each(drop);
                continue;
            }
            if line != "```console" {
                continue;
            }
            for line in lines.by_ref().take_while(|line| *line != "```") {
                let Some(command) = line.strip_prefix("$ ") else { continue };
                written.push_str(&format!("$ {command}\n{}", output(command)));
                commands += 1;
            }
            written.push_str("```\n");
        }
        if is_blessing {
            std::fs::write(&path, &written).unwrap();
        } else {
            assert_eq!(page, written, "{} is outdated: run with TOOLCHECK_BLESS=1", path.display());
        }
    }
    assert!(commands > 10, "{commands} commands");
}

/// A reader of a page can see what each finding is about.
#[test]
fn every_page_of_an_input_shows_what_its_commands_report() {
    for path in pages_in("docs/inputs") {
        let page = std::fs::read_to_string(&path).unwrap();
        let shown: Vec<Shown<'_>> = page.lines().filter_map(Shown::of_fence).collect();
        let mut findings = 0;
        for block in page.split("```console\n").skip(1) {
            for line in block.split("```").next().unwrap().lines() {
                let mut parts = line.splitn(3, ':');
                let (Some(file), Some(Ok(number))) = (parts.next(), parts.next().map(str::parse)) else {
                    continue;
                };
                let number: usize = number;
                let is_shown =
                    |shown: &Shown<'_>| shown.path == file && (shown.first..=shown.last).contains(&number);
                assert!(shown.iter().any(is_shown), "{} does not show {file}:{number}", path.display());
                findings += 1;
            }
        }
        // The default build reads no tables.
        let has_none = ["README.md", "parquet.md", "sqlite.md"].iter().any(|name| path.ends_with(name));
        assert!(findings > 0 || has_none, "{} has no example", path.display());
    }
}

/// The shapes of data sets, each with its case: how it is read, and what is reported.
#[test]
fn the_page_of_data_sets_lists_every_shape_with_its_case() {
    let page = text("docs/inputs/data-sets.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|row| row.split(" | ").collect())
        .skip(2)
        .collect();
    let letters: String = rows.iter().map(|row| &row[0][..2]).collect();
    assert_eq!(letters, "a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E ");
    for row in rows {
        let [shape, format, case, rules] = row[..] else { panic!("{row:?}") };
        let path = format!("fixtures/inputs/{}", case.trim_matches('`'));
        let arguments = "--kind dataset --isolated --output-format json";
        let report: serde_json::Value =
            serde_json::from_str(&output(&format!("toolcheck lint {path} {arguments}"))).unwrap();
        assert_eq!(report["files"][0]["format"], format.trim_matches('`'), "{shape}");
        let findings = report["findings"].as_array().unwrap();
        let found: std::collections::BTreeSet<&str> =
            findings.iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
        let listed = rules.split('`').skip(1).step_by(2).collect();
        assert_eq!(found, listed, "{shape}");
        let is_in_order = |row: &serde_json::Value| findings.iter().all(|finding| finding["record"] != *row);
        let rows = std::fs::read_to_string(root().join(&path)).unwrap().lines().count();
        assert!((0..rows).any(|row| is_in_order(&row.into())), "no row of {path} is in order");
    }
}

#[test]
fn every_output_has_its_section() {
    let page = text("docs/outputs.md");
    let mut titles: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    // The output of `markdown` starts with a title of its own.
    titles.retain(|title| *title != "toolcheck");
    titles.sort();
    let ids: Vec<&str> = toolcheck_report::outputs::ALL.iter().map(|output| output.id).collect();
    assert_eq!(titles, ids);
    assert_eq!(page.matches("```console").count(), ids.len());
}

#[test]
fn every_configuration_is_valid() {
    let mut configurations = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("```toml\n").skip(1) {
            let text = block.split("```").next().unwrap();
            if let Err(error) = toolcheck_config::Config::parse(text) {
                panic!("{}: {error}\n{text}", path.display());
            }
            configurations += 1;
        }
    }
    assert!(configurations > 3, "{configurations} configurations");
    // The documentation shows the policies of the corpus unchanged.
    let policies = text("fixtures/policies/toolcheck.toml");
    let page = text("docs/configuration.md");
    for policy in policies.split("[[policy]]").skip(1) {
        assert!(page.contains(policy.trim()), "{policy}");
    }
}

/// Commands without output may name files that do not exist, but their flags must.
#[test]
#[cfg_attr(not(feature = "serve"), ignore = "needs the feature `serve`")]
fn every_flag_on_a_page_exists() {
    let mut flags = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("```sh\n").skip(1) {
            for line in block.split("```").next().unwrap().lines() {
                let line = line.split(" # ").next().unwrap();
                let Some(at) = line.find("toolcheck ") else { continue };
                // The parts before it and after a pipe are other programs.
                let line = line[at..].split(" | ").next().unwrap().split(" && ").next().unwrap();
                let words: Vec<&str> = line.split_whitespace().skip(1).collect();
                let Some(subcommand) = words.first().filter(|word| word.chars().all(char::is_alphabetic))
                else {
                    continue;
                };
                let help = output(&format!("toolcheck {subcommand} --help"));
                for word in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                    let flag = word.split('=').next().unwrap();
                    let is_known = help.split([' ', '=', ',', '[', '\n']).any(|known| known == flag);
                    assert!(is_known, "{}: `{subcommand}` has no {flag}\n{help}", path.display());
                    flags += 1;
                }
            }
        }
    }
    assert!(flags > 15, "{flags} flags");
}

/// The commands on the pages and in the help, as users type them, each with its source.
#[cfg(unix)]
fn commands() -> Vec<(String, String)> {
    let mut commands = Vec::new();
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for block in page.split("```sh\n").skip(1) {
            let block = block.split("```").next().unwrap().replace("\\\n", " ");
            commands.extend(block.lines().map(|line| (name.clone(), line.to_owned())));
        }
    }
    for help in " lint fix show diff serve proxy explain rules shapes test init completions man".split(' ') {
        let text = output(&format!("toolcheck {help} --help"));
        let examples = text.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        let examples = examples.lines().take_while(|line| line.starts_with("  "));
        commands.extend(examples.map(|line| (format!("toolcheck {help} --help"), line.trim().to_owned())));
    }
    commands.retain(|(_, line)| line.contains("toolcheck ") && !line.starts_with("cargo "));
    commands
}

/// A folder with the files that the commands name, to run them as users do.
#[cfg(unix)]
fn sandbox() -> PathBuf {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use crate::common::{files_below, gzip};

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs-examples");
    let _ = std::fs::remove_dir_all(&folder);
    let folders = "bin logs/a .claude/projects transcripts corpus .zfunc .config/fish/completions \
        .local/share/bash-completion/completions";
    for below in folders.split(' ') {
        std::fs::create_dir_all(folder.join(below)).unwrap();
    }
    let seed = |name: &str| std::fs::read(root().join("fixtures/seeds").join(name)).unwrap();
    let (broken, clean) = (seed("coco-before.json"), seed("coco-after.json"));
    let log = std::fs::read(root().join("fixtures/inputs/claude-code/session.jsonl")).unwrap();
    let line = |bytes: &[u8]| {
        let value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        format!("{value}\n").into_bytes()
    };
    for (name, bytes) in [
        ("request.json", &broken),
        ("history.json", &clean),
        ("before.json", &clean),
        ("after.json", &clean),
        ("session.jsonl", &log),
        ("requests.jsonl", &line(&clean)),
        ("transcript.json", &clean),
        ("one.json", &clean),
        ("transcripts/a.json", &clean),
        ("corpus/a.json", &clean),
        ("our-gateway.toml", &own_targets()[0].clone().into_bytes()),
        ("logs/a/a.jsonl", &line(&clean)),
        (".claude/projects/a.jsonl", &log),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    // Histories that frameworks refuse are among them: a call without a result, and a turn in two messages.
    for path in files_below("crates/toolcheck-cli/tests/docs/sandbox") {
        let (_, name) = path.split_once("/sandbox/").unwrap();
        std::fs::copy(root().join(&path), folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("logs/a/a.jsonl.gz"), gzip(line(&clean))).unwrap();
    symlink(env!("CARGO_BIN_EXE_toolcheck"), folder.join("bin/toolcheck")).unwrap();
    for (name, script) in [
        ("some-agent", "cat history.json"),
        ("pbpaste", "echo 'messages.2: tool_use ids were found without tool_result blocks'"),
        ("man", "cat > /dev/null"),
        ("duckdb", "test -s train.jsonl"),
        ("git", "printf 'history.json\\0one.json\\0'"),
    ] {
        let path = folder.join("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

#[cfg(unix)]
#[test]
#[cfg_attr(not(feature = "serve"), ignore = "needs the feature `serve`")]
fn every_example_runs() {
    let folder = sandbox();
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let mut explained = 0;
    let commands = commands();
    for (page, line) in &commands {
        let mut shell = Command::new("sh");
        shell.current_dir(&folder).args(["-c", line]).env("PATH", &path).env("HOME", &folder);
        shell.env_remove("CI").env_remove("TF_BUILD").stdin(std::process::Stdio::null());
        let output = shell.output().unwrap();
        let printed = format!(
            "{page}: {line}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let status = output.status.code();
        // An example may have findings; the status is that of the last command of a pipe.
        let is_lint = line.contains("toolcheck lint") || line.contains("toolcheck diff");
        assert!(status == Some(0) || is_lint && matches!(status, Some(1 | 123)), "{status:?}\n{printed}");
        assert!(!printed.contains("\nerror: "), "{printed}");
        if line.contains("--error") {
            let causes = [
                ("request.json", "unanswered-tool-call"),
                ("messages.json", "unanswered-tool-call"),
                ("conversation.json", "split-assistant-turn"),
            ];
            let (file, rule) = causes.into_iter().find(|(file, _)| line.contains(file)).unwrap();
            assert!(printed.contains(rule) && printed.contains(&format!("{file}:")), "{printed}");
            explained += 1;
        }
    }
    assert!(commands.len() > 30, "{} commands", commands.len());
    assert!(explained >= 4, "{explained} errors explained");
}

/// The targets in `docs/own-target.md`.
fn own_targets() -> Vec<String> {
    let page = text("docs/own-target.md");
    let blocks = page.split("```toml target\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_own_target_is_valid() {
    let (schema, targets) = (validator("target"), own_targets());
    assert_eq!(targets.len(), 5);
    for text in &targets {
        assert_fits(&schema, &toml::from_str(text).unwrap());
    }
    // Each target does what the page says.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-targets");
    std::fs::create_dir_all(&folder).unwrap();
    for line in include_str!("docs/own-targets.jsonl").lines() {
        let (number, printed, body): (usize, String, serde_json::Value) = serde_json::from_str(line).unwrap();
        std::fs::write(folder.join("target.toml"), &targets[number]).unwrap();
        std::fs::write(folder.join("a.json"), body.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolcheck"));
        command.current_dir(&folder).env_remove("CI").env_remove("TF_BUILD").env("COLUMNS", "120");
        command.args(["lint", "a.json", "--format", "openai-chat", "--target", "target.toml"]);
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(output.contains(&printed), "{printed}\n{output}");
    }
}

#[test]
fn the_page_of_shapes_lists_the_placeholders() {
    let page = text("docs/shapes.md");
    let table = page.split_once("| placeholder | meaning |\n| --- | --- |\n").unwrap().1;
    let rows: Vec<String> = toolcheck_core::shape::PLACEHOLDERS
        .iter()
        .map(|(name, meaning)| format!("| `{{{name}}}` | {meaning} |"))
        .collect();
    assert_eq!(table.lines().collect::<Vec<_>>(), rows);
}

/// The parts of targets on the pages are valid once they are a target's.
#[test]
fn every_part_of_a_shape_is_valid() {
    let mut parts = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("```toml shape\n").skip(1) {
            let part = block.split("```").next().unwrap();
            let text = format!("id = \"a\"\nname = \"A\"\nextends = \"openai-chat\"\n{part}");
            if let Err(error) = toolcheck_config::parse_target(&text) {
                panic!("{}: {error}\n{text}", path.display());
            }
            parts += 1;
        }
    }
    assert_eq!(parts, 1);
}

/// `explain` says of a rule what its page on the site says: what is fixed, which targets accept it, and which refuse it.
#[test]
fn explain_and_the_page_of_a_rule_agree() {
    let mut accepted = 0;
    for (rule, explained) in toolcheck_lint::rules::ALL.iter().zip(EXPLAINED.iter()) {
        let page = std::fs::read_to_string(root().join(format!("docs/rules/{}.md", rule.id))).unwrap();
        assert!(explained.stderr.is_empty(), "{explained:?}");
        let explained = std::str::from_utf8(&explained.stdout).unwrap();
        assert!(explained.starts_with(&format!(
            "# {}\n\n{}\n",
            rule.id,
            rule.page().lines().next().unwrap()
        )));
        let section = |title: &str| {
            let (_, rest) = explained.split_once(&format!("\n## {title}\n"))?;
            Some(rest.split("\n## ").next().unwrap_or_default().to_owned())
        };
        let fix = section("What does `toolcheck fix` do?");
        assert_eq!(fix.is_some(), page.contains("\n## Fix\n"), "{}", rule.id);
        assert!(fix.is_none_or(|fix| page.contains(fix.trim())), "{}", rule.id);
        // The first line of an entry names its targets.
        let names = |text: &str, id: &str| {
            let entries = text.lines().filter_map(|line| line.strip_prefix("- "));
            entries
                .flat_map(|entry| entry.split(", "))
                .any(|name| name == id || name.starts_with(&format!("{id} ")))
        };
        for line in page.lines() {
            let Some((target, rest)) = line.strip_prefix("- **").and_then(|line| line.split_once("**"))
            else {
                continue;
            };
            let is_accepted = rest.contains(" accepts it");
            accepted += usize::from(is_accepted);
            let title = if is_accepted { "Who accepts it?" } else { "Who rejects it?" };
            let found =
                [title, "Other error texts that `explain --error` recognises", "Which frameworks raise it?"];
            let found = found.iter().filter_map(|title| section(title)).any(|text| names(&text, target));
            assert!(found, "{}: {target} is not in `{title}`", rule.id);
        }
    }
    assert!(accepted > 20, "only {accepted}");
}
