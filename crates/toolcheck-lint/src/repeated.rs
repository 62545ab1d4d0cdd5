//! Findings that several conversations of a file have, in one record or in several, because each repeats what was said before.

use std::borrow::Borrow;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use foldhash::{HashMap, HashSet};
use toolcheck_core::ir::{Body, Role, Transcript};
use toolcheck_json::Document;

use crate::finding::{CallKey, Draft, Finding, FindingKey};

/// What was found in the conversations before. Spans and states repeat the history, and a fault in it is one fault.
#[derive(Debug, Default)]
pub struct ReportedFindings(HashSet<u64>);

impl ReportedFindings {
    /// Longer values are not compared.
    const LONGEST: usize = 1 << 16;
    /// No more findings of a file are remembered.
    const MOST: usize = 1 << 16;

    /// Leaves out of the findings from `start` on those of the same rule about a value that is written in the same way, if
    /// the same was said before it: two conversations may have the same call by chance. Returns what it leaves out.
    pub(crate) fn leave_out(
        &mut self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        drafts: &mut Vec<Draft>,
        start: usize,
    ) -> Vec<Draft> {
        let said = SaidBefore::each_message(transcript);
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for mut draft in drafts.split_off(start) {
            let value = document.value(draft.place.node).raw();
            if value.len() <= Self::LONGEST {
                let key = said.key(&draft, hash_without_space(value));
                draft.said_mut().into_iter().for_each(|said| said.reported = Some(key));
                if self.knows(&key) {
                    known.push(draft);
                    continue;
                }
                new.push(key);
            }
            drafts.push(draft);
        }
        new.iter().for_each(|key| self.add(key));
        known
    }

    /// Leaves out the findings of the next piece of a file that were in those before.
    pub fn leave_out_of_piece<F: Borrow<Finding>>(&mut self, findings: &mut Vec<F>) {
        findings.retain(|finding| finding.borrow().reported.is_none_or(|key| !self.knows(&key)));
        findings.iter().filter_map(|finding| finding.borrow().reported).for_each(|key| self.add(&key));
    }

    /// Whether a finding that stands for all of its rule and case in a file is the first. The others are left out.
    pub(crate) fn is_first(&mut self, draft: &mut Draft, case: &str) -> bool {
        let key = FindingKey { said: hash((draft.rule, case)), call: None };
        let is_first = !self.knows(&key);
        self.add(&key);
        draft.say().reported = Some(key);
        is_first
    }

    fn knows(&self, key: &FindingKey) -> bool {
        let has = |call: &CallKey| {
            self.0.contains(&call.in_answer) || call.is_in_answer && self.0.contains(&call.in_history)
        };
        self.0.contains(&key.said) || key.call.as_ref().is_some_and(has)
    }

    fn add(&mut self, key: &FindingKey) {
        if self.0.len() < Self::MOST {
            self.0.insert(key.said);
            self.0.extend(key.call.as_ref().map(CallKey::own));
        }
    }
}

/// The findings of a record, by what they are known by.
#[derive(Debug, Default)]
pub(crate) struct Originals(HashMap<u64, usize>);

impl Originals {
    /// Adds the finding with this number.
    pub(crate) fn add(&mut self, number: usize, finding: &Finding) {
        let Some(key) = &finding.reported else { return };
        for hash in std::iter::once(key.said).chain(key.call.as_ref().map(CallKey::own)) {
            self.0.entry(hash).or_insert(number);
        }
    }

    /// The number of the finding that another one repeats.
    pub(crate) fn of(&self, copy: &Finding) -> Option<usize> {
        let key = copy.reported.as_ref()?;
        let in_answer = key.call.as_ref().map(|call| call.in_answer);
        let in_history = key.call.as_ref().filter(|call| call.is_in_answer).map(|call| call.in_history);
        let hashes = [Some(key.said), in_answer, in_history];
        hashes.into_iter().flatten().find_map(|hash| self.0.get(&hash).copied())
    }
}

/// Shorter ids are counted by a program, so that other calls have them too.
const SHORTEST_ID: usize = 12;

fn hash(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

/// What was said in a conversation before each of its messages, as hashes.
struct SaidBefore {
    /// Where messages and their parts begin, each with what was said before the message, and the id of the call that the part
    /// is.
    places: Vec<(u32, u64, Option<u64>)>,
}

impl SaidBefore {
    fn each_message(transcript: &Transcript<'_>) -> Self {
        let mut hasher = DefaultHasher::new();
        let mut places = Vec::new();
        for (message, parts) in transcript.messages_with_parts() {
            let before = hasher.finish();
            places.push((message.place.span.start, before, None));
            for part in parts {
                let id = part.call().and_then(|call| call.id.as_ref());
                let id = id.filter(|id| id.text.len() >= SHORTEST_ID);
                places.push((part.place.span.start, before, id.map(|id| hash(&id.text))));
                // What a program puts before the conversation may change with each request.
                if message.role != Role::System {
                    add(&mut hasher, &part.body);
                }
            }
        }
        // Of two that begin at one place, the first message counts.
        toolcheck_json::sort_by_position(&mut places, |(start, ..)| *start as usize);
        places.dedup_by_key(|(start, ..)| *start);
        Self { places }
    }

    fn key(&self, draft: &Draft, value: u64) -> FindingKey {
        let next = self.places.partition_point(|(own, ..)| *own <= draft.place.span.start);
        let (_, before, id) = next.checked_sub(1).map_or((0, 0, None), |number| self.places[number]);
        let call = id.map(|id| CallKey {
            in_answer: hash((draft.rule, value, id, true)),
            in_history: hash((draft.rule, value, id, false)),
            is_in_answer: before == DefaultHasher::new().finish(),
        });
        FindingKey { said: hash((draft.rule, value, before)), call }
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
