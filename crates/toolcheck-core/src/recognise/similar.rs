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

static OF_RULES: LazyLock<Table<(Origin, &'static Refusal)>> = LazyLock::new(|| {
    Table::new(texts().map(|(origin, refusal, text)| ((origin, refusal), text)), pairs, FEWEST)
});
static OF_CLASSES: LazyLock<Table<(&'static ErrorClass, &'static ClassError)>> = LazyLock::new(|| {
    Table::new(classes::texts().map(|(class, error)| ((class, error), &*error.text)), pairs, FEWEST)
});

impl<T: Copy> Table<T> {
    fn new(
        texts: impl Iterator<Item = (T, &'static str)>,
        pairs: fn(&str) -> Vec<Pair>,
        fewest: usize,
    ) -> Self {
        let (mut entries, mut by_pair) = (Vec::new(), HashMap::<Pair, Vec<u32>>::new());
        let texts = texts.map(|(of, text)| (of, pairs(text)));
        for (of, pairs) in texts.filter(|(_, pairs)| pairs.len() >= fewest) {
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
        let weight = |pair: &Pair| 1.0 / self.by_pair.get(pair).map_or(1.0, |texts| size(texts)).sqrt();
        let share = |(of, pairs): &(T, Vec<Pair>)| {
            let shared: Vec<&Pair> = pairs.iter().filter(|pair| own.contains(pair)).collect();
            let is_enough = shared.len() >= FEWEST;
            let share = shared.into_iter().map(weight).sum::<f64>() / pairs.iter().map(weight).sum::<f64>();
            (is_enough && share >= LEAST).then_some((share, *of))
        };
        let candidates = self.candidates(&own).into_iter();
        candidates.filter_map(|index| share(&self.entries[index as usize])).collect()
    }

    /// The texts that have any of the pairs.
    fn candidates(&self, own: &HashSet<Pair>) -> BTreeSet<u32> {
        own.iter().filter_map(|pair| self.by_pair.get(pair)).flatten().copied().collect()
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

/// The words of all known texts, those of rules and those of classes with their signs, by the class that they are of.
static OF_WORDS: LazyLock<Table<&'static ErrorClass>> = LazyLock::new(|| {
    let of_rule = |rule| ErrorClass::all().find(|class| class.rules.contains(&rule));
    let of_rules = texts().filter_map(|(_, refusal, text)| Some((of_rule(refusal.rule)?, text)));
    let of_classes = ErrorClass::all().flat_map(|class| {
        let errors = class.errors.iter().map(|error| &*error.text);
        let hints = class.hints.iter().flat_map(|hint| hint.text.split(" | "));
        errors.chain(hints).chain(class.signs.iter().map(|sign| &**sign)).map(move |text| (class, text))
    });
    Table::new(of_rules.chain(of_classes), features, 1)
});

/// What the known texts that have the most words in common with an error are about: the share of each class in their votes, the
/// largest first.
pub(super) fn votes(error: &str) -> Vec<(&'static ErrorClass, f64)> {
    let own: HashSet<Pair> = windows(error).flat_map(|error| features(error.text)).collect();
    let all = size(&OF_WORDS.entries);
    let weigh = |pair: &Pair| (all / size(&OF_WORDS.by_pair[pair])).ln().powi(2);
    let vote = |index: u32| {
        let (class, pairs) = &OF_WORDS.entries[index as usize];
        let shared: f64 = pairs.iter().filter(|pair| own.contains(pair)).map(weigh).sum();
        (*class, shared.powi(2) / pairs.iter().map(weigh).sum::<f64>().max(1.0))
    };
    let mut voters: Vec<(&ErrorClass, f64)> = OF_WORDS.candidates(&own).into_iter().map(vote).collect();
    by_weight(&mut voters);
    voters.truncate(MOST_VOTES);
    let all: f64 = voters.iter().map(|(_, vote)| vote).sum();
    let share = |class: &'static ErrorClass| {
        let own = voters.iter().filter(|(voter, _)| voter.id == class.id);
        (class, own.map(|(_, vote)| vote / all).sum())
    };
    let mut shares: Vec<(&ErrorClass, f64)> = ErrorClass::all().map(share).collect();
    shares.retain(|(_, share)| *share > 0.0);
    by_weight(&mut shares);
    shares
}

/// Puts the largest first.
fn by_weight(classes: &mut [(&'static ErrorClass, f64)]) {
    classes.sort_by(|(_, one), (_, other)| other.total_cmp(one));
}

fn size<T>(list: &[T]) -> f64 {
    f64::from(u32::try_from(list.len()).unwrap_or(u32::MAX))
}

/// The text of a class that is the most similar to an error.
pub(super) fn classify(error: &str) -> Option<Classified> {
    // Of several, the first.
    let found =
        OF_CLASSES.similar(error).into_iter().rev().max_by(|(one, _), (other, _)| one.total_cmp(other));
    let (_, (class, text)) = found?;
    Some(Classified { class, other: None, error: Some(text), is_cut: true, captures: Vec::new() })
}
