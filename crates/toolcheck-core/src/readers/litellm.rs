//! LiteLLM: what its proxy logs of a call (`StandardLoggingPayload`), and the rows of its spend logs.

use toolcheck_json::Value;

use super::{Reader, Reading, lists, own_shape, search};

pub(super) static READER: Reader = Reader::trace("litellm", "LiteLLM log", sniff, read);

/// The keys of the settings of a call, which have the tools.
const SETTINGS: [&str; 4] = ["model_parameters", "optional_params", "additional_args", "kwargs"];

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    own_shape(records, |record| {
        let rows = record.elements().take(4).chain([record]);
        rows.into_iter().any(is_row)
    })
}

fn is_row(row: Value<'_, '_>) -> bool {
    row.has("call_type")
        && row.get_any(&["messages", "proxy_server_request", "response"]).is_some()
        && row
            .get_any(&["model_map_information", "startTime", "response_cost", "spend", "litellm_call_id"])
            .is_some()
}

fn read<'s>(records: &[Value<'_, 's>]) -> Reading<'s> {
    let mut reading = Reading::default();
    lists::rows(records).for_each(|row| read_row(row, &mut reading));
    reading
}

fn read_row<'s>(row: Value<'_, 's>, reading: &mut Reading<'s>) {
    let before = reading.conversations.len();
    let settings = SETTINGS.iter().filter_map(|key| row.get(key)).find(|settings| settings.is_object());
    if let Some(messages) = row.get("messages") {
        search::read_value(&READER, messages, Some(row), reading);
    }
    // The request as it came in repeats the messages; spend logs have them only there.
    let request = row.get("proxy_server_request").filter(|_| reading.conversations.len() == before);
    if let Some(request) = request {
        search::read_value(&READER, request, Some(row), reading);
    }
    if let Some(response) = row.get("response") {
        let before = reading.conversations.len();
        search::read_value(&READER, response, Some(row), reading);
        let is_in_text = || response.as_str().is_some_and(|text| text.starts_with("{\""));
        if reading.conversations.len() == before && is_in_text() {
            reading.leave_out("responses that are text");
        }
    }
    for conversation in &mut reading.conversations[before..] {
        settings.iter().for_each(|settings| lists::add_beside(&mut conversation.transcript, *settings));
    }
}
