//! Data sets with roles for calls and results: `tool_call` and `tool_response`, or words like them, and those of templates.
//! What is called stands as JSON in the text of the message, or beside it.

use toolcheck_json::Value;

use super::{Reader, search, sharegpt, turns};
use crate::claim::certainty;
use crate::unsupported;

pub(super) static READER: Reader =
    Reader::dataset("role-tool-call", "Data set with roles for calls", sniff, |records| {
        search::read_as(&READER, records)
    });

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    // In a request, such a role is a mistake.
    let is_own = |record: &Value<'_, '_>| {
        sharegpt::any_list(*record, turns::has_call_roles)
            && (!unsupported::is_meant_as_request(*record) || unsupported::is_row_with_text(*record))
            && !unsupported::is_unread_request(*record)
    };
    if records.iter().any(is_own) { certainty::LIKELY } else { 0 }
}
