//! Helpers for the tests of the program.
#![cfg_attr(not(unix), allow(dead_code, reason = "many tests need Unix"))]

pub(crate) mod runners;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{LazyLock, Mutex};
use std::thread::{self, ThreadId};

use toolcheck_lint::rules;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The files in a folder and below it, by their paths in the repository.
pub(crate) fn files_below(folder: &str) -> Vec<String> {
    let (mut open, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).into_iter().flatten() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files
}

/// A file of the repository.
pub(crate) fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn yaml<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A file of the repository in TOML.
pub(crate) fn toml(path: &str) -> toml::Table {
    text(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The schema of this name, to compare JSON with.
pub(crate) fn validator(name: &str) -> jsonschema::Validator {
    let schema = serde_json::from_str(&text(&format!("schemas/{name}.v1.schema.json"))).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
pub(crate) fn assert_fits(schema: &jsonschema::Validator, value: &serde_json::Value) {
    let faults: Vec<String> = schema.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes.as_ref()).unwrap();
    packer.finish().unwrap()
}

pub(crate) fn report(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let arguments = ["lint", "--output-format", "json"].iter().chain(arguments);
    let output = toolcheck_in(folder).args(arguments).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The program in the root of the repository, without environment variables that change its output.
pub(crate) fn toolcheck() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolcheck"));
    command.current_dir(root());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM", "COLUMNS", "CI", "TF_BUILD"]
    {
        command.env_remove(name);
    }
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    toolcheck().args(arguments).output().unwrap()
}

/// What `explain` prints of each rule in a pipe, in their order. Several tests read all of it.
pub(crate) static EXPLAINED: LazyLock<Vec<Output>> =
    LazyLock::new(|| rules::ALL.iter().map(|rule| run(&["explain", rule.id.as_str()])).collect());

pub(crate) fn run_with_input(arguments: &[&str], input: &[u8]) -> Output {
    with_input(toolcheck().args(arguments), input)
}

pub(crate) fn with_input(command: &mut Command, input: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The program may close its input early.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The words of a command line.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The words of a command line with something in the place of the names in them.
pub(crate) fn filled(line: &str, values: &[(&str, &str)]) -> Vec<String> {
    let fill =
        |word: &str| values.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value));
    line.split(' ').map(fill).collect()
}

/// The exit status and both streams, as a user sees them.
pub(crate) fn seen(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!(
        "status: {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr)
    )
}

/// An empty directory for a test. No two tests have one of the same name, because they run side by side.
pub(crate) fn folder(name: &str) -> PathBuf {
    static OWNERS: Mutex<BTreeMap<String, ThreadId>> = Mutex::new(BTreeMap::new());
    let test = thread::current().id();
    let owner = OWNERS.lock().unwrap().insert(name.to_owned(), test);
    assert!(owner.is_none_or(|owner| owner == test), "`{name}` is the folder of two tests");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn toolcheck_in(folder: &Path) -> Command {
    let mut command = toolcheck();
    command.current_dir(folder);
    command
}

/// The exit status and both streams of the program in a folder.
pub(crate) fn seen_in(folder: &Path, arguments: &[&str]) -> String {
    seen(&toolcheck_in(folder).args(arguments).output().unwrap())
}

/// The exit status and both streams of a program that must end soon, instead of waiting for a pipe or searching in
/// circles. They must not be long: they are read when it has ended.
pub(crate) fn seen_soon(command: &mut Command) -> String {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed().as_secs() > 60 {
            child.kill().unwrap();
            panic!("it does not end: {command:?}");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    seen(&child.wait_with_output().unwrap())
}

pub(crate) fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Writes a file, and creates its folders.
pub(crate) fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

pub(crate) const CLEAN: &str = r#"{"messages": [{"role": "user", "content": "hello"}]}"#;

/// A request with a call that has no result.
pub(crate) fn unanswered(id: &str) -> String {
    format!(
        r#"{{"messages": [{{"role": "user", "content": "tides"}}, {{"role": "assistant", "content": [{{"type": "tool_use", "id": "{id}", "name": "tide", "input": {{}}}}]}}, {{"role": "user", "content": "and now?"}}]}}"#
    )
}
