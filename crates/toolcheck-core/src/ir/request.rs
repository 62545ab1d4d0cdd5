//! What a request says beside its messages.

use super::{Executor, Named, Place};

/// What a request says of whether the model shall call a tool.
#[derive(Debug, Clone)]
pub struct ToolChoice<'s> {
    /// Where it says so.
    pub place: Place,
    /// What it says.
    pub wanted: Wanted<'s>,
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
