//! The project's own corpus.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toolcheck_test::corpus::{self, Failure, Outcome};

use crate::testing::{files_below, fixtures, ids_in, root};

#[test]
fn every_case_is_as_expected() {
    let run = corpus::run(&fixtures()).unwrap();
    assert!(run.results.len() > 100, "the corpus has cases: {}", run.results.len());
    run.assert_passed();
}

#[test]
fn every_expectation_is_valid_against_the_schema() {
    let schema: Json =
        serde_json::from_slice(&std::fs::read(root().join("schemas/expect.v1.schema.json")).unwrap())
            .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut seen = 0;
    for path in files_below(fixtures()) {
        if path.to_string_lossy().ends_with(".expect.json") {
            let expectation: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let errors: Vec<String> = validator
                .iter_errors(&expectation)
                .map(|error| format!("{error} at {}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 100);
}

#[test]
fn a_missing_expectation_fails() {
    let folder = tempdir("missing-expectation");
    std::fs::write(folder.join("case.json"), br#"{"messages": []}"#).unwrap();
    let run = corpus::run(&folder).unwrap();
    assert!(matches!(&run.results[0].outcome, Outcome::Failed(Failure::NoExpectation { .. })), "{run:?}");
}

#[test]
fn a_wrong_expectation_fails() {
    let folder = tempdir("wrong-expectation");
    std::fs::write(folder.join("case.json"), br#"{"messages": [{"role": "user", "content": "hello"}]}"#)
        .unwrap();
    let expectation =
        r#"{"description": "d", "source": "s", "findings": [{"rule": "blank-text", "pointer": ""}]}"#;
    std::fs::write(folder.join("case.expect.json"), expectation).unwrap();
    let run = corpus::run(&folder).unwrap();
    let Outcome::Failed(Failure::Findings(difference)) = &run.results[0].outcome else { panic!("{run:?}") };
    assert_eq!(difference.changes[0].line("case"), "- blank-text at \"\"");
}

#[test]
fn a_case_may_have_its_own_configuration() {
    let folder = tempdir("own-configuration");
    let request = r#"{"messages": [{"role": "user", "content": ""}]}"#;
    let expectation = r#"{"description": "d", "source": "s", "config": "own.toml", "format": "anthropic",
        "findings": [{"rule": "empty-content", "pointer": "/messages/0/content", "level": "warning"}]}"#;
    std::fs::write(folder.join("case.json"), request).unwrap();
    std::fs::write(folder.join("case.expect.json"), expectation).unwrap();
    let outcome = |config: &str| {
        std::fs::write(folder.join("own.toml"), config).unwrap();
        corpus::run(&folder).unwrap().results.remove(0).outcome
    };
    let level = "[levels]\nempty-content = \"warning\"\n";
    assert_eq!(outcome(level), Outcome::Passed);
    assert!(matches!(outcome(""), Outcome::Failed(Failure::Findings(_))));
    // Rules that it ignores and findings that it allows are still reported.
    let allow = "[[allow]]\nrule = \"empty-content\"\nreason = \"seen\"\n";
    assert_eq!(outcome(&format!("ignore = [\"empty-content\"]\n{level}{allow}")), Outcome::Passed);
    for broken in ["ingore = []", "extend = \"other.toml\""] {
        let outcome = outcome(broken);
        let Outcome::Failed(Failure::BrokenExpectation(why)) = &outcome else { panic!("{outcome:?}") };
        assert!(why.contains("case.expect.json: `config` own.toml:1:"), "{why}");
    }
}

#[test]
fn the_outputs_equal_their_directory() {
    let ids: Vec<&str> = corpus::outputs::ALL.iter().map(|output| output.id).collect();
    assert_eq!(ids, ids_in("src/corpus/outputs", "rs"));
}

/// An empty directory for this test.
fn tempdir(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
