//! What is found in rows as tables: a row for each finding, or one for each row.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{BooleanBuilder, StringBuilder, UInt32Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, Int64Array, ListArray, RecordBatch, RecordBatchReader, StringArray, StructArray,
    make_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use toolcheck_core::Level;
use toolcheck_lint::{FileReport, Finding};

use super::Rows;
use super::checks::take_over;
use super::rows::{Batch, ROWS_AT_ONCE, reason};
use crate::linter::{RowLinter, is_good};

/// What is said of a finding, and whether there is always something to say.
const SAID: [(&str, bool); 5] =
    [("rule", true), ("level", true), ("pointer", true), ("tool_call_id", false), ("message", true)];

/// The name that the capsule has to have.
const STREAM: &CStr = c"arrow_array_stream";

fn said_fields() -> impl Iterator<Item = Field> {
    SAID.into_iter().map(|(name, is_always)| Field::new(name, DataType::Utf8, !is_always))
}

/// Findings as columns of text.
#[derive(Default)]
struct EncodedText([StringBuilder; SAID.len()]);

impl EncodedText {
    fn push(&mut self, found: &Finding) {
        let values = [
            Some(found.rule.as_str()),
            Some(found.level.as_str()),
            Some(found.spot.pointer.as_str()),
            found.tool_call_id.as_deref(),
            Some(&*found.message),
        ];
        self.0.iter_mut().zip(values).for_each(|(column, value)| column.append_option(value));
    }

    fn columns(&mut self) -> Vec<ArrayRef> {
        self.0.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect()
    }
}

/// Lints rows while they are read, and gives the findings.
struct Reader {
    linter: RowLinter,
    rows: Rows,
    schema: SchemaRef,
}

pub(crate) fn findings(linter: RowLinter, rows: Rows) -> Table {
    let schema = [rows.key_field()].into_iter().chain(said_fields()).collect::<Vec<_>>();
    let schema = Arc::new(Schema::new(schema));
    Table::new(Reader { linter, rows, schema })
}

impl Reader {
    fn batch(&self, batch: &Batch) -> Result<RecordBatch, String> {
        let (mut numbers, mut names, mut said) = (Vec::new(), Vec::new(), EncodedText::default());
        let is_path = batch.is_named_by_path();
        batch.each(|number, text, key| {
            let report = self.linter.lint(text);
            if report.findings.is_empty() {
                return;
            }
            let name = if is_path { key() } else { String::new() };
            for found in &report.findings {
                numbers.push(number);
                if is_path {
                    names.push(name.clone());
                }
                said.push(found);
            }
        })?;
        let named: ArrayRef = match batch.keys() {
            // A key has the type of its column, so that the findings can be joined with what they were found in.
            Some(keys) => take_over(|| taken(keys, &numbers))?.map_err(|error| reason(&error))?,
            None if is_path => Arc::new(StringArray::from(names)),
            None => {
                let first = batch.first();
                Arc::new(Int64Array::from_iter_values(numbers.iter().map(|row| (first + row) as i64)))
            }
        };
        let mut columns = vec![named];
        columns.append(&mut said.columns());
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| reason(&error))
    }
}

/// The values of an array in some rows. `arrow_select::take` does it too, with code for each type.
fn taken(array: &ArrayRef, rows: &[usize]) -> Result<ArrayRef, ArrowError> {
    let data = array.to_data();
    let mut taken = MutableArrayData::new(vec![&data], true, rows.len());
    for row in rows {
        taken.try_extend(0, *row, row + 1)?;
    }
    Ok(make_array(taken.freeze()))
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = match self.rows.next(ROWS_AT_ONCE) {
            Ok(batch) => self.batch(&batch?),
            Err(reason) => Err(reason),
        };
        // The reader of the stream gets the reason as a C string, which has no zero byte.
        Some(found.map_err(|reason| ArrowError::CDataInterface(reason.replace('\0', ""))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// What is said of each row: whether it is good, its findings, and, if it was fixed, its text now and as it was read.
pub(crate) struct Verdicts {
    schema: SchemaRef,
    is_good: BooleanBuilder,
    errors: UInt32Builder,
    warnings: UInt32Builder,
    ends: Vec<usize>,
    said: EncodedText,
    fixed: Option<[StringBuilder; 2]>,
}

impl Verdicts {
    pub(crate) fn new(has_fixes: bool) -> Self {
        let found = Field::new("item", DataType::Struct(said_fields().collect()), false);
        let mut fields = vec![
            Field::new("ok", DataType::Boolean, false),
            Field::new("errors", DataType::UInt32, false),
            Field::new("warnings", DataType::UInt32, false),
            Field::new("findings", DataType::List(Arc::new(found)), false),
        ];
        if has_fixes {
            fields.extend(["fixed", "read"].map(|name| Field::new(name, DataType::Utf8, true)));
        }
        Self {
            schema: Arc::new(Schema::new(fields)),
            is_good: BooleanBuilder::new(),
            errors: UInt32Builder::new(),
            warnings: UInt32Builder::new(),
            ends: vec![0],
            said: EncodedText::default(),
            fixed: has_fixes.then(Default::default),
        }
    }

    pub(crate) fn push(&mut self, report: &FileReport, text: &[u8], fixed: Option<&str>) {
        let [errors, warnings] = [Level::Error, Level::Warning].map(|level| report.count(level));
        self.is_good.append_value(is_good(report));
        self.errors.append_value(u32::try_from(errors).unwrap_or(u32::MAX));
        self.warnings.append_value(u32::try_from(warnings).unwrap_or(u32::MAX));
        report.findings.iter().for_each(|found| self.said.push(found));
        self.ends.push(self.ends.last().copied().unwrap_or_default() + report.findings.len());
        if let Some([now, read]) = &mut self.fixed {
            now.append_option(fixed);
            read.append_option(fixed.map(|_| String::from_utf8_lossy(text)));
        }
    }

    /// The rows so far.
    pub(crate) fn batch(&mut self) -> Result<RecordBatch, String> {
        let ends = std::mem::replace(&mut self.ends, vec![0]);
        let lengths = ends.windows(2).map(|pair| pair[1] - pair[0]);
        let fields: Fields = said_fields().collect();
        let item = Arc::new(Field::new("item", DataType::Struct(fields.clone()), false));
        let found = StructArray::try_new_with_length(fields, self.said.columns(), None, ends[ends.len() - 1]);
        let found = found.map_err(|error| reason(&error))?;
        let lists = ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), Arc::new(found), None);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.is_good.finish()),
            Arc::new(self.errors.finish()),
            Arc::new(self.warnings.finish()),
            Arc::new(lists.map_err(|error| reason(&error))?),
        ];
        columns.extend(self.fixed.iter_mut().flatten().map(|column| Arc::new(column.finish()) as ArrayRef));
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| reason(&error))
    }

    pub(crate) fn table(self, batches: Vec<RecordBatch>) -> Table {
        let batches = batches.into_iter().map(Ok);
        Table::new(arrow_array::RecordBatchIterator::new(batches, self.schema))
    }
}

/// A table that can be read once.
#[pyclass(module = "toolcheck_lint", frozen)]
pub(crate) struct Table {
    reader: Mutex<Option<Box<dyn RecordBatchReader + Send>>>,
}

impl Table {
    fn new(reader: impl RecordBatchReader + Send + 'static) -> Self {
        Self { reader: Mutex::new(Some(Box::new(reader))) }
    }
}

#[pymethods]
impl Table {
    /// A table is no list of its rows. With `__iter__`, older versions of polars would take it for one all the same.
    fn __getitem__(&self, _row: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err(
            "the rows are a table of Arrow: read them with `pyarrow.table(...)` or `polars.DataFrame(...)`",
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
        let reader = reader.ok_or_else(|| {
            PyValueError::new_err("the table was read already: call the method that gave it again")
        })?;
        // Whoever reads the stream moves it out of the capsule; otherwise it is released with it.
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
    }
}
