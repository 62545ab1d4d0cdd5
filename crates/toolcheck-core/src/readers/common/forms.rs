//! The forms in which a list of messages may be written.

use toolcheck_json::Value;

use super::answers::{self, ReadMessage};
use super::{bare_calls, lists, spans, tagged, turns};
use crate::claim::certainty;
use crate::formats::{self, Format};
use crate::readers::{inspect, message_lines, vercel_ai};
use crate::unsupported;

/// How the messages of a list, or of a value that stands for one, are written.
#[derive(Clone, Copy)]
pub(super) enum How {
    /// A request body, or an object like one.
    Body(&'static Format),
    List(&'static Format),
    /// Turns of a data set.
    Turns,
    /// A prompt and its answer, in a row or in columns.
    Divided,
    /// Messages whose turns are items under `output`.
    Outputs,
    /// OpenTelemetry's parts.
    Parts,
    /// Messages of Vercel's AI SDK in a span.
    Sdk,
    /// OpenInference's messages as objects.
    Wrapped,
    /// Attributes of a span, one for each value.
    Flat,
    /// Messages under any key of the entries.
    Entries,
    /// Lists of messages, or objects with one each, that go on from one another.
    Joined,
    /// A message of its own with calls: an answer.
    Answer(ReadMessage),
}

/// The form of a list whose messages are of no API, if it is known.
pub(super) fn own_form(list: Value<'_, '_>, is_trace: bool) -> Option<How> {
    if turns::has_from(list)
        || turns::has_call_roles(list)
        || turns::have_own_blocks(list.elements())
        || !is_trace && (tagged::has_tagged_calls(list) || bare_calls::are_answered(list))
    {
        Some(How::Turns)
    } else if !is_trace && message_lines::has_outputs(list) {
        Some(How::Outputs)
    } else if spans::has_parts(list) {
        Some(How::Parts)
    } else if inspect::is_list(list) {
        Some(How::Answer(inspect::read_list))
    } else if list.has_key("messages_and_choices")
        || list.elements().any(answers::is_in_entry)
        // In a request, it is a mistake.
        || !list.has_key("messages") && list.elements().any(answers::has_calls_in_content)
    {
        // Choices of responses among the messages: `MessagesAndChoices` in `src/art/types.py` of OpenPipe/ART.
        Some(How::Entries)
    } else if spans::has_wrapped(list) {
        Some(How::Wrapped)
    } else {
        None
    }
}

/// Whether a list of messages is read with the chosen message beside it.
pub(super) fn may_end_with_chosen(list: Value<'_, '_>) -> bool {
    match own_form(list, false) {
        Some(how) => matches!(how, How::Turns),
        None => lists::is_list(list) && surest(list).is_some_and(|format| format.family == "chat"),
    }
}

/// Whether a list of messages is of Vercel's AI SDK. Most are not, which a glance shows.
pub(super) fn is_of_sdk(list: Value<'_, '_>) -> bool {
    toolcheck_json::contains(list.raw(), b"\"toolCallId\"") && vercel_ai::is_list(list)
}

/// Whether an object is a page of a list as OpenAI's API returns it, which begins with the newest unless it is asked for
/// another order.
pub(super) fn is_page(value: Value<'_, '_>) -> bool {
    value.is("object", "list") && value.get_any(&["first_id", "has_more"]).is_some()
}

/// How sure a format must be of a list of messages.
const SURE_OF_LIST: u8 = certainty::TEXT - 5;

/// The format that is surest of a request or of a list of messages.
pub(super) fn surest(value: Value<'_, '_>) -> Option<&'static Format> {
    let sure = formats::ALL.iter().rev().map(|format| ((format.sniff)(value), *format));
    let (sure, format) = sure.max_by_key(|(sure, _)| *sure)?;
    (sure >= SURE_OF_LIST).then_some(format)
}

/// What a member of an object is, if a voice agent's platform repeats in it the messages that another one has: LiveKit's reports
/// of sessions have the events of their items (`SessionReport.to_dict` in
/// `livekit-agents/livekit/agents/voice/report.py` of livekit/agents), and Vapi's calls their messages again, also in the form of
/// OpenAI (`Artifact` in <https://docs.vapi.ai/api-reference/calls/get>).
pub(super) fn repeated_by_voice(value: Value<'_, '_>, member: Value<'_, '_>) -> Option<&'static str> {
    let is_list = |key: &str| value.has_list(key);
    if member.has_key("events") {
        let items = value.get_in(&["chat_history", "items"]);
        return items.and_then(|items| items.elements().next()).map(|_| "events beside messages");
    }
    let of_openai = "messagesOpenAIFormatted";
    let is_again = member.has_key(of_openai)
        || member.has_key("conversation") && is_list(of_openai)
        || member.has_key("artifact")
            && member.get("messages").is_some_and(|again| {
                let is_of_call = |message: Value<'_, '_>| message.has("secondsFromStart");
                let count = |key| value.list(key).count();
                value.list("messages").any(is_of_call) && count("messages") == again.elements().count()
            });
    (is_again && is_list("messages")).then_some("lists of messages that another one repeats")
}

/// Whether a member of an object repeats what another one has.
pub(super) fn is_copy(value: Value<'_, '_>, member: Value<'_, '_>) -> bool {
    // Gemini CLI keeps the call that a checkpoint is made for beside the history that ends with it
    // (`packages/core/src/utils/checkpointUtils.ts`).
    let is_of_checkpoint = || value.has_list("clientHistory");
    // DSPy keeps what it has taken out of a response beside it (`dspy/clients/base_lm.py`), and DevTools too.
    let is_of_response =
        || value.get_any(&["response", "raw_response"]).is_some_and(unsupported::is_response);
    // Of older chats of Open WebUI, only the messages by their ids have the items of the turns.
    let is_shown = || {
        let all = value.get_in(&["history", "messages"]);
        all.is_some_and(message_lines::has_outputs) && !message_lines::has_outputs(member)
    };
    // MLflow shows of a trace what its spans have.
    let is_preview = || {
        let spans = value.get_in(&["data", "spans"]);
        spans.is_some_and(|spans| spans.elements().next().is_some())
    };
    // Agno's runs have the blocks of Claude's last answer beside the messages (`libs/agno/agno/run/agent.py`).
    member.has_key("model_provider_data") && value.has("messages")
        || member.has_key("messages") && is_shown()
        || member.has_key("info") && is_preview()
        || member.has_key("toolCall") && is_of_checkpoint()
        || (member.has_key("outputs") || member.has_key("output")) && is_of_response()
}

/// Whether a member of a row of NeMo Gym is what a verifier expects beside the request.
pub(super) fn is_expected_in_gym(row: Value<'_, '_>, member: Value<'_, '_>) -> bool {
    member.has_key("expected_action") && row.has("responses_create_params")
}
