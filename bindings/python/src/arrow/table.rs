//! Findings as a table, one row each.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::StringBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::Rows;
use super::rows::ROWS_AT_ONCE;
use crate::linter::RowLinter;

/// The columns, and whether each has a value in every row.
const COLUMNS: [(&str, bool); 6] = [
    ("row", true),
    ("rule", true),
    ("level", true),
    ("pointer", true),
    ("tool_call_id", false),
    ("message", true),
];

/// The name that the capsule has to have.
const STREAM: &CStr = c"arrow_array_stream";

/// Lints rows while they are read, and gives the findings.
struct Reader {
    linter: RowLinter,
    rows: Rows,
    schema: SchemaRef,
}

pub(crate) fn findings(linter: RowLinter, rows: Rows) -> Findings {
    let fields = COLUMNS.map(|(name, is_always)| Field::new(name, DataType::Utf8, !is_always));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    Findings { reader: Mutex::new(Some(Reader { linter, rows, schema })) }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rows.next(ROWS_AT_ONCE) {
            Ok(batch) => batch?,
            Err(reason) => return Some(Err(failed(&reason))),
        };
        let mut columns: [StringBuilder; COLUMNS.len()] = Default::default();
        let seen = batch.each(|text, key| {
            let report = self.linter.lint(text);
            if report.findings.is_empty() {
                return;
            }
            let key = key();
            for found in &report.findings {
                let id = found.tool_call_id.as_deref();
                let pointer = found.spot.pointer.as_str();
                let values = [
                    Some(&*key),
                    Some(found.rule.as_str()),
                    Some(found.level.as_str()),
                    Some(pointer),
                    id,
                    Some(&*found.message),
                ];
                columns.iter_mut().zip(values).for_each(|(column, value)| column.append_option(value));
            }
        });
        if let Err(reason) = seen {
            return Some(Err(failed(&reason)));
        }
        let columns = columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        Some(RecordBatch::try_new(self.schema(), columns))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// An error that the reader of the stream gets as a C string, which has no zero byte.
fn failed(reason: &str) -> ArrowError {
    ArrowError::CDataInterface(reason.replace('\0', ""))
}

/// The findings in rows, which are linted while the stream is read. It can be read once.
#[pyclass(module = "toolcheck_lint", frozen)]
pub(crate) struct Findings {
    reader: Mutex<Option<Reader>>,
}

#[pymethods]
impl Findings {
    /// A table is no list of its rows.
    fn __iter__(&self) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err(
            "the findings are a table of Arrow: read them with `pyarrow.table(...)` or `polars.DataFrame(...)`",
        ))
    }

    /// Another schema that the caller would like need not be given, and is not.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader
            .ok_or_else(|| PyValueError::new_err("the findings were read already: call `rows` again"))?;
        // Whoever reads the stream moves it out of the capsule; otherwise it is released with it.
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}
