//! The parts of a request other than its messages.

use std::borrow::Cow;

use toolcheck_json::Value;

use super::{Executor, Named, Place};
use crate::tools::Definition;

/// The parts of a request other than its messages.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Request<'s> {
    /// The model that it names.
    pub model: Option<Cow<'s, str>>,
    /// The tools that it declares.
    pub tools: Tools<'s>,
    /// Whether the model should call a tool.
    pub tool_choice: Option<ToolChoice<'s>>,
    /// The application's instructions to the model, if they are outside the messages.
    pub instructions: Option<Place>,
    /// Whether it turns on the model's visible reasoning; `None` if it does not say.
    pub reasoning: Option<bool>,
    /// The reasoning setting, if there is one.
    pub reasoning_setting: Option<ReasoningSetting>,
    /// How much the model should reason, as the request puts it.
    pub effort: Option<Named<'s>>,
    /// The place that names the container in which the provider runs programs.
    pub container: Option<Place>,
    /// The name and the place of the schema that the answer must match strictly.
    pub answer_schema: Option<(Option<Named<'s>>, Place)>,
    /// The setting that asks for JSON, if nothing that the request says to the model has the word.
    pub unsaid_json: Option<Place>,
    /// The id of the response that it continues.
    pub previous_response: Option<Named<'s>>,
    /// The id of the conversation on the server that it continues.
    pub conversation: Option<Named<'s>>,
    /// Whether the conversation continues from state on the server, which may contain the call of a result.
    pub continues_remote_state: bool,
    /// Whether only one request may go on from a response.
    pub continues_once: bool,
    /// Whether the server is to keep the conversation under the id of the response; `None` if it keeps none unless it is told
    /// to, and is not.
    pub is_kept: Option<bool>,
}

impl Request<'_> {
    /// Whether it sets how the model calls tools, how the model reasons or where programs run.
    pub(super) fn has_parameters(&self) -> bool {
        self.tool_choice.is_some()
            || self.reasoning.is_some()
            || self.reasoning_setting.is_some()
            || self.effort.is_some()
            || self.container.is_some()
    }

    /// The request after a response, which may have added tools of its own.
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

/// The tools of a request, in its tool list and elsewhere.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Tools<'s> {
    /// The place of the list, whether or not it is an array.
    pub place: Option<Place>,
    /// The tools of the list; `None` if there is no such list.
    pub list: Option<Vec<ToolDef<'s>>>,
    /// The tools of a list that is not in the format's own form: JSON text for the whole list or for each tool, as in
    /// data sets, or the shape of another format.
    pub in_text: Vec<Definition>,
    /// The place of a second list, under the key of an older form.
    pub second_place: Option<Place>,
    /// The tools that are declared outside the list: in a namespace, among the messages, in the output of a tool
    /// search, among the parameters of a model.
    pub added: Vec<ToolDef<'s>>,
    /// The tools that a tool search refers to, or that may be in a list that is not shown.
    pub references: Vec<Named<'s>>,
    /// The blocks that add tools to the conversation or remove them.
    pub changes: Vec<ToolChange<'s>>,
    /// The first tool that the model sees only after a search has found it.
    pub deferred: Option<Place>,
    /// The tool with which the model searches for deferred tools.
    pub search: Option<Place>,
    /// Whether the API carries out that search, in the tools that are deferred.
    pub is_hosted_search: bool,
    /// Whether there may be callable functions that the request does not show: those of a tool that this version does
    /// not know, or of a conversation stored on the server.
    pub hides_some: bool,
}

impl<'s> Tools<'s> {
    /// The tools of the list, if it could be read.
    pub fn listed(&self) -> &[ToolDef<'s>] {
        self.list.as_deref().unwrap_or_default()
    }

    /// The tools that are declared in the format's own form, in the list or elsewhere.
    pub fn declared(&self) -> impl Iterator<Item = &ToolDef<'s>> {
        self.listed().iter().chain(&self.added)
    }

    /// Whether the request does not mention tools.
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

    /// The number of tools that the list declares; `None` if the list could not be read.
    pub fn count(&self) -> Option<usize> {
        match &self.list {
            Some(tools) => Some(tools.len() + self.in_text.len()),
            None if self.in_text.is_empty() => self.place.is_none().then_some(0),
            None => Some(self.in_text.len()),
        }
    }
}

/// A request's setting for whether the model should call a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolChoice<'s> {
    /// Its place.
    pub place: Place,
    /// Its key.
    pub key: Cow<'s, str>,
    /// Its meaning.
    pub wanted: ToolChoiceMode<'s>,
}

impl<'s> ToolChoice<'s> {
    pub(crate) fn new(value: Value<'_, 's>, wanted: ToolChoiceMode<'s>) -> Self {
        Self { place: Place::of(value), key: value.key_text().unwrap_or_default(), wanted }
    }
}

/// The tool call that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoiceMode<'s> {
    /// The model decides.
    Free,
    /// No tool.
    Nothing,
    /// Any tool.
    Any,
    /// This tool.
    Tool(Named<'s>),
    /// Any of these tools, or none; some of the names are types of tools that the provider runs.
    Among(Vec<(Named<'s>, bool)>),
    /// A choice that needs no declared tool, or that this version does not know.
    Other,
    /// Not a valid choice in this format.
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

/// The mode of the model's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasoningMode {
    /// Reasoning within a fixed number of tokens.
    Budget,
    /// The model decides how much to reason.
    Adaptive,
    /// No reasoning.
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
    /// The place of its arguments' schema.
    pub schema: Option<Place>,
    /// The place of its results' schema, if it declares one.
    pub result_schema: Option<Place>,
    /// Who runs it.
    pub executor: Executor,
    /// Whether the client runs it although the provider has defined it.
    pub runs_in_client: bool,
    /// Whether it takes free text in place of arguments.
    pub takes_text: bool,
    /// Its type in the wire format, if it names one.
    pub kind: Option<Named<'s>>,
    /// The model that the tool uses, if it names one.
    pub model: Option<Named<'s>>,
    /// The place that asks for calls to match the schema exactly.
    pub strict: Option<Place>,
    /// Whether it is loaded only when the model asks for it.
    pub is_deferred: bool,
    /// Whether programs that the model writes may call it.
    pub serves_programs: bool,
    /// Whether its results must be texts of JSON.
    pub returns_json: bool,
    /// Whether clients drop it unless its schema says that it is one of an object.
    pub wants_object: bool,
    /// How many parts there were before it took the place of another of its name, whose schemas are those of their calls.
    pub since: usize,
}

impl ToolDef<'_> {
    /// A client tool with everything but its place left empty.
    pub fn new(place: Place) -> Self {
        Self {
            place,
            name: None,
            schema: None,
            result_schema: None,
            executor: Executor::Client,
            runs_in_client: false,
            takes_text: false,
            kind: None,
            model: None,
            strict: None,
            is_deferred: false,
            serves_programs: false,
            returns_json: false,
            wants_object: false,
            since: 0,
        }
    }
}

/// A block that adds a tool to the conversation or removes one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolChange<'s> {
    /// The block.
    pub place: Place,
    /// The index of its message in [`messages`](super::Transcript::messages).
    pub message_number: u32,
    /// The declared tool that it names; `None` if it defines the tool itself.
    pub tool: Option<Named<'s>>,
}
