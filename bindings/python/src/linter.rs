//! What lints bodies and columns, and what it says of them.

use std::path::Path;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use toolcheck_config::allow;
use toolcheck_core::Level;
use toolcheck_embed::{Error, FixOptions, Settings, fix_options};
use toolcheck_json::Document;
use toolcheck_lint::{FileReport, Options, Report, Summary as Counted, lint};
use toolcheck_report::explained::Wording;
use toolcheck_report::fixed::plan_v1;
use toolcheck_report::outputs::json::report_v1;
use toolcheck_report::{Style, View, outputs, show};

use crate::arrow::{ROWS_AT_ONCE, Rows, Table, Verdicts, findings};
use crate::body::Body;
use crate::summary::Summary;

/// The most findings of a row that are kept, as in the program; the others are counted.
const FINDINGS_OF_ROW: usize = 10_000;

fn unusable(error: &Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Lints bodies; the class of the package is made of it.
#[pyclass(module = "toolcheck_lint._native", frozen)]
pub(crate) struct Linter {
    linter: toolcheck_embed::Linter,
}

#[pymethods]
impl Linter {
    #[new]
    #[pyo3(signature = (
        *, name, target = None, own_target = None, format = None, kind = None, tools = None, template = None, config = None,
        conversation = None, at = None, select = Vec::new(), extend_select = Vec::new(), ignore = Vec::new()
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are named, and only the package calls it")]
    fn new(
        name: &str,
        target: Option<&str>,
        own_target: Option<&str>,
        format: Option<&str>,
        kind: Option<&str>,
        tools: Option<&Bound<'_, PyAny>>,
        template: Option<Vec<(String, Vec<u8>)>>,
        config: Option<&str>,
        conversation: Option<&str>,
        at: Option<&str>,
        select: Vec<String>,
        extend_select: Vec<String>,
        ignore: Vec<String>,
    ) -> PyResult<Self> {
        let tools = tools.map(|tools| Body::named(tools, "tools")).transpose()?;
        let settings = || {
            let files = template.as_ref().map(|files| {
                files.iter().map(|(name, bytes)| (&**name, &**bytes)).collect::<Vec<(&str, &[u8])>>()
            });
            Settings::new()
                .name(name)
                .given(config, Settings::config)?
                .given(target, Settings::target)?
                .given(own_target, Settings::own_target)?
                .given(format, Settings::format)?
                .given(kind, Settings::kind)?
                .given(tools.as_ref().map(Body::as_slice), Settings::tools)?
                .given(files.as_deref(), Settings::template)?
                .given(conversation, |own, conversation| Ok(own.conversation(conversation)))?
                .given(at, Settings::at)?
                .select(select.iter().map(String::as_str))?
                .extend_select(extend_select.iter().map(String::as_str))?
                .ignore(ignore.iter().map(String::as_str))
        };
        Ok(Self { linter: settings().map_err(|error| unusable(&error))?.linter() })
    }

    /// Lints a body.
    fn lint(&self, py: Python<'_>, body: &Bound<'_, PyAny>) -> PyResult<Linted> {
        let body = Body::of(body)?;
        Ok(py.detach(|| Linted {
            report: self.linter.report(body.as_slice()),
            linter: self.linter.clone(),
            body,
        }))
    }

    /// Fixes a body: the new text, the plan as JSON, and its report.
    #[pyo3(signature = (body, unsafe_fixes, only, place))]
    fn fix(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        unsafe_fixes: bool,
        only: Vec<String>,
        place: Option<&str>,
    ) -> PyResult<(Py<PyBytes>, String, Linted)> {
        let body = Body::of(body)?;
        let only = only.iter().map(String::as_str);
        let how = fix_options(unsafe_fixes, only, place).map_err(|error| unusable(&error))?;
        let (bytes, plan) = py
            .detach(|| {
                let fixed = self.linter.fix(body.as_slice(), &how)?;
                let plan = plan_v1(self.linter.name(), body.as_slice(), &fixed).to_string();
                Ok((fixed.bytes.into_owned(), plan))
            })
            .map_err(|error| unusable(&error))?;
        let report = py.detach(|| self.linter.report(&bytes));
        let text = PyBytes::new(py, &bytes).unbind();
        Ok((text, plan, Linted { report, linter: self.linter.clone(), body: Body::Own(bytes) }))
    }

    /// An explanation of an API's error: whether it is known and its cause found, as JSON, and for people.
    fn explain_error(
        &self,
        py: Python<'_>,
        text: &str,
        body: Option<&Bound<'_, PyAny>>,
        width: usize,
    ) -> PyResult<(bool, String, String)> {
        let body = body.map(Body::of).transpose()?;
        py.detach(|| {
            let explained = self.linter.explain_error(text, body.as_ref().map(Body::as_slice));
            let wording = Wording::new("request", ": `explain_error(text, body)`")
                .style(Style::new().width(width))
                .width(Some(width));
            let people = written(|out| explained.write(&wording, out))?;
            Ok((explained.is_explained(), explained.to_json().to_string(), people))
        })
    }

    /// Counts what is found in the rows of a column.
    #[pyo3(signature = (array, *, tools, key, samples, progress, names))]
    #[allow(clippy::too_many_arguments, reason = "they are named, and only the package calls it")]
    fn column(
        &self,
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        tools: Option<&Bound<'_, PyAny>>,
        key: Option<&Bound<'_, PyAny>>,
        samples: usize,
        progress: Option<Py<PyAny>>,
        names: Option<(String, String)>,
    ) -> PyResult<Summary> {
        let mut rows = Rows::new(array, tools, key)?;
        let linter = RowLinter::new(&self.linter, names);
        let counted = py.detach(|| -> PyResult<Counted> {
            let mut counted = Counted::new(samples);
            while let Some(batch) = rows.next(ROWS_AT_ONCE).map_err(PyValueError::new_err)? {
                let count = batch.each(|_, text, key| {
                    let report = linter.lint(text);
                    let key = if report.findings.is_empty() { String::new() } else { key() };
                    counted.add_row(&key, &report);
                });
                count.map_err(pyo3::exceptions::PyTypeError::new_err)?;
                report_progress(progress.as_ref(), counted.rows)?;
            }
            Ok(counted)
        })?;
        Ok(Summary { counted })
    }

    /// What is said of each row, in their order, and the texts of those that are fixed, if they shall be: `unsafe_fixes` says
    /// how; of a row that is made of two columns, only those that the fixes change. There is a summary of all rows, one of those that are kept if rows of the level `drop` are not, and one of the
    /// others.
    #[pyo3(signature = (array, *, tools, unsafe_fixes, drop, progress, names))]
    #[allow(clippy::too_many_arguments, reason = "they are named, and only the package calls it")]
    fn verdicts(
        &self,
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        tools: Option<&Bound<'_, PyAny>>,
        unsafe_fixes: Option<bool>,
        drop: Option<&str>,
        progress: Option<Py<PyAny>>,
        names: Option<(String, String)>,
    ) -> PyResult<(Table, Summary, Summary, Summary)> {
        let mut rows = Rows::new(array, tools, None)?;
        let linter = RowLinter::new(&self.linter, names);
        let has_tools = tools.is_some();
        let how = unsafe_fixes.map(|is_unsafe| fix_options(is_unsafe, [], None)).transpose();
        let how = how.map_err(|error| unusable(&error))?;
        py.detach(|| {
            let (mut verdicts, mut batches) = (Verdicts::new(how.is_some()), Vec::new());
            let [mut counted, mut kept, mut dropped] = [(); 3].map(|()| Counted::new(0));
            while let Some(batch) = rows.next(ROWS_AT_ONCE).map_err(PyValueError::new_err)? {
                let seen = batch.each(|_, text, _| {
                    let report = linter.lint(text);
                    counted.add_row("", &report);
                    let is_kept = match drop {
                        None => true,
                        Some("warning") => is_good(&report) && report.findings.is_empty(),
                        Some(_) => is_good(&report),
                    };
                    let part = if is_kept { &mut kept } else { &mut dropped };
                    part.add_row("", &report);
                    let fixed = how.as_ref().filter(|_| !report.findings.is_empty());
                    let fixed = fixed.and_then(|how| linter.fixed(text, how));
                    let fixed =
                        fixed.map(|fixed| if has_tools { changed_columns(text, fixed) } else { fixed });
                    verdicts.push(&report, text, fixed.as_deref());
                });
                seen.map_err(pyo3::exceptions::PyTypeError::new_err)?;
                batches.push(verdicts.batch().map_err(PyValueError::new_err)?);
                report_progress(progress.as_ref(), counted.rows)?;
            }
            let [counted, kept, dropped] = [counted, kept, dropped].map(|counted| Summary { counted });
            Ok((verdicts.table(batches), counted, kept, dropped))
        })
    }

    /// The findings in the rows of a column.
    #[pyo3(signature = (array, *, tools, key, names))]
    fn rows(
        &self,
        array: &Bound<'_, PyAny>,
        tools: Option<&Bound<'_, PyAny>>,
        key: Option<&Bound<'_, PyAny>>,
        names: Option<(String, String)>,
    ) -> PyResult<Table> {
        Ok(findings(RowLinter::new(&self.linter, names), Rows::new(array, tools, key)?))
    }
}

/// Whether a row has no error. Nothing was checked in one that was not read, so nobody knows that of it.
pub(crate) fn is_good(report: &FileReport) -> bool {
    report.count(Level::Error) == 0 && report.transcripts > 0
}

/// Tells how many rows are done, and sees whether the user wants to stop.
fn report_progress(progress: Option<&Py<PyAny>>, rows: u64) -> PyResult<()> {
    Python::attach(|py| match progress {
        Some(progress) => progress.call1(py, (rows,)).map(drop),
        None => py.check_signals(),
    })
}

/// Lints rows as the program lints the lines of a data set.
pub(crate) struct RowLinter {
    linter: toolcheck_embed::Linter,
    options: Options,
    /// How pointers begin into the messages and the tools of a row that is made of two columns, and how into these.
    columns: Option<[(&'static str, String); 2]>,
}

impl RowLinter {
    fn new(linter: &toolcheck_embed::Linter, names: Option<(String, String)>) -> Self {
        let options = linter.options().clone().keeps_source(false).max_findings(FINDINGS_OF_ROW);
        let start = |name: String| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let columns =
            names.map(|(messages, tools)| [("/messages", start(messages)), ("/tools", start(tools))]);
        Self { linter: linter.clone(), options, columns }
    }

    pub(crate) fn lint(&self, text: &[u8]) -> FileReport {
        let mut row = lint(self.linter.name(), text, &self.options);
        let _ = allow::apply(self.linter.allows(), Path::new(self.linter.name()), &mut row);
        for found in row.findings.iter_mut().filter(|_| self.columns.is_some()) {
            let pointer = &mut found.spot.pointer;
            let is_in = |(own, _): &&(&str, String)| {
                pointer.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if let Some((own, column)) = self.columns.iter().flatten().find(is_in) {
                pointer.replace_range(..own.len(), column);
            }
        }
        row
    }

    /// The text of a row with what can be fixed fixed; `None` if it stays as it is.
    fn fixed(&self, text: &[u8], how: &FixOptions) -> Option<String> {
        let fixed = self.linter.fix(text, how).ok()?;
        if *fixed.bytes == *text { None } else { String::from_utf8(fixed.bytes.into_owned()).ok() }
    }
}

/// A fixed row without the columns that stay as they are: not all that they have can be written back.
fn changed_columns(before: &[u8], fixed: String) -> String {
    let (old, new) = (Document::read(before), Document::read(fixed.as_bytes()));
    let changed = ["messages", "tools"].into_iter().filter_map(|name| {
        let value = new.root().get(name)?.raw();
        let is_same = old.root().get(name).is_some_and(|old| old.raw() == value);
        (!is_same).then(|| format!("\"{name}\":{}", String::from_utf8_lossy(value)))
    });
    format!("{{{}}}", changed.collect::<Vec<_>>().join(","))
}

/// The report of a body.
#[pyclass(module = "toolcheck_lint._native", frozen)]
pub(crate) struct Linted {
    report: Report,
    linter: toolcheck_embed::Linter,
    body: Body,
}

#[pymethods]
impl Linted {
    #[getter]
    fn format(&self) -> Option<&str> {
        self.file().format
    }

    #[getter]
    fn target(&self) -> Option<&str> {
        self.file().target.as_deref()
    }

    #[getter]
    fn kind(&self) -> &str {
        self.file().kind.as_str()
    }

    #[getter]
    fn transcripts(&self) -> usize {
        self.file().transcripts
    }

    #[getter]
    fn messages(&self) -> usize {
        self.file().messages
    }

    #[getter]
    fn tool_calls(&self) -> usize {
        self.file().tool_calls
    }

    #[getter]
    fn tool_results(&self) -> usize {
        self.file().tool_results
    }

    #[getter]
    fn errors(&self) -> usize {
        self.file().count(Level::Error)
    }

    #[getter]
    fn warnings(&self) -> usize {
        self.file().count(Level::Warning)
    }

    fn __len__(&self) -> usize {
        self.file().findings.len()
    }

    /// The text that was linted.
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.body.as_slice())
    }

    /// The report as JSON of version 1.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let json = py.detach(|| serde_json::to_string(&report_v1(&self.report)));
        json.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The report as text.
    fn render(&self, py: Python<'_>, output: &str, color: bool, width: usize) -> PyResult<String> {
        let known = outputs::ALL.iter().map(|output| output.id);
        let output = outputs::find(output).ok_or_else(|| match show::outputs::find(output) {
            Some(drawn) => PyValueError::new_err(format!(
                "there is no output {output:?} of the findings; `show({:?})` draws the body with them",
                drawn.id
            )),
            None => unknown("output", output, known),
        })?;
        let style = Style::new().color(color).width(width);
        py.detach(|| written(|out| (output.write)(&self.report, &style, out)))
    }

    /// The picture of the body.
    fn show(
        &self,
        py: Python<'_>,
        output: &str,
        color: bool,
        width: usize,
        shows_all: bool,
        shows_text: bool,
    ) -> PyResult<String> {
        let known = show::outputs::ALL.iter().map(|output| output.id);
        let output = show::outputs::find(output).ok_or_else(|| unknown("output", output, known))?;
        let style = Style::new().color(color).width(width);
        py.detach(|| {
            let view = View::new().shows_all(shows_all).shows_text(shows_text);
            let view = view.as_request(output.is_request);
            let outline = self.linter.outline(self.body.as_slice(), &view);
            written(|out| (output.write)(&outline, &style, out))
        })
    }
}

impl Linted {
    pub(crate) fn file(&self) -> &FileReport {
        &self.report.files[0]
    }
}

/// What is written as text. Writing into memory does not fail.
pub(crate) fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> PyResult<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

pub(crate) fn unknown<'k>(noun: &str, id: &str, known: impl Iterator<Item = &'k str>) -> PyErr {
    let known: Vec<&str> = known.collect();
    PyValueError::new_err(format!("there is no {noun} {id:?}; expected one of {}", known.join(", ")))
}
