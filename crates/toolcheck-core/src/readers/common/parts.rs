//! Messages and their parts, for readers whose files have blocks of their own.

use std::ops::Range;

use foldhash::{HashMap, HashSet};
use toolcheck_json::Value;

use super::Conversation;
use crate::ir::{
    Arguments, Body, Call, Content, Executor, Message, Part, Place, Reasoning, Role, Signature, ToolResult,
    Transcript, UnpairedReason,
};

pub(crate) fn call<'s>(
    id: Option<Value<'_, 's>>,
    name: Option<Value<'_, 's>>,
    arguments: Option<Value<'_, 's>>,
) -> Call<'s> {
    Call::new(self::id(id), name, arguments)
}

/// The id at `value`, unless it is empty: programs without ids write `""`.
pub(crate) fn id<'d, 's>(value: Option<Value<'d, 's>>) -> Option<Value<'d, 's>> {
    value.filter(|id| !id.as_json_str().is_some_and(|id| id.is_empty()))
}

/// What is said in a turn of Vapi's calls, which has it under a key of its own.
pub(crate) fn spoken<'d, 's>(turn: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let said = turn.get("message").filter(|_| turn.has("secondsFromStart"))?;
    id(Some(said)).filter(|_| turn.get_any(&["toolCalls", "toolCallId"]).is_none())
}

/// The model's reasoning, as far as files tell.
pub(crate) fn reasoning<'s>(signature: Option<Value<'_, 's>>) -> Body<'s> {
    Body::Reasoning(Reasoning { id: None, signature: Signature::of(signature), is_redacted: false })
}

/// Whether a type of a block is one of an image, a sound or a file.
pub(crate) fn is_media(kind: &str) -> bool {
    let kinds =
        ["image", "image_url", "input_image", "audio", "input_audio", "video", "file", "document", "media"];
    kinds.contains(&kind)
}

/// The result of a client's function. A file that does not say whether it failed has `None` for `is_error`.
pub(crate) fn result<'s>(
    id: Option<Value<'_, 's>>,
    content: Option<Value<'_, 's>>,
    is_error: Option<bool>,
) -> ToolResult<'s> {
    ToolResult { is_error, ..ToolResult::new(self::id(id), content) }
}

pub(crate) fn in_order(conversations: &mut [Conversation<'_>]) {
    toolcheck_json::sort_by_positions(conversations, |Conversation { transcript, .. }| {
        let start = |place: Place| place.span.start as usize;
        // Those without a message come first.
        let first = transcript.messages.first().map_or(0, |message| start(message.place) + 1);
        (first, start(transcript.place))
    });
}

pub(crate) fn number_titles(conversations: &mut [Conversation<'_>]) {
    let mut counts: HashMap<String, usize> = HashMap::default();
    for conversation in conversations.iter() {
        *counts.entry(conversation.title.clone()).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    counts.values_mut().for_each(|count| *count = 0);
    for conversation in conversations {
        if let Some(number) = counts.get_mut(&conversation.title) {
            *number += 1;
            conversation.title = format!("{} {number}", conversation.title);
        }
    }
}

impl<'s> Transcript<'s> {
    /// Adds parts to the last message if it has this role, and else to a new one. `message` is the record that the parts
    /// come from.
    pub(crate) fn turn(&mut self, role: Role, message: Value<'_, 's>) -> &mut Self {
        if self.messages.last().is_none_or(|last| last.role != role) {
            self.next_message(role, message);
        }
        self
    }

    /// Adds the text or the blocks of a message's content to the last message. `block` reads what is not text; what it
    /// returns `None` for is left out.
    pub(crate) fn content(
        &mut self,
        content: Option<Value<'_, 's>>,
        mut block: impl FnMut(Value<'_, 's>) -> Option<Body<'s>>,
    ) {
        let Some(content) = content else { return };
        if content.as_json_str().is_some_and(|text| !text.is_empty()) {
            self.part(content, Body::text(Some(content)));
        }
        for value in content.elements() {
            let is_text =
                || value.get_str("type").is_none_or(|kind| kind == "text" || kind.ends_with("_text"));
            let body = if value.is_string() {
                Some(Body::text(Some(value)))
            } else if value.has_text("text") && is_text() {
                Some(Body::text(value.get("text")))
            } else {
                block(value)
            };
            if let Some(body) = body {
                self.part(value, body);
            }
        }
    }

    pub(crate) fn next_message(&mut self, role: Role, message: Value<'_, 's>) -> &mut Self {
        let index = self.messages.len();
        self.open_message(Message { content: Content::Filled, ..Message::new(role, message, index) });
        self
    }

    /// Adds a part to the last message.
    pub(crate) fn part(&mut self, value: Value<'_, 's>, body: Body<'s>) -> &mut Self {
        let index = self.messages.last().map_or(0, |message| self.parts.len() - message.parts.start as usize);
        self.push(Part::new(value, index, body));
        self
    }

    /// Adds a block that the reader does not know. Later, a call or a result in it counts as not read.
    pub(crate) fn unknown(&mut self, block: Value<'_, 's>) -> &mut Self {
        self.part(block, Body::Opaque)
    }

    fn calls_of(&mut self, parts: Range<u32>) -> impl Iterator<Item = &mut Call<'s>> {
        let parts = &mut self.parts[parts.start as usize..parts.end as usize];
        parts.iter_mut().filter_map(|part| match &mut part.body {
            Body::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The calls with these ids.
    /// Divides what the model says behind a call from it, if the call has no result and an answer may begin there.
    pub(crate) fn divide(&mut self, begins: impl Fn(usize, &Part<'_>) -> bool) {
        let answered: HashSet<String> = self.result_ids().map(str::to_owned).collect();
        let mut is_open = false;
        for (number, part) in self.parts.iter().enumerate() {
            if is_open && begins(number, part) {
                is_open = false;
                self.details.answers.push(number);
            }
            if let Body::Call(call) = &part.body
                && (call.executor == Executor::Client && call.unpaired.is_none())
            {
                is_open |= call.id.as_ref().is_some_and(|id| !answered.contains(&*id.text));
            }
        }
    }

    pub(crate) fn calls_with_ids(&mut self, ids: &HashSet<String>) -> impl Iterator<Item = &mut Call<'s>> {
        let is_one = |call: &&mut Call<'s>| call.id.as_ref().is_some_and(|id| ids.contains(&*id.text));
        self.calls_of(0..self.parts.len() as u32).filter(is_one)
    }

    fn results_of(&mut self, parts: Range<u32>) -> impl Iterator<Item = &mut ToolResult<'s>> {
        let parts = &mut self.parts[parts.start as usize..parts.end as usize];
        parts.iter_mut().filter_map(|part| match &mut part.body {
            Body::Result(result) => Some(result),
            _ => None,
        })
    }

    /// Says of the results among these parts why they may stay without calls.
    pub(crate) fn settle_results_of(&mut self, parts: Range<u32>, unpaired: UnpairedReason) {
        self.results_of(parts).for_each(|result| {
            result.unpaired.get_or_insert(unpaired);
        });
    }

    /// Says of the results that name such a call why they may stay without one.
    pub(crate) fn settle_results_if(
        &mut self,
        is_meant: impl Fn(Option<&str>) -> bool,
        unpaired: UnpairedReason,
    ) {
        let is_one = |result: &&mut ToolResult<'s>| is_meant(result.call_id.as_ref().map(|id| &*id.text));
        self.results_of(0..self.parts.len() as u32).filter(is_one).for_each(|result| {
            result.unpaired.get_or_insert(unpaired);
        });
    }

    fn last_parts(&self) -> Range<u32> {
        self.messages.last().map_or(0..0, |last| last.parts.clone())
    }

    /// Says of the calls of the last message why they may stay without results.
    pub(crate) fn settle_calls_of_last(&mut self, unpaired: UnpairedReason) {
        self.calls_of(self.last_parts()).for_each(|call| {
            call.unpaired.get_or_insert(unpaired);
        });
    }

    /// Says of the calls from a part on why they may stay without results.
    pub(crate) fn settle_calls_from(&mut self, part: usize, unpaired: UnpairedReason) {
        let end = self.parts.len();
        self.calls_of(part.min(end) as u32..end as u32).for_each(|call| {
            call.unpaired.get_or_insert(unpaired);
        });
    }

    /// The turn that began at a part was aborted: the calls that ran have no results. Those after which the model has gone on
    /// did not run any more.
    pub(crate) fn abort_calls_from(&mut self, part: usize) {
        let is_of_model = |message: &&Message<'s>| message.role == Role::Assistant;
        let until_model = self.messages.iter().rev().skip_while(|message| !is_of_model(message));
        let step = until_model.take_while(is_of_model).last().map_or(0, |first| first.parts.start as usize);
        self.settle_calls_from(part.max(step), UnpairedReason::Aborted);
    }

    /// Says of the calls since the last message that is not of the model or its tools why they may stay without results.
    pub(crate) fn settle_calls_of_last_turn(&mut self, unpaired: UnpairedReason) {
        let is_of_turn = |message: &&Message<'s>| matches!(message.role, Role::Assistant | Role::Tool);
        let first = self.messages.iter().rev().take_while(is_of_turn).last();
        if let Some(first) = first.map(|message| message.parts.start as usize) {
            self.settle_calls_from(first, unpaired);
        }
    }

    /// Says of the calls of the last message that the model was stopped while it wrote them: their arguments may be cut off.
    pub(crate) fn abort_calls_of_last(&mut self) {
        self.settle_calls_of_last(UnpairedReason::Aborted);
        self.calls_of(self.last_parts()).for_each(|call| call.arguments = Arguments::Missing);
    }

    /// Takes back why calls before a part may stay without results.
    pub(crate) fn unsettle_calls_before(&mut self, part: usize) {
        self.calls_of(0..part as u32).for_each(|call| call.unpaired = None);
    }

    /// Whether the last turn of the model has results, and calls without one of which nothing says that they still run.
    pub(crate) fn ends_half_answered(&self) -> bool {
        let last = self.messages.iter().rfind(|message| message.role != Role::Tool);
        let parts = &self.parts[last.map_or(0, |last| last.parts.start as usize)..];
        let calls = parts.iter().filter_map(|part| Some(part.call()?.unpaired));
        let has_results = parts.iter().any(|part| matches!(part.body, Body::Result(_)));
        has_results && calls.clone().count() > 1 && calls.into_iter().all(|unpaired| unpaired.is_none())
    }

    /// Says of all results why they may stay without calls.
    pub(crate) fn settle_results(&mut self, unpaired: UnpairedReason) {
        self.settle_results_of(0..self.parts.len() as u32, unpaired);
    }

    /// Says of the results before the first call why they may stay without calls.
    pub(crate) fn settle_results_before_calls(&mut self, unpaired: UnpairedReason) {
        let first = self.parts.iter().position(|part| matches!(part.body, Body::Call(_)));
        self.settle_results_of(0..first.unwrap_or(self.parts.len()) as u32, unpaired);
    }

    /// Says of the results of the first message why they may stay without calls.
    pub(crate) fn settle_results_of_first(&mut self, unpaired: UnpairedReason) {
        let first = self.messages.first().map_or(0..0, |first| first.parts.clone());
        self.settle_results_of(first, unpaired);
    }
}

/// The text in a list with nothing else.
pub(crate) fn said_alone<'d, 's>(content: Value<'d, 's>) -> Value<'d, 's> {
    let mut blocks = content.elements();
    let text = blocks.next().and_then(|block| {
        let is_text = block.is("type", "text");
        block.get("text").or_else(|| block.get("content").filter(|_| is_text))
    });
    let text = text.filter(|_| blocks.next().is_none());
    text.unwrap_or(content)
}

/// Whether a block is a text of AgentDojo (`src/agentdojo/types.py` of ethz-spylab/agentdojo).
pub(crate) fn is_program_text(block: Value<'_, '_>) -> bool {
    let is_text = |key: &str| block.has_text(key);
    block.is("type", "text") && is_text("content") && block.get("text").is_none()
}
