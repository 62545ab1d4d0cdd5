//! Whether arrays can be read at all. Producers hand over addresses and offsets; arrow believes them, so that one wrong
//! offset, as a damaged file has, would be read from memory that is not the array's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType,
    Utf8Type,
};
use arrow_array::{Array, OffsetSizeTrait};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;

use super::cells::coded;

/// What is said of arrays that cannot be right.
const DAMAGED: &str = "the data can't be read: an array is damaged";

/// Takes over what a producer of arrays has; an array without the parts that its type has makes arrow panic.
///
/// # Errors
///
/// It panicked.
pub(crate) fn take_over<T>(take: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(take)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        match text.or_else(|| panic.downcast_ref().copied()).and_then(|text| text.lines().next()) {
            Some(why) => format!("{DAMAGED}: {why}"),
            None => DAMAGED.to_owned(),
        }
    })
}

/// Sees whether all values of an array are inside it.
///
/// # Errors
///
/// The type of what is not.
pub(crate) fn check(array: &dyn Array) -> Result<(), String> {
    // Of an array without values nothing is read, wherever it would begin in what it is a part of.
    if array.is_empty() {
        return Ok(());
    }
    let is_whole = match array.data_type() {
        DataType::Utf8 => are_texts::<Utf8Type>(array),
        DataType::LargeUtf8 => are_texts::<LargeUtf8Type>(array),
        DataType::Binary => are_texts::<BinaryType>(array),
        DataType::LargeBinary => are_texts::<LargeBinaryType>(array),
        DataType::Utf8View => are_views::<StringViewType>(array),
        DataType::BinaryView => are_views::<BinaryViewType>(array),
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            check(lists.values())?;
            are_within(lists.value_offsets(), lists.values().len())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            check(lists.values())?;
            are_within(lists.value_offsets(), lists.values().len())
        }
        DataType::ListView(_) => are_parts::<i32>(array)?,
        DataType::LargeListView(_) => are_parts::<i64>(array)?,
        DataType::FixedSizeList(_, size) => {
            let values = array.as_fixed_size_list().values();
            check(values)?;
            usize::try_from(*size).ok().and_then(|size| size.checked_mul(array.len())) <= Some(values.len())
        }
        DataType::Map(..) => {
            let maps = array.as_map();
            check(maps.entries())?;
            are_within(maps.value_offsets(), maps.entries().len())
        }
        DataType::Struct(_) => {
            let columns = array.as_struct().columns();
            columns.iter().try_for_each(|column| check(column))?;
            columns.iter().all(|column| column.len() >= array.len())
        }
        DataType::Dictionary(..) => return check(array.as_any_dictionary().values()),
        DataType::RunEndEncoded(..) => {
            let (numbers, values) = take_over(|| coded(array))?.ok_or_else(|| DAMAGED.to_owned())?;
            check(values)?;
            numbers.iter().all(|number| *number < values.len())
        }
        _ => true,
    };
    if is_whole {
        Ok(())
    } else {
        Err(format!("{DAMAGED}: it has values of {} outside it", array.data_type()))
    }
}

fn are_texts<T: ByteArrayType>(array: &dyn Array) -> bool {
    let texts = array.as_bytes::<T>();
    are_within(texts.value_offsets(), texts.value_data().len())
}

/// Whether each list is a part of the values.
fn are_parts<O: OffsetSizeTrait>(array: &dyn Array) -> Result<bool, String> {
    let lists = array.as_list_view::<O>();
    check(lists.values())?;
    let is_part = |(start, size): (&O, &O)| {
        let end = start.to_usize().zip(size.to_usize()).and_then(|(start, size)| start.checked_add(size));
        end.is_some_and(|end| end <= lists.values().len())
    };
    Ok(lists.value_offsets().iter().zip(lists.value_sizes()).all(is_part))
}

/// Whether offsets go up, from 0 to the number of values at most.
fn are_within<O: OffsetSizeTrait>(offsets: &[O], values: usize) -> bool {
    let is_in = |offset: Option<&O>| offset.is_none_or(|it| it.to_usize().is_some_and(|it| it <= values));
    is_in(offsets.first()) && is_in(offsets.last()) && offsets.is_sorted()
}

/// Whether each view is of bytes that are there. A view begins with its length; 12 bytes at most are in the view itself,
/// of longer ones it has a prefix, the number of a buffer, and a place in it.
fn are_views<T: ByteViewType>(array: &dyn Array) -> bool {
    let array = array.as_byte_view::<T>();
    let (views, buffers) = (array.views(), array.data_buffers());
    views.iter().enumerate().all(|(row, view)| {
        let length = (*view as u32).as_usize();
        if length <= 12 || array.is_null(row) {
            return true;
        }
        let (buffer, start) = ((*view >> 64) as u32, (*view >> 96) as u32);
        buffers.get(buffer.as_usize()).is_some_and(|buffer| start.as_usize() + length <= buffer.len())
    })
}
