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
    let ids: Vec<&str> = toolcheck_lint::render::ALL.iter().map(|output| output.id).collect();
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
            if let Err(error) = toolcheck_lint::Config::parse(text) {
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
