//! What holds for the conversations of all readers.

use foldhash::{HashMap, HashSet};
use toolcheck_json::{Document, NodeId, Value, pointers};

use super::next::NextRequest;
use super::{Conversation, Reader, Reading, SourceKind, Unit, broken, lists, shortened, unknown};
use crate::ir::{Body, Named, Part, Role, TranscriptKind, UnpairedReason};
use crate::rule_id::RuleId;

pub(crate) fn all<'s>(
    reader: &Reader,
    reading: &mut Reading<'s>,
    records: &[Value<'_, 's>],
    document: &Document<'s>,
) {
    name(reading, document);
    if reader.unit == Unit::File {
        broken::settle(reading, records, document);
    }
    unknown::add(reader, reading, document);
    let (mut redacted, mut shortened) = (0, 0);
    for conversation in &mut reading.conversations {
        let transcript = &mut conversation.transcript;
        transcript.kind = match reader.kind {
            SourceKind::Dataset => TranscriptKind::Dataset,
            SourceKind::AgentLog | SourceKind::History | SourceKind::Trace | SourceKind::Protocol => {
                TranscriptKind::Session
            }
        };
        if let Some(agent) = transcript.sent_next_by.and_then(NextRequest::of) {
            let said = transcript.messages.iter().rev().map(|message| document.value(message.place.node));
            transcript.sent_next_to = agent.target_of(said.chain(records.iter().rev().copied()));
        }
        if reader.kind == SourceKind::Protocol {
            shortened += shortened::take_out(transcript, document);
        }
        for part in &mut transcript.parts {
            match &mut part.body {
                Body::Call(call) if is_taken_out(call.id.as_ref()) => {
                    redacted += 1;
                    call.unpaired = Some(UnpairedReason::UnknownId);
                }
                Body::Result(result) if is_taken_out(result.call_id.as_ref()) => {
                    result.unpaired = Some(UnpairedReason::UnknownId);
                }
                _ => {}
            }
        }
    }
    reading.left_out.add("ids of calls that were redacted", redacted);
    reading.left_out.add("schemas that the log has shortened", shortened);
    if reader.kind == SourceKind::Dataset {
        let said = reading.conversations.iter().map(|one| &one.transcript);
        lists::count_unread(&mut reading.left_out, lists::rows(records), said);
    }
    settle_accepted(reading);
    // The rows of a data set have nothing to do with each other, though their ids may be the same, and each request of a
    // trace had to be complete.
    let stand_alone =
        reader.kind == SourceKind::Dataset || reader.kind == SourceKind::Trace && reader.unit == Unit::Record;
    if reading.conversations.len() > 1 && !stand_alone && !reading.is_apart {
        settle_across(reader, reading);
    }
}

/// Says of results in spans that a model has answered, whose calls other spans have, that these are elsewhere: the request was
/// accepted, so that the tracer has left the calls out, as OpenLIT does with messages without a text.
fn settle_accepted(reading: &mut Reading<'_>) {
    let lacks_calls = |one: &Conversation<'_>| {
        let (calls, results) = one.transcript.counts();
        let details = &one.transcript.details;
        results > calls && details.is_answered && details.is_of_span
    };
    if !reading.conversations.iter().any(lacks_calls) {
        return;
    }
    let ids = |one: &Conversation<'_>| -> HashSet<String> {
        one.transcript.call_ids().map(str::to_owned).collect()
    };
    let called: HashSet<String> = reading.conversations.iter().flat_map(ids).collect();
    for one in reading.conversations.iter_mut().filter(|one| lacks_calls(one)) {
        let own = ids(one);
        for part in &mut one.transcript.parts {
            if let Body::Result(result) = &mut part.body
                && let Some(id) = result.call_id.as_ref().map(|id| &*id.text)
                && called.contains(id)
                && !own.contains(id)
            {
                result.unpaired.get_or_insert(UnpairedReason::Elsewhere);
            }
        }
    }
}

/// Names the conversations without a title by their places, all at once: a walk for each would cost the square of them.
fn name(reading: &mut Reading<'_>, document: &Document<'_>) {
    let mut unnamed: Vec<_> = reading.conversations.iter_mut().filter(|one| one.title.is_empty()).collect();
    let places: Vec<NodeId> = unnamed.iter().map(|one| one.transcript.place.node).collect();
    for (one, pointer) in unnamed.iter_mut().zip(pointers(document, &places)) {
        one.title = if pointer.is_empty() { "messages".to_owned() } else { pointer };
    }
}

/// Whether an id was taken out of the file before it was published: one text stands for many ids.
fn is_taken_out(id: Option<&Named<'_>>) -> bool {
    id.is_some_and(|id| {
        let text = id.text.trim_matches(['[', ']', '<', '>', '*']);
        let is_masked = text.is_empty() && !id.text.is_empty();
        // A program may take out only the part that looks random, as in `call_REDACTED`.
        is_masked || text.eq_ignore_ascii_case("redacted") || text.contains("REDACTED")
    })
}

/// The numbers of the conversations that have an id, in order.
type Places = HashMap<String, Vec<usize>>;

/// Marks the calls and results whose other side is in another conversation, such as before a compaction.
fn settle_across(reader: &Reader, reading: &mut Reading<'_>) {
    let (mut called, mut answered) = (Places::default(), Places::default());
    for (number, conversation) in reading.conversations.iter().enumerate() {
        for part in &conversation.transcript.parts {
            let (places, id) = match &part.body {
                Body::Call(call) => (&mut called, &call.id),
                Body::Result(result) => (&mut answered, &result.call_id),
                _ => continue,
            };
            let Some(id) = id else { continue };
            let known = places.entry(id.text.to_string()).or_default();
            if known.last() != Some(&number) {
                known.push(number);
            }
        }
    }
    for (number, conversation) in reading.conversations.iter_mut().enumerate() {
        let is_elsewhere = |places: &Places, id: Option<&Named<'_>>| {
            let known = id.and_then(|id| places.get(&*id.text));
            known.is_some_and(|known| known.binary_search(&number).is_err())
        };
        let transcript = &mut conversation.transcript;
        // A result that the agent does not leave out itself must have its call in what it sends.
        let agent = transcript.sent_next_by.and_then(NextRequest::of);
        let needs_calls = agent.is_some_and(NextRequest::needs_calls);
        let needs_results = agent.is_some_and(|agent| !agent.repairs(RuleId::UnansweredToolCall));
        // What is sent again must be whole: only a call at the end of it may have its result elsewhere.
        let end = transcript.messages.iter().rfind(|message| message.role != Role::Tool);
        let end = end.filter(|_| reader.kind == SourceKind::History || needs_results);
        let first = end.map_or(0, |end| end.parts.start as usize);
        // And only a result at the start of it its call, as where a node adds to the state.
        let is_call = |part: &Part<'_>| matches!(part.body, Body::Call(_));
        let first_call =
            transcript.parts.iter().position(is_call).filter(|_| reader.kind == SourceKind::History);
        let may_begin = |place: usize| first_call.is_none_or(|first| place < first);
        for (place, part) in transcript.parts.iter_mut().enumerate() {
            let (unpaired, is_elsewhere) = match &mut part.body {
                Body::Call(call) => {
                    (&mut call.unpaired, place >= first && is_elsewhere(&answered, call.id.as_ref()))
                }
                Body::Result(result) => {
                    let may_be = !needs_calls && may_begin(place);
                    (&mut result.unpaired, may_be && is_elsewhere(&called, result.call_id.as_ref()))
                }
                _ => continue,
            };
            if is_elsewhere {
                unpaired.get_or_insert(UnpairedReason::Elsewhere);
            }
        }
    }
}
