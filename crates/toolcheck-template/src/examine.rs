//! Finds what a model does not get to read of a request.

use toolcheck_json::Value;

use crate::bind;
use crate::convert::{Changes, Of};
use crate::evidence::Evidence;
use crate::input::Input;
use crate::load::Template;
use crate::render::{Refusal, Traced, Trial};
use crate::segments::Pointers;
use crate::{parts, tools};

/// What was found about a request and a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examination {
    /// What was observed, in the order of the request.
    pub observations: Vec<Observation>,
    /// Why there is no prompt. If its kind [is not certain](crate::RefusalKind::is_certain), nothing is known about the
    /// request, and there are no observations.
    pub refusal: Option<Refusal>,
}

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

impl Findings<'_> {
    /// An observation about a value.
    pub(crate) fn observation(&self, kind: Kind, part: Part, (of, value): (Of, Value<'_, '_>)) -> Observation {
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
    fn confirm(&mut self) {
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

impl Template {
    /// Finds what a model does not get to read of a request, or reads in another way than it was meant.
    ///
    /// The prompt is rendered once with each text followed through the template. What seems to be lost is changed, and
    /// only if the prompt stays the same it is reported. White space is no part, and images and sounds are not looked at.
    /// At most some twenty prompts are rendered, and a few more to find the message with which a template refuses.
    #[must_use]
    pub fn examine(&self, input: &Input<'_>) -> Examination {
        let trial = Trial { traces: true, changes: &Changes::new(), most_messages: usize::MAX };
        match self.trial(input, &trial) {
            Ok(traced) => {
                Examination { observations: self.examine_prompt(input, &traced), refusal: None }
            }
            Err(refusal) => {
                let observations =
                    if refusal.kind.is_certain() { vec![self.refused(input, &refusal)] } else { Vec::new() };
                Examination { observations, refusal: Some(refusal) }
            }
        }
    }

    fn examine_prompt(&self, input: &Input<'_>, traced: &Traced) -> Vec<Observation> {
        let evidence = Evidence::new(self, input, traced);
        let pointers = Pointers::of(input, traced);
        let mut findings =
            Findings { evidence: &evidence, pointers, suspicions: Vec::new(), observations: Vec::new() };
        tools::examine(&mut findings);
        parts::examine(&mut findings);
        findings.confirm();
        bind::examine(&mut findings);
        parts::nulls(&mut findings);
        let mut found = findings.observations;
        let place = |observation: &Observation| natural(&observation.pointer);
        found.sort_by_cached_key(|observation| (place(observation), observation.inner.clone(), observation.kind));
        found
    }

    /// The message with which a template refuses a conversation: the first that makes it say the same of what came before.
    fn refused(&self, input: &Input<'_>, refusal: &Refusal) -> Observation {
        let refuses = |count: usize| {
            let trial = Trial { traces: false, changes: &Changes::new(), most_messages: count };
            let prefix = Input { add_generation_prompt: false, ..*input };
            self.trial(&prefix, &trial).err().is_some_and(|own| own.message == refusal.message)
        };
        let messages: Vec<_> = input.messages.children().collect();
        let (mut low, mut high) = (0, messages.len());
        let mut first = None;
        if high <= 24 {
            first = (1..=high).find(|count| refuses(*count));
        } else if !refuses(1) && refuses(high) {
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if refuses(middle) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            first = Some(high);
        } else if refuses(1) {
            first = Some(1);
        }
        let value = first.and_then(|count| messages.get(count - 1)).copied().unwrap_or(input.messages);
        let pointer = toolcheck_json::pointers(value.document(), &[value.id()]).pop().unwrap_or_default();
        Observation {
            kind: Kind::Refuses,
            part: Part::Message,
            pointer,
            inner: String::new(),
            by_design: false,
            note: refusal.message.clone(),
        }
    }
}

/// A pointer in an order in which 10 comes after 9.
fn natural(pointer: &str) -> Vec<(usize, String)> {
    pointer.split('/').map(|name| (name.parse().unwrap_or(usize::MAX), name.to_owned())).collect()
}
