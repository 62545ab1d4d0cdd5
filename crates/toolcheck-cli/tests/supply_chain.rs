//! What others can put into a command line, a build or a package: names of files, names on registries, tags.

use std::process::Command;

use serde_json::Value as Json;

use crate::common::{CLEAN, files_below, folder, root, seen, text, toolcheck_in, unanswered, write, yaml};

/// A file that is named like an option, as a pull request can contain one, is a file.
#[test]
fn names_of_files_are_no_options() {
    let hostile = ["--exclude=*.json", "--output-format=json=victim.json", "--exit-zero.json"];
    let folder = folder("option-names");
    write(&folder, "bad.json", unanswered("toolu_1"));
    for name in hostile {
        std::fs::write(folder.join(name), CLEAN).unwrap();
    }
    write(&folder, "victim.json", CLEAN);
    let files = [&hostile[..], &["bad.json", "victim.json"]].concat();
    let hooks = yaml::<Json>(&text(".pre-commit-hooks.yaml"));
    assert_eq!(hooks.as_array().unwrap().len(), 2);
    for hook in hooks.as_array().unwrap() {
        let matches = regex::Regex::new(hook["files"].as_str().unwrap()).unwrap();
        assert!(hostile.iter().all(|name| matches.is_match(name)), "the hook gets these names");
        let words = hook["entry"].as_str().unwrap().split_whitespace().skip(1);
        let arguments = hook["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let mut command = toolcheck_in(&folder);
        let seen = seen(&command.args(words.chain(arguments)).args(&files).output().unwrap());
        assert!(seen.starts_with("status: 1") && seen.contains("bad.json:1:"), "{seen}");
        assert!(seen.contains("in 5 transcripts"), "{seen}");
        assert_eq!(std::fs::read_to_string(folder.join("victim.json")).unwrap(), CLEAN);
    }
}

/// The pages, scripts and help texts with command lines.
fn pages() -> Vec<(String, String)> {
    let mut paths = vec!["README.md".to_owned(), "SECURITY.md".to_owned(), "action.yml".to_owned()];
    let is_page = |path: &String| path.ends_with(".md") || path.contains("/src/") && path.ends_with(".rs");
    paths.extend(["docs", "crates", "examples"].into_iter().flat_map(files_below).filter(is_page));
    paths.into_iter().map(|path| (path.clone(), text(&path))).collect()
}

/// Wherever names of files come from another program, they follow `--`.
#[test]
fn command_lines_with_names_from_elsewhere_end_the_options() {
    let from_elsewhere = regex::Regex::new(r"xargs|-exec|\$\(|\$@").unwrap();
    let runs = regex::Regex::new(r"\btoolcheck (?:lint|show|test|explain)\b(.*)").unwrap();
    let mut found = 0;
    for (path, page) in pages() {
        for line in page.lines().filter(|line| from_elsewhere.is_match(line)) {
            let Some(arguments) = runs.captures(line).map(|found| found.extract::<1>().1[0]) else {
                continue;
            };
            let arguments = arguments.split(" #").next().unwrap().trim_end();
            assert!(
                arguments.ends_with(" --") || arguments.contains(" -- "),
                "{path}: end the options with `--`: {line}"
            );
            found += 1;
        }
        // The user's arguments replace those of the hook.
        for line in page.lines().filter(|line| line.trim_start().starts_with("args: [")) {
            assert!(line.trim_end().ends_with(r#""--"]"#), "{path}: {line}");
            found += 1;
        }
    }
    assert!(found >= 2, "{found} command lines");
}

/// The steps of the action that download or install, with programs on its `PATH` that write down how they were called.
#[cfg(unix)]
struct Install {
    folder: std::path::PathBuf,
    action: Json,
}

#[cfg(unix)]
impl Install {
    fn new(name: &str) -> Self {
        let folder = folder(name);
        for below in ["bin", "the action", "workspace"] {
            std::fs::create_dir_all(folder.join(below)).unwrap();
        }
        write(
            &folder,
            "the action/Cargo.toml",
            "[workspace.package]\nversion = \"1.2.3\"\nedition = \"2024\"\n",
        );
        let action = yaml::<Json>(&text("action.yml"));
        let steps = &action["runs"]["steps"];
        assert_eq!((&steps[0]["id"], &steps[1]["id"]), (&"download".into(), &"install".into()));
        assert_eq!(steps[0]["if"], "${{ inputs.version == 'auto' }}");
        assert_eq!(steps[1]["if"], "${{ steps.download.outputs.program == '' }}");
        Self { folder, action }
    }

    fn script(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;

        let path = self.folder.join("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// The status, what was printed, how programs were called, and the outputs of the steps.
    fn run(
        &self,
        version: Option<&str>,
        reference: &str,
        machine: &str,
    ) -> (Option<i32>, String, String, String) {
        let _ = std::fs::remove_file(self.folder.join("log"));
        let _ = std::fs::remove_dir_all(self.folder.join("temp"));
        std::fs::write(self.folder.join("outputs"), "").unwrap();
        let version = version.or(self.action["inputs"]["version"]["default"].as_str()).unwrap();
        let read = |name: &str| std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        let mut printed = String::new();
        let mut status = Some(0);
        for (number, step) in self.action["runs"]["steps"].as_array().unwrap()[..2].iter().enumerate() {
            let is_due = if number == 0 { version == "auto" } else { read("outputs").is_empty() };
            if is_due && status == Some(0) {
                let output = self.step(step, version, reference, machine);
                status = output.status.code();
                printed += &seen(&output);
            }
        }
        (status, printed, read("log"), read("outputs"))
    }

    /// Runs a step with the variables that it is given, and no others of the workflow.
    fn step(&self, step: &Json, version: &str, reference: &str, machine: &str) -> std::process::Output {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
        command.current_dir(self.folder.join("workspace"));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.folder.join("bin").display()));
        for (name, path) in [
            ("LOG", "log"),
            ("GITHUB_OUTPUT", "outputs"),
            ("RUNNER_TEMP", "temp"),
            ("GITHUB_ACTION_PATH", "the action"),
        ] {
            command.env(name, self.folder.join(path));
        }
        let (system, processor) = machine.split_once('-').unwrap();
        command.env("RUNNER_OS", system).env("RUNNER_ARCH", processor);
        command.env_remove("GH_TOKEN").env_remove("TOOLCHECK_REF").env_remove("TOOLCHECK_VERSION");
        for name in step["env"].as_object().unwrap().keys() {
            let value = match name.as_str() {
                "GH_TOKEN" => "secret",
                "TOOLCHECK_REF" => reference,
                "TOOLCHECK_VERSION" => version,
                other => panic!("{other}"),
            };
            command.env(name, value);
        }
        command.output().unwrap()
    }
}

/// The action takes the released program only if it is signed as built from the commit or the tag that the workflow
/// names, and builds itself otherwise.
#[cfg(unix)]
#[test]
fn the_action_takes_only_the_program_of_its_own_commit() {
    let install = Install::new("action release");
    let folder = &install.folder;
    // What is built sees no token.
    install.script("cargo", "echo \"cargo $*$GH_TOKEN\" >> \"$LOG\"; mkdir -p \"$RUNNER_TEMP/toolcheck-program/bin\"; \
        printf '#!/bin/sh\\n' > \"$RUNNER_TEMP/toolcheck-program/bin/toolcheck\"; chmod +x \"$RUNNER_TEMP/toolcheck-program/bin/toolcheck\"");
    // `gh release download` packs what it was asked for.
    let gh = |verifies: &str| {
        install.script("gh", &format!(
            "echo \"gh $*\" >> \"$LOG\"\n[ \"$GH_TOKEN\" = secret ] || exit 1\n[ \"$1\" = attestation ] && exit {verifies}\n\
            while [ $# -gt 0 ]; do case \"$1\" in --pattern) archive=$2 ;; --dir) dir=$2 ;; esac; shift; done\n\
            case \"$archive\" in toolcheck-cli-*-v1.2.3.tar.gz) ;; *) exit 1 ;; esac\n\
            name=${{archive%.tar.gz}}; mkdir -p \"$dir/made/$name\"; printf '#!/bin/sh\\n' > \"$dir/made/$name/toolcheck\"\n\
            chmod +x \"$dir/made/$name/toolcheck\"; tar -czf \"$dir/$archive\" -C \"$dir/made\" \"$name\""
        ));
    };
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let downloads = |machine: &str| {
        format!(
            "program={}/temp/toolcheck-program/download/toolcheck-cli-{machine}-v1.2.3/toolcheck\n",
            folder.display()
        )
    };
    gh("0");
    for (reference, source) in
        [(commit, "--source-digest=0123456789abcdef"), ("v1.2.3", "--source-ref=refs/tags/v1.2.3")]
    {
        let (status, printed, log, outputs) = install.run(None, reference, "Linux-X64");
        assert_eq!((status, &*outputs), (Some(0), &*downloads("x86_64-unknown-linux-musl")), "{printed}");
        assert!(log.contains(source) && log.contains("/.github/workflows/release.yml"), "{log}");
        assert!(!log.contains("cargo"), "{log}");
    }
    let (_, printed, _, outputs) = install.run(None, commit, "macOS-ARM64");
    assert_eq!(outputs, downloads("aarch64-apple-darwin"), "{printed}");
    // A branch, another release, and a machine without a release.
    for (reference, machine) in
        [("main", "Linux-X64"), ("v1.2.2", "Linux-X64"), ("", "Linux-X64"), (commit, "Linux-ARM")]
    {
        let (status, printed, log, _) = install.run(None, reference, machine);
        assert_eq!(status, Some(0), "{printed}");
        assert!(log.starts_with("cargo install --locked") && !log.contains("secret"), "{reference}: {log}");
    }
    // What is not signed as built from that commit does not run.
    gh("1");
    let (status, printed, log, outputs) = install.run(None, commit, "Linux-X64");
    assert_eq!(status, Some(0), "{printed}");
    assert!(log.contains("gh attestation") && log.contains("\ncargo install --locked"), "{log}");
    assert!(!outputs.contains("download"), "{outputs}");
}

/// The action builds the revision that was checked out for it, and takes nothing from a registry by a name.
#[cfg(unix)]
#[test]
fn the_action_builds_itself() {
    let install = Install::new("action install");
    let folder = &install.folder;
    let installs = "echo \"$(basename \"$0\") $* in $(pwd)\" >> \"$LOG\"; mkdir -p \"$RUNNER_TEMP/toolcheck-program/bin\"; \
        printf '#!/bin/sh\\n' > \"$RUNNER_TEMP/toolcheck-program/bin/toolcheck\"; chmod +x \"$RUNNER_TEMP/toolcheck-program/bin/toolcheck\"";
    let run = |version| install.run(version, "", "Linux-X64");
    install.script("cargo", installs);
    install.script("pipx", installs);
    let (status, printed, log, outputs) = run(None);
    assert_eq!(status, Some(0), "{printed}");
    assert_eq!(run(Some("source")).2, log);
    let home = folder.join("temp/toolcheck-program");
    let called = format!(
        "cargo install --locked --root {} --path crates/toolcheck-cli in {}\n",
        home.display(),
        folder.join("the action").canonicalize().unwrap().display()
    );
    assert_eq!(log, called);
    assert_eq!(outputs, format!("program={}/bin/toolcheck\n", home.display()));
    // The path that it builds is there.
    assert!(root().join("crates/toolcheck-cli/Cargo.toml").exists());
    let (_, _, log, _) = run(Some("0.1.0"));
    assert!(log.starts_with("pipx install --force toolcheck-cli==0.1.0 in "), "{log}");
    install.script("toolcheck", "echo toolcheck");
    let (status, printed, log, outputs) = run(Some("installed"));
    assert_eq!((status, &*log, &*outputs), (Some(0), "", "program=toolcheck\n"), "{printed}");
}

/// Until there is a release, no page tells to install anything by its name in CI.
#[test]
fn pages_about_ci_install_nothing_by_name() {
    for path in ["README.md", "docs/ci.md", "docs/fine-tuning.md", "crates/toolcheck-cli/README.md"] {
        let page = text(path);
        for line in page.lines().filter(|line| line.contains("toolcheck-cli")) {
            let is_from_here =
                line.contains("--git https://github.com/toolcheck/toolcheck ") || line.contains("--path ");
            assert!(is_from_here || !line.contains("install "), "{path}: {line}");
            assert!(!line.contains("additional_dependencies"), "{path}: {line}");
        }
    }
    // Actions of others are pinned to a commit.
    for (path, page) in pages().into_iter().filter(|(path, _)| !path.ends_with(".rs")) {
        for line in page.lines() {
            let Some((before, uses)) = line.split_once("uses: ") else { continue };
            let is_in_a_word = before.ends_with(char::is_alphanumeric); // `causes: `
            if is_in_a_word || uses.starts_with("toolcheck/toolcheck@") {
                continue;
            }
            let commit = uses.split(' ').next().unwrap().split_once('@').map_or("", |(_, commit)| commit);
            assert!(
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{path}: {line}"
            );
        }
    }
}
