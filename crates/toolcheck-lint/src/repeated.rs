//! Findings that several conversations of a file have, in one record or in several, because each repeats what was said before.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};

use foldhash::HashSet;
use toolcheck_core::ir::{Body, Role, Transcript};
use toolcheck_json::Document;

use crate::finding::{Draft, Finding};

/// What was found in the conversations before. Spans and states repeat the history, and a fault in it is one fault.
#[derive(Debug, Default)]
pub(crate) struct ReportedFindings(HashSet<u64>);

impl ReportedFindings {
    /// Longer values are not compared.
    const LONGEST: usize = 1 << 16;
    /// No more findings of a file are remembered.
    const MOST: usize = 1 << 16;

    /// Leaves out of the findings from `start` on those of the same rule about a value that is written in the same way, if
    /// the same was said before it: two conversations may have the same call by chance.
    pub(crate) fn leave_out(
        &mut self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        drafts: &mut Vec<Draft>,
        start: usize,
    ) {
        let said = SaidBefore::each_message(transcript);
        let mut new = Vec::new();
        for mut draft in drafts.split_off(start) {
            let value = document.value(draft.place.node).raw();
            if value.len() <= Self::LONGEST {
                let at = said.at(draft.place.span.start);
                let key = BuildHasherDefault::<DefaultHasher>::default().hash_one((
                    draft.rule,
                    hash_without_space(value),
                    at,
                ));
                new.push(key);
                if self.0.contains(&key) {
                    continue;
                }
                draft.said_mut().into_iter().for_each(|said| said.reported = Some(key));
            }
            drafts.push(draft);
        }
        new.truncate(Self::MOST.saturating_sub(self.0.len()));
        self.0.extend(new);
    }

    /// Leaves out the findings of the next piece of a file that were in those before.
    pub(crate) fn leave_out_of_piece(&mut self, findings: &mut Vec<Finding>) {
        findings.retain(|finding| finding.reported.is_none_or(|key| !self.0.contains(&key)));
        let room = Self::MOST.saturating_sub(self.0.len());
        self.0.extend(findings.iter().filter_map(|finding| finding.reported).take(room));
    }
}

/// What was said in a conversation before each of its messages, as hashes.
struct SaidBefore {
    /// Where messages and their parts begin, each with what was said before the message.
    places: Vec<(u32, u64)>,
}

impl SaidBefore {
    fn each_message(transcript: &Transcript<'_>) -> Self {
        let mut hasher = DefaultHasher::new();
        let mut places = Vec::new();
        for (message, parts) in transcript.messages_with_parts() {
            let before = hasher.finish();
            places.push((message.place.span.start, before));
            for part in parts {
                places.push((part.place.span.start, before));
                // What a program puts before the conversation may change with each request.
                if message.role != Role::System {
                    add(&mut hasher, &part.body);
                }
            }
        }
        // Of two that begin at one place, the first message counts.
        toolcheck_json::sort_by_position(&mut places, |(start, _)| *start as usize);
        places.dedup_by_key(|(start, _)| *start);
        Self { places }
    }

    fn at(&self, start: u32) -> u64 {
        let next = self.places.partition_point(|(own, _)| *own <= start);
        next.checked_sub(1).map_or(0, |number| self.places[number].1)
    }
}

/// Adds what a part says, however the file writes it.
fn add(hasher: &mut DefaultHasher, body: &Body<'_>) {
    let mut write = |kind: u8, text: &str| {
        hasher.write_u8(kind);
        hasher.write(text.as_bytes());
        hasher.write_u8(0xff);
    };
    match body {
        Body::Text(text) if text.string.is_text() => {
            let text = text.string.decode();
            if !text.trim().is_empty() {
                write(1, text.trim());
            }
        }
        Body::Call(call) => {
            write(2, call.id.as_ref().map_or("", |id| &id.text));
            write(3, call.name.as_ref().map_or("", |name| &name.text));
        }
        Body::Result(result) => write(4, result.call_id.as_ref().map_or("", |id| &id.text)),
        _ => {}
    }
}

/// A hash of a value without the whitespace between its tokens: the same value may be indented differently.
fn hash_without_space(value: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let (mut is_in_string, mut is_escaped) = (false, false);
    for &byte in value {
        if is_in_string || !byte.is_ascii_whitespace() {
            hasher.write_u8(byte);
        }
        if byte == b'"' && !is_escaped {
            is_in_string = !is_in_string;
        }
        is_escaped = is_in_string && byte == b'\\' && !is_escaped;
    }
    hasher.finish()
}
