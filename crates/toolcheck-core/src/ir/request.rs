//! What a request says beside its messages.

use std::borrow::Cow;

use toolcheck_json::Value;

use super::{Executor, Named, Place};
use crate::tools::Definition;

/// What a request says beside its messages.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Request<'s> {
    /// The model that it names.
    pub model: Option<Cow<'s, str>>,
    /// The tools that it declares.
    pub tools: Tools<'s>,
    /// What it says of whether the model shall call a tool.
    pub tool_choice: Option<ToolChoice<'s>>,
    /// The application's text for the model, where it stands beside the messages.
    pub instructions: Option<Place>,
    /// Whether it turns the model's visible reasoning on; `None` where it does not say.
    pub reasoning: Option<bool>,
    /// How it sets the model's reasoning, where it says so.
    pub reasoning_setting: Option<ReasoningSetting>,
    /// How much the model shall reason, in the words of the request.
    pub effort: Option<Named<'s>>,
    /// Where it names the container in which the provider runs programs.
    pub container: Option<Place>,
    /// The id of the response that it continues.
    pub previous_response: Option<Named<'s>>,
    /// Whether the conversation goes on from a state that the server holds, so that a result's call may be there.
    pub continues_remote_state: bool,
}

impl Request<'_> {
    /// Whether it sets how the model calls tools, how it reasons or where programs run.
    pub(super) fn has_parameters(&self) -> bool {
        self.tool_choice.is_some()
            || self.reasoning.is_some()
            || self.reasoning_setting.is_some()
            || self.effort.is_some()
            || self.container.is_some()
    }

    /// The request as it stands after an answer, which may have brought tools of its own.
    #[must_use]
    pub fn after(&self, answer: Self) -> Self {
        let mut request = self.clone();
        let Tools { added, references, changes, hides_some, .. } = answer.tools;
        request.tools.added.extend(added);
        request.tools.references.extend(references);
        request.tools.changes.extend(changes);
        request.tools.hides_some |= hides_some;
        request
    }
}

/// The tools of a request: those of its own list, and those that stand elsewhere in it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Tools<'s> {
    /// Where the list stands, as a list or as anything else.
    pub place: Option<Place>,
    /// The tools of the list; `None` if there is no such list.
    pub list: Option<Vec<ToolDef<'s>>>,
    /// The tools of a list that is not written as the format has it: as a JSON text, as a whole or each by itself, as
    /// data sets have them, or in the shape of another format.
    pub in_text: Vec<Definition>,
    /// Where a second list stands, under the key of an older form.
    pub second_place: Option<Place>,
    /// The tools that are declared elsewhere than in the list: in a namespace, among the messages, in the output of a
    /// search for tools, among the parameters of a model.
    pub added: Vec<ToolDef<'s>>,
    /// The tools that a search for tools left references to.
    pub references: Vec<Named<'s>>,
    /// The blocks that add tools to the conversation or remove them.
    pub changes: Vec<ToolChange<'s>>,
    /// The first tool that the model sees only once a search has found it.
    pub deferred: Option<Place>,
    /// The tool with which the model searches for deferred tools.
    pub search: Option<Place>,
    /// Whether there may be functions to call that the request does not show: those of a tool that this version does
    /// not know, or of a conversation that the server holds.
    pub hides_some: bool,
}

impl<'s> Tools<'s> {
    /// The tools of the list, where it is read.
    #[must_use]
    pub fn listed(&self) -> &[ToolDef<'s>] {
        self.list.as_deref().unwrap_or_default()
    }

    /// The tools that are declared in the form of the format, in the list or elsewhere.
    pub fn declared(&self) -> impl Iterator<Item = &ToolDef<'s>> {
        self.listed().iter().chain(&self.added)
    }

    /// Whether the request says nothing of tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { place, list, in_text, second_place, added, references, changes, deferred, search, .. } =
            self;
        let has_place = [place, second_place, deferred, search].into_iter().any(Option::is_some);
        !has_place
            && list.is_none()
            && in_text.is_empty()
            && added.is_empty()
            && references.is_empty()
            && changes.is_empty()
    }

    /// How many tools the list declares; `None` where something stands in its place that is not read, so that nobody
    /// knows.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        match &self.list {
            Some(tools) => Some(tools.len() + self.in_text.len()),
            None if self.in_text.is_empty() => self.place.is_none().then_some(0),
            None => Some(self.in_text.len()),
        }
    }
}

/// What a request says of whether the model shall call a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolChoice<'s> {
    /// Where it says so.
    pub place: Place,
    /// The key under which it says so.
    pub key: Cow<'s, str>,
    /// What it says.
    pub wanted: Wanted<'s>,
}

impl<'s> ToolChoice<'s> {
    /// The choice that stands at `value`.
    pub(crate) fn new(value: Value<'_, 's>, wanted: Wanted<'s>) -> Self {
        Self { place: Place::of(value), key: value.key_text().unwrap_or_default(), wanted }
    }
}

/// Whether the model shall call a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted<'s> {
    /// As it likes.
    Free,
    /// None at all.
    Nothing,
    /// One of them.
    Any,
    /// This one.
    Tool(Named<'s>),
    /// In a way that needs no tool declared here, or that this version does not know.
    Other,
    /// Something that is no choice in this format.
    Invalid,
}

/// How a request sets the model's reasoning.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ReasoningSetting {
    /// The setting.
    pub place: Place,
    /// What it asks for.
    pub mode: ReasoningMode,
}

/// What a request asks of the model's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasoningMode {
    /// Reasoning within a fixed number of tokens.
    Budget,
    /// As much as the model finds right.
    Adaptive,
    /// None.
    Off,
}

/// A tool that the request declares.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolDef<'s> {
    /// The whole definition.
    pub place: Place,
    /// The tool's name; built-in tools may have none.
    pub name: Option<Named<'s>>,
    /// Where the schema of its arguments is.
    pub schema: Option<Place>,
    /// Who carries it out.
    pub executor: Executor,
    /// Its type in the words of the wire format, where it names one.
    pub kind: Option<Named<'s>>,
    /// The model that works behind it, where it names one.
    pub model: Option<Named<'s>>,
    /// Where the definition asks that calls keep to the schema exactly.
    pub strict: Option<Place>,
    /// Whether it is loaded only once the model asks for it.
    pub is_deferred: bool,
}

impl ToolDef<'_> {
    /// A tool of the client's that nothing more is known of.
    #[must_use]
    pub fn new(place: Place) -> Self {
        Self {
            place,
            name: None,
            schema: None,
            executor: Executor::Client,
            kind: None,
            model: None,
            strict: None,
            is_deferred: false,
        }
    }
}

/// A block that adds a tool to the conversation or removes one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolChange<'s> {
    /// The block.
    pub place: Place,
    /// The number of its message in [`messages`](super::Transcript::messages).
    pub message_number: u32,
    /// The declared tool that it names; `None` where it defines the tool itself.
    pub tool: Option<Named<'s>>,
}
