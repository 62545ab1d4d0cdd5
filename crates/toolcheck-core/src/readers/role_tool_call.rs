//! Data sets with roles for calls and results: `tool_call` and `tool_response`, or words like them, and those of templates.
//! What is called stands as JSON in the text of the message, or beside it.

use toolcheck_json::Value;

use super::{Reader, search, sharegpt, turns};
use crate::claim::{MESSAGES_LOOKED_AT, certainty};
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
    // What a model answered in a row for Azure's evaluators, by itself.
    let has_blocks = |turn: Value<'_, '_>| turn.list("content").take(2).any(turns::is_of_evaluator);
    let is_answer = |record: &Value<'_, '_>| record.elements().take(MESSAGES_LOOKED_AT).any(has_blocks);
    if records.iter().any(|record| is_own(record) || is_answer(record)) { certainty::LIKELY } else { 0 }
}
