//! ShareGPT data sets: turns with `from` and `value`, under `conversations` or any other key.
//!
//! Calls are turns of `function_call` or stand between `<tool_call>` tags (Hermes), results are turns of `observation` or
//! `tool`. There are no ids.

use toolcheck_json::Value;

use super::{Reader, own_shape, search, turns};
use crate::unread;

pub(super) static READER: Reader =
    Reader::dataset("sharegpt", "ShareGPT data set", sniff, |records| search::read_as(&READER, records));

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| any_list(record, turns::has_from))
}

/// Whether one of the lists of a row is as wanted. A row is a record, or an element of one.
pub(super) fn any_list(record: Value<'_, '_>, is_wanted: impl Fn(Value<'_, '_>) -> bool + Copy) -> bool {
    let in_row = |row: Value<'_, '_>| {
        let mut lists = row.members().take(MEMBERS_LOOKED_AT).filter(|member| {
            member.is_array() || member.as_json_str().is_some_and(|text| text.raw().starts_with(b"["))
        });
        lists.any(|list| unread::unwrapped(list, is_wanted))
    };
    in_row(record) || is_wanted(record) || record.elements().take(ROWS_LOOKED_AT).any(in_row)
}

const MEMBERS_LOOKED_AT: usize = 32;
const ROWS_LOOKED_AT: usize = 4;
