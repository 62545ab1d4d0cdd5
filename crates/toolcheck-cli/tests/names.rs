//! Names of files that are not UTF-8: two of them stay two, and each leads to its file.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{self, CLEAN, folder, seen_in, unanswered};
use serde_json::Value as Json;

const NAMES: [&[u8]; 4] = [b"a\xff.json", b"a\xfe.json", b"a\\xff.json", "a\u{fffd}.json".as_bytes()];

fn files(name: &str) -> PathBuf {
    let folder = folder(name);
    for name in NAMES {
        fs::write(folder.join(OsStr::from_bytes(name)), unanswered("toolu_1")).unwrap();
    }
    folder
}

fn json(folder: &Path, output: &str) -> Json {
    let output = common::toolcheck_in(folder).args(["lint", "--output-format", output]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_baseline_knows_them() {
    let folder = files("names-baseline");
    let seen = seen_in(&folder, &["lint", "--baseline", "b.baseline", "--write-baseline"]);
    assert!(seen.contains("lists 4 findings"), "{seen}");
    let seen = seen_in(&folder, &["lint", "--baseline", "b.baseline"]);
    assert!(seen.contains("status: 0") && seen.contains(", 4 in\nthe baseline"), "{seen}");
    fs::write(folder.join(OsStr::from_bytes(NAMES[0])), CLEAN).unwrap();
    fs::remove_file(folder.join(OsStr::from_bytes(NAMES[1]))).unwrap();
    let seen = seen_in(&folder, &["lint", "--baseline", "b.baseline"]);
    assert!(seen.contains("status: 1") && seen.contains("no longer occurs in a\\xff.json"), "{seen}");
    assert!(seen.contains("a\\xfe.json, which no longer exists"), "{seen}");
    let seen = seen_in(&folder, &["lint", "--baseline", "b.baseline", "--prune-baseline"]);
    assert!(seen.contains("lists 2 findings"), "{seen}");
    let seen = seen_in(&folder, &["lint", "--baseline", "b.baseline"]);
    assert!(seen.contains("status: 0"), "{seen}");
}

#[test]
fn reports_tell_them_apart() {
    let folder = files("names-reports");
    let sarif = json(&folder, "sarif");
    let uris = sarif["runs"][0]["results"].as_array().unwrap().iter().map(|result| {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap()
    });
    let uris: HashSet<&str> = uris.collect();
    let expected = ["a%FF.json", "a%FE.json", "a%5Cxff.json", "a%EF%BF%BD.json"];
    assert_eq!(uris, expected.into_iter().collect());
    let all = json(&folder, "gitlab");
    let prints = |issues: &Json| -> HashSet<String> {
        let issues = issues.as_array().unwrap().iter();
        issues.map(|issue| issue["fingerprint"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(prints(&all).len(), 4);
    // A fingerprint does not depend on the other files.
    fs::remove_file(folder.join(OsStr::from_bytes(NAMES[1]))).unwrap();
    let rest = json(&folder, "gitlab");
    assert_eq!(prints(&rest).len(), 3);
    assert!(prints(&rest).is_subset(&prints(&all)));
    let path = |finding: &Json| finding["path"].as_str().unwrap().to_owned();
    let json = json(&folder, "json");
    let paths: HashSet<String> = json["findings"].as_array().unwrap().iter().map(path).collect();
    assert!(paths.contains("a\\xff.json") && paths.contains("a\u{fffd}.json"), "{paths:?}");
}

#[test]
fn the_command_of_an_outline_works() {
    let folder = files("names-show");
    let mut show = common::toolcheck_in(&folder);
    let shown = show.arg("show").arg(OsStr::from_bytes(NAMES[0])).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let command = shown.lines().find_map(|line| line.strip_prefix("more: toolcheck ")).unwrap();
    assert_eq!(command, "lint $'a\\xff.json'");
    let mut shell = Command::new("bash");
    let linted = shell
        .current_dir(&folder)
        .arg("-c")
        .arg(format!("\"$T\" {command}"))
        .env("T", env!("CARGO_BIN_EXE_toolcheck"))
        .output()
        .unwrap();
    assert_eq!(linted.status.code(), Some(1), "{linted:?}");
}

#[test]
fn cases_of_a_corpus_are_told_apart() {
    let folder = files("names-corpus");
    let output =
        common::toolcheck_in(&folder).args(["test", ".", "--output-format", "json"]).output().unwrap();
    let run: Json = serde_json::from_slice(&output.stdout).unwrap();
    let names: HashSet<&str> =
        run["cases"].as_array().unwrap().iter().map(|case| case["name"].as_str().unwrap()).collect();
    assert!(names.contains("a\\xfe.json") && names.contains("a\u{fffd}.json"), "{names:?}");
    let blessed = seen_in(&folder, &["test", ".", "--bless=new"]);
    assert!(
        blessed.contains("WROTE ./a\\xff.expect.json") || blessed.contains("WROTE a\\xff.expect.json"),
        "{blessed}"
    );
    assert!(
        seen_in(&folder, &["test", "."]).contains("4 cases, 0 failed"),
        "{}",
        seen_in(&folder, &["test", "."])
    );
}
