//! The rows of a Parquet file as JSON, with a part for each column.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row};
use ::parquet::schema::types::Type;
use bytes::Bytes;
use toolcheck_json::origins::{Builder, LeftOut, Mapped, Opened, Origin, Unpacked};
use toolcheck_json::{Document, escape_step};

use super::CONTAINER;
use crate::Limits;
use crate::written::quoted;

/// How deep values are written; deeper ones are not messages.
const DEEPEST: usize = 200;

pub(super) fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let mut rows = Rows { limits, ..Rows::default() };
    // The library that reads the rows is not meant for files that are damaged on purpose: what makes it panic is a file
    // that can't be read.
    let end = catch_unwind(AssertUnwindSafe(|| rows.read(bytes)));
    let is_read = matches!(end, Ok(Ok(true)));
    let broken_at = (!is_read).then_some(rows.unpacked.text.len());
    let (text, origins) = rows.builder.finish();
    let left_out = LeftOut { one: "column without texts", what: "columns without texts", count: rows.others };
    Some(Opened {
        text,
        origins,
        exchanges: rows.count,
        left_out: Some(left_out).filter(|left| left.count > 0).into_iter().collect(),
        broken_at,
        unpacked: Some(rows.unpacked),
        is_table: true,
        ..CONTAINER.opened()
    })
}

/// Whether a column has structure, or texts.
fn may_hold_messages(column: &Type) -> bool {
    let info = column.get_basic_info();
    column.is_group()
        || column.get_physical_type() == Physical::BYTE_ARRAY
            && (matches!(
                info.converted_type(),
                ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM
            ) || matches!(
                info.logical_type_ref(),
                Some(LogicalType::String | LogicalType::Json | LogicalType::Enum)
            ))
}

#[derive(Default)]
struct Rows {
    limits: Limits,
    builder: Builder,
    unpacked: Unpacked,
    count: usize,
    /// The number of columns that are not read: numbers, times and bytes.
    others: usize,
}

impl Rows {
    /// Reads all rows, and returns whether there was room for them.
    fn read(&mut self, bytes: &[u8]) -> Result<bool, ParquetError> {
        let reader = SerializedFileReader::new(Bytes::copy_from_slice(bytes))?;
        let schema = reader.metadata().file_metadata().schema();
        let columns = schema.get_fields().iter().filter(|column| may_hold_messages(column));
        let columns: Vec<_> = columns.map(Arc::clone).collect();
        self.others = schema.get_fields().len() - columns.len();
        if columns.is_empty() {
            return Ok(true);
        }
        let wanted = Type::group_type_builder(schema.name()).with_fields(columns).build()?;
        let mut row_text = String::new();
        for row in reader.get_row_iter(Some(wanted))? {
            if !self.add(&row?, &mut row_text) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add(&mut self, row: &Row, text: &mut String) -> bool {
        self.builder.glue("{");
        let mut is_first = true;
        for (name, field) in row.get_column_iter() {
            if matches!(field, Field::Null) {
                continue;
            }
            text.clear();
            write_column(field, text);
            if text.len() > self.limits.most_bytes.saturating_sub(self.builder.len()) {
                // The row ends before this column.
                self.builder.glue("}\n");
                self.count += 1;
                return false;
            }
            self.builder.glue(if is_first { "" } else { ", " });
            self.builder.glue(&format!("{}: ", quoted(name)));
            is_first = false;
            let start = self.unpacked.add(text.as_bytes());
            let origin = Origin::new(format!("row {}, column {name}", self.count));
            let pointer = format!("/{}", escape_step(name));
            self.builder.value(pointer, Arc::new(origin), &Mapped::same(text.as_bytes(), start));
        }
        self.builder.glue("}\n");
        self.count += 1;
        true
    }
}

/// Writes the value of a column. A text that is an array or an object of JSON is written as that.
fn write_column(field: &Field, out: &mut String) {
    if let Field::Str(text) = field
        && text.trim_ascii_start().starts_with(['[', '{'])
    {
        let document = Document::read(text.as_bytes());
        if document.faults().is_empty() {
            // A line break in JSON is only whitespace.
            out.extend(text.trim().chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
            return;
        }
    }
    write(field, 0, out);
}

/// Writes a value as JSON. What a struct has not is `null` in a table, and is left out here.
fn write(field: &Field, depth: usize, out: &mut String) {
    match field {
        _ if depth > DEEPEST => out.push_str("null"),
        Field::Null | Field::Bytes(_) => out.push_str("null"),
        Field::Str(text) => out.push_str(&quoted(text)),
        Field::Group(row) => {
            let members = row.get_column_iter().filter(|(_, value)| !matches!(value, Field::Null));
            write_members(members.map(|(name, value)| (quoted(name), value)), depth, out);
        }
        Field::MapInternal(map) => {
            let name = |key: &Field| match key {
                Field::Str(text) => quoted(text),
                other => quoted(&other.to_string()),
            };
            write_members(map.entries().iter().map(|(key, value)| (name(key), value)), depth, out);
        }
        Field::ListInternal(list) => {
            out.push('[');
            for (number, element) in list.elements().iter().enumerate() {
                out.push_str(if number == 0 { "" } else { ", " });
                write(element, depth + 1, out);
            }
            out.push(']');
        }
        Field::Float(number) if !number.is_finite() => out.push_str("null"),
        Field::Double(number) if !number.is_finite() => out.push_str("null"),
        Field::Bool(_)
        | Field::Byte(_)
        | Field::Short(_)
        | Field::Int(_)
        | Field::Long(_)
        | Field::UByte(_)
        | Field::UShort(_)
        | Field::UInt(_)
        | Field::ULong(_)
        | Field::Float(_)
        | Field::Double(_) => out.push_str(&field.to_string()),
        // Times and exact numbers.
        other => out.push_str(&quoted(&other.to_string())),
    }
}

fn write_members<'f>(members: impl Iterator<Item = (String, &'f Field)>, depth: usize, out: &mut String) {
    out.push('{');
    for (number, (name, value)) in members.enumerate() {
        out.push_str(if number == 0 { "" } else { ", " });
        out.push_str(&name);
        out.push_str(": ");
        write(value, depth + 1, out);
    }
    out.push('}');
}
