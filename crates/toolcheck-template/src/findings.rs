//! What is suspected and observed about a request.

use toolcheck_json::Value;

use crate::convert::{Changes, InputPart};
use crate::evidence::Evidence;
use crate::segments::Pointers;

/// What a template does with a part of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// What it does.
    pub kind: Kind,
    /// With what.
    pub part: Part,
    /// The JSON Pointer of the part in its document.
    pub pointer: String,
    /// The JSON Pointer inside the part, if that is a text which was read as JSON; empty otherwise.
    pub inner: String,
    /// Whether the template is known to do this on purpose, as with the reasoning of earlier turns. It is then worth an
    /// information, and no warning.
    pub by_design: bool,
    /// What more there is to say, in lower case and without a full stop; perhaps nothing. The text of a refusal is that of
    /// the template.
    pub note: String,
}

/// What a template does with a part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// It refuses the conversation, at this message.
    Refuses,
    /// The part is not in the prompt, and changing it makes no difference to the prompt.
    Loses,
    /// The part is in the prompt twice, or encoded twice: as the text of a text of JSON.
    Doubles,
    /// The results of parallel calls are in another order than the calls, and nothing says which is whose.
    Misbinds,
    /// It prints `None` where the content is `null`.
    PrintsNone,
    /// It has `{% generation %}` blocks, and what the assistant said is outside of them: a trainer that trains on the
    /// answers only does not train on it.
    Untrained,
}

/// A sort of part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// A whole message, or the whole list of messages.
    Message,
    /// The text of a system or developer message.
    SystemText,
    /// The text of a user.
    UserText,
    /// The text of an assistant.
    AssistantText,
    /// The reasoning of an assistant.
    Reasoning,
    /// A call.
    Call,
    /// The name of a call's function.
    CallName,
    /// The arguments of a call, or one of them.
    Argument,
    /// The result of a call.
    Result,
    /// An image, a sound or a video.
    Medium,
    /// The definition of a tool, or all of them, or a part of one.
    Tool,
}

/// A suspicion, and the changes that must make no difference to the prompt if it is right.
pub(crate) struct Suspicion {
    pub(crate) observation: Observation,
    pub(crate) changes: Changes,
}

/// What is collected about a request.
pub(crate) struct Findings<'e> {
    pub(crate) evidence: &'e Evidence<'e>,
    pointers: Pointers,
    suspicions: Vec<Suspicion>,
    pub(crate) observations: Vec<Observation>,
}

impl<'e> Findings<'e> {
    pub(crate) fn new(evidence: &'e Evidence<'e>, pointers: Pointers) -> Self {
        Self { evidence, pointers, suspicions: Vec::new(), observations: Vec::new() }
    }

    pub(crate) fn observation(
        &self,
        kind: Kind,
        part: Part,
        (of, value): (InputPart, Value<'_, '_>),
    ) -> Observation {
        let pointer = self.pointers.get(of, value.id());
        Observation { kind, part, pointer, inner: String::new(), by_design: false, note: String::new() }
    }

    /// Suspects a loss: of parts with these numbers.
    pub(crate) fn suspect(&mut self, observation: Observation, numbers: &[u32]) {
        let changes: Changes =
            numbers.iter().filter_map(|number| Some((*number, self.evidence.change(*number)?))).collect();
        self.suspect_with(observation, changes);
    }

    pub(crate) fn suspect_with(&mut self, observation: Observation, changes: Changes) {
        if !changes.is_empty() {
            self.suspicions.push(Suspicion { observation, changes });
        }
    }

    /// Keeps the suspicions that another prompt confirms. All at once first, because nearly always all are right.
    pub(crate) fn confirm(&mut self) {
        let suspicions = std::mem::take(&mut self.suspicions);
        let all: Changes = suspicions.iter().flat_map(|suspicion| suspicion.changes.clone()).collect();
        if self.evidence.is_same_with(&all) {
            self.observations.extend(suspicions.into_iter().map(|suspicion| suspicion.observation));
            return;
        }
        for suspicion in suspicions {
            if self.evidence.is_same_with(&suspicion.changes) {
                self.observations.push(suspicion.observation);
            }
        }
    }
}
