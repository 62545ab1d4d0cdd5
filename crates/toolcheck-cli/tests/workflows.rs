//! The workflows of the project: what they may do, what they run, and what they release.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::common::{root, text, toml, yaml};

fn workflows() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root().join(".github/workflows")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.map(|name| (name.clone(), text(&format!(".github/workflows/{name}")))).collect()
}

fn jobs(workflow: &str) -> BTreeMap<String, Json> {
    serde_json::from_value(yaml::<Json>(workflow)["jobs"].clone()).unwrap()
}

#[test]
fn every_job_ends_and_only_what_publishes_may_write() {
    for (name, workflow) in &workflows() {
        for (job, value) in jobs(workflow) {
            assert!(value["timeout-minutes"].is_number(), "{name}: {job} may run for ever");
        }
        // Only what publishes may write, and only from the repository itself.
        let writers: Vec<String> = jobs(workflow)
            .into_iter()
            .filter(|(_, job)| job["permissions"].to_string().contains("write"))
            .map(|(name, job)| {
                assert!(job["environment"].is_string() || job["environment"]["name"].is_string(), "{name}");
                name
            })
            .collect();
        let expected: &[&str] = match name.as_str() {
            "docs.yml" => &["publish"],
            "release.yml" => &["crates", "image", "npm", "pypi", "release"],
            _ => &[],
        };
        assert_eq!(writers, expected, "{name}");
    }
}

/// That actions are pinned to commits, that scripts have no expressions, that checkouts keep no token and that jobs have
/// permissions of their own is what `zizmor` checks.
#[test]
fn pins_name_their_versions() {
    let mut pins: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, workflow) in workflows() {
        for line in workflow.lines() {
            let Some((_, uses)) = line.trim_start().trim_start_matches("- ").split_once("uses: ") else {
                continue;
            };
            let (action, pin) = uses.split_once('@').unwrap();
            let (_, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{name}: {line}"));
            assert_eq!(version.split('.').count(), 3, "{name}: {line}");
            // The parts of `actions/cache` have one version.
            let repository = action.split('/').take(2).collect::<Vec<_>>().join("/");
            pins.entry(repository).or_default().insert(pin.to_owned());
        }
    }
    let several: Vec<_> = pins.iter().filter(|(_, pins)| pins.len() > 1).collect();
    assert!(several.is_empty(), "{several:?}");
    assert!(pins.len() >= 13, "{}", pins.len());
}

/// What the action downloads, and what the page says, is what is released.
#[test]
fn released_targets_are_the_same_everywhere() {
    let targets: BTreeSet<String> =
        jobs(&workflows()["release.yml"])["program"]["strategy"]["matrix"]["include"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["target"].as_str().unwrap().to_owned())
            .collect();
    assert_eq!(targets.len(), 7);
    let triple = regex::Regex::new(r"\b(?:x86_64|aarch64)-[a-z]+-[a-z]+(?:-[a-z]+)?\b").unwrap();
    let named = |text: &str| -> BTreeSet<String> {
        triple.find_iter(text).map(|found| found.as_str().to_owned()).collect()
    };
    let action = named(&text("action.yml"));
    assert_eq!(action.len(), 5);
    assert!(action.is_subset(&targets), "{action:?}");
    assert_eq!(named(&text("docs/releasing.md")), targets);
    // The script names archives as `cargo binstall` looks for them, and the action asks for these.
    let name = |text: &str, machine: &str| text.contains(&format!("toolcheck-cli-{machine}-v"));
    assert!(name(&text("action.yml"), "$machine"));
    assert!(text("scripts/release.py").contains(r#"f"{PACKAGE}-{target}-v{version}""#));
    // So do the installers and the manifests.
    let table = text("scripts/channels.py");
    let (_, table) = table.split_once("TARGETS: dict").unwrap();
    assert_eq!(named(table.split_once("\n}\n").unwrap().0), targets);
    // The image is made of the musl programs.
    assert!(
        workflows()["release.yml"].contains("toolcheck-cli-${machine##*:}-unknown-linux-musl-$TAG.tar.gz")
    );
}

/// What a release is built with is the oldest Rust that is promised, so that a rehearsal needs nothing else.
#[test]
fn releases_are_built_with_the_promised_rust() {
    let manifest = toml("Cargo.toml");
    let promised = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    let release = &workflows()["release.yml"];
    assert_eq!(yaml::<Json>(release)["env"]["RUST"], format!("{promised}.0"));
    assert_eq!(release.matches(&format!("rust-toolchain: \"{promised}.0\"")).count(), 2);
}

/// The steps of a workflow that run something, with the names of their jobs.
fn scripts(workflow: &str) -> Vec<(String, Json)> {
    let steps = jobs(workflow).into_iter().flat_map(|(job, value)| {
        let steps = value["steps"].as_array().unwrap().clone();
        steps.into_iter().map(move |step| (job.clone(), step))
    });
    steps.filter(|(_, step)| step["run"].is_string()).collect()
}

/// What is installed has a lock, or its version is named.
#[test]
fn packages_of_npm_are_locked() {
    let mut installed = 0;
    for (name, workflow) in workflows() {
        for (job, step) in scripts(&workflow) {
            for line in step["run"].as_str().unwrap().lines() {
                assert!(
                    !line.contains("npm install") && !line.contains("npx "),
                    "{name}: {job}: {line}: `npm ci` takes what the lock file names"
                );
                installed += usize::from(line.contains("npm ci --ignore-scripts"));
            }
        }
    }
    assert!(installed >= 11, "{installed}");
}

/// No step that runs what others have written sees a token.
#[test]
fn only_what_needs_a_token_has_one() {
    let mut with_token = Vec::new();
    for (name, workflow) in workflows() {
        assert!(!yaml::<Json>(&workflow)["env"].to_string().contains("token"), "{name}");
        for (job, value) in jobs(&workflow) {
            assert!(!value["env"].to_string().contains("token"), "{name}: {job}");
        }
        for (job, step) in scripts(&workflow) {
            if step["env"].to_string().contains("secrets.") {
                let job = &jobs(&workflow)[&job];
                assert!(job["environment"].is_string(), "{name}: a secret that any branch could read");
                // Who needs one has no permission here.
                assert!(!job["permissions"].to_string().contains("write"), "{name}: {job}");
            }
            if ["token", "secrets."].iter().any(|word| step["env"].to_string().contains(word)) {
                let script = step["run"].as_str().unwrap().to_owned();
                let foreign = ["cargo install", "cargo build", "pip ", "npm ", "python", "docker buildx"];
                let runs = foreign.iter().find(|word| script.contains(**word));
                assert_eq!(runs, None, "{name}: {job}\n{script}");
                assert!(!script.contains("cargo publish") || script.contains("--no-verify"), "{script}");
                with_token.push((name.clone(), job));
            }
        }
    }
    let expected = ["crates", "image", "marketplace", "open-vsx", "release", "repositories"]
        .map(|job| ("release.yml".to_owned(), job.to_owned()));
    assert_eq!(with_token, expected);
}

/// `.ci/delivered` skips what needs a program that is not there. In CI, everything is there.
#[test]
fn nothing_is_skipped_in_ci() {
    let steps = scripts(&workflows()["ci.yml"]);
    let all: Vec<&str> =
        steps.iter().filter(|(job, _)| job == "all").map(|(_, step)| step["run"].as_str().unwrap()).collect();
    let (install, after) = (all[0], all.last().unwrap());
    let requirements = text(".github/requirements.txt");
    for tool in ["zizmor", "typos", "maturin", "pytest", "pyarrow", "polars", "datasets", "mypy"] {
        assert!(requirements.contains(&format!("\n{tool}==")), "{tool}");
    }
    assert!(install.contains("--requirement .github/requirements.txt"));
    for tool in ["wasm32-unknown-unknown", "cargo-deny@", "cargo-semver-checks@", "mdbook@"] {
        assert!(install.contains(tool), "{tool}");
    }
    // Both build the same site.
    let book = install.split_whitespace().find(|word| word.starts_with("mdbook@")).unwrap();
    assert!(workflows()["docs.yml"].contains(book), "{book}");
    for folder in
        ["bindings/npm", "bindings/wasm", "bindings/wasm/test/bundlers", "editors/vscode", "web", "web/test"]
    {
        assert!(install.contains(folder), "{folder}");
        assert!(root().join(folder).join("package-lock.json").exists(), "{folder}");
    }
    assert!(after.contains("skipped:") && after.contains("exit 1"), "{after}");
}

/// Each crate is built without its default features and with each of its features alone, and tested without the default
/// ones. What is off by default is tested too.
#[test]
fn each_feature_is_built_in_ci() {
    let run: String = scripts(&workflows()["ci.yml"])
        .iter()
        .filter(|(job, _)| job == "features")
        .map(|(_, step)| step["run"].as_str().unwrap().to_owned())
        .collect();
    assert!(run.contains("for manifest in crates/*/Cargo.toml") && run.contains("--no-default-features"));
    assert!(run.contains("--package toolcheck-open --features parquet --test parquet"));
    assert!(run.contains("--package toolcheck-cli --features parquet"));
    let (mut declared, mut tested) = (BTreeSet::new(), BTreeSet::new());
    for folder in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = format!("crates/{}/Cargo.toml", folder.unwrap().file_name().to_str().unwrap());
        let manifest = toml(&path);
        let name = manifest["package"]["name"].as_str().unwrap();
        let Some(features) = manifest.get("features").and_then(toml::Value::as_table) else { continue };
        tested.insert(name.trim_start_matches("toolcheck-").to_owned());
        let features = features.keys().filter(|feature| *feature != "default");
        declared.extend(features.map(|feature| format!("{name} {feature}")));
    }
    let (_, list) = run.split_once("<<'END'\n").unwrap();
    let (list, _) = list.split_once("\nEND\n").unwrap();
    assert_eq!(list.lines().map(str::to_owned).collect::<BTreeSet<_>>(), declared);
    assert!(tested.remove("cli") && run.contains("--no-default-features --package toolcheck-cli --test all"));
    // The corpus has inputs for which the default features are needed.
    assert!(tested.remove("test"));
    let crates: Vec<&str> = tested.iter().map(String::as_str).collect();
    assert!(run.contains(&format!("for crate in {}; do\n  cargo test", crates.join(" "))), "{crates:?}");
}
