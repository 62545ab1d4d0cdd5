//! Texts in other words than a known one: an API rewords them, a gateway shortens them, a person quotes from memory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use super::{
    ClassError, Classified, ErrorClass, Extent, Likeness, Origin, Recognised, classes, texts, windows,
};
use crate::targets::Refusal;

/// The part of a known text, by the weight of its pairs of words, that an error must have.
const LEAST: f64 = 0.6;
/// The fewest pairs of words that they must share.
const FEWEST: usize = 4;

/// Two words beside each other.
type Pair = (u64, u64);

/// Known texts, each with its pairs.
struct Table<T> {
    entries: Vec<(T, Vec<Pair>)>,
    /// In which texts a pair is: their indices.
    by_pair: HashMap<Pair, Vec<u32>>,
}

static OF_RULES: LazyLock<Table<(Origin, &'static Refusal)>> =
    LazyLock::new(|| Table::new(texts().map(|(origin, refusal, text)| ((origin, refusal), text))));
static OF_CLASSES: LazyLock<Table<(&'static ErrorClass, &'static ClassError)>> =
    LazyLock::new(|| Table::new(classes::texts().map(|(class, error)| ((class, error), &*error.text))));

impl<T: Copy> Table<T> {
    fn new(texts: impl Iterator<Item = (T, &'static str)>) -> Self {
        let (mut entries, mut by_pair) = (Vec::new(), HashMap::<Pair, Vec<u32>>::new());
        let texts = texts.map(|(of, text)| (of, pairs(text)));
        for (of, pairs) in texts.filter(|(_, pairs)| pairs.len() >= FEWEST) {
            for pair in &pairs {
                by_pair.entry(*pair).or_default().push(u32::try_from(entries.len()).unwrap_or(u32::MAX));
            }
            entries.push((of, pairs));
        }
        Self { entries, by_pair }
    }

    /// The texts that are similar to an error, in their order, each with how much of it the error has.
    fn similar(&self, error: &str) -> Vec<(f64, T)> {
        let own: HashSet<Pair> = windows(error).flat_map(|error| pairs(error.text)).collect();
        let weight = |pair: &Pair| {
            let texts = self.by_pair.get(pair).map_or(1, Vec::len);
            1.0 / f64::from(u32::try_from(texts).unwrap_or(u32::MAX)).sqrt()
        };
        let candidates: BTreeSet<u32> =
            own.iter().filter_map(|pair| self.by_pair.get(pair)).flatten().copied().collect();
        let share = |(of, pairs): &(T, Vec<Pair>)| {
            let shared: Vec<&Pair> = pairs.iter().filter(|pair| own.contains(pair)).collect();
            let is_enough = shared.len() >= FEWEST;
            let share = shared.into_iter().map(weight).sum::<f64>() / pairs.iter().map(weight).sum::<f64>();
            (is_enough && share >= LEAST).then_some((share, *of))
        };
        candidates.into_iter().filter_map(|index| share(&self.entries[index as usize])).collect()
    }
}

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
    let mut found = OF_RULES.similar(error);
    let order = |(origin, refusal): (Origin, &Refusal)| {
        (origin.is_variant(), refusal.legacy, refusal.case.is_some(), origin.id())
    };
    found.sort_by(|(one, left), (other, right)| other.total_cmp(one).then(order(*left).cmp(&order(*right))));
    let best = found.first().map_or(0.0, |(share, _)| *share);
    let mut recognised: Vec<Recognised> = Vec::new();
    for (_, (origin, refusal)) in found.into_iter().take_while(|(share, _)| *share == best) {
        if !recognised.iter().any(|known| known.is_same(origin, refusal)) {
            let (captures, extent) = (Vec::new(), Extent::default());
            recognised.push(Recognised { origin, refusal, captures, likeness: Likeness::Similar, extent });
        }
    }
    recognised
}

/// The text of a class that is the most similar to an error.
pub(super) fn classify(error: &str) -> Option<Classified> {
    // Of several, the first.
    let found =
        OF_CLASSES.similar(error).into_iter().rev().max_by(|(one, _), (other, _)| one.total_cmp(other));
    let (_, (class, text)) = found?;
    Some(Classified { class, error: Some(text), is_cut: true, captures: Vec::new() })
}
