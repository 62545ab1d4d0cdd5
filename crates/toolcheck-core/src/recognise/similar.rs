//! Texts in other words than a known one: an API rewords them, a gateway shortens them, a person quotes from memory.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
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

/// Two words beside each other, or a word alone.
type Pair = (u64, u64);
/// What is before a word alone.
const NOTHING: u64 = 0;

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

/// The pairs of words of a text, each once.
fn pairs(text: &str) -> Vec<Pair> {
    let mut pairs = features(text);
    pairs.retain(|(before, _)| *before != NOTHING);
    pairs
}

/// The words and the pairs of words of a text, each once. A placeholder, a number and an address end a pair: they differ between
/// errors.
fn features(text: &str) -> Vec<Pair> {
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
        let pair = before.replace(word).map(|before| (before, word));
        pairs.extend(pair.into_iter().chain([(NOTHING, word)]).filter(|pair| seen.insert(*pair)));
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

/// The most known texts that have a say in what an error is about.
const MOST_VOTES: usize = 40;

/// The words and pairs of words of all known texts, those of rules and those of classes, and of the signs of classes.
struct Votes {
    /// Which class a text is of, and the length of the vector of its words.
    entries: Vec<(&'static ErrorClass, f64)>,
    /// How much a word or a pair says, and in which texts it is.
    by_feature: HashMap<Pair, (f64, Vec<u32>)>,
}

static VOTES: LazyLock<Votes> = LazyLock::new(|| {
    let of_rule = |rule| ErrorClass::all().find(|class| class.rules.contains(&rule));
    let of_rules = texts().filter_map(|(_, refusal, text)| Some((of_rule(refusal.rule)?, text)));
    let of_classes = ErrorClass::all().flat_map(|class| {
        let errors = class.errors.iter().map(|error| &*error.text);
        let hints = class.hints.iter().flat_map(|hint| hint.text.split(" | "));
        let signs = class.signs.iter().map(|sign| &**sign);
        errors.chain(hints).chain(signs).map(move |text| (class, text))
    });
    // The same text of several rules of a class counts once.
    let mut seen = HashSet::new();
    let texts = of_rules.chain(of_classes).filter(|(class, text)| seen.insert((&class.id, *text)));
    let (mut entries, mut by_feature) = (Vec::new(), HashMap::<Pair, (f64, Vec<u32>)>::new());
    let texts: Vec<(&'static ErrorClass, Vec<Pair>)> =
        texts.map(|(class, text)| (class, features(text))).collect();
    for (_, features) in &texts {
        for feature in features {
            by_feature.entry(*feature).or_default().0 += 1.0;
        }
    }
    let count = f64::from(u32::try_from(texts.len()).unwrap_or(u32::MAX));
    by_feature.values_mut().for_each(|(weight, _)| *weight = (count / *weight).ln().powi(2));
    for (class, features) in texts {
        let own: f64 = features.iter().map(|feature| by_feature[feature].0).sum();
        let number = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        features.iter().for_each(|feature| by_feature.entry(*feature).or_default().1.push(number));
        entries.push((class, own.sqrt().max(1.0)));
    }
    Votes { entries, by_feature }
});

/// What the known texts that have the most words in common with an error are about: the share of each class in their votes, the
/// largest first.
pub(super) fn votes(error: &str) -> Vec<(&'static ErrorClass, f64)> {
    let own: HashSet<Pair> = windows(error).flat_map(|error| features(error.text)).collect();
    let mut shared: BTreeMap<u32, f64> = BTreeMap::new();
    for (weight, texts) in own.iter().filter_map(|feature| VOTES.by_feature.get(feature)) {
        texts.iter().for_each(|text| *shared.entry(*text).or_default() += weight);
    }
    let likeness = |(text, shared): (u32, f64)| {
        let (class, length) = VOTES.entries[text as usize];
        (class, (shared / length).powi(2))
    };
    let mut voters: Vec<(&'static ErrorClass, f64)> = shared.into_iter().map(likeness).collect();
    voters.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    voters.truncate(MOST_VOTES);
    let all: f64 = voters.iter().map(|(_, vote)| vote).sum();
    let mut shares: Vec<(&'static ErrorClass, f64)> = Vec::new();
    for (class, vote) in voters {
        match shares.iter_mut().find(|(known, _)| known.id == class.id) {
            Some((_, share)) => *share += vote / all,
            None => shares.push((class, vote / all)),
        }
    }
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    shares
}

/// The text of a class that is the most similar to an error.
pub(super) fn classify(error: &str) -> Option<Classified> {
    // Of several, the first.
    let found =
        OF_CLASSES.similar(error).into_iter().rev().max_by(|(one, _), (other, _)| one.total_cmp(other));
    let (_, (class, text)) = found?;
    Some(Classified { class, other: None, error: Some(text), is_cut: true, captures: Vec::new() })
}
