//! Conversations that are made up from a seed.

use serde_json::{Map, Value as Json, json};

use super::conversation::{TestCall, TestConversation, TestTurn};

/// Numbers that follow from a seed: SplitMix64, which is short and the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// Whether something happens that happens once in so many times.
    fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const TOOLS: [&str; 4] = ["tides", "wind", "book_berth", "watch"];
const KEYS: [&str; 4] = ["harbour", "hours", "note", "boat"];
const WORDS: [&str; 8] =
    ["Alba", "Brae", "low at six", "ship \u{1f6a2}", "\u{e9}t\u{e9}", "a \"b\"", "back\\slash", "two\nlines"];
const TEXTS: [&str; 5] = ["I will look.", "At six.", "Sail at nine.", "\n\n", "See <table>."];
const RESULTS: [&str; 7] = ["low at six", "", "{\"low\": 6}", "[1, 2]", "west, four", "null", " padded "];
const RAW: [&str; 6] = ["", "{\"harbour\": \"Al", "[\"Alba\"]", "null", "\"Alba\"", "{}"];
const IDS: [&str; 5] = ["a.b", "a:b", "call-1", "functions.tides:0", "A_1"];

/// Conversations from a seed: the same seed gives the same ones.
pub fn generated(seed: u64, count: usize) -> Vec<TestConversation> {
    let one = |number: usize| {
        // Each has a seed of its own, so that more of them are the same ones and others.
        let mut numbers = Numbers(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        conversation(format!("generated-{seed}-{number}"), &mut numbers)
    };
    (0..count).map(one).collect()
}

fn conversation(id: String, numbers: &mut Numbers) -> TestConversation {
    let mut turns = Vec::new();
    let mut ids: Vec<&str> = IDS.to_vec();
    for _ in 0..=numbers.below(2) {
        turns.push(TestTurn { user: Some(numbers.one_of(&WORDS).to_owned()), ..TestTurn::default() });
        for _ in 0..numbers.below(4) {
            turns.push(calling(numbers, &mut ids));
        }
        turns.push(TestTurn { text: numbers.one_of(&TEXTS[..3]).to_owned(), ..TestTurn::default() });
    }
    // A request ends with what the model is to answer.
    if numbers.once_in(2) || turns.len() < 3 {
        turns.push(TestTurn { user: Some("Go on.".to_owned()), ..TestTurn::default() });
    } else {
        turns.pop();
    }
    let system = if numbers.once_in(3) { "Answer in one sentence." } else { "" };
    TestConversation {
        id,
        title: "Made up".to_owned(),
        system: system.to_owned(),
        turns,
        ..TestConversation::default()
    }
}

fn calling(numbers: &mut Numbers, ids: &mut Vec<&str>) -> TestTurn {
    let count = 1 + numbers.below(3);
    let calls = (0..count).map(|_| call(numbers, ids)).collect();
    TestTurn {
        text: if numbers.once_in(2) { numbers.one_of(&TEXTS).to_owned() } else { String::new() },
        reasoning: numbers.once_in(6).then(|| "First the tide.".to_owned()),
        calls,
        reversed: count > 1 && numbers.once_in(3),
        ..TestTurn::default()
    }
}

fn call(numbers: &mut Numbers, ids: &mut Vec<&str>) -> TestCall {
    let value = |numbers: &mut Numbers| match numbers.below(6) {
        0 => json!(numbers.below(100)),
        1 => json!(1.5),
        2 => json!(numbers.once_in(2)),
        3 => json!([numbers.one_of(&WORDS)]),
        4 => json!({"name": numbers.one_of(&WORDS)}),
        _ => json!(numbers.one_of(&WORDS)),
    };
    let count = numbers.below(3);
    let arguments: Map<String, Json> =
        (0..count).map(|_| (numbers.one_of(&KEYS).to_owned(), value(numbers))).collect();
    // An id is used once.
    let id = (numbers.once_in(4) && !ids.is_empty()).then(|| ids.remove(numbers.below(ids.len())).to_owned());
    TestCall {
        tool: numbers.one_of(&TOOLS).to_owned(),
        id,
        arguments,
        raw: numbers.once_in(8).then(|| numbers.one_of(&RAW).to_owned()),
        result: numbers.one_of(&RESULTS).to_owned(),
        failed: numbers.once_in(8),
    }
}
