//! Summaries of many rows.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_lint::{FileReport, Report, Summary as Counted};
use toolcheck_report::{Style, outputs};

/// What was found in many rows; the classes of the package are made of it.
#[pyclass(module = "toolcheck_lint._native", frozen)]
pub(crate) struct Summary {
    pub(crate) counted: Counted,
}

#[pymethods]
impl Summary {
    #[new]
    #[pyo3(signature = (samples = None))]
    fn new(samples: Option<usize>) -> Self {
        Self { counted: samples.map_or_else(Counted::default, Counted::new) }
    }

    /// Reads what `to_json` has written.
    #[staticmethod]
    fn from_json(data: &[u8]) -> PyResult<Self> {
        let text =
            std::str::from_utf8(data).map_err(|_| PyValueError::new_err("not a summary: it is not UTF-8"))?;
        let counted = Counted::from_json(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { counted })
    }

    fn to_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.counted.to_json().as_bytes())
    }

    /// The sum of all of them.
    #[staticmethod]
    fn sum(py: Python<'_>, parts: Vec<Py<Summary>>) -> Self {
        let mut counted = Counted::default();
        for part in &parts {
            counted.add(part.bind(py).get().counted.clone());
        }
        Self { counted }
    }

    /// A text for people.
    fn render(&self, color: bool, width: usize) -> PyResult<String> {
        let mut file = FileReport::empty("rows", TranscriptKind::default());
        file.summary = Some(self.counted.clone());
        let style = Style::new().color(color).width(width);
        let output = outputs::find("summary").expect("there is an output for it");
        let mut out = Vec::new();
        (output.write)(&Report::new(vec![file]), &style, &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}
