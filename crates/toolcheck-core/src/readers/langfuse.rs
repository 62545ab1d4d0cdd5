//! Langfuse: exported traces with their observations, and observations alone. What was sent is in `input`, what was answered
//! in `output`, in the form of whatever recorded it.

use toolcheck_json::Value;

use super::{Reader, Reading, lists, search, sharegpt, spans};
use crate::claim::certainty;
use crate::unread;

pub(super) static READER: Reader = Reader::trace("langfuse", "Langfuse trace", sniff, read);

const TYPES: [&str; 8] = ["GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR"];

/// The observations of a record: those of a trace, of a list, or itself.
fn observations<'d, 's>(record: Value<'d, 's>) -> Vec<Value<'d, 's>> {
    if is_observation(record) {
        return vec![record];
    }
    let list = record.get_any(&["observations", "data"]).unwrap_or(record);
    list.elements().filter(|entry| is_observation(*entry)).collect()
}

fn is_observation(value: Value<'_, '_>) -> bool {
    value.is_one_of("type", &TYPES) && value.get_any(&["input", "output"]).is_some()
}

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_list = |value: Value<'_, '_>| lists::is_list(value) || spans::has_parts(value);
    let is_said =
        |said: Value<'_, '_>| is_list(said) || said.has("role") || sharegpt::any_list(said, is_list);
    let has_attributes = |value: Value<'_, '_>| {
        let attributes = value.get_in(&["metadata", "attributes"]);
        attributes.is_some_and(|attributes| unread::unwrapped(attributes, spans::is_span))
    };
    let holds_messages = |value: Value<'_, '_>| {
        let mut said = ["input", "output"].into_iter().filter_map(|key| value.get(key));
        said.any(|said| unread::unwrapped(said, is_said)) || has_attributes(value)
    };
    let is_own = |record: &Value<'_, '_>| observations(*record).into_iter().any(holds_messages);
    if records.iter().any(is_own) { certainty::LIKELY + 2 } else { 0 }
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    for observation in records.iter().flat_map(|record| observations(*record)) {
        let before = reading.conversations.len();
        for key in ["input", "output"] {
            if let Some(value) = observation.get(key) {
                search::read_value(&READER, value, Some(observation), &mut reading);
            }
        }
        if reading.conversations.len() > before {
            continue;
        }
        // The attributes of the span repeat what is in the input.
        if let Some(metadata) = observation.get("metadata") {
            search::read_value(&READER, metadata, Some(observation), &mut reading);
        }
    }
    reading
}
