//! What a model answered: as one value, or put together from the events of a stream.

use std::collections::BTreeMap;

use toolcheck_json::Value;

use crate::ir::{Body, Call, Executor, Named, Place, Transcript};

/// A choice of a response, which has as many as the request asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The calls that it makes, in their order.
    pub calls: Vec<ChoiceCall>,
    /// What it says beside them.
    pub text: String,
    /// Whether it came to its end: one that was cut off, filtered or aborted owes nothing.
    pub is_whole: bool,
}

/// A call in a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceCall {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// Its arguments, as JSON; empty where there are none.
    pub arguments: String,
    /// Who carries it out.
    pub executor: Executor,
    /// Where it stands; of a streamed one, where it begins.
    pub place: Place,
}

impl ChoiceCall {
    /// The call that stands at `value`.
    pub(crate) fn new<'d, 's>(call: &Call<'s>, value: Value<'d, 's>, locate: &Locate<'_, 'd, 's>) -> Self {
        let text = |name: &Option<Named<'_>>| {
            name.as_ref().map(|name| name.text.to_string()).filter(|name| !name.is_empty())
        };
        let arguments = String::from_utf8_lossy(&call.arguments.json(value.document())).into_owned();
        let (id, name) = (text(&call.id), text(&call.name));
        Self { id, name, arguments, executor: call.executor, place: locate(value) }
    }
}

/// Where a value stands in the file: a response in a string is read as a document of its own.
pub(crate) type Locate<'l, 'd, 's> = dyn Fn(Value<'d, 's>) -> Place + 'l;

impl Choice {
    /// The summary of a completion in the document of `root`.
    pub(crate) fn new<'d, 's>(
        said: &Completion<'s>,
        root: Value<'d, 's>,
        locate: &Locate<'_, 'd, 's>,
    ) -> Self {
        let mut answer = Self { calls: Vec::new(), text: String::new(), is_whole: said.is_whole };
        for part in &said.transcript.parts {
            match &part.body {
                Body::Call(call) => {
                    let value = root.document().value(part.place.node);
                    answer.calls.push(ChoiceCall::new(call, value, locate));
                }
                Body::Text(text) => text.string.decode_into(&mut answer.text),
                _ => {}
            }
        }
        answer
    }
}

/// Whether the reason that an answer gives for its end is one of `whole`. Without the key it has come to its end as far
/// as anybody knows; with `null` it was never told.
pub(crate) fn is_whole(reason: Option<Value<'_, '_>>, whole: &[&str]) -> bool {
    reason.is_none_or(|reason| reason.as_str().is_some_and(|reason| whole.contains(&&*reason)))
}

/// A response that comes in events, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    answers: BTreeMap<u64, Growing>,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
struct Growing {
    /// The calls, each with its number in the stream.
    calls: Vec<(u64, ChoiceCall)>,
    /// What it says beside them.
    text: String,
    /// How it ended, where it has.
    is_whole: Option<bool>,
}

impl Assembly {
    /// A call begins, or goes on under its number. A server that gives all calls one number tells them apart by their
    /// ids.
    pub(crate) fn call(&mut self, answer: u64, number: u64, call: ChoiceCall) {
        let calls = &mut self.answers.entry(answer).or_default().calls;
        let known = calls.iter_mut().rev().find(|(known, _)| *known == number).map(|(_, call)| call);
        match known {
            Some(known) if call.id.is_none() || known.id.is_none() || known.id == call.id => {
                known.id = known.id.take().or(call.id);
                known.name = known.name.take().or(call.name);
                known.arguments.push_str(&call.arguments);
            }
            _ => calls.push((number, call)),
        }
    }

    /// A call that is of no number, or the first to be of its number.
    pub(crate) fn next_call(&mut self, answer: u64, number: Option<u64>, call: ChoiceCall) {
        let calls = &mut self.answers.entry(answer).or_default().calls;
        calls.push((number.unwrap_or(calls.len() as u64), call));
    }

    /// A piece of the arguments of the call with this number.
    pub(crate) fn arguments(&mut self, answer: u64, number: Option<u64>, piece: Option<Value<'_, '_>>) {
        let calls = &mut self.answers.entry(answer).or_default().calls;
        let known = calls.iter_mut().rev().find(|(known, _)| Some(*known) == number);
        if let (Some((_, call)), Some(piece)) = (known, piece.and_then(Value::as_json_str)) {
            // The placeholder with which a call begins.
            if call.arguments == "{}" {
                call.arguments.clear();
            }
            piece.decode_into(&mut call.arguments);
        }
    }

    /// A piece of the text of an answer.
    pub(crate) fn text(&mut self, answer: u64, piece: Option<Value<'_, '_>>) {
        if let Some(piece) = piece.and_then(Value::as_json_str) {
            piece.decode_into(&mut self.answers.entry(answer).or_default().text);
        }
    }

    /// An answer ends.
    pub(crate) fn end(&mut self, answer: u64, is_whole: bool) {
        self.answers.entry(answer).or_default().is_whole = Some(is_whole);
    }

    /// The response as a whole, which the last event of some streams repeats.
    pub(crate) fn replace(&mut self, answers: Vec<Choice>) {
        self.answers = (0u64..)
            .zip(answers)
            .map(|(number, answer)| {
                let calls = (0u64..).zip(answer.calls).collect();
                (number, Growing { calls, text: answer.text, is_whole: Some(answer.is_whole) })
            })
            .collect();
    }

    /// The answers as far as they have come.
    pub(crate) fn finish(self) -> Vec<Choice> {
        let answers = self.answers.into_values().map(|answer| Choice {
            calls: answer.calls.into_iter().map(|(_, call)| call).collect(),
            text: answer.text,
            // A stream without its end was aborted.
            is_whole: answer.is_whole == Some(true),
        });
        answers.collect()
    }
}

/// A choice of a response that was not streamed, as a transcript.
#[derive(Debug)]
pub struct Completion<'s> {
    /// The messages, as a request would hold them.
    pub transcript: Transcript<'s>,
    /// Whether it came to its end.
    pub is_whole: bool,
}
