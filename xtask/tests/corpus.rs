//! The packed corpus, as its users see it.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Packs the corpus into a folder and returns the archive.
fn packed(folder: &Path) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("corpus").arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let archives: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [archive] = &archives[..] else { panic!("{archives:?}") };
    assert!(archive.to_string_lossy().ends_with(&format!("-{}.tar.gz", env!("CARGO_PKG_VERSION"))));
    let bytes = fs::read(archive).unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with(&sha256(&bytes)));
    bytes
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_same_corpus_gives_the_same_bytes() {
    let (one, other) = (folder("packed-once"), folder("packed-again"));
    assert!(packed(&one) == packed(&other));
}

#[test]
fn the_archive_has_a_manifest_and_its_cases_pass() {
    let bytes = packed(&folder("packed"));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
    let mut paths = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let header = entry.header();
        assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mode().unwrap()), (0, 0, 0o644));
        let mut text = Vec::new();
        entry.read_to_end(&mut text).unwrap();
        let path = path.split_once('/').unwrap().1.to_owned();
        paths.push((path, sha256(&text)));
    }
    // The manifest comes first, so that a reader can stop after it.
    assert_eq!(paths.remove(0).0, "manifest.json");
    assert!(paths.is_sorted(), "the files are sorted");

    let unpacked = folder("unpacked");
    tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..])).unpack(&unpacked).unwrap();
    let root = fs::read_dir(&unpacked).unwrap().next().unwrap().unwrap().path();
    let manifest: Json = serde_json::from_slice(&fs::read(root.join("manifest.json")).unwrap()).unwrap();
    let schema = fs::read(root.join("schemas/corpus-manifest.v1.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&manifest).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");

    let files = manifest["files"].as_object().unwrap();
    assert_eq!(files.len(), paths.len());
    for (path, sum) in &paths {
        assert_eq!(files[path], **sum, "{path}");
    }
    // The pages in the archive link only to files in it.
    for page in ["fixtures/README.md", "docs/corpus.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let links: Vec<&str> = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
        assert!(!links.is_empty());
        for link in links.iter().filter(|link| !link.contains("://")) {
            let target = root.join(page).parent().unwrap().join(link);
            assert!(target.exists(), "{page} links to {link}");
        }
    }
    let run = toolcheck_test::corpus::run(&root.join("fixtures")).unwrap();
    run.assert_passed();
    let cases = manifest["cases"].as_array().unwrap();
    assert_eq!(cases.len(), run.results.len());
    for (case, result) in cases.iter().zip(&run.results) {
        assert_eq!(case["path"], format!("fixtures/{}", result.name));
        assert_eq!(case["sha256"], files[case["path"].as_str().unwrap()]);
        let found: BTreeSet<&str> = result.found.iter().map(|found| found.rule.as_str()).collect();
        assert_eq!(case["rules"], serde_json::json!(found));
        assert_eq!(case["expectation"].is_string(), !result.name.starts_with("same/"), "{}", result.name);
    }
}
