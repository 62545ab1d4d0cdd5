//! A model's response, read from a single value or assembled from the events of a stream.

mod by_path;

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde_json::Value as Json;
use toolcheck_json::Value;

use crate::ir::{
    Arguments, Body, Call, Content, Executor, FormatId, Message, Named, Part, Place, Role, Signature,
    ToolKind, Transcript,
};
use crate::{conversation, details, unread};

/// One choice of a response; a request can ask for several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The calls, in order.
    pub calls: Vec<ChoiceCall>,
    /// The text besides the calls.
    pub text: String,
    /// The model's reasoning, in order.
    pub reasoning: Vec<ChoiceReasoning>,
    /// The model's reasoning once more, as a gateway keeps it with its signatures.
    pub details: Vec<ChoiceReasoning>,
    /// How many of its parts are of kinds that are not known.
    pub unknown: usize,
    /// Whether the choice is complete: one that was cut off, filtered or aborted need not be kept.
    pub is_whole: bool,
    /// Whether it was streamed, and the stream ends before it does.
    pub breaks_off: bool,
    /// What keeps its pieces from being put together, if it was streamed.
    pub fault: Option<StreamFault>,
}

/// What keeps the pieces of a stream from being put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamFault {
    /// The piece, or the start of the call.
    pub place: Place,
    /// What is missing.
    pub missing: Missing,
}

/// What a stream lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The start of the block with this number.
    Start(u64),
    /// What a call has under this key.
    Key(&'static str),
}

/// A call in a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceCall {
    /// The id, if there is one.
    pub id: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// The arguments, as JSON; empty if there are none.
    pub arguments: String,
    /// The signature over the reasoning that led to it, where the API signs calls.
    pub signature: Option<String>,
    /// Who executes the call.
    pub executor: Executor,
    /// The kind of tool that it calls.
    pub kind: ToolKind,
    /// Whether the arguments are written as an object, so that the end of a response does not show in them.
    pub is_object: bool,
    /// Whether the API sends a call only once the model has finished it, so that no response ends inside it.
    pub is_sent_whole: bool,
    /// Whether all arguments were read: some streams bring them in forms that are not.
    pub has_all_arguments: bool,
    /// The place of the call or, if streamed, of its first piece.
    pub place: Place,
}

/// A block of reasoning, in a choice or in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceReasoning {
    /// The text, which may be a summary; empty if the provider only shows the signature.
    pub text: String,
    /// The signature or the encrypted form; `None` if there is none.
    pub signature: Option<String>,
    /// The place of the block or, if streamed, of its first piece.
    pub place: Place,
}

impl ChoiceReasoning {
    pub(crate) fn new(read: conversation::Reasoning, place: Place) -> Self {
        Self { text: read.text, signature: read.signature, place }
    }
}

impl Choice {
    /// How many of the calls the model has finished: a stream that was aborted may end inside its last call.
    pub fn finished_calls(&self) -> usize {
        let may_end_inside = |last: &ChoiceCall| !self.is_whole && !last.is_sent_whole;
        self.calls.len() - usize::from(self.calls.last().is_some_and(may_end_inside))
    }

    /// The calls that the model has finished, as a transcript. `texts` is a list of the arguments of all calls, each as a
    /// text: those of a stream are nowhere in its file.
    pub fn as_said<'s>(
        &'s self,
        format: FormatId,
        root: Value<'_, 's>,
        texts: Value<'_, 's>,
    ) -> Transcript<'s> {
        let mut transcript = Transcript::new(format, root);
        transcript
            .open_message(Message { content: Content::Filled, ..Message::new(Role::Assistant, root, 0) });
        for (call, text) in self.calls[..self.finished_calls()].iter().zip(texts.elements()) {
            let place = call.place;
            let named = |text: &'s Option<String>| {
                text.as_deref().map(|text| Named { text: text.into(), place, instead: None })
            };
            let arguments = text.as_json_str().filter(|text| !text.is_empty() && call.has_all_arguments);
            let body = Body::Call(Call {
                id: named(&call.id),
                name: named(&call.name),
                arguments: arguments.map_or(Arguments::Missing, |text| Arguments::Text(text, place)),
                executor: call.executor,
                kind: call.kind,
                signature: Signature::Missing,
                unpaired: None,
            });
            transcript.push(Part { place, index: 0, body });
        }
        transcript
    }

    /// The arguments of its calls, as a list of texts in JSON.
    pub fn arguments(&self) -> String {
        let texts: Vec<&str> = self.calls.iter().map(|call| &*call.arguments).collect();
        serde_json::to_string(&texts).unwrap_or_default()
    }
}

impl ChoiceCall {
    pub(crate) fn new<'d, 's>(call: &Call<'s>, value: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) -> Self {
        let text = |name: &Option<Named<'_>>| {
            name.as_ref().map(|name| name.text.to_string()).filter(|name| !name.is_empty())
        };
        let arguments = String::from_utf8_lossy(&call.arguments.json(value.document())).into_owned();
        let (id, name) = (text(&call.id), text(&call.name));
        let is_object = matches!(call.arguments, Arguments::Object(_));
        let (executor, kind, place) = (call.executor, call.kind, locate(value));
        Self {
            id,
            name,
            arguments,
            signature: None,
            executor,
            kind,
            is_object,
            is_sent_whole: false,
            has_all_arguments: true,
            place,
        }
    }

    /// Whether it calls a function of the client, whose arguments are a JSON object.
    pub fn is_of_function(&self) -> bool {
        self.executor == Executor::Client
            && matches!(self.kind, ToolKind::Function | ToolKind::LegacyFunction)
    }
}

/// Finds a value's place in the file: a response inside a string is parsed as a separate document.
pub(crate) type Locate<'l, 'd, 's> = dyn Fn(Value<'d, 's>) -> Place + 'l;

pub(crate) type ReadReasoning = for<'d, 's> fn(Value<'d, 's>) -> conversation::Reasoning;

impl Choice {
    /// Adds the blocks of reasoning in a list of details.
    fn add_details<'d, 's>(&mut self, list: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
        self.details
            .extend(details::read(list).map(|(block, read)| ChoiceReasoning::new(read, locate(block))));
    }

    /// Summarises a completion in the document of `root`.
    pub(crate) fn new<'d, 's>(
        said: &Completion<'s>,
        root: Value<'d, 's>,
        reasoning: ReadReasoning,
        locate: &Locate<'_, 'd, 's>,
    ) -> Self {
        let mut answer = Self { is_whole: said.is_whole, ..Self::default() };
        for part in &said.transcript.parts {
            match &part.body {
                Body::Call(call) => {
                    let value = root.document().value(part.place.node);
                    let mut said = ChoiceCall::new(call, value, locate);
                    if call.signature == Signature::Present {
                        said.signature = reasoning(value).signature;
                    }
                    answer.calls.push(said);
                }
                Body::Text(text) => text.string.decode_into(&mut answer.text),
                Body::Reasoning(_) => {
                    let value = root.document().value(part.place.node);
                    answer.reasoning.push(ChoiceReasoning::new(reasoning(value), locate(value)));
                }
                Body::Opaque if unread::is_unknown(root.document().value(part.place.node)) => {
                    answer.unknown += 1;
                }
                _ => {}
            }
        }
        for message in &said.transcript.messages {
            if let Some(list) = root.document().value(message.place.node).get(details::KEY) {
                answer.add_details(list, locate);
            }
        }
        answer
    }
}

/// Whether a choice with this finish reason is complete: the reason is missing or one of `whole`. A `null` reason means
/// that the choice never ended.
pub(crate) fn is_whole(reason: Option<Value<'_, '_>>, whole: &[&str]) -> bool {
    reason.is_none_or(|reason| reason.as_str().is_some_and(|reason| whole.contains(&&*reason)))
}

/// A streamed response, as far as its events have been read.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    answers: BTreeMap<u64, Growing>,
}

/// A choice, as far as its events have been read.
#[derive(Debug, Default)]
struct Growing {
    /// The calls, in the order of their first pieces.
    calls: Vec<ChoiceCall>,
    /// For each number in the stream, the index of the last call with it. A stream may have very many calls.
    numbers: BTreeMap<u64, usize>,
    /// The text besides the calls.
    text: String,
    /// The blocks of reasoning, by their numbers in the stream.
    reasoning: BTreeMap<u64, ChoiceReasoning>,
    details: Vec<ChoiceReasoning>,
    unknown: usize,
    /// Whether the choice is complete, once it has ended.
    is_whole: Option<bool>,
    /// The blocks that have begun and are no calls, by their numbers in the stream.
    others: BTreeSet<u64>,
    /// The arguments of the last call, while they come as values with paths.
    by_path: Option<Json>,
    /// Whether there are arguments of a call whose start is missing.
    lacks_start: bool,
    fault: Option<StreamFault>,
}

impl Growing {
    fn numbered(&mut self, number: u64) -> Option<&mut ChoiceCall> {
        self.numbers.get(&number).map(|&index| &mut self.calls[index])
    }

    fn push(&mut self, number: u64, call: ChoiceCall) {
        self.close_arguments();
        self.numbers.insert(number, self.calls.len());
        self.calls.push(call);
    }

    /// Writes the arguments that came as values with paths.
    fn close_arguments(&mut self) {
        if let (Some(whole), Some(call)) = (self.by_path.take(), self.calls.last_mut()) {
            call.arguments = whole.to_string();
        }
    }

    /// Notes a piece of arguments of a block that may not have begun: nothing can put them together.
    fn needs_start(&mut self, number: Option<u64>, place: impl FnOnce() -> Place) {
        let is_begun = |number: &u64| self.others.contains(number) || self.numbers.contains_key(number);
        if let Some(number) = number.filter(|number| self.fault.is_none() && !is_begun(number)) {
            self.fault = Some(StreamFault { place: place(), missing: Missing::Start(number) });
        }
    }

    /// The first call that ends without its name, or without its id: `ids` says whether all have one, or those of some
    /// servers; `None` if none need one.
    fn incomplete(&self, ids: Option<bool>) -> Option<StreamFault> {
        let has_id = |call: &ChoiceCall| call.id.is_some();
        let needs_ids = ids.is_some_and(|always| always || self.calls.iter().any(has_id));
        // More of the last call may have been on its way.
        let ended = self.calls.len() - usize::from(self.is_whole.is_none() && !self.calls.is_empty());
        self.calls[..ended].iter().filter(|call| call.is_of_function()).find_map(|call| {
            let key = match (&call.name, &call.id) {
                (None, None) if call.arguments.is_empty() => return None,
                (None, _) => "name",
                (_, None) if needs_ids && call.kind == ToolKind::Function => "id",
                _ => return None,
            };
            Some(StreamFault { place: call.place, missing: Missing::Key(key) })
        })
    }
}

impl Assembly {
    /// Notes that a block that is no call has begun.
    pub(crate) fn begin(&mut self, answer: u64, number: Option<u64>) {
        self.answers.entry(answer).or_default().others.extend(number);
    }

    /// Starts a call, or continues the call with this number. If a server gives all calls the same number, their ids
    /// distinguish them.
    pub(crate) fn call(&mut self, answer: u64, number: u64, call: ChoiceCall) {
        let answer = self.answers.entry(answer).or_default();
        match answer.numbered(number) {
            Some(known) if call.id.is_none() || known.id.is_none() || known.id == call.id => {
                known.id = known.id.take().or(call.id);
                // Some servers repeat the name, and others bring it in pieces.
                match (&mut known.name, call.name) {
                    (Some(name), Some(piece)) if *name != piece => name.push_str(&piece),
                    (name, piece) => *name = name.take().or(piece),
                }
                known.arguments.push_str(&call.arguments);
                known.has_all_arguments |= call.has_all_arguments;
            }
            _ => answer.push(number, call),
        }
    }

    /// Adds a call that has no number or is the first with its number.
    pub(crate) fn next_call(&mut self, answer: u64, number: Option<u64>, call: ChoiceCall) {
        let answer = self.answers.entry(answer).or_default();
        answer.push(number.unwrap_or(answer.calls.len() as u64), call);
    }

    /// Appends to the arguments of the call with this number. Without `locate`, the call may come later.
    pub(crate) fn arguments<'d, 's>(
        &mut self,
        answer: u64,
        number: Option<u64>,
        piece: Option<Value<'d, 's>>,
        locate: Option<&Locate<'_, 'd, 's>>,
    ) {
        let answer = self.answers.entry(answer).or_default();
        let text = |piece: Value<'d, 's>| Some((piece, piece.as_json_str()?));
        let Some((value, piece)) = piece.and_then(text).filter(|(_, piece)| !piece.is_empty()) else {
            return;
        };
        if let Some(locate) = locate {
            answer.needs_start(number, || locate(value));
        }
        let Some(call) = number.and_then(|number| answer.numbered(number)) else {
            answer.lacks_start = true;
            return;
        };
        // The placeholder at the start of a call.
        if call.arguments == "{}" {
            call.arguments.clear();
        }
        call.is_object = false;
        piece.decode_into(&mut call.arguments);
    }

    /// Begins the arguments of the last call that come as values with paths, with those that are there.
    pub(crate) fn open_arguments(&mut self, answer: u64, known: Json) {
        self.answers.entry(answer).or_default().by_path = Some(known);
    }

    /// Puts a value, or none that can be read, into the arguments of the last call.
    pub(crate) fn argument_at(&mut self, answer: u64, path: &str, value: Option<Json>) {
        let answer = self.answers.entry(answer).or_default();
        let put = |(whole, value)| by_path::put(whole, path, value);
        if answer.by_path.as_mut().zip(value).and_then(put).is_some() {
            return;
        }
        let last = answer.calls.last_mut();
        if last.is_none_or(|call| mem::take(&mut call.has_all_arguments)) {
            answer.unknown += 1;
        }
    }

    /// Notes that the last call has all its arguments.
    pub(crate) fn close_arguments(&mut self, answer: u64) {
        let answer = self.answers.entry(answer).or_default();
        if let Some(call) = answer.calls.last_mut().filter(|_| answer.by_path.is_some()) {
            call.is_sent_whole = true;
        }
        answer.close_arguments();
    }

    pub(crate) fn clear_arguments(&mut self, answer: u64, number: u64) {
        if let Some(call) = self.answers.get_mut(&answer).and_then(|answer| answer.numbered(number)) {
            call.arguments.clear();
        }
    }

    pub(crate) fn text(&mut self, answer: u64, piece: Option<Value<'_, '_>>) {
        if let Some(piece) = piece.and_then(Value::as_json_str) {
            piece.decode_into(&mut self.answers.entry(answer).or_default().text);
        }
    }

    pub(crate) fn reasoning(&mut self, answer: u64, number: u64, piece: ChoiceReasoning) {
        if piece.text.is_empty() && piece.signature.is_none() {
            return;
        }
        let blocks = &mut self.answers.entry(answer).or_default().reasoning;
        match blocks.entry(number) {
            Entry::Vacant(entry) => {
                entry.insert(piece);
            }
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.text.push_str(&piece.text);
                if let Some(signature) = piece.signature {
                    known.signature.get_or_insert_default().push_str(&signature);
                }
            }
        }
    }

    /// Adds pieces of the reasoning that a gateway keeps: a text is what many of them say.
    pub(crate) fn details<'d, 's>(&mut self, answer: u64, list: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) {
        let known = &mut self.answers.entry(answer).or_default().details;
        for (block, piece) in details::read(list) {
            match known.last_mut().filter(|last| last.signature.is_none() && piece.signature.is_none()) {
                Some(last) => last.text.push_str(&piece.text),
                None => known.push(ChoiceReasoning::new(piece, locate(block))),
            }
        }
    }

    /// Appends text pieces to the reasoning with this number: of its text, and of its signature.
    pub(crate) fn reasons(
        &mut self,
        answer: u64,
        number: u64,
        [text, signature]: [Option<Value<'_, '_>>; 2],
        place: Place,
    ) {
        let said = |value: Option<Value<'_, '_>>| value.and_then(Value::as_str).map(Cow::into_owned);
        let text = said(text).unwrap_or_default();
        self.reasoning(answer, number, ChoiceReasoning { text, signature: said(signature), place });
    }

    /// Adds a choice that a stream contains as a whole, such as an item that is done, to one that is growing.
    pub(crate) fn add_contents(&mut self, answer: u64, number: u64, said: &Choice) {
        let growing = self.answers.entry(answer).or_default();
        growing.text.push_str(&said.text);
        growing.unknown += said.unknown;
        for block in &said.reasoning {
            self.reasoning(answer, number, block.clone());
        }
    }

    /// Adds what a stream brings whole, also its calls.
    pub(crate) fn add_whole(&mut self, answer: u64, said: Choice) {
        self.add_contents(answer, 0, &said);
        for call in said.calls {
            self.next_call(answer, None, ChoiceCall { is_sent_whole: true, ..call });
        }
    }

    /// Counts a part that is not read, if nothing is known of its kind.
    pub(crate) fn skip(&mut self, answer: u64, part: Value<'_, '_>) {
        if unread::is_unknown(part) {
            self.answers.entry(answer).or_default().unknown += 1;
        }
    }

    pub(crate) fn end(&mut self, answer: u64, is_whole: bool) {
        self.answers.entry(answer).or_default().is_whole = Some(is_whole);
    }

    /// Notes the end of a choice that may have said before how it ends.
    pub(crate) fn stop(&mut self, answer: u64) {
        self.answers.entry(answer).or_default().is_whole.get_or_insert(false);
    }

    pub(crate) fn is_empty(&self) -> bool {
        let is_empty = |answer: &Growing| answer.calls.is_empty() && answer.text.is_empty();
        self.answers.values().all(|answer| is_empty(answer) && answer.fault.is_none())
    }

    /// Replaces everything with the complete response, which the last event of some streams repeats.
    pub(crate) fn replace(&mut self, answers: Vec<Choice>) {
        self.answers = (0u64..)
            .zip(answers)
            .map(|(number, answer)| {
                let mut whole = Growing {
                    text: answer.text,
                    reasoning: (0u64..).zip(answer.reasoning).collect(),
                    details: answer.details,
                    unknown: answer.unknown,
                    is_whole: Some(answer.is_whole),
                    ..Growing::default()
                };
                (0u64..).zip(answer.calls).for_each(|(number, call)| whole.push(number, call));
                (number, whole)
            })
            .collect();
    }

    /// The choices. `ids` says whether all calls have an id, or those of some servers; `None` if none need one.
    pub(crate) fn finish(self, ids: Option<bool>) -> Vec<Choice> {
        let answers = self.answers.into_values().map(|mut answer| {
            answer.close_arguments();
            let fault = answer.fault.or_else(|| answer.incomplete(ids));
            // A call without an id can still be run.
            let is_broken = fault.is_some_and(|fault| fault.missing != Missing::Key("id"));
            Choice {
                calls: answer.calls,
                text: answer.text,
                reasoning: answer.reasoning.into_values().collect(),
                details: answer.details,
                unknown: answer.unknown,
                breaks_off: answer.is_whole.is_none(),
                // A stream without an end was aborted.
                is_whole: answer.is_whole == Some(true) && !answer.lacks_start && !is_broken,
                fault,
            }
        });
        answers.collect()
    }
}

/// A choice of a response that was not streamed, as a transcript.
#[derive(Debug)]
pub struct Completion<'s> {
    /// The messages, as a request would hold them.
    pub transcript: Transcript<'s>,
    /// Whether the choice is complete.
    pub is_whole: bool,
}
