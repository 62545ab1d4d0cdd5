//! The runner of a corpus: each case is a file as a provider would receive it, with its expectation beside it.
//!
//! `<case>.json` (or `.jsonl`, `.ndjson`) is linted and compared with `<case>.expect.json`; a missing expectation fails.
//! In a directory `same/<conversation>/`, every file is the same conversation in the format that it is named after: all
//! must read alike, and none may have a finding.
//!
//! In a test of your own:
//!
//! ```no_run
//! # use std::path::Path;
//! #[test]
//! fn every_case_is_as_expected() -> std::io::Result<()> {
//!     toolcheck_test::corpus::run(Path::new("tests/corpus"))?.assert_passed();
//!     Ok(())
//! }
//! ```
//!
//! `toolcheck test DIR` is the same, and [`Bless`] is what its `--bless` does.

mod discover;
mod expectation;
pub mod outputs;
mod same;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toolcheck_config::{Config, read_limited};
use toolcheck_core::formats;
use toolcheck_core::text::shown;
use toolcheck_lint::{FileReport, Options, lint, rules};

use crate::expected::{Difference, Found};
use expectation::{Broken, Expectation};
use same::Conversations;

pub use discover::{Case, Corpus};

/// What came of a corpus.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What came of its cases, by path.
    pub results: Vec<CaseResult>,
    /// What could not be run at all.
    pub troubles: Vec<String>,
}

/// A case that was run.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// Its path under the corpus' directory, with forward slashes.
    pub name: String,
    /// Its file, as it is reached from where the corpus' directory was named.
    pub path: PathBuf,
    /// What came of it.
    pub outcome: Outcome,
    /// What it was read as, if it came to that.
    pub read_as: Option<ReadAs>,
    /// What was found in it.
    pub found: Vec<Found>,
    /// Whether its expectation still lacks the words of a person.
    pub is_to_be_described: bool,
}

/// What a case was read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadAs {
    /// The id of its format; `None` where none recognised it.
    pub format: Option<&'static str>,
    /// The id of the target that it was held against.
    pub target: Option<String>,
    /// What it is for.
    pub kind: &'static str,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is as expected.
    Passed,
    /// It was not as expected, and its expectation has been written anew.
    Blessed(Failure),
    /// It is not as expected.
    Failed(Failure),
    /// It could not be run, because a file could not be read or written.
    Unreadable(String),
}

/// Why a case failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// Something else was found than what is expected.
    Findings(Difference),
    /// There is no expectation beside it.
    NoExpectation {
        /// Where it would stand.
        path: PathBuf,
        /// What was found.
        found: Vec<Found>,
    },
    /// The expectation beside it is none: where, and why.
    BrokenExpectation(String),
    /// It shares its expectation with another case.
    SharedExpectation(String),
    /// It is an expectation, and there is no case for it.
    NoCase,
    /// It does not read like the others of its folder: the lines that tell it.
    Conversation(Vec<String>),
}

/// Which expectations are written anew where something else is found than what they expect. One that cannot be read is
/// never written over, and none is ever removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bless {
    /// None.
    #[default]
    Nothing,
    /// Those that there are.
    Changed,
    /// Those that there are not.
    New,
    /// Both.
    All,
}

/// Runs all cases of a directory, by path.
///
/// # Errors
///
/// Where the directory cannot be read. A case that cannot be read fails, and the others are run.
pub fn run(directory: &Path) -> io::Result<Run> {
    let corpus = Corpus::open(directory)?;
    let (cases, _) = corpus.select(&[]);
    Ok(corpus.run(&cases, Bless::Nothing))
}

impl Corpus {
    /// Runs some of its cases.
    #[must_use]
    pub fn run(&self, cases: &[&Case], bless: Bless) -> Run {
        let mut conversations = Conversations::default();
        let results = cases.iter().map(|case| {
            let mut result = CaseResult {
                name: case.name.clone(),
                path: case.path.clone(),
                outcome: Outcome::Passed,
                read_as: None,
                found: Vec::new(),
                is_to_be_described: false,
            };
            match &case.what {
                discover::What::Stale => result.outcome = Outcome::Failed(Failure::NoCase),
                discover::What::Conversation => {
                    (result.outcome, result.read_as) = conversations.run(case, self);
                }
                discover::What::Case { shares_with: Some(other) } => {
                    result.outcome = Outcome::Failed(Failure::SharedExpectation(other.clone()));
                }
                discover::What::Case { shares_with: None } => {
                    if let Err(outcome) = run_case(case, bless, &mut result) {
                        result.outcome = *outcome;
                    }
                }
            }
            result
        });
        Run { results: results.collect(), troubles: self.troubles.clone() }
    }
}

impl Run {
    /// How many cases failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_)))
    }

    /// How many cases could not be run.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Unreadable(_)))
    }

    /// The expectations that were written, as a person reads their paths.
    pub fn written(&self) -> impl Iterator<Item = String> {
        let blessed = self.results.iter().filter(|result| matches!(result.outcome, Outcome::Blessed(_)));
        blessed.map(|result| outputs::path_shown(&discover::expectation_of(&result.path)))
    }

    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        self.results.iter().filter(|result| is(&result.outcome)).count()
    }

    /// Asserts that there are cases, and that all of them are as expected.
    ///
    /// # Panics
    ///
    /// Where they are not, with what `toolcheck test` prints.
    #[track_caller]
    pub fn assert_passed(&self) {
        let is_passed = self.failed() + self.unreadable() + self.troubles.len() == 0;
        if !is_passed || self.results.is_empty() {
            panic!("{}\n{}", outputs::text(self), self.troubles.join("\n"));
        }
    }
}

impl ReadAs {
    fn of(report: &FileReport) -> Self {
        Self { format: report.format, target: report.target.clone(), kind: report.kind.as_str() }
    }
}

/// Runs a case with an expectation of its own; what stops it comes back as an error.
fn run_case(case: &Case, bless: Bless, result: &mut CaseResult) -> Result<(), Box<Outcome>> {
    let unreadable = |what: &Path, error: &io::Error| {
        Box::new(Outcome::Unreadable(shown(&format!("{}: {error}", what.display()))))
    };
    let failed = |failure| Box::new(Outcome::Failed(failure));
    let bytes = fs::read(&case.real).map_err(|error| unreadable(&case.path, &error))?;
    // Beside the case, and as it is reached.
    let (beside, named) = (discover::expectation_of(&case.real), discover::expectation_of(&case.path));
    let broken = |broken: Broken| failed(Failure::BrokenExpectation(broken.of(&named)));
    let text = match read_bytes(&beside) {
        Ok(bytes) => Some(
            String::from_utf8(bytes)
                .map_err(|_| broken("it holds bytes that are not UTF-8".to_owned().into()))?,
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(&named, &error)),
    };
    let expectation = text.as_deref().map(Expectation::parse).transpose().map_err(&broken)?;
    let is_new = expectation.is_none();
    let expectation = expectation.unwrap_or_default();
    let config = match &expectation.config {
        Some(name) => read_config(&case.real, name).map_err(|why| broken(why.into()))?,
        None => Config::default(),
    };
    let of_folder = || case.folder_name().and_then(formats::find);
    let options = Options::new()
        .format(expectation.format.or_else(of_folder))
        .target(expectation.target)
        .kind(expectation.kind)
        .settings(config.settings.clone())
        .rules(rules::ALL.to_vec());
    let report = lint("case", &bytes, &options);
    result.read_as = Some(ReadAs::of(&report));
    result.found = report.findings.iter().map(Found::from).collect();
    result.is_to_be_described = expectation.is_to_be_described;
    let found = &result.found;
    let failure = if is_new {
        Failure::NoExpectation { path: named.clone(), found: found.clone() }
    } else {
        let difference = Difference::of(&expectation.findings, found);
        if difference.is_empty() {
            return Ok(());
        }
        Failure::Findings(difference)
    };
    let is_blessed = match bless {
        Bless::Nothing => false,
        Bless::Changed => !is_new,
        Bless::New => is_new,
        Bless::All => true,
    };
    if !is_blessed {
        return Err(failed(failure));
    }
    let old = text.as_deref().unwrap_or(expectation::EMPTY);
    let new = expectation::rewritten(old, &expectation.findings, found);
    let new = new.ok_or_else(|| broken("its list of findings can't be written anew".to_owned().into()))?;
    fs::write(&beside, new).map_err(|error| unreadable(&named, &error))?;
    result.is_to_be_described |= is_new;
    result.outcome = Outcome::Blessed(failure);
    Ok(())
}

/// The bytes of an expectation or a configuration.
fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(fs::File::open(path)?)
}

/// Reads the configuration that an expectation names, from the case's folder.
fn read_config(case: &Path, name: &str) -> Result<Config, String> {
    let bytes =
        read_bytes(&case.with_file_name(name)).map_err(|error| format!("`config` {name}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`config` {name}: it is no UTF-8"))?;
    crate::config::read(&text).map_err(|error| format!("`config` {name}:{error}"))
}
