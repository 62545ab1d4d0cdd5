//! The hooks, the action, completions, manual pages and packages fit the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::common::{CLEAN, folder, root, text, toml, toolcheck, toolcheck_in, unanswered, write, yaml};

fn run(arguments: &[&str]) -> String {
    let output = toolcheck().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Both streams, to search in and to show if a test fails.
fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

/// A repository with clean and broken transcripts, and a file that is not one.
fn repository(name: &str) -> PathBuf {
    let folder = folder(name);
    write(&folder, "bad log.jsonl", format!("{CLEAN}\n{}\n", unanswered("toolu_1")));
    write(&folder, "good.json", CLEAN);
    write(&folder, "good.ndjson", format!("{CLEAN}\n{CLEAN}\n"));
    write(&folder, "package.json", r#"{"name": "lighthouse", "version": "1.0.0"}"#);
    folder
}

// ---- pre-commit

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "all keys that pre-commit allows; the test reads some of them")]
struct Hook {
    id: String,
    name: String,
    description: String,
    entry: String,
    #[serde(default)]
    args: Vec<String>,
    language: String,
    types: Vec<String>,
    files: String,
    require_serial: bool,
    minimum_pre_commit_version: String,
}

fn hooks() -> Vec<Hook> {
    yaml(&text(".pre-commit-hooks.yaml"))
}

#[test]
fn hooks_match_transcript_files() {
    for hook in hooks() {
        // pre-commit searches anywhere in the path, like `is_match`.
        let files = regex::Regex::new(&hook.files).unwrap();
        for name in
            ["a.json", "logs/a b.jsonl", "x.ndjson", "x.y.json", ".hidden.json", "b.yaml", "c.yml", "d.har"]
        {
            assert!(files.is_match(name), "{} does not match {name}", hook.id);
        }
        for name in ["json", "a.jsonc", "a.json5", "a.json.md", "a.jsonl.gz", "ajson", "toolcheck.toml"] {
            assert!(!files.is_match(name), "{} matches {name}", hook.id);
        }
        // .jsonl files do not have the type `json`.
        assert_eq!(hook.types, ["text"], "{}", hook.id);
        // The reports of parallel runs would be interleaved.
        assert!(hook.require_serial, "{}", hook.id);
    }
}

#[test]
fn hooks_run_the_program() {
    let found: Vec<(String, String)> =
        hooks().iter().map(|hook| (hook.id.clone(), hook.language.clone())).collect();
    let expected = [("toolcheck", "python"), ("toolcheck-system", "system")];
    assert_eq!(found, expected.map(|(id, language)| (id.to_owned(), language.to_owned())));
    for hook in hooks() {
        let folder = repository(&format!("hook-{}", hook.id));
        let mut words = hook.entry.split_whitespace();
        assert_eq!(words.next(), Some("toolcheck"));
        let words: Vec<&str> = words.chain(hook.args.iter().map(String::as_str)).collect();
        let files = ["bad log.jsonl", "good.json", "good.ndjson", "package.json"];
        let run = || toolcheck_in(&folder).args(&words).args(files).output().unwrap();
        let output = run();
        assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
        assert!(printed(&output).contains("bad log.jsonl:2:"), "{}", printed(&output));
        assert!(!printed(&output).contains("package.json"), "{}", printed(&output));
        std::fs::write(folder.join("bad log.jsonl"), CLEAN).unwrap();
        let output = run();
        assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    }
}

#[test]
fn hooks_install_the_program() {
    let project = toml("pyproject.toml");
    let maturin = &project["tool"]["maturin"];
    assert_eq!(maturin["bindings"].as_str(), Some("bin"));
    let manifest = toml(maturin["manifest-path"].as_str().unwrap());
    assert_eq!(manifest["bin"][0]["name"].as_str(), Some("toolcheck"));
    assert_eq!(project["project"]["name"], manifest["package"]["name"]);
    assert_eq!(project["project"]["description"], manifest["package"]["description"]);
}

// ---- the action

fn action() -> Json {
    yaml(&text("action.yml"))
}

fn inputs(action: &Json) -> &serde_json::Map<String, Json> {
    action["inputs"].as_object().unwrap()
}

fn step(id: &str) -> Json {
    let steps = action()["runs"]["steps"].take();
    steps.as_array().unwrap().iter().find(|step| step["id"] == id).unwrap().clone()
}

/// A text that must be there.
fn said<'j>(value: &'j Json, key: &str) -> &'j str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// The inputs that a text refers to: `${{ inputs.name }}`.
fn inputs_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("inputs.").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[test]
fn inputs_of_the_action_are_documented_and_used() {
    let action = action();
    let source = text("action.yml");
    let declared: BTreeSet<&str> = inputs(&action).keys().map(String::as_str).collect();
    assert_eq!(inputs_in(&source).collect::<BTreeSet<_>>(), declared);
    let page = text("docs/ci.md");
    for (name, input) in inputs(&action) {
        assert!(!said(input, "description").is_empty());
        let default = Some(said(input, "default")).filter(|text| !text.is_empty());
        let row = format!("| `{name}` | {} |", default.map(|text| format!("`{text}`")).unwrap_or_default());
        assert!(page.contains(&row), "docs/ci.md has no row that begins with {row}");
    }
    for (name, output) in action["outputs"].as_object().unwrap() {
        assert!(!said(output, "description").is_empty());
        assert!(page.contains(&format!("`{name}`")), "docs/ci.md does not document the output {name}");
        assert_eq!(said(output, "value"), format!("${{{{ steps.lint.outputs.{name} }}}}"));
        let script = step("lint");
        assert!(said(&script, "run").contains(&format!("\"{name}=")), "nothing writes the output {name}");
    }
}

struct StepResult {
    status: Option<i32>,
    printed: String,
    outputs: BTreeMap<String, String>,
    summary: String,
}

/// Runs the action's lint step as GitHub does, with these inputs in place of the defaults.
fn lint_step(folder: &Path, inputs: &[(&str, &str)]) -> StepResult {
    let (action, step) = (action(), step("lint"));
    let temporary = folder.join("runner temp");
    std::fs::create_dir_all(&temporary).unwrap();
    let (outputs, summary) = (temporary.join("outputs"), temporary.join("summary"));
    std::fs::write(&outputs, "").unwrap();
    std::fs::write(&summary, "").unwrap();
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", said(&step, "run")]).current_dir(folder);
    command
        .env("RUNNER_TEMP", &temporary)
        .env("GITHUB_OUTPUT", &outputs)
        .env("GITHUB_STEP_SUMMARY", &summary);
    for (name, value) in step["env"].as_object().unwrap() {
        let value = match inputs_in(value.as_str().unwrap()).next() {
            None => env!("CARGO_BIN_EXE_toolcheck"),
            Some(input) => inputs
                .iter()
                .find(|(name, _)| *name == input)
                .map_or(said(&action["inputs"][input], "default"), |(_, value)| value),
        };
        command.env(name, value);
    }
    for (name, _) in inputs {
        assert!(self::inputs(&action).contains_key(*name), "there is no input {name}");
    }
    let output = command.output().unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let lines = read(&outputs);
    let pairs = lines.lines().map(|line| line.split_once('=').unwrap());
    StepResult {
        status: output.status.code(),
        printed: printed(&output),
        outputs: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        summary: read(&summary),
    }
}

#[cfg(unix)]
#[test]
fn the_action_lints() {
    let folder = repository("action");
    let ran = lint_step(&folder, &[]);
    assert_eq!(ran.status, Some(1), "{}", ran.printed);
    assert!(ran.printed.contains("::error file=bad log.jsonl,line=2,"), "{}", ran.printed);
    assert_eq!(ran.outputs["findings"], "1");
    assert_eq!(ran.outputs["exit-status"], "1");
    assert!(ran.summary.contains("unanswered-tool-call"), "{}", ran.summary);
    let sarif = std::fs::read_to_string(&ran.outputs["sarif-file"]).unwrap();
    let sarif: Json = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);

    let ran = lint_step(&folder, &[("paths", "good.json\n\ngood.ndjson\n"), ("summary", "false")]);
    assert_eq!(ran.status, Some(0), "{}", ran.printed);
    assert_eq!((ran.outputs["findings"].as_str(), ran.summary.as_str()), ("0", ""));
}

#[cfg(unix)]
#[test]
fn every_input_of_the_action_has_an_effect() {
    let folder = repository("action-inputs");
    std::fs::write(folder.join("off.toml"), "ignore = [\"unanswered-tool-call\"]\n").unwrap();
    let status = |inputs: &[(&str, &str)]| {
        let inputs = [&[("paths", "bad log.jsonl")], inputs].concat();
        let ran = lint_step(&folder, &inputs);
        (ran.status.unwrap(), ran.printed)
    };
    assert_eq!(status(&[]).0, 1);
    assert_eq!(status(&[("fail-on", "never")]).0, 0);
    assert_eq!(status(&[("config", "off.toml")]).0, 0);
    assert_eq!(status(&[("args", "--ignore\nunanswered-tool-call\n")]).0, 0);
    assert!(status(&[("output-format", "concise")]).1.contains("bad log.jsonl:2:"));
    // These errors name the flags, so the inputs are passed on.
    for (name, message) in [
        ("format", "invalid value 'none' for '--format <ID>'"),
        ("target", "there is no target `none`"),
        ("kind", "invalid value 'none' for '--kind <KIND>'"),
        ("fail-on", "invalid value 'none' for '--fail-on <LEVEL>'"),
        ("output-format", "invalid value 'none' for '--output-format <OUTPUT[=FILE]>'"),
    ] {
        let (status, printed) = status(&[(name, "none")]);
        assert_eq!(status, 2, "{name}: {printed}");
        assert!(printed.contains(message), "{name}: {printed}");
    }
    assert_eq!(status(&[("format", "openai-chat"), ("target", "openai-chat"), ("kind", "request")]).0, 1);
}

#[cfg(unix)]
#[test]
fn inputs_of_the_action_are_not_run_as_code() {
    let folder = repository("action-hostile");
    let hostile =
        ["$(touch taken)", "`touch taken`", "x; touch taken", "\"; touch taken; \"", "'; touch taken; '"];
    for name in inputs(&action()).keys().map(String::as_str) {
        if ["version", "category", "sarif"].contains(&name) {
            continue; // other steps
        }
        for value in hostile {
            lint_step(&folder, &[(name, value)]);
            assert!(!folder.join("taken").exists(), "{name}: {value}");
        }
    }
    // A path that looks like an argument is a path.
    let ran = lint_step(&folder, &[("paths", "--exit-zero")]);
    assert_eq!(ran.status, Some(2), "{}", ran.printed);
    assert!(ran.printed.contains("error: --exit-zero: "), "{}", ran.printed);
}

// ---- the pages

fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let opening = format!("```{language}\n");
    page.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn arguments_on_the_pages_exist() {
    let mut lines = 0;
    for path in ["README.md", "docs/ci.md", "docs/install.md", "crates/toolcheck-cli/README.md"] {
        let page = text(path);
        let blocks = ["sh", "yaml"].map(|language| blocks(&page, language)).concat();
        for line in blocks.iter().flat_map(|block| block.lines()) {
            let Some((_, command)) = line.split_once("toolcheck ") else { continue };
            let mut words = command.split_whitespace();
            let Some(subcommand) = words.next().filter(|word| ["lint", "explain"].contains(word)) else {
                continue;
            };
            let help = run(&[subcommand, "--help"]);
            let flags =
                words.take_while(|word| *word != "#").filter(|word| word.len() > 2 && word.starts_with("--"));
            for flag in flags.map(|flag| flag.split('=').next().unwrap()) {
                assert!(
                    help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n")),
                    "{path}: {line}"
                );
            }
            lines += 1;
        }
    }
    assert!(lines >= 11, "{lines} commands");
}

#[test]
fn hooks_and_inputs_on_the_pages_exist() {
    let ids: Vec<String> = hooks().into_iter().map(|hook| hook.id).collect();
    let action = action();
    let (mut hooks, mut uses) = (0, 0);
    for path in ["README.md", "docs/ci.md", "docs/fine-tuning.md"] {
        let page = text(path);
        for block in blocks(&page, "yaml") {
            let value: Json = yaml(block);
            for repository in value.as_array().or(value["repos"].as_array()).into_iter().flatten() {
                for hook in repository["hooks"].as_array().into_iter().flatten() {
                    let id = hook["id"].as_str().unwrap();
                    assert!(ids.iter().any(|known| known == id), "{path}: there is no hook {id}");
                    hooks += 1;
                }
            }
            let jobs = value["jobs"].as_object().into_iter().flatten();
            let steps = jobs.filter_map(|(_, job)| job["steps"].as_array()).chain(value.as_array()).flatten();
            for step in steps {
                if step["uses"].as_str().is_some_and(|uses| uses.starts_with("toolcheck/toolcheck@")) {
                    for name in step["with"].as_object().into_iter().flatten().map(|(name, _)| name) {
                        assert!(self::inputs(&action).contains_key(name), "{path}: there is no input {name}");
                    }
                    uses += 1;
                }
            }
        }
    }
    assert!(hooks >= 3 && uses >= 3, "{hooks} hooks, {uses} uses");
}

// ---- completions and manual pages

fn commands() -> Vec<String> {
    let help = run(&["--help"]);
    let list = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn completions_know_commands_flags_and_ids() {
    for shell in ["bash", "elvish", "fish", "nushell", "powershell", "zsh"] {
        let script = run(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{shell} does not know {command}");
        }
        assert!(script.contains("output-format"), "{shell} does not know the flags");
        // The generators for Elvish and PowerShell complete no values.
        if !["elvish", "powershell"].contains(&shell) {
            for id in ["bedrock-converse", "vertex-anthropic", "unanswered-tool-call", "sarif"] {
                assert!(script.contains(id), "{shell} does not know {id}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
#[cfg_attr(not(feature = "serve"), ignore = "needs the feature `serve`")]
fn bash_completes() {
    let folder = folder("completions");
    std::fs::write(folder.join("toolcheck.bash"), run(&["completions", "bash"])).unwrap();
    let complete = |words: &[&str]| {
        let script = r#"
            source toolcheck.bash
            COMP_WORDS=(toolcheck "$@") COMP_CWORD=$#
            _toolcheck toolcheck "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            echo "${COMPREPLY[*]}"
        "#;
        let mut command = Command::new("bash");
        command.current_dir(&folder).args(["--noprofile", "--norc", "-c", script, "bash"]).args(words);
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete(&["comp"]), "completions");
    assert_eq!(complete(&["lint", "--exit"]), "--exit-zero");
    assert_eq!(complete(&["lint", "--output-format", "s"]), "sarif summary summary-json");
    assert_eq!(complete(&["lint", "--target", "vertex"]), "vertex-anthropic vertex-gemini");
    assert_eq!(complete(&["shapes", "vertex"]), "vertex-anthropic vertex-gemini");
    assert_eq!(complete(&["lint", "--ignore", "split"]), "split-assistant-turn split-tool-results");
    // A rule and a scenario.
    assert_eq!(complete(&["explain", "lone"]), "lone-surrogate lone-surrogate-result");
}

#[test]
fn manual_pages() {
    let folder = folder("man");
    let names = run(&["man", folder.to_str().unwrap()]);
    let page = std::fs::read_to_string(folder.join("toolcheck-completions.1")).unwrap();
    insta::assert_snapshot!("man-completions", page.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    let mut expected = vec!["toolcheck.1".to_owned()];
    expected.extend(commands().iter().map(|command| format!("toolcheck-{command}.1")));
    let names: Vec<&str> = names.lines().map(|line| line.rsplit(['/', '\\']).next().unwrap()).collect();
    assert_eq!(names, expected);
    let top = std::fs::read_to_string(folder.join("toolcheck.1")).unwrap();
    assert_eq!(top, run(&["man"]));
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SUBCOMMANDS", "EXIT STATUS", "EXAMPLES"] {
        let heading = format!(".SH {section}\n");
        let quoted = format!(".SH \"{section}\"\n");
        assert!(top.contains(&heading) || top.contains(&quoted), "{section}:\n{top}");
    }
    // Examples keep their line breaks.
    let help = run(&["--help"]);
    let examples = help.split_once("Examples:\n").unwrap().1;
    assert!(top.matches("\ntoolcheck ").count() >= examples.lines().count(), "{top}");
    // A line that starts with a dot is a command to the formatter, so no line of a help text may.
    const MACROS: [&str; 10] = [".TH", ".SH", ".TP", ".IP", ".RS", ".RE", ".PP", ".nf", ".fi", ".ie"];
    for name in &names {
        let page = std::fs::read_to_string(folder.join(name)).unwrap();
        for line in page.lines().filter(|line| line.starts_with('.')) {
            let word = line.split_whitespace().next().unwrap();
            assert!(MACROS.contains(&word) || word == ".el" || word == ".br", "{name}: {line}");
        }
    }
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let folder = folder("man-trouble");
    std::fs::write(folder.join("file"), "").unwrap();
    let output = toolcheck().args(["man", folder.join("file").to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(printed(&output).starts_with("error: cannot create the directory "), "{}", printed(&output));
}

// ---- packages

/// The manifests of the crates that are published.
fn manifests() -> Vec<(String, Table)> {
    let mut manifests: Vec<(String, Table)> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| (name.clone(), toml(&format!("crates/{name}/Cargo.toml"))))
        .collect();
    manifests.sort_by(|a, b| a.0.cmp(&b.0));
    manifests
}

#[test]
fn every_crate_has_complete_metadata() {
    let workspace = toml("Cargo.toml");
    for (name, manifest) in manifests() {
        let package = manifest["package"].as_table().unwrap();
        assert_eq!(package["name"].as_str(), Some(&*name));
        assert!(package.get("publish").is_none(), "{name}: .ci/delivered packages all of crates/");
        for key in ["description", "documentation", "readme"] {
            assert!(package[key].as_str().is_some_and(|text| !text.is_empty()), "{name}: {key}");
        }
        for key in ["version", "edition", "rust-version", "license", "repository"] {
            assert_eq!(package[key]["workspace"].as_bool(), Some(true), "{name}: {key}");
        }
        let keywords =
            package["keywords"].as_array().or(workspace["workspace"]["package"]["keywords"].as_array());
        let keywords = keywords.unwrap();
        assert!(!keywords.is_empty() && keywords.len() <= 5, "{name}: the registry takes five keywords");
        assert!(keywords.iter().all(|word| word.as_str().unwrap().len() <= 20), "{name}");
        let categories = package["categories"].as_array().unwrap();
        assert!(!categories.is_empty() && categories.len() <= 5, "{name}: {categories:?}");
        let include = package["include"].as_array().unwrap();
        for path in ["/src", "/README.md", "/LICENSE-*"] {
            assert!(include.iter().any(|included| included.as_str() == Some(path)), "{name}: {path}");
        }
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert_eq!(text(&format!("crates/{name}/{license}")), text(license), "{name}: {license}");
        }
        // The registry shows this page, where relative links do not work.
        let page = text(&format!("crates/{name}/README.md"));
        for link in page.split("](").skip(1) {
            assert!(link.starts_with("https://"), "{name}: {}", link.lines().next().unwrap());
        }
    }
}

#[test]
fn versions_agree() {
    let workspace = toml("Cargo.toml");
    let version = workspace["workspace"]["package"]["version"].as_str().unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    for (name, _) in manifests() {
        let dependencies = workspace["workspace"]["dependencies"].as_table().unwrap();
        // No crate depends on the program.
        if let Some(dependency) = dependencies.get(&name) {
            assert_eq!(dependency["version"].as_str(), Some(version), "{name}");
        }
    }
    assert_eq!(toml("pyproject.toml")["project"]["version"].as_str(), Some(version));
    assert_eq!(toml("bindings/wasm/Cargo.toml")["package"]["version"].as_str(), Some(version));
    for path in ["bindings/npm/package.json", "bindings/wasm/package.json"] {
        let package: Json = serde_json::from_str(&text(path)).unwrap();
        assert_eq!(package["version"].as_str(), Some(version), "{path}");
    }
    assert_eq!(toml("bindings/python/Cargo.toml")["package"]["version"].as_str(), Some(version));
    assert_eq!(
        action()["inputs"]["version"]["default"],
        "auto",
        "a pinned action pins the program: `auto` takes only what was built from its commit"
    );
    assert!(text("CHANGELOG.md").contains(&format!("\n## {version}")));
    for path in ["README.md", "docs/ci.md", "docs/install.md"] {
        let page = text(path);
        for mark in ["rev: v", "toolcheck/toolcheck@v", "--tag v", "toolcheck-cli=="] {
            for rest in page.split(mark).skip(1) {
                assert!(rest.starts_with(version), "{path}: {mark}{}", rest.lines().next().unwrap());
            }
        }
    }
}

/// Of other profiles, `bindings/test.sh` would build all dependencies again.
#[test]
fn the_package_for_python_is_built_as_the_tests() {
    let [ours, python] =
        ["Cargo.toml", "bindings/python/Cargo.toml"].map(|path| toml(path)["profile"].clone());
    assert_eq!(python["dev"]["debug"], ours["dev"]["debug"]);
    let mut expected = ours["dev"]["package"].as_table().unwrap().clone();
    expected.extend(ours["test"]["package"].as_table().unwrap().clone());
    let python = python["dev"]["package"].as_table().unwrap();
    for (name, profile) in python {
        assert_eq!(expected.get(name), Some(profile), "{name}");
    }
    // The workspace's own crates are built again in any case.
    for name in expected.keys().filter(|name| !name.starts_with("toolcheck-")) {
        assert!(python.contains_key(name), "{name}");
    }
}

/// The packages that are built apart have locks of their own, which nothing else here reads.
#[test]
fn locks_name_every_crate_that_is_needed() {
    let needed: BTreeMap<String, Table> = manifests().into_iter().collect();
    for path in ["bindings/python/Cargo.lock", "bindings/wasm/Cargo.lock", "fuzz/Cargo.lock"] {
        for package in toml(path)["package"].as_array().unwrap() {
            let name = package["name"].as_str().unwrap();
            let Some(manifest) = needed.get(name) else { continue };
            let locked = package.get("dependencies").map(Value::to_string).unwrap_or_default();
            let dependencies = manifest["dependencies"].as_table().into_iter().flatten();
            for (dependency, how) in dependencies.filter(|(name, _)| name.starts_with("toolcheck-")) {
                let is_optional = how.get("optional").is_some();
                assert!(is_optional || locked.contains(dependency), "{path}: {name} needs {dependency}");
            }
        }
    }
}
