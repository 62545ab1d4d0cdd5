//! What the address of a request says, and what a change lost.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use toolcheck_core::endpoint::Endpoint;
use toolcheck_embed::{Comparison, Side};
use toolcheck_open::FileFormat;
use toolcheck_report::{Style, diff, shapes};

use crate::body::Body;
use crate::linter::{unknown, written};

/// What the address of a request says: what its requests are, their format, and the API behind it.
#[pyfunction]
pub(crate) fn endpoint(url: &str) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    let Endpoint { purpose, format, target, .. } = Endpoint::of(url);
    (purpose.as_str(), format.map(|format| format.id), target.map(|target| &*target.id))
}

/// What is known of a model, or of all, as JSON.
#[pyfunction]
#[pyo3(signature = (model = None))]
pub(crate) fn models(model: Option<&str>) -> String {
    shapes::models_json(model).to_string()
}

/// What a change to a conversation lost: the worst level of it, as JSON, and as text of an output.
#[pyfunction]
#[pyo3(signature = (before, after, before_format, after_format, output, shows_values, color, width))]
#[allow(clippy::too_many_arguments, reason = "only the package calls it")]
pub(crate) fn diff_bodies(
    py: Python<'_>,
    before: &Bound<'_, PyAny>,
    after: &Bound<'_, PyAny>,
    before_format: Option<&str>,
    after_format: Option<&str>,
    output: &str,
    shows_values: bool,
    color: bool,
    width: usize,
) -> PyResult<String> {
    let format = |id: Option<&str>| {
        let named = |id| {
            FileFormat::named(id).ok_or_else(|| unknown("format", id, FileFormat::all().map(FileFormat::id)))
        };
        id.map(named).transpose()
    };
    let formats = [format(before_format)?, format(after_format)?];
    let bodies = [Body::named(before, "before")?, Body::named(after, "after")?];
    let known = diff::ALL.iter().map(|output| output.id);
    let output = diff::find(output).ok_or_else(|| unknown("output", output, known))?;
    py.detach(|| {
        let side =
            |number: usize, name: &str| Side::new(name, bodies[number].as_slice()).format(formats[number]);
        let compared = Comparison::new(side(0, "before"), side(1, "after"), None);
        let compared = compared.map_err(|error| PyValueError::new_err(error.to_string()))?;
        if let Some((name, parts)) = compared.unread().next() {
            let why = format!("{name}: {parts} parts could not be read; see `lint`");
            return Err(PyValueError::new_err(why));
        }
        let style = Style::new().color(color).width(width);
        written(|out| compared.write(output, &style, shows_values, out))
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    })
}

/// A body, or another argument, as the text that is linted.
#[pyfunction]
#[pyo3(signature = (body, argument = "body"))]
pub(crate) fn text_of<'py>(
    py: Python<'py>,
    body: &Bound<'py, PyAny>,
    argument: &str,
) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
    Ok(pyo3::types::PyBytes::new(py, Body::named(body, argument)?.as_slice()))
}
