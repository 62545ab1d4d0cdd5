//! Finds what a model does not get to read of a request.

use crate::convert::{Changes, RenderMode};
use crate::evidence::Evidence;
use crate::findings::{Findings, Kind, Observation, Part};
use crate::input::Input;
use crate::load::Template;
use crate::render::{Refusal, Traced};
use crate::segments::Pointers;
use crate::{bind, mask, parts, tools};

/// What was found about a request and a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examination {
    /// What was observed, in the order of the request.
    pub observations: Vec<Observation>,
    /// Why there is no prompt. If its kind [is not certain](crate::RefusalKind::is_certain), nothing is known about the
    /// request, and there are no observations.
    pub refusal: Option<Refusal>,
}

impl Template {
    /// Finds what a model does not get to read of a request, or reads in another way than it was meant.
    ///
    /// The prompt is rendered once with each text followed through the template. What seems to be lost is changed, and
    /// only if the prompt stays the same it is reported. Whitespace is no part.
    /// At most some twenty prompts are rendered, and a few more to find the message with which a template refuses.
    pub fn examine(&self, input: &Input<'_>) -> Examination {
        let trial = RenderMode { traces: true, changes: &Changes::new(), most_messages: usize::MAX };
        match self.trial(input, &trial) {
            Ok(traced) => Examination { observations: self.examine_prompt(input, &traced), refusal: None },
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
        let mut findings = Findings::new(&evidence, pointers);
        tools::examine(&mut findings);
        parts::examine(&mut findings);
        findings.confirm();
        bind::examine(&mut findings);
        parts::nulls(&mut findings);
        mask::examine(&mut findings);
        // Last, because prompts are few, and most templates that get images read them.
        parts::media(&mut findings);
        findings.confirm();
        let mut found = findings.observations;
        let place = |observation: &Observation| natural(&observation.pointer);
        found.sort_by_cached_key(|observation| {
            (place(observation), observation.inner.clone(), observation.kind)
        });
        found
    }

    /// The message with which a template refuses a conversation: the first that makes it say the same of what came before.
    fn refused(&self, input: &Input<'_>, refusal: &Refusal) -> Observation {
        let refuses = |count: usize| {
            let trial = RenderMode { traces: false, changes: &Changes::new(), most_messages: count };
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
