//! The paths to which the requests of a format are posted.

use crate::reply::Framing;

/// A path to which requests in a format are posted.
#[derive(Debug)]
pub struct Route {
    /// What a client puts between the base URL of a server and `end`.
    pub base: &'static str,
    /// How the path ends. `{model}` stands for the name of a model, in one step of the path.
    pub end: &'static str,
    /// Whether the response is streamed.
    pub streaming: Streaming,
    /// Whether other software has paths with this end, too: such a path alone does not show that it is an LLM's.
    pub is_common: bool,
    /// Whether requests in formats that are not read go to it, too.
    pub is_shared: bool,
    /// The way in which a stream at this path is written, if it is not that of the format.
    pub framing: Option<Framing>,
    /// The target whose errors are written at this path, if they are not those of the format.
    pub errors_of: Option<&'static str>,
    /// What is in the names of the models whose requests are in this format, if those of others go to the path, too.
    models: &'static str,
    /// Where the name of the model begins in `end`, if it has one.
    model: Option<usize>,
}

const MODEL: &str = "{model}";

/// What stands in place of a model where tokens are only counted: `…/models/count-tokens:rawPredict` on Vertex.
const COUNT: &str = "count-tokens";

/// How a request asks for a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streaming {
    /// By its path.
    Path(bool),
    /// By `stream` in its body; the value is what holds without it.
    Body(bool),
}

impl Route {
    /// A path that only this format has, as far as is known. The body says whether the response is streamed.
    pub(crate) const fn new(base: &'static str, end: &'static str) -> Self {
        let mut at = 0;
        while at < end.len() && end.as_bytes()[at] != MODEL.as_bytes()[0] {
            at += 1;
        }
        let model = if at < end.len() { Some(at) } else { None };
        Self {
            base,
            end,
            streaming: Streaming::Body(false),
            is_common: false,
            is_shared: false,
            framing: None,
            errors_of: None,
            models: "",
            model,
        }
    }

    /// The same path, which says whether the response is streamed.
    pub(crate) const fn streamed(self, is_streamed: bool) -> Self {
        Self { streaming: Streaming::Path(is_streamed), ..self }
    }

    /// The same path, whose responses are streamed unless the body says otherwise.
    pub(crate) const fn streamed_unless_said(self) -> Self {
        Self { streaming: Streaming::Body(true), ..self }
    }

    /// The same path, whose end other software has, too.
    pub(crate) const fn common(self) -> Self {
        Self { is_common: true, ..self }
    }

    /// The same path, to which requests in formats that are not read go, too.
    pub(crate) const fn shared(self) -> Self {
        Self { is_shared: true, ..self }
    }

    /// A path of Bedrock's InvokeModel, where only models with this in their name take the format. Streams and errors are
    /// written as Bedrock does.
    pub(crate) const fn invoked(models: &'static str, is_streamed: bool) -> Self {
        let ends = ["/model/{model}/invoke", "/model/{model}/invoke-with-response-stream"];
        let own = Self::new("", ends[is_streamed as usize]).streamed(is_streamed).shared();
        Self { models, framing: Some(Framing::Chunks), errors_of: Some("bedrock-converse"), ..own }
    }

    /// What stands before and after the name of the model in `end`.
    pub fn ends(&self) -> (&'static str, &'static str) {
        self.model.map_or(("", self.end), |at| (&self.end[..at], &self.end[at + MODEL.len()..]))
    }

    /// The model that a path names, as it is written there: `None` if the path is another one, and `Some(None)` if it
    /// is this one, which names no model. What stands before `end` is free.
    pub fn model_of<'p>(&self, path: &'p str) -> Option<Option<&'p str>> {
        let (before, after) = self.ends();
        let rest = path.strip_suffix(after)?;
        if before.is_empty() {
            return Some(None);
        }
        let (start, model) = rest.split_at(rest.rfind('/')? + 1);
        let is_model = !model.is_empty() && model != COUNT && model.contains(self.models);
        (start.ends_with(before) && is_model).then_some(Some(model))
    }

    /// The path that a client uses.
    pub fn path(&self, model: &str) -> String {
        format!("{}{}", self.base, self.end.replace(MODEL, model))
    }
}
