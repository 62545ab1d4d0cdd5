//! A conversation without a wire format, to compare and to write.

use serde_json::{Map, Value as Json};
use toolcheck_json::distinct;

use crate::matching::{Half, Match, Matches, Position};
use crate::names::names;

/// A conversation: what is said and done, without the form that a provider gives it.
///
/// Every format reads one ([`Conversation::read`]) and writes one
/// ([`Format::write_request`](crate::formats::Format::write_request)). Definitions of tools, media, and the places of
/// what was read are not part of it.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Conversation {
    /// The system text; empty if there is none.
    pub system: String,
    /// The turns.
    pub turns: Vec<Turn>,
}

/// What one side says or does before the other has its turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Turn {
    /// The text of the user.
    User(String),
    /// The turn of the model.
    Assistant(Assistant),
    /// The results of the calls before.
    Results(Vec<ToolOutput>),
}

/// The turn of the model: reasoning, text, calls, or some of them.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Assistant {
    /// The reasoning before the text and the calls. What has no signature is one text.
    pub reasoning: Vec<Reasoning>,
    /// The text; empty if the model only calls tools.
    pub text: String,
    /// The calls that the client carries out.
    pub calls: Vec<Call>,
    /// The tools that the provider ran itself, by name.
    pub server_tools: Vec<String>,
}

/// Reasoning of the model. Reasoning that the provider has encrypted as a whole is not read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reasoning {
    /// The text, which may be a summary; empty if the provider only shows the signature.
    pub text: String,
    /// The signature or encrypted form, with which the provider takes its own reasoning back; `None` if there is none.
    pub signature: Option<String>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// The id; empty if the format has none.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Json>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The id of the call; empty if the format has none.
    pub call_id: String,
    /// The name of the tool, which is that of the call.
    pub name: String,
    /// The text of the result.
    pub text: String,
    /// Whether the tool failed.
    pub failed: bool,
}

names! {
    /// Something that a conversation may contain and that not every format can hold.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Feature {
        /// Ids of tool calls. Without them, results belong to calls by position.
        CallIds = "ids of calls",
        /// Whether a tool failed.
        Failures = "marks of failed results",
        /// Reasoning of the model.
        Reasoning = "reasoning",
        /// Reasoning without a signature.
        UnsignedReasoning = "reasoning without a signature",
        /// Signatures of reasoning.
        Signatures = "signatures of reasoning",
        /// The tools that the provider ran itself. A conversation has only their names, so no format can write them.
        ServerTools = "calls of the provider's own tools",
        /// Images and documents in results.
        ResultMedia = "images in results",
        /// The order of texts and calls in a turn of the model.
        TextOrder = "the order of texts and calls in a turn",
        /// Signatures of calls.
        CallSignatures = "signatures of calls",
    }
    /// What it is, in the plural.
    as_str
}

impl Assistant {
    /// A turn in which the model says this and calls no tool.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The turn with these calls.
    pub fn with_calls(self, calls: Vec<Call>) -> Self {
        Self { calls, ..self }
    }

    /// The turn with this reasoning after what it has.
    pub fn with_reasoning(mut self, reasoning: Reasoning) -> Self {
        self.push_reasoning(reasoning);
        self
    }

    pub(crate) fn push_reasoning(&mut self, reasoning: Reasoning) {
        match self.reasoning.last_mut() {
            // Nothing but a signature marks the end.
            Some(Reasoning { text, signature: None }) if reasoning.signature.is_none() => {
                text.push_str(&reasoning.text);
            }
            _ => self.reasoning.push(reasoning),
        }
    }
}

impl Reasoning {
    /// Reasoning with this text.
    pub fn new(text: impl Into<String>, signature: Option<String>) -> Self {
        Self { text: text.into(), signature: signature.filter(|signature| !signature.is_empty()) }
    }
}

impl Call {
    /// A call of this tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Map<String, Json>) -> Self {
        Self { id: id.into(), name: name.into(), arguments }
    }

    /// The result of the call, if the tool did not fail.
    pub fn output(&self, text: impl Into<String>) -> ToolOutput {
        ToolOutput { call_id: self.id.clone(), name: self.name.clone(), text: text.into(), failed: false }
    }
}

impl Conversation {
    /// A conversation of these turns, without a system text.
    pub fn new(turns: Vec<Turn>) -> Self {
        Self { turns, ..Self::default() }
    }

    /// The number of calls, with those of the provider's own tools, and the number of results.
    pub fn counts(&self) -> (usize, usize) {
        self.turns.iter().fold((0, 0), |(calls, results), turn| match turn {
            Turn::User(_) => (calls, results),
            Turn::Assistant(said) => (calls + said.calls.len() + said.server_tools.len(), results),
            Turn::Results(outputs) => (calls, results + outputs.len()),
        })
    }

    pub(crate) fn called_tools(&self) -> Vec<&str> {
        distinct(self.turns.iter().flat_map(Turn::calls).map(|call| &*call.name))
    }

    /// Whether the conversation contains it.
    pub fn has(&self, feature: Feature) -> bool {
        self.turns.iter().any(|turn| match (turn, feature) {
            (Turn::Assistant(said), Feature::CallIds) => said.calls.iter().any(|call| !call.id.is_empty()),
            (Turn::Assistant(said), Feature::ServerTools) => !said.server_tools.is_empty(),
            (Turn::Assistant(said), Feature::Reasoning) => !said.reasoning.is_empty(),
            (Turn::Assistant(said), Feature::UnsignedReasoning) => {
                said.reasoning.iter().any(|reasoning| reasoning.signature.is_none())
            }
            (Turn::Assistant(said), Feature::Signatures) => {
                said.reasoning.iter().any(|reasoning| reasoning.signature.is_some())
            }
            (Turn::Results(outputs), Feature::CallIds) => {
                outputs.iter().any(|output| !output.call_id.is_empty())
            }
            (Turn::Results(outputs), Feature::Failures) => outputs.iter().any(|output| output.failed),
            (Turn::User(_) | Turn::Assistant(_) | Turn::Results(_), _) => false,
        })
    }

    /// The conversation without what it contains of a feature.
    pub fn without(mut self, feature: Feature) -> Self {
        for turn in &mut self.turns {
            match (turn, feature) {
                (Turn::Assistant(said), Feature::CallIds) => {
                    said.calls.iter_mut().for_each(|call| call.id.clear());
                }
                (Turn::Assistant(said), Feature::ServerTools) => said.server_tools.clear(),
                (Turn::Assistant(said), Feature::Reasoning) => said.reasoning.clear(),
                (Turn::Assistant(said), Feature::UnsignedReasoning) => {
                    said.reasoning.retain(|reasoning| reasoning.signature.is_some());
                }
                (Turn::Assistant(said), Feature::Signatures) => {
                    for reasoning in std::mem::take(&mut said.reasoning) {
                        said.push_reasoning(Reasoning { signature: None, ..reasoning });
                    }
                }
                (Turn::Results(outputs), Feature::CallIds) => {
                    outputs.iter_mut().for_each(|output| output.call_id.clear());
                }
                (Turn::Results(outputs), Feature::Failures) => {
                    outputs.iter_mut().for_each(|output| output.failed = false);
                }
                (Turn::User(_) | Turn::Assistant(_) | Turn::Results(_), _) => {}
            }
        }
        self
    }

    /// Whether a call or a result has no id.
    pub fn lacks_ids(&self) -> bool {
        self.turns.iter().any(|turn| match turn {
            Turn::Results(outputs) => outputs.iter().any(|output| output.call_id.is_empty()),
            turn => turn.calls().iter().any(|call| call.id.is_empty()),
        })
    }

    /// The conversation with the ids `call_0`, `call_1` and so on in place of its own, so that two can be compared.
    ///
    /// A result gets the id and name of the call that it answers.
    pub fn numbered(mut self) -> Self {
        let mut next = 0;
        let mut number = || {
            next += 1;
            format!("call_{}", next - 1)
        };
        let calls: Vec<usize> = self.turns.iter().map(|turn| turn.calls().len()).collect();
        let ids: Vec<Vec<String>> =
            calls.into_iter().map(|count| (0..count).map(|_| number()).collect()).collect();
        // Results are looked up by the old ids, so calls get the new ones last.
        self.visit_outputs(|output, call| {
            if let Some(call) = call {
                output.call_id.clone_from(&ids[call.turn][call.position]);
                output.name.clone_from(&call.name);
            }
        });
        for (turn, ids) in self.turns.iter_mut().zip(ids) {
            if let Turn::Assistant(said) = turn {
                said.calls.iter_mut().zip(ids).for_each(|(call, id)| call.id = id);
            }
        }
        self
    }

    /// Shows each result with the call that it answers.
    pub(crate) fn visit_outputs(
        &mut self,
        mut visit: impl FnMut(&mut ToolOutput, Option<&ConversationHalf>),
    ) {
        let (mut calls, mut outputs) = (Vec::new(), Vec::new());
        for (turn, said) in self.turns.iter().enumerate() {
            let seen = |position: usize, id: &str, name: &str| ConversationHalf {
                turn,
                position,
                id: id.to_owned(),
                name: name.to_owned(),
            };
            calls.extend(said.calls().iter().enumerate().map(|(at, call)| seen(at, &call.id, &call.name)));
            let Turn::Results(own) = said else { continue };
            outputs
                .extend(own.iter().enumerate().map(|(at, output)| seen(at, &output.call_id, &output.name)));
        }
        let mut answers = Matches::of(&calls, &outputs, Match::AsMeant).paired_with.into_iter();
        for turn in &mut self.turns {
            let Turn::Results(outputs) = turn else { continue };
            for (output, answers) in outputs.iter_mut().zip(&mut answers) {
                visit(output, answers.call().map(|call| &calls[call]));
            }
        }
    }

    pub(crate) fn push_user(&mut self, text: &str) {
        match self.turns.last_mut() {
            Some(Turn::User(said)) => add_text(said, text),
            _ => self.turns.push(Turn::User(text.to_owned())),
        }
    }

    /// Has what the model says next begin another turn, if it has called tools in the last one.
    pub(crate) fn end_calls(&mut self) {
        if self.turns.last().is_some_and(|last| !last.calls().is_empty()) {
            self.turns.push(Turn::Assistant(Assistant::default()));
        }
    }

    /// Adds to the turn of the model, which begins if the last turn is another one's.
    pub(crate) fn push_assistant(&mut self, add: impl FnOnce(&mut Assistant)) {
        if let Some(Turn::Assistant(said)) = self.turns.last_mut() {
            add(said);
            return;
        }
        let mut said = Assistant::default();
        add(&mut said);
        self.turns.push(Turn::Assistant(said));
    }

    pub(crate) fn push_output(&mut self, output: ToolOutput) {
        match self.turns.last_mut() {
            Some(Turn::Results(outputs)) => outputs.push(output),
            _ => self.turns.push(Turn::Results(vec![output])),
        }
    }
}

impl Turn {
    /// The calls that the client carries out.
    pub fn calls(&self) -> &[Call] {
        match self {
            Self::Assistant(said) => &said.calls,
            Self::User(_) | Self::Results(_) => &[],
        }
    }
}

pub(crate) fn add_text(said: &mut String, text: &str) {
    if !said.is_empty() && !text.is_empty() {
        said.push_str("\n\n");
    }
    said.push_str(text);
}

/// A call or a result, with its place.
pub(crate) struct ConversationHalf {
    turn: usize,
    position: usize,
    id: String,
    pub(crate) name: String,
}

impl Half for ConversationHalf {
    fn id(&self) -> Option<&str> {
        Some(&*self.id).filter(|id| !id.is_empty())
    }

    fn name(&self) -> Option<&str> {
        Some(&*self.name).filter(|name| !name.is_empty())
    }

    fn position(&self) -> Position {
        Position { turn: self.turn, message: self.turn, part: self.turn }
    }
}
