//! What the other side refuses of an event because of its shape: a key that is not there, or a value of another type.

use toolcheck_json::Value;

use super::event_session::Session;
use super::events::{Key, ResultStep, Types};
use super::shortened::has_shortened;
use crate::ir::{MissingKey, Place, WrongValue};

impl<'s> Session<'s> {
    /// Checks the keys of an event, or of what it tells. A program makes the same mistake again and again, which is told once in
    /// each turn. Says whether there is none.
    pub(super) fn check_keys(&mut self, keys: &'static [Key], of: Value<'_, 's>) -> bool {
        let mut is_right = true;
        for key in keys {
            let found = key.at.of(of);
            if found.map_or(key.is_optional, |found| key.takes(found)) || has_shortened(of) {
                continue;
            }
            is_right = false;
            let is_null = found.is_some_and(Value::is_null);
            if !self.faulty_keys.insert((std::ptr::from_ref(key), found.is_some())) {
                continue;
            }
            let details = &mut self.transcript.details;
            let name = key.at.key();
            match found {
                None => {
                    let place = Place::of(of);
                    let missing =
                        MissingKey { case: "response", key: name, place, name: None, because: None };
                    details.missing_keys.push(missing);
                }
                Some(found) => details.wrong_values.push(WrongValue {
                    place: Place::of(found),
                    key: name,
                    wants: &key.wants,
                    // A log may have been written before the program leaves out what is not there.
                    is_doubtful: key.is_optional && is_null,
                }),
            }
        }
        is_right
    }
}

impl<'s> Session<'s> {
    /// Says of a result that it must have the id of its call, if calls have ids. Another server may take it all the same.
    pub(super) fn check_id(&mut self, step: &'static ResultStep, item: Value<'_, 's>) {
        let Some(wants) =
            step.wants_id.as_deref().filter(|_| self.has_begun && !self.waives_ids && !self.calls.is_empty())
        else {
            return;
        };
        let wrong = WrongValue { place: Place::of(item), key: step.id.key(), wants, is_doubtful: true };
        self.transcript.details.wrong_values.push(wrong);
    }
}

impl Key {
    fn takes(&self, value: Value<'_, '_>) -> bool {
        match self.types {
            Types::Text if !self.any.is_empty() => {
                value.as_str().is_some_and(|text| self.any.iter().any(|one| *one == *text))
            }
            Types::Any => true,
            Types::Text => value.is_string(),
            Types::Object => value.is_object(),
            Types::TextOrList => value.is_string() || value.is_array(),
        }
    }
}
