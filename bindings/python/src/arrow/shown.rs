//! Dates, times and durations as text, because JSON has none, and decimals as numbers.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTemporalType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};

use super::cells::{Cell, Written};
use crate::text::write_string;

/// The values of an array of dates, times, durations or decimals; `None` if it has others. What DuckDB writes as `1.5` is a
/// decimal.
pub(crate) fn shown(array: &dyn Array) -> Option<Box<dyn Cell + '_>> {
    Some(match array.data_type() {
        DataType::Date32 => primitive::<Date32Type>(array, date),
        DataType::Date64 => primitive::<Date64Type>(array, date),
        DataType::Time32(TimeUnit::Second) => primitive::<Time32SecondType>(array, time),
        DataType::Time32(_) => primitive::<Time32MillisecondType>(array, time),
        DataType::Time64(TimeUnit::Microsecond) => primitive::<Time64MicrosecondType>(array, time),
        DataType::Time64(_) => primitive::<Time64NanosecondType>(array, time),
        DataType::Timestamp(TimeUnit::Second, _) => primitive::<TimestampSecondType>(array, moment),
        DataType::Timestamp(TimeUnit::Millisecond, _) => primitive::<TimestampMillisecondType>(array, moment),
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive::<TimestampMicrosecondType>(array, moment),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive::<TimestampNanosecondType>(array, moment),
        DataType::Duration(TimeUnit::Second) => primitive::<DurationSecondType>(array, lasting),
        DataType::Duration(TimeUnit::Millisecond) => primitive::<DurationMillisecondType>(array, lasting),
        DataType::Duration(TimeUnit::Microsecond) => primitive::<DurationMicrosecondType>(array, lasting),
        DataType::Duration(TimeUnit::Nanosecond) => primitive::<DurationNanosecondType>(array, lasting),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array),
        _ => return None,
    })
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    show: fn(&PrimitiveArray<T>, usize) -> Option<String>,
) -> Box<dyn Cell + '_> {
    let all = array.as_primitive::<T>();
    Box::new(Written(array, move |row, out: &mut Vec<u8>| {
        // A value that is out of range is written as a number.
        let text = show(all, row).unwrap_or_else(|| format!("{:?}", all.value(row)));
        write_string(text.as_bytes(), out);
    }))
}

fn text(value: Option<impl Display>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn date<T: ArrowTemporalType>(array: &PrimitiveArray<T>, row: usize) -> Option<String>
where
    i64: From<T::Native>,
{
    text(array.value_as_date(row))
}

fn time<T: ArrowTemporalType>(array: &PrimitiveArray<T>, row: usize) -> Option<String>
where
    i64: From<T::Native>,
{
    text(array.value_as_time(row))
}

fn decimals<T: DecimalType>(array: &dyn Array) -> Box<dyn Cell + '_> {
    let all = array.as_primitive::<T>();
    Box::new(Written(array, move |row, out: &mut Vec<u8>| {
        out.extend_from_slice(all.value_as_string(row).as_bytes())
    }))
}

/// A moment as ISO 8601 writes it. One with a time zone is given in UTC: what counts here is the conversation, not in which
/// zone it was held.
fn moment<T: ArrowTemporalType<Native = i64>>(array: &PrimitiveArray<T>, row: usize) -> Option<String> {
    let zone = if matches!(array.data_type(), DataType::Timestamp(_, Some(_))) { "Z" } else { "" };
    array.value_as_datetime(row).map(|moment| format!("{}T{}{zone}", moment.date(), moment.time()))
}

/// A duration as ISO 8601 writes it.
fn lasting<T: ArrowTemporalType<Native = i64>>(array: &PrimitiveArray<T>, row: usize) -> Option<String> {
    text(array.value_as_duration(row))
}
