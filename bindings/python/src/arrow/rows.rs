//! The rows of columns, as texts that are linted.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, ArrayReader};
use pyo3_arrow::{PyArray, PyArrayReader};
use toolcheck_core::text::shown;
use toolcheck_lint::summary::key_of;

use super::cells::{Cell, Texts, cells, texts};
use super::checks::{check, take_over};
use super::encoding::TextEncoding;
use crate::dump::kind_of;
use crate::text::write_string;

/// The number of rows that are read together.
pub(crate) const ROWS_AT_ONCE: usize = 1000;

/// The rows of an array or a table, with the tools and the key of each.
pub(crate) struct Rows {
    bodies: Chunks,
    tools: Option<Chunks>,
    keys: Keys,
    done: usize,
}

enum Keys {
    Numbers,
    /// By a value in each, at a path of names with dots between them.
    Path(String),
    /// By a column of the table, which is not a part of what it names.
    Member(usize),
    Column(Chunks),
}

pub(crate) struct Batch {
    bodies: ArrayRef,
    tools: Option<ArrayRef>,
    keys: Option<ArrayRef>,
    first: usize,
    path: Option<String>,
    /// What the bodies and the tools say.
    says: (TextEncoding, TextEncoding),
}

impl Rows {
    pub(crate) fn new(
        bodies: &Bound<'_, PyAny>,
        tools: Option<&Bound<'_, PyAny>>,
        key: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let bodies = Chunks::of(bodies, "array")?;
        let tools = tools.map(|tools| Chunks::of(tools, "tools")).transpose()?;
        let keys = match key {
            None => Keys::Numbers,
            Some(key) => match key.extract::<String>() {
                Ok(path) => {
                    let is_there = match &tools {
                        // A row is made of the two.
                        Some(_) => known_columns(&path, &["messages", "tools"]),
                        None => has_path(bodies.reader.field().data_type(), &path),
                    };
                    is_there.map_err(PyValueError::new_err)?;
                    match bodies.reader.field().data_type() {
                        DataType::Struct(fields) if tools.is_none() => {
                            let column =
                                fields.find(&path).filter(|(_, field)| !field.data_type().is_nested());
                            column.map_or(Keys::Path(path), |(number, _)| Keys::Member(number))
                        }
                        _ => Keys::Path(path),
                    }
                }
                Err(_) => Keys::Column(Chunks::of(key, "key")?),
            },
        };
        Ok(Self { bodies, tools, keys, done: 0 })
    }

    /// The column that names rows. It has the type of their keys.
    pub(crate) fn key_field(&self) -> Field {
        let of_column = |field: &Field| field.clone().with_name("row").with_nullable(true);
        match &self.keys {
            Keys::Numbers => Field::new("row", DataType::Int64, false),
            Keys::Path(_) => Field::new("row", DataType::Utf8, false),
            Keys::Column(keys) => of_column(&keys.reader.field()),
            Keys::Member(number) => match self.bodies.reader.field().data_type() {
                DataType::Struct(fields) => of_column(&fields[*number]),
                other => Field::new("row", other.clone(), true),
            },
        }
    }

    /// The next rows, at most so many.
    ///
    /// # Errors
    ///
    /// The library that has the data can't read it, or the columns are not of the same length.
    pub(crate) fn next(&mut self, most: usize) -> Result<Option<Batch>, String> {
        let mut count = most;
        let mut columns: Vec<&mut Chunks> = vec![&mut self.bodies];
        columns.extend(&mut self.tools);
        if let Keys::Column(keys) = &mut self.keys {
            columns.push(keys);
        }
        for column in &mut columns {
            count = count.min(column.ready()?);
        }
        if count == 0 {
            if columns.iter_mut().any(|column| column.ready() != Ok(0)) {
                return Err("the columns are not of the same length".to_owned());
            }
            return Ok(None);
        }
        let says = TextEncoding::of(&self.bodies.reader.field(), TextEncoding::Row);
        let bodies = self.bodies.take(count);
        let of_tools = self
            .tools
            .as_ref()
            .map_or(TextEncoding::Text, |tools| TextEncoding::of(&tools.reader.field(), TextEncoding::Tools));
        let tools = self.tools.as_mut().map(|tools| tools.take(count));
        let keys = match &mut self.keys {
            Keys::Column(keys) => Some(keys.take(count)),
            Keys::Member(number) => Some(Arc::clone(bodies.as_struct().column(*number))),
            _ => None,
        };
        let bodies = match &self.keys {
            Keys::Member(number) => without(bodies.as_struct(), *number)?,
            _ => bodies,
        };
        let first = self.done;
        self.done += count;
        let path = match &self.keys {
            Keys::Path(path) => Some(path.clone()),
            _ => None,
        };
        Ok(Some(Batch { bodies, tools, keys, first, path, says: (says, of_tools) }))
    }
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }

    /// The number of the first row.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    pub(crate) fn keys(&self) -> Option<&ArrayRef> {
        self.keys.as_ref()
    }

    pub(crate) fn is_named_by_path(&self) -> bool {
        self.path.is_some()
    }

    /// Shows each row: its number in the batch, its text, and how to name it.
    ///
    /// # Errors
    ///
    /// A column has a type that JSON does not have.
    pub(crate) fn each(&self, mut see: impl FnMut(usize, &[u8], &dyn Fn() -> String)) -> Result<(), String> {
        let reader = Reader::new(self)?;
        let mut buffer = Vec::new();
        for row in 0..self.len() {
            let text = match &reader {
                Reader::Texts(texts) => texts.text(row).unwrap_or(b"null"),
                Reader::Cells(cells) => {
                    buffer.clear();
                    cells.write(row, &mut buffer);
                    &buffer
                }
                Reader::WithTools(bodies, tools) => {
                    buffer.clear();
                    write_with_tools(&**bodies, &**tools, row, &mut buffer);
                    &buffer
                }
            };
            see(row, text, &|| self.key(row, text));
        }
        Ok(())
    }

    /// How the user names a row.
    fn key(&self, row: usize, text: &[u8]) -> String {
        let named = match (&self.keys, &self.path) {
            (Some(keys), _) => key_in(keys, row),
            (None, Some(path)) => key_of(text, path),
            (None, None) => None,
        };
        named.unwrap_or_else(|| (self.first + row).to_string())
    }
}

fn without(table: &StructArray, number: usize) -> Result<ArrayRef, String> {
    let mut fields: Vec<FieldRef> = table.fields().iter().cloned().collect();
    let mut columns = table.columns().to_vec();
    fields.remove(number);
    columns.remove(number);
    let nulls = table.nulls().cloned();
    let rest = StructArray::try_new_with_length(fields.into(), columns, nulls, table.len());
    rest.map(|rest| Arc::new(rest) as ArrayRef).map_err(|error| reason(&error))
}

fn key_in(keys: &ArrayRef, row: usize) -> Option<String> {
    if let Some(texts) = texts(keys) {
        return texts.text(row).map(|text| String::from_utf8_lossy(text).into_owned());
    }
    let values = cells(keys, TextEncoding::Text).ok().filter(|values| !values.is_null(row))?;
    let mut out = Vec::new();
    values.write_value(row, &mut out);
    Some(String::from_utf8_lossy(&out).into_owned())
}

enum Reader<'b> {
    Texts(Box<dyn Texts + 'b>),
    Cells(Box<dyn Cell + 'b>),
    WithTools(Box<dyn Cell + 'b>, Box<dyn Cell + 'b>),
}

impl<'b> Reader<'b> {
    fn new(batch: &'b Batch) -> Result<Self, String> {
        let cannot = |kind: String| format!("cannot read {kind} as JSON");
        let (says, of_tools) = batch.says;
        if let Some(tools) = &batch.tools {
            let says = if says == TextEncoding::Row { TextEncoding::List } else { says };
            let bodies = cells(&batch.bodies, says).map_err(cannot)?;
            return Ok(Self::WithTools(bodies, cells(tools, of_tools).map_err(cannot)?));
        }
        match texts(&batch.bodies) {
            Some(texts) => Ok(Self::Texts(texts)),
            None => cells(&batch.bodies, says).map(Self::Cells).map_err(cannot),
        }
    }
}

/// Writes a row as it would be in a file of a data set with the columns `messages` and `tools`.
fn write_with_tools(bodies: &dyn Cell, tools: &dyn Cell, row: usize, out: &mut Vec<u8>) {
    out.push(b'{');
    write_string(b"messages", out);
    out.push(b':');
    bodies.write(row, out);
    if !tools.is_null(row) {
        out.push(b',');
        write_string(b"tools", out);
        out.push(b':');
        tools.write_value(row, out);
    }
    out.push(b'}');
}

/// The most names of columns that an error shows.
const COLUMNS_SHOWN: usize = 20;

/// Whether rows of a type can have a value at a path of names with dots between them.
///
/// # Errors
///
/// What they have instead.
fn has_path(mut kind: &DataType, path: &str) -> Result<(), String> {
    for name in path.split('.') {
        match kind {
            DataType::Struct(fields) => {
                let Some((_, field)) = fields.find(name) else {
                    let names: Vec<&str> = fields.iter().map(|field| &**field.name()).collect();
                    return known_columns(name, &names);
                };
                kind = field.data_type();
            }
            kind if kind.is_list() => {
                return Err(format!(
                    "there is no `{}` in a list: pass the column with the keys as `key`",
                    shown(name)
                ));
            }
            // What is in text or in a map is only known once it is read.
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn known_columns(name: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&name.split('.').next().unwrap_or(name)) {
        return Ok(());
    }
    if known.is_empty() {
        return Err(format!("there is no column `{}`; there are no columns at all", shown(name)));
    }
    let names = known.iter().take(COLUMNS_SHOWN).map(|known| format!("`{}`", shown(known)));
    let mut names = names.collect::<Vec<_>>().join(", ");
    if known.len() > COLUMNS_SHOWN {
        names.push_str(", …");
    }
    Err(format!("there is no column `{}`; there are {names}", shown(name)))
}

/// A column whose chunks are read one by one.
struct Chunks {
    reader: Box<dyn ArrayReader + Send>,
    current: Option<ArrayRef>,
    at: usize,
    is_at_end: bool,
}

impl Chunks {
    fn of(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<Self> {
        let method = |name: &str| object.getattr_opt(name);
        let reader: Box<dyn ArrayReader + Send> = if let Some(method) = method("__arrow_c_array__")? {
            let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = method.call0()?.extract()?;
            let taken = take_over(|| PyArray::from_arrow_pycapsule(&schema, &array));
            let (array, field) = taken.map_err(PyValueError::new_err)??.into_inner();
            check(&array).map_err(PyValueError::new_err)?;
            Box::new(ArrayIterator::new([Ok(array)], field))
        } else if let Some(method) = method("__arrow_c_stream__")? {
            let stream = method.call0()?;
            let stream = stream.cast::<PyCapsule>()?;
            let taken = take_over(|| PyArrayReader::from_arrow_pycapsule(stream));
            taken.map_err(PyValueError::new_err)??.into_reader()?
        } else {
            let kind = kind_of(object);
            let hint = match &*kind {
                "str" if argument == "tools" => "; in a table, the column `tools` is read by itself",
                kind if kind == "str" || object.hasattr("__fspath__")? => {
                    "; read a file first, such as with `pyarrow.parquet.read_table`"
                }
                "list" | "dict" => "; make a table of rows with `pyarrow.Table.from_pylist`",
                kind if kind.starts_with("pyarrow._dataset.") => "; scan it: `.scanner().to_reader()`",
                kind if kind.starts_with("polars.") && object.hasattr("collect")? => {
                    "; collect it first: `.collect()`"
                }
                _ => "",
            };
            return Err(PyTypeError::new_err(format!(
                "{argument}: expected a column or a table with `__arrow_c_stream__` or `__arrow_c_array__`, not {kind}{hint}"
            )));
        };
        Ok(Self { reader, current: None, at: 0, is_at_end: false })
    }

    /// The number of rows that can be taken; 0 at the end.
    fn ready(&mut self) -> Result<usize, String> {
        loop {
            if let Some(current) = &self.current
                && self.at < current.len()
            {
                return Ok(current.len() - self.at);
            }
            (self.current, self.at) = (None, 0);
            if self.is_at_end {
                return Ok(0);
            }
            match take_over(|| self.reader.next())? {
                None => self.is_at_end = true,
                Some(chunk) => {
                    let chunk = chunk.map_err(|error| reason(&error))?;
                    check(&chunk)?;
                    self.current = Some(chunk);
                }
            }
        }
    }

    fn take(&mut self, count: usize) -> ArrayRef {
        let current = self.current.as_ref().expect("there are rows");
        let taken = current.slice(self.at, count);
        self.at += count;
        taken
    }
}

pub(crate) fn reason(error: &ArrowError) -> String {
    format!("the data can't be read: {error}")
}
