//! Values of Arrow arrays as JSON text.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, RunEndIndexType, StringViewType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray,
    MapArray, OffsetSizeTrait, StructArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;

use super::encoding::{Bytes, EncodedText, TextEncoding};
use super::shown::shown;
use crate::text::write_string;

/// The values of an array, one at a time.
pub(crate) trait Cell {
    fn is_null(&self, row: usize) -> bool;

    fn write_value(&self, row: usize, out: &mut Vec<u8>);

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_null(row) {
            out.extend_from_slice(b"null");
        } else {
            self.write_value(row, out);
        }
    }
}

/// The bytes of text or binary values.
pub(crate) trait Texts {
    /// `None` if there is no value.
    fn text(&self, row: usize) -> Option<&[u8]>;
}

pub(crate) fn texts(array: &dyn Array) -> Option<Box<dyn Texts + '_>> {
    Some(match array.data_type() {
        DataType::Utf8 => Box::new(array.as_bytes::<Utf8Type>()),
        DataType::LargeUtf8 => Box::new(array.as_bytes::<LargeUtf8Type>()),
        DataType::Binary => Box::new(array.as_bytes::<BinaryType>()),
        DataType::LargeBinary => Box::new(array.as_bytes::<LargeBinaryType>()),
        DataType::Utf8View => Box::new(array.as_byte_view::<StringViewType>()),
        DataType::BinaryView => Box::new(array.as_byte_view::<BinaryViewType>()),
        DataType::FixedSizeBinary(_) => Box::new(array.as_fixed_size_binary()),
        _ => {
            let (keys, values) = coded(array)?;
            Box::new(Coded { array, keys, values: texts(values)? })
        }
    })
}

/// For each row of an array whose values are found by their numbers, this number, and the values.
pub(crate) fn coded(array: &dyn Array) -> Option<(Vec<usize>, &dyn Array)> {
    fn runs<R: RunEndIndexType>(array: &dyn Array) -> (Vec<usize>, &dyn Array) {
        let runs = array.as_run::<R>();
        ((0..array.len()).map(|row| runs.get_physical_index(row)).collect(), runs.values().as_ref())
    }
    Some(match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values: &ArrayRef = dictionary.values();
            // Without values there are no numbers of them; that of a row without a value means nothing.
            let keys = if values.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
            (keys, values.as_ref())
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(array),
            DataType::Int32 => runs::<Int32Type>(array),
            _ => runs::<Int64Type>(array),
        },
        _ => return None,
    })
}

/// The values of an array as JSON.
///
/// # Errors
///
/// The name of a type that JSON does not have.
pub(crate) fn cells(array: &dyn Array, says: TextEncoding) -> Result<Box<dyn Cell + '_>, String> {
    Ok(match array.data_type() {
        DataType::Null => Box::new(Nothing),
        DataType::Boolean => {
            let words = array.as_boolean();
            Box::new(Written(array, |row, out: &mut Vec<u8>| {
                out.extend_from_slice(if words.value(row) { b"true" } else { b"false" });
            }))
        }
        DataType::Int8 => number::<Int8Type>(array),
        DataType::Int16 => number::<Int16Type>(array),
        DataType::Int32 => number::<Int32Type>(array),
        DataType::Int64 => number::<Int64Type>(array),
        DataType::UInt8 => number::<UInt8Type>(array),
        DataType::UInt16 => number::<UInt16Type>(array),
        DataType::UInt32 => number::<UInt32Type>(array),
        DataType::UInt64 => number::<UInt64Type>(array),
        DataType::Float16 => number::<Float16Type>(array),
        DataType::Float32 => number::<Float32Type>(array),
        DataType::Float64 => number::<Float64Type>(array),
        DataType::List(field) => list::<i32>(array, says.element(field))?,
        DataType::LargeList(field) => list::<i64>(array, says.element(field))?,
        DataType::ListView(field) => list_view::<i32>(array, says.element(field))?,
        DataType::LargeListView(field) => list_view::<i64>(array, says.element(field))?,
        DataType::FixedSizeList(field, _) => {
            let all = array.as_fixed_size_list();
            let length = usize::try_from(all.value_length()).unwrap_or_default();
            lists(array, all.values(), says.element(field), move |row| row * length..(row + 1) * length)?
        }
        DataType::Struct(_) => Box::new(Object::new(array.as_struct(), says)?),
        DataType::Map(..) => entries(array.as_map(), says)?,
        other => match texts(array) {
            Some(texts) if says.is_plain() && is_of_bytes(other) => Box::new(Bytes(texts)),
            Some(texts) => Box::new(EncodedText { texts, says }),
            None => match coded(array) {
                Some((keys, values)) => Box::new(Coded { array, keys, values: cells(values, says)? }),
                None => shown(array).ok_or_else(|| other.to_string())?,
            },
        },
    })
}

fn is_of_bytes(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_of_bytes(values),
        DataType::RunEndEncoded(_, values) => is_of_bytes(values.data_type()),
        kind => kind.is_binary(),
    }
}

impl<T: ByteArrayType> Texts for &GenericByteArray<T> {
    fn text(&self, row: usize) -> Option<&[u8]> {
        (!Array::is_null(*self, row)).then(|| self.value(row).as_ref())
    }
}

impl<T: ByteViewType + ?Sized> Texts for &GenericByteViewArray<T> {
    fn text(&self, row: usize) -> Option<&[u8]> {
        (!Array::is_null(*self, row)).then(|| self.value(row).as_ref())
    }
}

impl Texts for &FixedSizeBinaryArray {
    fn text(&self, row: usize) -> Option<&[u8]> {
        (!Array::is_null(*self, row)).then(|| self.value(row))
    }
}

/// Values of an array that a function writes.
pub(crate) struct Written<'a, W>(pub(crate) &'a dyn Array, pub(crate) W);

impl<W: Fn(usize, &mut Vec<u8>)> Cell for Written<'_, W> {
    fn is_null(&self, row: usize) -> bool {
        self.0.is_null(row)
    }

    fn write_value(&self, row: usize, out: &mut Vec<u8>) {
        (self.1)(row, out);
    }
}

struct Nothing;

impl Cell for Nothing {
    fn is_null(&self, _: usize) -> bool {
        true
    }

    fn write_value(&self, _: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"null");
    }
}

/// A number as JSON writes it.
trait Number {
    fn write(self, out: &mut Vec<u8>);
}

macro_rules! integers {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(itoa::Buffer::new().format(self).as_bytes());
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            fn write(self, out: &mut Vec<u8>) {
                // What is not finite becomes null; writing into memory does not fail.
                let _ = serde_json::to_writer(out, &self);
            }
        }
    )*};
}

floats!(f32, f64);

impl Number for half::f16 {
    fn write(self, out: &mut Vec<u8>) {
        self.to_f32().write(out);
    }
}

fn number<T: ArrowPrimitiveType<Native: Number>>(array: &dyn Array) -> Box<dyn Cell + '_> {
    let numbers = array.as_primitive::<T>();
    Box::new(Written(array, |row, out: &mut Vec<u8>| numbers.value(row).write(out)))
}

/// Lists, each of which has a part of the values.
fn lists<'a>(
    array: &'a dyn Array,
    values: &'a ArrayRef,
    says: TextEncoding,
    part: impl Fn(usize) -> Range<usize> + 'a,
) -> Result<Box<dyn Cell + 'a>, String> {
    let values = cells(values.as_ref(), says)?;
    Ok(Box::new(Written(array, move |row, out: &mut Vec<u8>| {
        out.push(b'[');
        for (number, row) in part(row).enumerate() {
            if number > 0 {
                out.push(b',');
            }
            values.write(row, out);
        }
        out.push(b']');
    })))
}

fn list<O: OffsetSizeTrait>(array: &dyn Array, says: TextEncoding) -> Result<Box<dyn Cell + '_>, String> {
    let all = array.as_list::<O>();
    let offsets = all.value_offsets();
    lists(array, all.values(), says, |row| offsets[row].as_usize()..offsets[row + 1].as_usize())
}

fn list_view<O: OffsetSizeTrait>(
    array: &dyn Array,
    says: TextEncoding,
) -> Result<Box<dyn Cell + '_>, String> {
    let all = array.as_list_view::<O>();
    lists(array, all.values(), says, |row| {
        let start = all.value_offset(row).as_usize();
        start..start + all.value_size(row).as_usize()
    })
}

/// The rows of a struct as objects. Arrow has each key in each object, so a key without a value was not there, except in the
/// arguments of a call, which a schema decides.
pub(crate) struct Object<'a> {
    array: &'a StructArray,
    keeps_null: bool,
    /// Each with its key as it is written, with the colon.
    fields: Vec<(Vec<u8>, Box<dyn Cell + 'a>)>,
}

impl<'a> Object<'a> {
    fn new(array: &'a StructArray, says: TextEncoding) -> Result<Self, String> {
        // A column of a table that can't be a part of a conversation, and that JSON has no word for.
        let is_other = |kind: &DataType| {
            says == TextEncoding::Row && matches!(kind, DataType::Union(..) | DataType::Interval(_))
        };
        let columns = array.fields().iter().zip(array.columns());
        let fields = columns.filter(|(field, _)| !is_other(field.data_type())).map(|(field, column)| {
            let values = cells(column.as_ref(), says.member(field))
                .map_err(|kind| format!("{kind} in the column `{}`", field.name()))?;
            let mut key = Vec::new();
            write_string(field.name().as_bytes(), &mut key);
            key.push(b':');
            Ok((key, values))
        });
        let keeps_null = says == TextEncoding::Arguments;
        Ok(Self { array, keeps_null, fields: fields.collect::<Result<_, String>>()? })
    }
}

impl Cell for Object<'_> {
    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    fn write_value(&self, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut is_first = true;
        for (key, values) in &self.fields {
            if values.is_null(row) && !self.keeps_null {
                continue;
            }
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            out.extend_from_slice(key);
            values.write(row, out);
        }
        out.push(b'}');
    }
}

/// The rows of a map as objects.
fn entries(maps: &MapArray, says: TextEncoding) -> Result<Box<dyn Cell + '_>, String> {
    let keys = texts(maps.keys().as_ref()).ok_or_else(|| maps.data_type().to_string())?;
    let DataType::Struct(fields) = maps.entries().data_type() else {
        return Err(maps.data_type().to_string());
    };
    let says = fields.get(1).map_or(TextEncoding::Text, |field| says.value(field));
    let values = cells(maps.values().as_ref(), says)?;
    let offsets = maps.value_offsets();
    Ok(Box::new(Written(maps, move |row, out: &mut Vec<u8>| {
        out.push(b'{');
        let entries = ArrowNativeType::as_usize(offsets[row])..ArrowNativeType::as_usize(offsets[row + 1]);
        for (number, entry) in entries.enumerate() {
            if number > 0 {
                out.push(b',');
            }
            write_string(keys.text(entry).unwrap_or_default(), out);
            out.push(b':');
            values.write(entry, out);
        }
        out.push(b'}');
    })))
}

/// Values that are found by their numbers.
struct Coded<'a, V> {
    array: &'a dyn Array,
    keys: Vec<usize>,
    values: V,
}

impl Texts for Coded<'_, Box<dyn Texts + '_>> {
    fn text(&self, row: usize) -> Option<&[u8]> {
        if self.array.is_null(row) { None } else { self.values.text(self.keys[row]) }
    }
}

impl Cell for Coded<'_, Box<dyn Cell + '_>> {
    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || self.values.is_null(self.keys[row])
    }

    fn write_value(&self, row: usize, out: &mut Vec<u8>) {
        self.values.write_value(self.keys[row], out);
    }
}
