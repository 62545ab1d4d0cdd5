//! What a conversation begins with, by which an exchange is found again.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use toolcheck_core::ir::{Body, Message, Part, Role, Transcript};
use toolcheck_json::Document;

use super::brings_results;
use crate::view::arguments::hash_of;

/// The hashes of a transcript's first messages: verbatim, and by their calls alone.
pub(crate) struct Histories {
    /// For each number of messages, the verbatim hash and the hash of the calls.
    pub(super) first: Vec<[u64; 2]>,
    /// For each number of messages, the hash of the arguments in them as they are written.
    pub(super) arguments: Vec<u64>,
    /// The hash of the format and the model.
    pub(super) sent_to: u64,
    /// The hash of the messages as they are written, with all arguments and results.
    pub(super) written: u64,
    /// Whether the last message is a text from the user.
    ends_with_text: bool,
}

/// The hash of an empty history.
pub(super) const NO_HISTORY: u64 = 0;

impl Histories {
    pub(crate) fn of(document: &Document<'_>, transcript: &Transcript<'_>) -> Self {
        let mut all = Vec::with_capacity(transcript.messages.len() + 1);
        let mut hashes = [NO_HISTORY; 2];
        let mut has_begun = false;
        let mut written = FixedState::default().build_hasher();
        let mut arguments = vec![written.finish()];
        all.push(hashes);
        for (message, parts) in transcript.messages_with_parts() {
            // System messages may change with every request: the time, the open files.
            if message.role != Role::System {
                for (way, hash) in hashes.iter_mut().enumerate() {
                    let mut hasher = DefaultHasher::new();
                    hash.hash(&mut hasher);
                    // The first message identifies the conversation, whatever is called in it.
                    hash_message(message, parts, way == 0 || !has_begun, &mut hasher);
                    *hash = hasher.finish();
                }
                has_begun = true;
            }
            all.push(hashes);
            for part in parts {
                if let Body::Call(call) = &part.body {
                    written.write(&call.arguments.json(document));
                }
            }
            arguments.push(written.finish());
        }
        let ends_with_text = transcript
            .messages
            .last()
            .is_some_and(|last| last.role == Role::User && !brings_results(transcript.parts_of(last)));
        let sent_to = hash_of((transcript.format.map(|format| format.id), &transcript.request.model));
        let mut written = FixedState::default().build_hasher();
        for message in &transcript.messages {
            written.write(document.bytes().get(message.place.span.range()).unwrap_or_default());
        }
        Self { first: all, arguments, sent_to, written: written.finish(), ends_with_text }
    }

    /// The verbatim hash of all messages; `None` if there are none.
    pub(super) fn whole(&self) -> Option<u64> {
        self.first.last().map(|[verbatim, _]| *verbatim).filter(|hash| *hash != NO_HISTORY)
    }

    /// The hashes by which a later request can find this exchange.
    pub(super) fn keys(&self) -> Vec<u64> {
        let without_last = self.first.len().checked_sub(2).filter(|_| self.ends_with_text);
        let all = [self.first.len().checked_sub(1), without_last];
        let mut keys: Vec<u64> = all.into_iter().flatten().flat_map(|length| self.first[length]).collect();
        keys.retain(|key| *key != NO_HISTORY);
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

fn hash_message(message: &Message<'_>, parts: &[Part<'_>], with_texts: bool, hasher: &mut DefaultHasher) {
    (message.role as u8).hash(hasher);
    for part in parts {
        match &part.body {
            Body::Text(text) if with_texts => text.string.decode().hash(hasher),
            Body::Call(call) => {
                call.id.as_ref().map(|id| &id.text).hash(hasher);
                call.name.as_ref().map(|name| &name.text).hash(hasher);
            }
            Body::Result(result) => {
                result.call_id.as_ref().map(|id| &id.text).hash(hasher);
                result.name.as_ref().map(|name| &name.text).hash(hasher);
            }
            _ => {}
        }
    }
}
