//! Ids that a target takes, made from those that it refuses.

use foldhash::HashSet;
use toolcheck_core::RuleId;
use toolcheck_core::fix::Cost;
use toolcheck_core::pairing::{CallSite, ResultSite};
use toolcheck_core::targets::Target;
use toolcheck_json::Value;
use toolcheck_json::edit::Piece;

use super::Action;
use super::options::Unanswered;
use super::plan::{MADE_UP, Planner};

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The most other ids that are tried.
const TRIES: u64 = 64;

/// An id for the same call that the target takes and that is not in use: a function of the old id, so that other copies
/// of the conversation get the same one. `use_number` is 1 for the first use of the id, 2 for the second.
pub(super) fn replacement(
    id: &str,
    use_number: usize,
    target: &Target,
    used: &HashSet<String>,
) -> Option<String> {
    let max = target.ids.max_length.unwrap_or(usize::MAX);
    let fits = |id: &str| {
        !id.is_empty()
            && id.chars().count() <= max
            && target.ids.pattern.as_ref().is_none_or(|pattern| pattern.is_match(id))
            && !used.contains(id)
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut plain: String = id.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    if use_number > 1 {
        plain = format!("{plain}_{use_number}");
    }
    if fits(&plain) {
        return Some(plain);
    }
    let salted = (0..TRIES).map(|salt| hash(id, use_number as u64 + (salt << 32)));
    salted.flat_map(|hash| [letters(hash, 9), format!("call_{}", letters(hash, 11))]).find(|id| fits(id))
}

/// An id for a record that comes after the one with this id, in the form of a UUID of version 8.
pub(super) fn record_id(after: &str, number: usize) -> String {
    let [high, low] = [0, 1_u64 << 32].map(|salt| hash(after, number as u64 + salt));
    format!(
        "{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        (low >> 48) & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// FNV-1a with a salt: the same on every machine and in every version.
fn hash(text: &str, salt: u64) -> u64 {
    let bytes = text.bytes().chain(salt.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The last step of splitmix64: similar ids must not get similar hashes.
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn letters(mut hash: u64, count: usize) -> String {
    let mut text = String::with_capacity(count);
    for _ in 0..count {
        text.push(char::from(LETTERS[(hash % 62) as usize]));
        hash /= 62;
    }
    text
}

impl<'p> Planner<'p, '_> {
    /// Gives a result the new id of the call that it stands for, which had the id of another.
    pub(super) fn follow(&mut self, site: &ResultSite<'_, '_>) {
        let call = self.pairing.stands_for(site).and_then(|call| self.new_ids.get(&call.number));
        if let (Some(new), Some(own)) = (call, &site.result.call_id) {
            self.values.insert(own.place.node, Piece::text(new));
        }
    }

    /// Whether neither a call nor one with its id in another message of its turn has a result.
    pub(super) fn lacks_result_beside(&self, site: &CallSite<'_, '_>) -> bool {
        let is_missing = |site: &CallSite<'_, '_>| {
            self.pairing.answer_of(site).is_none()
                && self.finding(RuleId::UnansweredToolCall, site.part.place).is_some()
        };
        let id = site.call.id.as_ref().map(|id| &id.text);
        let calls = self.pairing.calls_of_turn(site.turn).iter();
        let calls = calls.filter(|other| other.call.id.as_ref().map(|id| &id.text) == id);
        self.how.unanswered == Unanswered::Answer
            && calls.clone().any(|other| other.message_number != site.message_number)
            && calls.clone().all(|other| self.pairing.answer_of(other).is_none())
            && calls.clone().any(is_missing)
    }

    /// The ids of which a turn has several calls, some with a result and some without.
    pub(super) fn unclear_ids(&self) -> HashSet<&'p str> {
        let pairing = self.pairing;
        let key = |site: &CallSite<'p, '_>| Some((site.turn, &*site.call.id.as_ref()?.text));
        let answered = pairing.calls.iter().filter(|site| pairing.answer_of(site).is_some());
        let answered: HashSet<(usize, &str)> = answered.filter_map(key).collect();
        let others = pairing.calls.iter().filter(|site| pairing.answer_of(site).is_none());
        others.filter_map(key).filter(|key| answered.contains(key)).map(|(_, id)| id).collect()
    }

    /// Ids for calls that have none: that of the result in its place, or a new one.
    pub(super) fn missing_ids(&mut self, mut used: HashSet<String>) {
        let pairing = self.pairing;
        let Some(key) = self.fix_style.call_id else { return };
        for site in pairing.calls.iter().filter(|site| site.call.id.is_none()) {
            let finding = self.finding(RuleId::MissingToolCallId, site.part.place);
            // Where the id may be missing, the result that is made up for the call needs it.
            let is_unanswered = || {
                self.finding(RuleId::UnansweredToolCall, site.part.place).is_some()
                    && !self.answers_have_names()
            };
            if finding.is_none() && !(self.how.unsafe_fixes && is_unanswered()) {
                continue;
            }
            let answer = pairing.answer_of(site).and_then(|answer| answer.result.call_id.as_ref());
            let of_answer = answer.map(|id| id.text.to_string()).filter(|id| !used.contains(id));
            let (action, guess) = match of_answer {
                Some(_) => (Action::Reattached, "assumes that the result in its place belongs to the call"),
                None => (Action::Inserted, MADE_UP),
            };
            let made = || replacement(&format!("call_{}", site.number + 1), 1, self.target, &used);
            let Some(id) = of_answer.or_else(made) else { continue };
            let own = self.fix_style.own(self.document.value(site.part.place.node));
            if !own.is_object() {
                self.leave(finding, "the call is not an object");
                continue;
            }
            let at = own.span().start;
            // The id of the other half may stand under another key.
            let is_id = |member: &Value<'_, '_>| member.as_str().is_some_and(|text| text == id);
            if let Some(member) = own.members().find(|member| action == Action::Reattached && is_id(member)) {
                if finding.is_none_or(|finding| self.try_fix(finding, Action::Rewritten, at, None)) {
                    used.insert(id);
                    self.edits.rename_member(own.id(), member.id(), key);
                }
                continue;
            }
            let guess = Cost::Guess(guess.to_owned());
            if finding.is_none_or(|finding| self.try_fix(finding, action, at, Some(guess))) {
                used.insert(id.clone());
                self.edits.set_member(own.id(), key, Piece::text(&id));
                self.new_ids.insert(site.number, id);
            }
        }
    }
}
