//! From an error that an API answered to the rule that speaks of it: the targets' refusals, read backwards.
//!
//! The text may stand in any envelope: a JSON body with its escapes, an SDK's exception, a gateway's prefix, a log
//! line. Quotes are often lost, doubled or of another kind on the way, and lines are wrapped: neither counts.

use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet, RegexSetBuilder};

use crate::target::{self, FREE, Refusal, Target};

/// A refusal that an error's text is an instance of.
#[derive(Debug, Clone)]
pub struct Recognised {
    /// Who answers so.
    pub target: &'static Target,
    /// The refusal.
    pub refusal: &'static Refusal,
    /// What stood in the places of the text's names, by name.
    pub captures: Vec<(String, String)>,
}

/// The texts of all targets.
struct Table {
    entries: Vec<(&'static Target, &'static Refusal)>,
    /// How many characters of a text are its own: the more, the surer.
    own: Vec<usize>,
    patterns: Vec<String>,
    /// The same, each compiled when it first matches.
    compiled: Vec<OnceLock<Regex>>,
    set: RegexSet,
}

/// The fewest characters of its own that a text needs to be recognised by.
const FEWEST: usize = 14;
/// The same of a text's first sentence, which is all that is left of many an error in a log. It must be surer.
const FEWEST_OF_SENTENCE: usize = 30;
/// The longest error that is looked at; what comes behind it is a dump of something else.
const LONGEST: usize = 100_000;

/// The longest name, list of names or rest of a sentence: beyond it two unrelated sentences were taken for one.
const LONGEST_NAME: usize = 600;
/// The memory that the set of all texts may take once it is compiled.
const SET_LIMIT: usize = 64 << 20;
/// The memory that a search for all texts may take: with less it is given up, and a much slower one begins.
const SEARCH_LIMIT: usize = 64 << 20;

/// The whole texts.
static TEXTS: LazyLock<Table> = LazyLock::new(|| {
    // The last name goes on to where an envelope closes or a line ends.
    Table::new(|text| Some((text, r#"[^\n"}]*"#)), FEWEST)
});

/// The first sentences of those that have several.
static SENTENCES: LazyLock<Table> = LazyLock::new(|| {
    let first = |text: &'static str| text.split_once(". ").map(|(sentence, _)| (sentence, r#"[^\n"}.]*"#));
    Table::new(first, FEWEST_OF_SENTENCE)
});

impl Table {
    /// The table of a part of each text, with the expression of a name that is the part's last.
    fn new(part: fn(&'static str) -> Option<(&'static str, &'static str)>, fewest: usize) -> Self {
        let (mut entries, mut own, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
        for target in target::all().filter(|target| target.union.is_empty()) {
            // What a variant inherits is its parent's text.
            for refusal in target.refusals.iter().filter(|refusal| !refusal.is_inherited) {
                let Some((text, last)) = refusal.text.as_deref().and_then(part) else { continue };
                let (pattern, length) = pattern(text, last);
                if length >= fewest {
                    entries.push((target, refusal));
                    own.push(length);
                    patterns.push(pattern);
                }
            }
        }
        let set = RegexSetBuilder::new(&patterns).size_limit(SET_LIMIT).dfa_size_limit(SEARCH_LIMIT).build();
        let set = set.expect("patterns made from texts are regular expressions");
        let compiled = patterns.iter().map(|_| OnceLock::new()).collect();
        Self { entries, own, patterns, compiled, set }
    }
}

/// The refusals that `error` is an instance of, the surest first; each target and rule once. Where no text is found
/// whole, those whose first sentence is: logs cut what is long.
#[must_use]
pub fn recognise(error: &str) -> Vec<Recognised> {
    let end = (0..=LONGEST.min(error.len())).rev().find(|at| error.is_char_boundary(*at)).unwrap_or(0);
    let error = &error[..end];
    let whole = TEXTS.recognise(error);
    if whole.is_empty() { SENTENCES.recognise(error) } else { whole }
}

impl Table {
    fn recognise(&self, error: &str) -> Vec<Recognised> {
        let mut found: Vec<usize> = self.set.matches(error).into_iter().collect();
        // Of equals the first of the files, where the plain case stands before its relatives.
        found.sort_by_key(|index| {
            let (target, refusal) = self.entries[*index];
            (std::cmp::Reverse(self.own[*index]), target.extends.is_some(), refusal.legacy)
        });
        let mut recognised: Vec<Recognised> = Vec::new();
        for index in found {
            let (target, refusal) = self.entries[index];
            let is_same =
                |known: &Recognised| known.target.id == target.id && known.refusal.rule == refusal.rule;
            if recognised.iter().any(is_same) {
                continue;
            }
            let compile = || Regex::new(&self.patterns[index]).expect("the set has compiled it");
            let pattern = self.compiled[index].get_or_init(compile);
            let Some(found) = pattern.captures(error) else { continue };
            let groups = found.iter().skip(1).flatten();
            if groups.map(|group| group.as_str()).any(|value| value.len() > LONGEST_NAME) {
                continue;
            }
            let named = pattern.capture_names().flatten().filter_map(|name| {
                let value = found.name(name)?.as_str().trim();
                (!value.is_empty()).then(|| (name.replace('_', "-"), value.to_owned()))
            });
            recognised.push(Recognised { target, refusal, captures: named.collect() });
        }
        recognised
    }
}

/// A regular expression for the instances of a text whose last name has the expression `last`, and how many characters
/// of the text are its own.
fn pattern(text: &str, last: &str) -> (String, usize) {
    let mut pattern = String::from("(?s)");
    let (mut own, mut seen): (usize, Vec<&str>) = (0, Vec::new());
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let is_last = !after.contains(char::is_alphanumeric);
            let inside = match name {
                "index" | "part" | "member" | "part-member" | "max" | "length" | "count" => r"\d+|\?|N|X",
                _ if is_last => last,
                _ => ".*?",
            };
            let group = name.replace('-', "_");
            // A name that comes again may stand for something else: only the first is told.
            if seen.contains(&name) || name == FREE {
                pattern.push_str(&format!("(?:{inside})"));
            } else {
                pattern.push_str(&format!("(?P<{group}>{inside})"));
                seen.push(name);
            }
            rest = after;
            continue;
        }
        let mut characters = rest.chars();
        let character = characters.next().unwrap_or_default();
        if character.is_whitespace() {
            pattern.push_str(r"(?:\s|\\n)*");
        } else if is_quote(character) {
            pattern.push_str(r#"[\\'"`\u{2018}\u{2019}\u{201c}\u{201d}]*"#);
        } else if character == '.' && characters.as_str().is_empty() {
            // The last full stop is the first to get lost.
        } else {
            pattern.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
            own += 1;
        }
        rest = characters.as_str();
    }
    (pattern, own)
}

fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '"' | '`' | '\\' | '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}')
}
