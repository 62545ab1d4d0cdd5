//! The turns of a history that an earlier request has sent, too.

use foldhash::HashMap;
use toolcheck_core::ir::{Role, Transcript};
use toolcheck_json::Document;

use super::answers::NewMessages;
use super::{Change, Continued, Exchanges, Histories, MatchedCall, PastCall};
use crate::view::arguments::hash_of;

impl Exchanges {
    /// The calls in the history of the exchange whose arguments are not those of their responses: of those that stand behind
    /// what the response answered.
    pub(super) fn older<'e>(
        &'e self,
        document: &Document<'_>,
        transcript: &Transcript<'_>,
        (continued, histories): (Continued, &Histories),
    ) -> Vec<(&'e PastCall, MatchedCall)> {
        let known = histories.arguments.get(continued.first_new);
        if self.open(continued).is_none_or(|open| known.is_none_or(|known| *known == open.arguments)) {
            return Vec::new();
        }
        let stands_behind = |number: usize, mut message: usize| loop {
            let mut keys = histories.first[message].iter().filter_map(|hash| self.by_history.get(hash));
            if keys.any(|numbers| numbers.contains(&number)) {
                return true;
            }
            // A turn may be several messages.
            match message.checked_sub(1) {
                Some(before) if transcript.messages[before].role == Role::Assistant => message = before,
                _ => return false,
            }
        };
        let calls_of = |number: usize, message: usize| -> HashMap<u64, &'e PastCall> {
            let open = self.open(Continued { number, first_new: 0 });
            let open = open.filter(|_| stands_behind(number, message));
            let calls = open.into_iter().flat_map(|open| &open.answers).flat_map(|answer| &answer.calls);
            let sure =
                calls.filter(|call| !call.shares_id && !call.is_unfinished && !call.has_odd_arguments());
            sure.filter_map(|call| Some((hash_of(call.call.id.as_deref()?), call))).collect()
        };
        let mut known = HashMap::default();
        let all = NewMessages::new(document, transcript, 0, false, &self.given).calls.into_iter();
        let changed = all.take_while(|stored| stored.at.message < continued.first_new).filter_map(|stored| {
            let id = hash_of(&*stored.call.id.as_ref()?.text);
            let number = (*self.given.get(&id)?)?;
            let calls = known.entry(number).or_insert_with(|| calls_of(number, stored.at.message));
            let given = *calls.get(&id)?;
            let change = given.arguments.change(stored.at.meaning, &stored.text);
            // Arguments that are emptied save room.
            (change == Change::Other).then_some((given, MatchedCall { change, ..stored.at }))
        });
        changed.collect()
    }
}
