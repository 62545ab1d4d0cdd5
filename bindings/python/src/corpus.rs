//! Cases of a corpus, and expectations.

use std::path::Path;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use toolcheck_report::Style;
use toolcheck_test::corpus::{self, Bless, CorpusResults, Failure, Outcome, outputs};
use toolcheck_test::{ActualFinding, Difference, Expected};

use crate::linter::{Linted, written};

/// What became of a case.
#[pyclass(module = "toolcheck_lint._native", frozen, get_all)]
pub(crate) struct CaseOutcome {
    /// Whether its expectation was rewritten.
    blessed: bool,
    /// Why it is not as expected.
    failure: Option<String>,
    /// Whether that is because it has no expectation.
    is_new: bool,
}

/// The cases of a folder.
#[pyclass(module = "toolcheck_lint._native", frozen)]
pub(crate) struct Corpus {
    corpus: corpus::Corpus,
}

#[pymethods]
impl Corpus {
    #[new]
    fn new(py: Python<'_>, folder: &str) -> PyResult<Self> {
        let corpus = py.detach(|| corpus::Corpus::open(Path::new(folder)));
        Ok(Self { corpus: corpus.map_err(|error| PyOSError::new_err(error.to_string()))? })
    }

    /// The files of the cases in the folder itself that have no expectation.
    #[getter]
    fn without_expectation(&self) -> Vec<String> {
        let cases = self.corpus.cases.iter().filter(|case| {
            let is_expectation = case.name.ends_with(".expect.json");
            !case.name.contains('/') && !is_expectation && !case.path.with_extension("expect.json").exists()
        });
        cases.map(|case| case.name.clone()).collect()
    }

    /// Runs the case of an expectation in the folder itself, as `toolcheck test` does. It is named without the ending.
    /// Expectations are rewritten if they have `changed`, and written if they are `new`.
    fn run(&self, py: Python<'_>, stem: &str, changed: bool, new: bool) -> PyResult<CaseOutcome> {
        let bless = match (changed, new) {
            (true, true) => Bless::All,
            (true, false) => Bless::Changed,
            (false, true) => Bless::New,
            (false, false) => Bless::Nothing,
        };
        let expectation = format!("{stem}.expect.json");
        let is_of = |name: &str| name == expectation || Path::new(name).with_extension("") == Path::new(stem);
        let cases: Vec<_> = self.corpus.cases.iter().filter(|case| is_of(&case.name)).collect();
        if cases.is_empty() {
            return Ok(CaseOutcome {
                blessed: false,
                failure: Some(format!("{stem}: there is no such case")),
                is_new: false,
            });
        }
        py.detach(|| {
            let run = self.corpus.run(&cases, bless);
            let blessed = run.results.iter().any(|result| matches!(result.outcome, Outcome::Blessed(_)));
            let failure = if run.failed() + run.unreadable() > 0 { Some(text_of(&run)?) } else { None };
            let is_new = run
                .results
                .iter()
                .any(|result| matches!(result.outcome, Outcome::Failed(Failure::NoExpectation { .. })));
            Ok(CaseOutcome { blessed, failure, is_new })
        })
    }
}

fn text_of(run: &CorpusResults) -> PyResult<String> {
    let output = outputs::find("text").expect("there is a text output");
    let text = written(|out| (output.write)(run, &Style::new().is_quiet(true), out))?;
    Ok(text.trim_end().to_owned())
}

/// How the findings of a report differ from what is expected: a line each.
#[pyfunction]
pub(crate) fn difference(linted: &Bound<'_, Linted>, expected: Vec<String>) -> PyResult<Vec<String>> {
    let expected = expected.iter().map(|text| {
        text.parse::<Expected>().map_err(|error| PyValueError::new_err(format!("{text}: {error}")))
    });
    let expected: Vec<Expected> = expected.collect::<PyResult<_>>()?;
    let file = linted.get().file();
    let found: Vec<ActualFinding> = file.findings.iter().map(ActualFinding::from).collect();
    let difference = Difference::of(&expected, &found);
    Ok(if difference.is_empty() { Vec::new() } else { difference.lines(&file.path) })
}
