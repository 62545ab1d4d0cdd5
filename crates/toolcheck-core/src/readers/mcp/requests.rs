//! The requests that wait for their responses. Each side numbers its own, so that one id may stand for two of them.

use std::borrow::Cow;

use foldhash::HashMap;
use toolcheck_json::Value;

use crate::ir::Place;

pub(super) struct Request<'s> {
    pub(super) method: Cow<'s, str>,
    /// The number of its part if it is a call, or of its conversation if it asks a model.
    pub(super) number: Option<usize>,
    /// The schema of what a person enters.
    pub(super) form: Option<Place>,
    /// Where it goes, in the words of the log.
    pub(super) direction: Option<Cow<'s, str>>,
}

/// The requests by their ids as they are written.
#[derive(Default)]
pub(super) struct Requests<'s>(HashMap<Cow<'s, str>, Vec<Request<'s>>>);

/// The most requests of one id that are looked at: there are two, of either side, in a log that is in order.
const MOST_OF_ID: usize = 16;

impl<'s> Requests<'s> {
    pub(super) fn add(&mut self, id: Cow<'s, str>, request: Request<'s>) {
        self.0.entry(id).or_default().push(request);
    }

    /// The last requests that wait under an id.
    pub(super) fn of(&self, id: &str) -> &[Request<'s>] {
        let waiting = self.0.get(id).map_or(&[][..], Vec::as_slice);
        &waiting[waiting.len().saturating_sub(MOST_OF_ID)..]
    }

    /// Whether another request of the same side waits. One that is the same may be written twice; calls have a rule of their
    /// own.
    pub(super) fn has_other(&self, id: &str, method: &str) -> bool {
        let own = side(method);
        own > 0 && self.of(id).iter().any(|request| request.method != method && side(&request.method) == own)
    }

    /// The call that somebody cancels, who has sent it.
    pub(super) fn cancelled(&self, id: &str, direction: Option<&str>) -> Option<usize> {
        let is_own = |request: &&Request<'s>| {
            let other = request.direction.as_deref().zip(direction).is_some_and(|(own, said)| own != said);
            request.method == "tools/call" && !other
        };
        self.of(id).iter().rfind(is_own)?.number
    }

    /// Takes out the request that a response is to: one that goes the other way and whose answers look like it. An error
    /// looks like none, but a server asks while it works on a call, and waits.
    pub(super) fn answered(
        &mut self,
        id: &str,
        result: Option<Value<'_, '_>>,
        direction: Option<&str>,
    ) -> Option<Request<'s>> {
        let waiting = self.0.get_mut(id)?;
        let from = waiting.len().saturating_sub(MOST_OF_ID);
        let rank = |request: &Request<'s>| {
            let goes_same_way = direction.is_some() && request.direction.as_deref() == direction;
            let likeness = result.map_or(1, |result| likeness(&request.method, result));
            let rank = (goes_same_way, 2 - likeness, result.is_none() && side(&request.method) == CLIENT);
            (likeness > 0).then_some(rank)
        };
        let ranked = waiting[from..].iter().enumerate().filter_map(|(at, one)| Some((rank(one)?, from + at)));
        let (_, at) = ranked.min()?;
        Some(waiting.remove(at))
    }
}

const CLIENT: u8 = 1;

/// Which side sends a request; either may if it is 0.
fn side(method: &str) -> u8 {
    match method.split_once('/').map_or(method, |(start, _)| start) {
        "tools" | "resources" | "prompts" | "completion" | "logging" | "server" | "initialize" => CLIENT,
        "sampling" | "elicitation" | "roots" => 2,
        _ => 0,
    }
}

/// How much a result looks like the answers to a method: 0 if it is none.
fn likeness(method: &str, result: Value<'_, '_>) -> u8 {
    let has = |key: &str| result.get(key).is_some();
    let is_empty = || result.members().all(|member| member.has_key("_meta") || member.has_key("resultType"));
    match method {
        "tools/call" if has("action") || has("roots") || has("role") && has("model") => 0,
        "sampling/createMessage" => {
            if has("role") {
                2
            } else {
                has("content").into()
            }
        }
        "elicitation/create" => 2 * u8::from(has("action")),
        "roots/list" => 2 * u8::from(has("roots")),
        "tools/list" => 2 * u8::from(has("tools")),
        "ping" => 1 + u8::from(is_empty()),
        _ => 2 - u8::from(is_empty()),
    }
}
