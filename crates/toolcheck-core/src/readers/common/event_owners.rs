//! Who sends what belongs together, if several send at the same time: each goes on with its own only.

use toolcheck_json::Value;

use super::event_session::Session;
use super::events::Resource;
use crate::ir::{Misplacement, Named};

impl<'s> Session<'s> {
    /// Remembers who opens something, or checks that it is the same as before.
    pub(super) fn own(&mut self, opens: &'static Resource, id: &str, kind: &str, event: Value<'_, 's>) {
        let Some(owned) = &opens.owned else { return };
        let lane = self.lane(event);
        let mut owner = lane.clone();
        if let Some(parent) = &opens.parent
            && let Some(of) = parent.id.of(event).and_then(Named::of)
            && let Some(known) = self.owners.get(&(&*parent.thing, of.text.to_string())).cloned()
        {
            if !lane.is_empty() && lane != known {
                let says = self.of_other(&parent.refused, (kind, &of.text), &lane, &known);
                let (thing, id) = (parent.thing.clone(), of.text.into_owned());
                self.misplaced(event, kind, Misplacement::OtherSender { thing, id }, Some(says));
                return;
            }
            owner = known;
        }
        if self.owners.contains_key(&(&**owned, id.to_owned())) {
            self.check_owner(opens, id, kind, event);
        } else if self.has_begun {
            self.owners.insert((owned, id.to_owned()), owner);
        }
    }

    /// Checks that an event is sent by who has opened what it is for. Each thing is told once.
    pub(super) fn check_owner(
        &mut self,
        needs: &'static Resource,
        id: &str,
        kind: &str,
        event: Value<'_, 's>,
    ) {
        let Some(owned) = &needs.owned else { return };
        let lane = self.lane(event);
        let key = (&**owned, id.to_owned());
        let is_other = |owner: &&String| !lane.is_empty() && **owner != lane;
        let Some(owner) = self.owners.get(&key).filter(is_other).cloned() else { return };
        self.owners.remove(&key);
        let refused = self.protocol.refuses_others.replace("{thing}", owned);
        let says = self.of_other(&refused, (kind, id), &lane, &owner);
        let (thing, id) = (owned.clone(), id.to_owned());
        self.misplaced(event, kind, Misplacement::OtherSender { thing, id }, Some(says));
    }

    /// Checks that the other side has not forgotten what an event is for. Each thing is told once.
    pub(super) fn check_forgotten(
        &mut self,
        needs: &'static Resource,
        id: &str,
        kind: &str,
        event: Value<'_, 's>,
    ) {
        let Some(before) = self.forgotten.get(&*needs.thing) else { return };
        let open = self.open.get_mut(&*needs.thing).and_then(|open| open.get_mut(id));
        let Some(number) = open.filter(|number| **number <= *before) else { return };
        *number = usize::MAX;
        let says = needs.refused.as_ref().map(|refused| refused.replace("{id}", id));
        let why = Misplacement::NotOpen { thing: needs.thing.clone(), id: id.to_owned() };
        self.misplaced(event, kind, why, says);
        // Some of its versions remember it.
        self.transcript.details.misplaced_events.last_mut().into_iter().for_each(|it| it.is_doubtful = true);
    }

    /// What the other side says of what another one has opened.
    fn of_other(&self, refused: &str, (kind, id): (&str, &str), lane: &str, owner: &str) -> String {
        let owner = if owner.is_empty() { &self.protocol.without_lane } else { owner };
        refused.replace("{kind}", kind).replace("{id}", id).replace("{lane}", lane).replace("{owner}", owner)
    }

    /// Checks that what an event follows has been opened in this turn, also if it is closed again.
    pub(super) fn check_begun(&mut self, follows: &'static Resource, kind: &str, event: Value<'_, 's>) {
        let Some(id) = follows.id.of(event).and_then(Named::of).map(|id| id.text) else { return };
        let is_begun = self.begun.get(&*follows.thing).is_some_and(|begun| begun.contains(&*id));
        if self.has_begun
            && !is_begun
            && self.refused.entry(&follows.thing).or_default().insert(id.to_string())
        {
            let says = follows.refused.as_ref().map(|refused| refused.replace("{id}", &id));
            let why = Misplacement::NotOpen { thing: follows.thing.clone(), id: id.into_owned() };
            self.misplaced(event, kind, why, says);
        }
    }

    /// Remembers that something was opened, and checks that it was not before, if it may be only once in a turn.
    pub(super) fn begin(&mut self, opens: &'static Resource, id: &str, kind: &str, event: Value<'_, 's>) {
        let Some(refused) = &opens.refused_again else { return };
        if !self.begun.entry(&opens.thing).or_default().insert(id.to_owned()) {
            let why = Misplacement::Again { thing: opens.thing.clone(), id: id.to_owned(), then: None };
            self.misplaced(event, kind, why, Some(refused.replace("{id}", id)));
        }
    }
}
