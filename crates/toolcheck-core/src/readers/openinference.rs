//! OpenInference traces (Phoenix and others): messages with a key for each value, `llm.input_messages.0.message.role`.

use toolcheck_json::Value;

use super::{Reader, search, spans, traces};
use crate::claim::certainty;

pub(super) static READER: Reader =
    Reader::trace("openinference", "OpenInference trace", sniff, |records| search::read_as(&READER, records));

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_own_key = |key: &str, _: Value<'_, '_>| {
        let key = spans::attribute_name(key);
        key.starts_with("llm.input_messages") || key.starts_with("llm.output_messages")
    };
    let is_nested = |record: Value<'_, '_>| {
        let llm = record.get_in(&["attributes", "llm"]);
        llm.is_some_and(|llm| llm.get_any(&["input_messages", "output_messages"]).is_some())
    };
    let is_own = |record: &Value<'_, '_>| {
        is_nested(*record)
            || record.elements().next().is_some_and(is_nested)
            || traces::any_attribute(*record, is_own_key)
    };
    if records.iter().any(is_own) { certainty::LIKELY + 1 } else { 0 }
}
