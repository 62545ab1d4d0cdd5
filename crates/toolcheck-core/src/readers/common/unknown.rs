//! What no reader knows: whatever looks like a call or a result is reported, so that it does not look clean.

use std::cell::LazyCell;

use foldhash::HashSet;
use toolcheck_json::{Document, NodeId, Value};

use super::{Conversation, ConversationEnd, LeftOut, Reader, Reading, SourceKind, broken, parts};
use crate::ir::{Body, Message, Part, Role, Transcript, Unread, UnreadKind};
use crate::unread;

/// Adds what the conversations of a unit have in parts and keys that nothing was read from.
pub(crate) fn add<'s>(reader: &Reader, reading: &mut Reading<'s>, document: &Document<'s>) {
    let Reading { conversations, left_out, unread, .. } = reading;
    for conversation in conversations.iter_mut() {
        let transcript = &mut conversation.transcript;
        // What is in a wire format has rules of its own.
        if transcript.format.is_some_and(|format| format.id == reader.id) {
            count(transcript, document, left_out);
        }
        add_parts(transcript, document);
        if matches!(reader.kind, SourceKind::Dataset | SourceKind::History) {
            transcript.unread.extend(unread::hidden(transcript, document));
        }
    }
    // Where nothing else was read, it must be said all the same.
    if let ([], Some(first)) = (&conversations[..], unread.first()) {
        let transcript = Transcript::of_conversation(reader.key(), document.value(first.place.node));
        conversations.push(Conversation::new("main", transcript, ConversationEnd::Open));
    }
    // What is in no conversation belongs to the one that begins before it.
    for unread in unread.drain(..) {
        let start = unread.place.span.start;
        let begins_before = |transcript: &Transcript<'_>| {
            transcript.messages.first().is_some_and(|first| first.place.span.start <= start)
        };
        let number = conversations.iter().rposition(|one| begins_before(&one.transcript));
        if let Some(conversation) = conversations.get_mut(number.unwrap_or_default()) {
            conversation.transcript.unread.push(unread);
        }
    }
}

/// Counts what is not known and does not look like a call or a result.
fn count<'s>(transcript: &mut Transcript<'s>, document: &Document<'s>, left_out: &mut LeftOut) {
    let is_unknown = |value: Value<'_, '_>| {
        let kind = value.get_any(&unread::KINDS).and_then(Value::as_str);
        // What a compaction left is sealed.
        let is_known = |kind: &str| parts::is_media(kind) || unread::is_no_call(kind) || kind == "compaction";
        kind.is_some_and(|kind| !is_known(&kind)) && unread::part(value).is_none()
    };
    let opaque = transcript.parts.iter().filter(|part| matches!(part.body, Body::Opaque));
    let count = opaque.filter(|part| is_unknown(document.value(part.place.node))).count();
    left_out.add("parts of unknown kinds", count);
    let is_unknown = |message: &&Message<'_>| {
        message.role == Role::Unknown && !broken::is_broken(document.value(message.place.node))
    };
    let speakers = transcript.messages.iter().filter(is_unknown).count();
    if speakers > 0 {
        // Of what was read, only the role is not known.
        let is_paired = |part: &Part<'_>| matches!(part.body, Body::Call(_) | Body::Result(_));
        let unread = transcript.messages_with_parts().filter(|(_, parts)| !parts.iter().any(is_paired));
        let unread = unread.map(|(message, _)| message).filter(is_unknown);
        let found = unread.filter_map(|message| unread::record(document.value(message.place.node)));
        let mut known = known(transcript);
        let found: Vec<_> = found.filter(|unread| known.insert(unread.place.node)).collect();
        transcript.unread.extend(found);
    }
    left_out.add("messages of unknown speakers", speakers.saturating_sub(transcript.unread.len()));
}

fn known(transcript: &Transcript<'_>) -> HashSet<NodeId> {
    transcript.unread.iter().map(|unread| unread.place.node).collect()
}

fn add_parts<'s>(transcript: &mut Transcript<'s>, document: &Document<'s>) {
    let opaque = transcript.parts.iter().filter(|part| matches!(part.body, Body::Opaque));
    let mut found: Vec<_> = opaque.filter_map(|part| unread::part(document.value(part.place.node))).collect();
    // Where those begin that were read.
    let starts = |is_wanted: fn(&Body<'_>) -> bool| {
        let wanted = transcript.parts.iter().filter(|part| is_wanted(&part.body));
        let mut starts: Vec<u32> = wanted.map(|part| part.place.span.start).collect();
        starts.sort_unstable();
        starts
    };
    let calls = LazyCell::new(|| starts(|body| matches!(body, Body::Call(_))));
    let results = LazyCell::new(|| starts(|body| matches!(body, Body::Result(_))));
    // AutoGen's summary of a turn has the calls of the events before it again.
    let ids = LazyCell::new(|| transcript.call_ids().collect::<HashSet<_>>());
    let is_again = |unread: &Unread<'_>| {
        let mut calls = document.value(unread.place.node).elements();
        let is_known = |call: Value<'_, '_>| call.get_str("id").is_some_and(|id| ids.contains(&*id));
        calls.clone().next().is_some() && calls.all(is_known)
    };
    // A record may become several messages, with its results between them: what comes back is looked at once more at most.
    let (mut furthest, mut again) = (None, HashSet::default());
    for message in &transcript.messages {
        let node = message.place.node;
        if Some(node) > furthest {
            furthest = Some(node);
        } else if Some(node) == furthest || !again.insert(node) {
            continue;
        }
        let value = document.value(message.place.node);
        let span = value.span();
        // Where one of them was read, another key is mostly a copy of it.
        let is_read = |starts: &[u32]| {
            let next = starts.partition_point(|start| *start < span.start);
            starts.get(next).is_some_and(|start| *start < span.end)
        };
        found.extend(unread::members(value).filter(|unread| match unread.what {
            // Agno keeps results under the key of calls.
            UnreadKind::Calls => {
                let span = unread.place.span;
                let next = results.partition_point(|start| *start <= span.start);
                // A result may hold a copy of its call.
                let is_copy = message.role == Role::Tool && is_read(&results);
                !is_copy
                    && !is_read(&calls)
                    && results.get(next).is_none_or(|start| *start >= span.end)
                    && !is_again(unread)
            }
            UnreadKind::Results => !is_read(&results),
            UnreadKind::Tools => false,
        }));
    }
    if found.is_empty() && calls.is_empty() && transcript.unread.is_empty() {
        // The first of them stands for all.
        let mut messages = transcript.messages.iter().map(|message| document.value(message.place.node));
        found.extend(messages.find_map(unread::raw));
    }
    if !found.is_empty() {
        let mut known = known(transcript);
        found.retain(|unread| known.insert(unread.place.node));
        transcript.unread.extend(found);
    }
}
