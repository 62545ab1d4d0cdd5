//! Dates, times, durations and decimals as text: JSON has none.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};

use super::cells::Cell;
use crate::text::write_string;

/// The values of an array of dates, times, durations or decimals; `None` if it has others.
pub(crate) fn shown(array: &dyn Array) -> Option<Box<dyn Cell + '_>> {
    Some(match array.data_type() {
        DataType::Date32 => primitive::<Date32Type>(array, |array, row| text(array.value_as_date(row))),
        DataType::Date64 => primitive::<Date64Type>(array, |array, row| text(array.value_as_date(row))),
        DataType::Time32(TimeUnit::Second) => {
            primitive::<Time32SecondType>(array, |array, row| text(array.value_as_time(row)))
        }
        DataType::Time32(_) => {
            primitive::<Time32MillisecondType>(array, |array, row| text(array.value_as_time(row)))
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            primitive::<Time64MicrosecondType>(array, |array, row| text(array.value_as_time(row)))
        }
        DataType::Time64(_) => {
            primitive::<Time64NanosecondType>(array, |array, row| text(array.value_as_time(row)))
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => primitive::<TimestampSecondType>(array, moment),
            TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(array, moment),
            TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(array, moment),
            TimeUnit::Nanosecond => primitive::<TimestampNanosecondType>(array, moment),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => primitive::<DurationSecondType>(array, lasting),
            TimeUnit::Millisecond => primitive::<DurationMillisecondType>(array, lasting),
            TimeUnit::Microsecond => primitive::<DurationMicrosecondType>(array, lasting),
            TimeUnit::Nanosecond => primitive::<DurationNanosecondType>(array, lasting),
        },
        DataType::Decimal32(..) => {
            primitive::<Decimal32Type>(array, |array, row| Some(array.value_as_string(row)))
        }
        DataType::Decimal64(..) => {
            primitive::<Decimal64Type>(array, |array, row| Some(array.value_as_string(row)))
        }
        DataType::Decimal128(..) => {
            primitive::<Decimal128Type>(array, |array, row| Some(array.value_as_string(row)))
        }
        DataType::Decimal256(..) => {
            primitive::<Decimal256Type>(array, |array, row| Some(array.value_as_string(row)))
        }
        _ => return None,
    })
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    show: fn(&PrimitiveArray<T>, usize) -> Option<String>,
) -> Box<dyn Cell + '_> {
    Box::new(Shown { array: array.as_primitive::<T>(), show })
}

fn text(value: Option<impl Display>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// A moment as ISO 8601 writes it. One with a time zone is given in UTC: what counts here is the conversation, not in which
/// zone it was held.
fn moment<T: ArrowPrimitiveType<Native = i64> + arrow_array::types::ArrowTemporalType>(
    array: &PrimitiveArray<T>,
    row: usize,
) -> Option<String> {
    let zone = if matches!(array.data_type(), DataType::Timestamp(_, Some(_))) { "Z" } else { "" };
    array.value_as_datetime(row).map(|moment| format!("{}T{}{zone}", moment.date(), moment.time()))
}

/// A duration as ISO 8601 writes it.
fn lasting<T: ArrowPrimitiveType<Native = i64> + arrow_array::types::ArrowTemporalType>(
    array: &PrimitiveArray<T>,
    row: usize,
) -> Option<String> {
    text(array.value_as_duration(row))
}

struct Shown<'a, T: ArrowPrimitiveType> {
    array: &'a PrimitiveArray<T>,
    /// `None` if the value is out of range.
    show: fn(&PrimitiveArray<T>, usize) -> Option<String>,
}

impl<T: ArrowPrimitiveType> Cell for Shown<'_, T> {
    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    fn write_value(&self, row: usize, out: &mut Vec<u8>) {
        match (self.show)(self.array, row) {
            Some(text) => write_string(text.as_bytes(), out),
            None => write_string(format!("{:?}", self.array.value(row)).as_bytes(), out),
        }
    }
}
