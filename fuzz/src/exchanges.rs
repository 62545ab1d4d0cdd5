//! Logs of exchanges: conversations that are generated from the input, written in a format and then damaged.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::strategy::{BoxedStrategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value as Json, json};
use toolcheck_core::formats;
use toolcheck_lint::{Options, rules};
use toolcheck_test::Conversation;
use toolcheck_test::strategies::conversations;

use super::seeds::UNCHANGED;
use super::{lint, take};

/// The maximum number of changes to a log.
const MOST_CHANGES: usize = 4;
/// The number of bytes that choose a change.
const CHANGE: usize = 8;
/// The number of bytes that choose a conversation.
const SEED: usize = 32;

thread_local! {
    /// Cached, because building the strategy is slower than using it.
    static CONVERSATIONS: RefCell<BoxedStrategy<Conversation>> = RefCell::new(conversations().boxed());
}

/// The first byte chooses the format, the second the number of changes. The changes follow, and then the seed of the
/// conversation.
pub fn run(mut data: &[u8]) {
    if let Some(log) = data.strip_prefix(&[UNCHANGED]) {
        check(log);
        return;
    }
    let format = formats::ALL[take(&mut data) % formats::ALL.len()];
    let changes = take(&mut data) % (MOST_CHANGES + 1);
    let (chosen, rest) = data.split_at((changes * CHANGE).min(data.len()));
    let Some(conversation) = conversation(rest) else { return };
    let mut log = Json::Array(format.write_exchanges(&conversation, Conversation::clone));
    chosen.chunks_exact(CHANGE).for_each(|change| disturb(&mut log, change));
    let lines = log.as_array().into_iter().flatten().map(|exchange| format!("{exchange}\n"));
    let found = [lines.collect::<String>(), log.to_string()].map(|text| check(text.as_bytes()));
    if chosen.is_empty() {
        assert_eq!(found, [[""; 0]; 2], "{}: {log}", format.id);
    }
}

/// Lints and shows a log, and returns the rules with findings.
fn check(bytes: &[u8]) -> Vec<&'static str> {
    let found = lint::check(bytes, &Options::new().rules(rules::ALL.to_vec()));
    // Opt-in rules may report valid conversations.
    let is_optional = |id: &&str| rules::find(id).is_some_and(|rule| rule.is_optional);
    found.into_iter().filter(|id| !is_optional(id)).collect()
}

/// The conversation that the first bytes choose.
fn conversation(bytes: &[u8]) -> Option<Conversation> {
    let mut seed = [0; SEED];
    seed.iter_mut().zip(bytes).for_each(|(seed, byte)| *seed = *byte);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    CONVERSATIONS.with_borrow(|strategy| Some(strategy.new_tree(&mut runner).ok()?.current()))
}

/// Removes, repeats, moves or replaces one value. The first byte chooses the change and the depth, the others the path.
fn disturb(value: &mut Json, change: &[u8]) {
    let [how, path @ ..] = change else { return };
    let depth = usize::from(how / 8) % path.len() + 1;
    disturb_at(value, how % 8, &path[..depth], path[path.len() - 1]);
}

fn disturb_at(value: &mut Json, how: u8, path: &[u8], choice: u8) {
    let [step, rest @ ..] = path else {
        *value = replacement(choice);
        return;
    };
    let (step, is_last) = (usize::from(*step), rest.is_empty());
    match value {
        Json::Array(elements) if !elements.is_empty() => {
            let at = step % elements.len();
            match how {
                0 if is_last => drop(elements.remove(at)),
                1 if is_last => elements.insert(at, elements[at].clone()),
                2 if is_last => elements[at..].rotate_left(1),
                _ => disturb_at(&mut elements[at], how, rest, choice),
            }
        }
        Json::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(step % members.len()).cloned().unwrap_or_default();
            if how == 0 && is_last {
                members.remove(&key);
            } else if let Some(member) = members.get_mut(&key) {
                disturb_at(member, how, rest, choice);
            }
        }
        other => *other = replacement(choice),
    }
}

fn replacement(choice: u8) -> Json {
    let all = [json!(null), json!(1), json!("x"), json!(""), json!([]), json!({}), json!([[1]]), json!([{}])];
    all[usize::from(choice) % all.len()].clone()
}
