//! A runner for a corpus of cases: files as a provider would receive them, each with an expectation file.
//!
//! `<case>.json` (or `.jsonl`, `.ndjson`) is linted and compared with `<case>.expect.json`; a missing expectation fails.
//! In a directory `same/<conversation>/`, every file is the same conversation in the format that it is named after: all
//! must be read as equal conversations without findings.
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
//! `toolcheck test DIR` does the same; [`Bless`] corresponds to its option `--bless`.

mod discover;
mod expectation;
pub mod outputs;
mod same;

use std::io;
use std::path::{Path, PathBuf};

use toolcheck_config::Config;
use toolcheck_core::text::{name_of, reason, shown};
use toolcheck_core::{InputFormat, formats};
use toolcheck_lint::{FileReport, Options, lint, lint_opened, rules};

use crate::expected::{ActualFinding, Difference};
use expectation::{Broken, Expectation};
use same::Conversations;

pub use discover::{Case, Corpus};

/// The results of a corpus.
#[derive(Debug, Clone, Default)]
pub struct CorpusResults {
    /// The results of its cases, by path.
    pub results: Vec<CaseResult>,
    /// Messages about folders that could not be read.
    pub troubles: Vec<String>,
}

/// The result of a case.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// Its path under the corpus' directory, with forward slashes.
    pub name: String,
    /// Its file, relative to the same directory as the corpus' path.
    pub path: PathBuf,
    /// Its outcome.
    pub outcome: Outcome,
    /// Its format, target and kind, if it was read.
    pub read_as: Option<ReadAs>,
    /// The findings in it.
    pub found: Vec<ActualFinding>,
    /// Whether its expectation still lacks a description.
    pub is_to_be_described: bool,
}

/// The format, target and kind of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadAs {
    /// The id of its format; `None` if it was not recognised.
    pub format: Option<&'static str>,
    /// The id of the target that it was checked against.
    pub target: Option<String>,
    /// The kind of transcript.
    pub kind: &'static str,
}

/// The outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is as expected.
    Passed,
    /// It was not as expected, and its expectation was rewritten.
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
    /// The findings differ from the expected ones.
    Findings(Difference),
    /// It has no expectation file.
    NoExpectation {
        /// The path of the missing file.
        path: PathBuf,
        /// The findings.
        found: Vec<ActualFinding>,
    },
    /// Its expectation is invalid: the place and the reason.
    BrokenExpectation(String),
    /// It shares its expectation with another case.
    SharedExpectation(String),
    /// It is an expectation, and there is no case for it.
    NoCase,
    /// It is read as another conversation than the other files of its folder: the difference as lines.
    Conversation(Vec<String>),
}

/// Which expectations to rewrite if the findings differ. Expectations that cannot be read are never overwritten, and
/// files are never removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bless {
    /// No expectations.
    #[default]
    Nothing,
    /// Existing expectations.
    Changed,
    /// Missing expectations.
    New,
    /// Both.
    All,
}

/// Runs all cases of a directory, by path.
///
/// # Errors
///
/// Returns an error if the directory cannot be read. If a case cannot be read, it fails, and the others are run.
pub fn run(directory: &Path) -> io::Result<CorpusResults> {
    let corpus = Corpus::open(directory)?;
    let (cases, _) = corpus.select(&[]);
    Ok(corpus.run(&cases, Bless::Nothing))
}

impl Corpus {
    /// Runs some of its cases.
    pub fn run(&self, cases: &[&Case], bless: Bless) -> CorpusResults {
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
            match &case.role {
                discover::Role::Stale => result.outcome = Outcome::Failed(Failure::NoCase),
                discover::Role::Conversation => {
                    (result.outcome, result.read_as) = conversations.run(case, self);
                }
                discover::Role::Case { shares_with: Some(other) } => {
                    result.outcome = Outcome::Failed(Failure::SharedExpectation(other.clone()));
                }
                discover::Role::Case { shares_with: None } => {
                    if let Err(outcome) = run_case(case, bless, &mut result) {
                        result.outcome = *outcome;
                    }
                }
            }
            result
        });
        CorpusResults { results: results.collect(), troubles: self.troubles.clone() }
    }
}

impl CorpusResults {
    /// The number of cases that failed.
    pub fn failed(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_)))
    }

    /// The number of cases that could not be run.
    pub fn unreadable(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Unreadable(_)))
    }

    /// The paths of the expectations that were written.
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
    /// If there are no cases or one is not as expected, with the output of `toolcheck test`.
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

/// Runs a case that has its own expectation; returns an outcome other than passed or blessed as an error.
fn run_case(case: &Case, bless: Bless, result: &mut CaseResult) -> Result<(), Box<Outcome>> {
    let unreadable = |path: &Path, error: &io::Error| {
        let name = name_of(path.as_os_str().as_encoded_bytes());
        Box::new(Outcome::Unreadable(shown(&format!("{name}: {}", reason(error)))))
    };
    let failed = |failure| Box::new(Outcome::Failed(failure));
    let bytes = toolcheck_files::read(&case.real).map_err(|error| unreadable(&case.path, &error))?;
    // The path to read, and the one to show.
    let (beside, named) = (discover::expectation_of(&case.real), discover::expectation_of(&case.path));
    let broken = |broken: Broken| failed(Failure::BrokenExpectation(broken.of(&named)));
    let text = match toolcheck_files::read(&beside) {
        Ok(bytes) => Some(
            String::from_utf8(bytes).map_err(|_| broken("the file is not valid UTF-8".to_owned().into()))?,
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
    let of_folder = || case.folder_name().and_then(formats::find).map(InputFormat::from);
    let options = Options::new()
        .format(expectation.format.or_else(of_folder))
        .target(expectation.target)
        .kind(expectation.kind)
        .settings(config.settings.clone())
        .rules(rules::ALL.to_vec());
    // A folder may be named after a kind of file that holds requests.
    let container = case.folder_name().and_then(toolcheck_open::find);
    let report = match toolcheck_open::open_as(container, &bytes, toolcheck_open::Limits::default()) {
        Some(opened) => lint_opened("case", &bytes, &opened, &options),
        None => lint("case", &bytes, &options),
    };
    result.read_as = Some(ReadAs::of(&report));
    result.found = report.findings.iter().map(ActualFinding::from).collect();
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
    let new = expectation::rewrite(old, &expectation.findings, found);
    let new = new.ok_or_else(|| broken("its list of findings can't be rewritten".to_owned().into()))?;
    let seen = text.as_deref().map(str::as_bytes);
    toolcheck_files::replace(&beside, seen, new.as_bytes()).map_err(|error| unreadable(&named, &error))?;
    result.is_to_be_described |= is_new;
    result.outcome = Outcome::Blessed(failure);
    Ok(())
}

/// Reads the configuration that an expectation names, from the case's folder.
fn read_config(case: &Path, name: &str) -> Result<Config, String> {
    let bytes = toolcheck_files::read(&case.with_file_name(name));
    let bytes = bytes.map_err(|error| format!("`config` {name}: {}", reason(&error)))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`config` {name}: not valid UTF-8"))?;
    crate::config::read(&text).map_err(|error| format!("`config` {name}:{error}"))
}
