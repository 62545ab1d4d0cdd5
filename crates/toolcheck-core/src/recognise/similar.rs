//! Texts in other words than a known one: an API rewords them, a gateway shortens them, a person quotes from memory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use super::{Extent, Likeness, Origin, Recognised, texts, windows};
use crate::targets::Refusal;

/// The part of a known text, by the weight of its pairs of words, that an error must have.
const LEAST: f64 = 0.6;
/// The fewest pairs of words that they must share.
const FEWEST: usize = 4;

/// Two words beside each other.
type Pair = (u64, u64);

struct KnownText {
    origin: Origin,
    refusal: &'static Refusal,
    pairs: Vec<Pair>,
}

struct Table {
    entries: Vec<KnownText>,
    /// In which texts a pair is: their indices.
    by_pair: HashMap<Pair, Vec<u32>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (mut entries, mut by_pair) = (Vec::new(), HashMap::<Pair, Vec<u32>>::new());
    for (origin, refusal, text) in texts() {
        let pairs = pairs(text);
        if pairs.len() < FEWEST {
            continue;
        }
        for pair in &pairs {
            by_pair.entry(*pair).or_default().push(u32::try_from(entries.len()).unwrap_or(u32::MAX));
        }
        entries.push(KnownText { origin, refusal, pairs });
    }
    Table { entries, by_pair }
});

/// The pairs of words of a text, each once. A placeholder, a number and an address end a pair: they differ between errors.
fn pairs(text: &str) -> Vec<Pair> {
    let mut seen = HashSet::new();
    let mut before = None;
    let mut rest = text;
    let mut pairs = Vec::new();
    while let Some(start) = rest.find(|one: char| one.is_alphanumeric() || one == '{') {
        rest = &rest[start..];
        if let Some(after) = rest.strip_prefix('{') {
            let name = after.split_once('}').filter(|(name, _)| crate::text::is_placeholder(name));
            rest = name.map_or(after, |(_, after)| after);
            before = name.map_or(before, |_| None);
            continue;
        }
        let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_').unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        // Very different errors lead to the same page.
        if rest.starts_with("://") {
            rest = rest.find(char::is_whitespace).map_or("", |end| &rest[end..]);
            before = None;
            continue;
        }
        if word.bytes().any(|byte| byte.is_ascii_digit()) {
            before = None;
            continue;
        }
        let word = hash(word);
        if let Some(before) = before.replace(word)
            && seen.insert((before, word))
        {
            pairs.push((before, word));
        }
    }
    pairs
}

/// A word without upper case, underscores and the ending of a plural.
fn hash(word: &str) -> u64 {
    let letters = word.chars().filter(|one| *one != '_').flat_map(char::to_lowercase);
    let word: String = letters.collect();
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(&word);
    let mut hasher = DefaultHasher::new();
    stem.hash(&mut hasher);
    hasher.finish()
}

/// The known texts that are the most similar to an error.
pub(super) fn recognise(error: &str) -> Vec<Recognised> {
    let table = &*TABLE;
    let own: HashSet<Pair> = windows(error).flat_map(pairs).collect();
    let weight = |pair: &Pair| {
        let texts = table.by_pair.get(pair).map_or(1, Vec::len);
        1.0 / f64::from(u32::try_from(texts).unwrap_or(u32::MAX)).sqrt()
    };
    let candidates: BTreeSet<u32> =
        own.iter().filter_map(|pair| table.by_pair.get(pair)).flatten().copied().collect();
    let mut found: Vec<(f64, &KnownText)> = Vec::new();
    for entry in candidates.into_iter().map(|index| &table.entries[index as usize]) {
        let shared: Vec<&Pair> = entry.pairs.iter().filter(|pair| own.contains(pair)).collect();
        if shared.len() < FEWEST {
            continue;
        }
        let share = shared.into_iter().map(weight).sum::<f64>() / entry.pairs.iter().map(weight).sum::<f64>();
        if share >= LEAST {
            found.push((share, entry));
        }
    }
    found.sort_by(|(one, left), (other, right)| {
        let order = |entry: &KnownText| {
            (entry.origin.is_variant(), entry.refusal.legacy, entry.refusal.case.is_some())
        };
        other
            .total_cmp(one)
            .then(order(left).cmp(&order(right)))
            .then(left.origin.id().cmp(right.origin.id()))
    });
    let best = found.first().map_or(0.0, |(share, _)| *share);
    let mut recognised: Vec<Recognised> = Vec::new();
    for (_, entry) in found.into_iter().take_while(|(share, _)| *share == best) {
        if !recognised.iter().any(|known| known.is_same(entry.origin, entry.refusal)) {
            recognised.push(Recognised {
                origin: entry.origin,
                refusal: entry.refusal,
                captures: Vec::new(),
                likeness: Likeness::Similar,
                extent: Extent::default(),
            });
        }
    }
    recognised
}
