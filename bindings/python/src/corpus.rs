//! Cases of a corpus, and expectations.

use std::path::Path;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use toolcheck_test::corpus::{Bless, Corpus, Outcome, Run, outputs};
use toolcheck_test::{Difference, Expected, Found};
use toolcheck_report::Style;

use crate::linter::{Linted, written};

/// What became of a case.
#[pyclass(module = "toolcheck_lint._native", frozen, get_all)]
pub(crate) struct CaseOutcome {
    /// Whether its expectation was rewritten.
    blessed: bool,
    /// Why it is not as expected.
    failure: Option<String>,
}

/// Runs the case of an expectation, as `toolcheck test` does.
#[pyfunction]
pub(crate) fn run_case(py: Python<'_>, expectation: &str, bless: bool) -> PyResult<CaseOutcome> {
    py.detach(|| {
        let path = Path::new(expectation);
        let folder = path.parent().unwrap_or(Path::new("."));
        let corpus = Corpus::open(folder).map_err(|error| PyOSError::new_err(error.to_string()))?;
        let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".expect.json"));
        let stem = stem.ok_or_else(|| PyValueError::new_err("the name of an expectation ends in .expect.json"))?;
        // Its file, or the expectation itself if there is none; not what is in a folder beside it.
        let is_of = |name: &str| {
            name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.') && !rest.contains('/'))
        };
        let cases: Vec<_> = corpus.cases.iter().filter(|case| is_of(&case.name)).collect();
        if cases.is_empty() {
            let failure = Some(format!("{expectation}: there is no case for this expectation"));
            return Ok(CaseOutcome { blessed: false, failure });
        }
        let run = corpus.run(&cases, if bless { Bless::Changed } else { Bless::Nothing });
        let blessed = run.results.iter().any(|result| matches!(result.outcome, Outcome::Blessed(_)));
        let failure = if run.failed() + run.unreadable() > 0 { Some(text_of(&run)?) } else { None };
        Ok(CaseOutcome { blessed, failure })
    })
}

fn text_of(run: &Run) -> PyResult<String> {
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
    let found: Vec<Found> = file.findings.iter().map(Found::from).collect();
    let difference = Difference::of(&expected, &found);
    Ok(if difference.is_empty() { Vec::new() } else { difference.lines(&file.path) })
}
