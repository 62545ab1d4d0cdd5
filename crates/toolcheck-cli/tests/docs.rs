//! The documentation against the program: every command in it is run, and every configuration in it is read.
//!
//! `TOOLCHECK_BLESS=1 cargo test --package toolcheck-cli --test docs` writes what the program prints into the pages.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages that people wrote: those of rules and targets are made from the tables.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("targets.md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// What the program prints, both streams, as one sees them in a terminal of 80 columns.
fn output(line: &str) -> String {
    let arguments = line.strip_prefix("toolcheck").or_else(|| line.strip_prefix("cargo run --release --"));
    let arguments = words(arguments.unwrap_or_else(|| panic!("`{line}` does not run the program")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolcheck"));
    command.current_dir(root()).args(arguments);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM", "COLUMNS", "CI"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// The words of a command line, as far as the pages need it: quotes hold a word together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, piece) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The options of rules in the template of a configuration, as if they were set.
fn rule_options() -> String {
    let template = include_str!("../src/commands/init.toml");
    let (_, options) = template.split_once("# Options of rules.\n").unwrap();
    let (options, _) = options.split_once("\n# Settings for some files.").unwrap();
    options.lines().map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or(line))).collect()
}

#[test]
fn every_command_prints_what_the_page_says() {
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
            assert_eq!(page, written, "{} is not what the program prints", path.display());
        }
    }
    assert!(commands > 10, "{commands} commands");
}

#[test]
fn every_output_has_its_section() {
    let page = std::fs::read_to_string(root().join("docs/outputs.md")).unwrap();
    let mut titles: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    // What `markdown` prints begins with a title of its own.
    titles.retain(|title| *title != "toolcheck");
    titles.sort();
    let ids: Vec<&str> = toolcheck_report::outputs::ALL.iter().map(|output| output.id).collect();
    assert_eq!(titles, ids);
    assert_eq!(page.matches("```console").count(), ids.len());
}

#[test]
fn every_configuration_is_one() {
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
    // What the documentation shows of the corpus' policies is what they are.
    let policies = std::fs::read_to_string(root().join("fixtures/policies/toolcheck.toml")).unwrap();
    let page = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    for policy in policies.split("[[policy]]").skip(1) {
        assert!(page.contains(policy.trim()), "{policy}");
    }
}

/// The commands that are shown without what they print: what they name may not be there, but their flags are.
#[test]
fn every_flag_that_a_page_names_is_one() {
    let mut flags = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("```sh\n").skip(1) {
            for line in block.split("```").next().unwrap().lines() {
                let line = line.split(" # ").next().unwrap();
                let Some(at) = line.find("toolcheck ") else { continue };
                // What stands before it feeds it, and what stands behind a pipe is another program.
                let line = line[at..].split(" | ").next().unwrap().split(" && ").next().unwrap();
                let words: Vec<&str> = line.split_whitespace().skip(1).collect();
                let Some(subcommand) = words.first().filter(|word| word.chars().all(char::is_alphabetic))
                else {
                    continue;
                };
                let help = output(&format!("toolcheck {subcommand} --help"));
                for word in words.iter().filter(|word| word.starts_with("--") && word.len() > 2) {
                    let flag = word.split('=').next().unwrap();
                    let is_one = help.split([' ', '=', ',', '[', '\n']).any(|known| known == flag);
                    assert!(is_one, "{}: `{subcommand}` has no {flag}\n{help}", path.display());
                    flags += 1;
                }
            }
        }
    }
    assert!(flags > 15, "{flags} flags");
}

/// The commands of the pages and of the help, as one types them, with the file that shows each.
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
    for help in ["", "lint", "show", "explain", "rules", "test", "init", "completions", "man"] {
        let text = output(&format!("toolcheck {help} --help"));
        let examples = text.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        let examples = examples.lines().take_while(|line| line.starts_with("  "));
        commands.extend(examples.map(|line| (format!("toolcheck {help} --help"), line.trim().to_owned())));
    }
    commands.retain(|(_, line)| line.contains("toolcheck ") && !line.starts_with("cargo "));
    commands
}

/// What they name, in a folder of their own: the examples are run there as users run them.
#[cfg(unix)]
fn sandbox() -> PathBuf {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs-examples");
    let _ = std::fs::remove_dir_all(&folder);
    for below in [
        "bin",
        "logs/a",
        "transcripts",
        "corpus",
        ".zfunc",
        ".config/fish/completions",
        ".local/share/bash-completion/completions",
    ] {
        std::fs::create_dir_all(folder.join(below)).unwrap();
    }
    let seed = |name: &str| std::fs::read(root().join("fixtures/seeds").join(name)).unwrap();
    let (broken, sound) = (seed("coco-before.json"), seed("coco-after.json"));
    let line = |bytes: &[u8]| {
        let value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        format!("{value}\n").into_bytes()
    };
    for (name, bytes) in [
        ("request.json", &broken),
        ("history.json", &sound),
        ("transcript.json", &sound),
        ("one.json", &sound),
        ("transcripts/a.json", &sound),
        ("corpus/a.json", &sound),
        (
            "corpus/a.expect.json",
            &b"{\"description\": \"clean\", \"source\": \"invented\", \"findings\": []}".to_vec(),
        ),
        ("tools.json", &b"[{\"name\": \"search\", \"input_schema\": {\"type\": \"object\"}}]".to_vec()),
        ("our-gateway.toml", &own_targets()[0].clone().into_bytes()),
        ("logs/a/a.jsonl", &line(&sound)),
        (
            "train.jsonl",
            &br#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}"#
                .to_vec(),
        ),
    ] {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &line(&sound)).unwrap();
    std::fs::write(folder.join("logs/a/a.jsonl.gz"), gzip.finish().unwrap()).unwrap();
    symlink(env!("CARGO_BIN_EXE_toolcheck"), folder.join("bin/toolcheck")).unwrap();
    for (name, script) in [
        ("some-agent", "cat history.json"),
        ("pbpaste", "echo 'messages.2: tool_use ids were found without tool_result blocks'"),
        ("man", "cat > /dev/null"),
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
fn every_example_runs_as_a_user_would_run_it() {
    let folder = sandbox();
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let mut explained = 0;
    let commands = commands();
    for (page, line) in &commands {
        let mut shell = Command::new("sh");
        shell.current_dir(&folder).args(["-c", line]).env("PATH", &path).env("HOME", &folder);
        shell.env_remove("CI").stdin(std::process::Stdio::null());
        let output = shell.output().unwrap();
        let said = format!(
            "{page}: {line}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let status = output.status.code();
        // A finding is no failure of an example; the last command of a pipe tells the status.
        let is_lint = line.contains("toolcheck lint");
        assert!(status == Some(0) || is_lint && matches!(status, Some(1 | 123)), "{status:?}\n{said}");
        assert!(!said.contains("\nerror: "), "{said}");
        if line.contains("--error") {
            assert!(said.contains("unanswered-tool-call") && said.contains("request.json:"), "{said}");
            explained += 1;
        }
    }
    assert!(commands.len() > 30, "{} commands", commands.len());
    assert!(explained >= 4, "{explained} errors explained");
}

/// The targets that the page about them shows.
fn own_targets() -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/own-target.md")).unwrap();
    let blocks = page.split("```toml target\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_target_of_ones_own_is_one() {
    let schema = std::fs::read(root().join("schemas/target.v1.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let targets = own_targets();
    assert_eq!(targets.len(), 4);
    for text in &targets {
        let value: serde_json::Value = toml::from_str(text).unwrap();
        assert!(schema.is_valid(&value), "{text}");
    }
    // Each does what the page says of it.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-targets");
    std::fs::create_dir_all(&folder).unwrap();
    let call = |id: &str| {
        format!(r#"{{"id": "{id}", "type": "function", "function": {{"name": "f", "arguments": "{{}}"}}}}"#)
    };
    let request = |id: &str, rest: &str| {
        let call = call(id);
        format!(
            r#"{{"messages": [{{"role": "user", "content": "a"}}, {{"role": "assistant", "content": null, "tool_calls": [{call}]}}{rest}], "tools": [{{"type": "function", "function": {{"name": "f"}}}}]}}"#
        )
    };
    let result = r#", {"role": "tool", "tool_call_id": "call_of_the_lighthouse", "content": "b"}"#;
    let with_name = r#"{"messages": [{"role": "user", "content": "a", "name": "b"}]}"#.to_owned();
    for (number, body, said) in [
        (0, request("call_1", ""), "1 error"),
        (
            1,
            request("call_of_the_lighthouse", result),
            "answers 422: id call_of_the_lighthouse is longer than 12",
        ),
        (2, request("call_1", ""), "accepts it, but it answers the call with an empty result"),
        (3, with_name, "answers 422: messages[0].name: not supported"),
        (3, request("call_1", result), "answers 409: result call_of_the_lighthouse belongs to a call with"),
        (3, format!(r#"{{"messages": [{}]}}"#, &result[2..]), "answers 409: message 1: no call call_of_the"),
    ] {
        std::fs::write(folder.join("target.toml"), &targets[number]).unwrap();
        std::fs::write(folder.join("a.json"), body).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolcheck"));
        command.current_dir(&folder).env_remove("CI").env("COLUMNS", "120");
        command.args(["lint", "a.json", "--format", "openai-chat", "--target", "target.toml"]);
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(output.contains(said), "{said}\n{output}");
    }
}
