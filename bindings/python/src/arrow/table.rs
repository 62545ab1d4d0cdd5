//! Findings as a table, one row each.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayReader, to_stream_pycapsule};

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

fn fields() -> Fields {
    COLUMNS.iter().map(|(name, is_always)| Field::new(*name, DataType::Utf8, !is_always)).collect()
}

/// Lints rows while they are read, and gives the findings.
struct Reader {
    linter: RowLinter,
    rows: Rows,
    field: FieldRef,
}

pub(crate) fn findings(linter: RowLinter, rows: Rows) -> Findings {
    let field = Arc::new(Field::new("findings", DataType::Struct(fields()), false));
    Findings { reader: Mutex::new(Some(Reader { linter, rows, field })) }
}

impl Iterator for Reader {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rows.next(ROWS_AT_ONCE) {
            Ok(batch) => batch?,
            Err(reason) => return Some(Err(ArrowError::CDataInterface(reason))),
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
                    Some(found.rule),
                    Some(found.level.as_str()),
                    Some(pointer),
                    id,
                    Some(&*found.message),
                ];
                columns.iter_mut().zip(values).for_each(|(column, value)| column.append_option(value));
            }
        });
        if let Err(reason) = seen {
            return Some(Err(ArrowError::CDataInterface(reason)));
        }
        let columns = columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        Some(StructArray::try_new(fields(), columns, None).map(|rows| Arc::new(rows) as ArrayRef))
    }
}

impl ArrayReader for Reader {
    fn field(&self) -> FieldRef {
        Arc::clone(&self.field)
    }
}

/// The findings in rows, which are linted while the stream is read. It can be read once.
#[pyclass(module = "toolcheck_lint", frozen)]
pub(crate) struct Findings {
    reader: Mutex<Option<Reader>>,
}

#[pymethods]
impl Findings {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader
            .ok_or_else(|| PyValueError::new_err("the findings were read already: call `rows` again"))?;
        Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
    }
}
