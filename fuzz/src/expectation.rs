//! The expectation file of a case in a corpus: run, blessed, and run again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;
use toolcheck_test::corpus::{Bless, Corpus, Failure, Outcome};

/// An expectation, and after a NUL, which no JSON text contains, its case.
pub fn run(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (expectation, case) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let folder = Folder::new();
    folder.write("case.jsonl", case);
    folder.write("case.expect.json", expectation);

    let first = folder.outcome(Bless::Nothing);
    assert_eq!(folder.outcome(Bless::New), first, "it is not new");
    assert_eq!(folder.expectation(), expectation);
    let blessed = folder.outcome(Bless::Changed);
    let written = folder.expectation();
    match (&first, &blessed) {
        (Outcome::Failed(Failure::Findings(before)), Outcome::Blessed(Failure::Findings(after))) => {
            assert_eq!(before, after);
            assert_eq!(folder.outcome(Bless::Nothing), Outcome::Passed);
            assert_eq!(folder.outcome(Bless::All), Outcome::Passed);
            assert_eq!(folder.expectation(), written);
            assert_eq!(without_findings(&written), without_findings(expectation));
        }
        (Outcome::Failed(Failure::Findings(_)), Outcome::Failed(Failure::BrokenExpectation(_))) => {
            assert_eq!(written, expectation, "what cannot be rewritten is kept");
            let whole = serde_json::from_slice::<Json>(expectation).is_ok_and(|_| is_plain(expectation));
            assert!(!whole, "it can be rewritten: {blessed:?}");
        }
        (Outcome::Passed | Outcome::Failed(Failure::BrokenExpectation(_)), _) => {
            assert_eq!(blessed, first);
            assert_eq!(written, expectation);
        }
        _ => panic!("{first:?}, then {blessed:?}"),
    }
    if let Outcome::Failed(Failure::BrokenExpectation(why)) = &first {
        assert!(why.contains("case.expect.json") && why.len() < 5000, "{why}");
    }
}

/// Whether an expectation has no key twice and is not in another encoding.
fn is_plain(text: &[u8]) -> bool {
    let document = toolcheck_json::Document::read(text);
    document.faults().is_empty() && document.duplicate_keys().is_empty()
}

/// Everything in an expectation but the list of findings.
fn without_findings(text: &[u8]) -> Json {
    let mut all: Json = serde_json::from_slice(text).expect("it was read");
    all.as_object_mut().expect("an expectation is an object").remove("findings");
    all
}

/// A temporary folder with a corpus.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolcheck-fuzz-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).expect("the file can be written");
    }

    fn expectation(&self) -> Vec<u8> {
        fs::read(self.path().join("case.expect.json")).expect("the file is there")
    }

    fn outcome(&self, bless: Bless) -> Outcome {
        let corpus = Corpus::open(self.path()).expect("the folder can be read");
        let (cases, _) = corpus.select(&[]);
        let mut results = corpus.run(&cases, bless).results;
        assert_eq!(results.len(), 1, "{results:?}");
        results.remove(0).outcome
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is in a folder for temporary files: what is left there does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
