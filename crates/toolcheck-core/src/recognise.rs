//! From an error that an API answered to the rule that speaks of it: the targets' refusals, read backwards.
//!
//! The text may stand in any envelope: a JSON body with its escapes, an SDK's exception, a gateway's prefix, a log
//! line. Quotes are often lost, doubled or of another kind on the way, and lines are wrapped: neither counts.

mod beginnings;

use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet, RegexSetBuilder};

use crate::target::{self, FREE, Refusal, Target};

/// A refusal that an error's text is an instance of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recognised {
    /// Who answers so.
    pub target: &'static Target,
    /// The refusal.
    pub refusal: &'static Refusal,
    /// What stood in the places of the text's names, by name.
    pub captures: Vec<(String, String)>,
    /// Whether only the beginning of the text was found, as where a log, a title or a person cut it short.
    pub is_partial: bool,
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

/// The texts of all targets, each once: what a variant inherits is its parent's.
fn texts() -> impl Iterator<Item = (&'static Target, &'static Refusal, &'static str)> {
    target::all().filter(|target| target.union.is_empty()).flat_map(|target| {
        let own = target.refusals.iter().filter(|refusal| !refusal.is_inherited);
        own.filter_map(move |refusal| Some((target, refusal, refusal.text.as_deref()?)))
    })
}

impl Table {
    /// The table of a part of each text, with the expression of a name that is the part's last.
    fn new(part: fn(&'static str) -> Option<(&'static str, &'static str)>, fewest: usize) -> Self {
        let (mut entries, mut own, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
        for (target, refusal, text) in texts() {
            let Some((text, last)) = part(text) else { continue };
            let (pattern, length) = pattern(text, last);
            if length >= fewest {
                entries.push((target, refusal));
                own.push(length);
                patterns.push(pattern);
            }
        }
        let set = RegexSetBuilder::new(&patterns).size_limit(SET_LIMIT).dfa_size_limit(SEARCH_LIMIT).build();
        let set = set.expect("patterns made from texts are regular expressions");
        let compiled = patterns.iter().map(|_| OnceLock::new()).collect();
        Self { entries, own, patterns, compiled, set }
    }
}

/// The refusals that `error` is an instance of, the surest first; each target and rule once. Where no text is found
/// whole, those whose first sentence is found, and otherwise those that begin as it does: logs, titles and people cut
/// what is long.
#[must_use]
pub fn recognise(error: &str) -> Vec<Recognised> {
    let end = (0..=LONGEST.min(error.len())).rev().find(|at| error.is_char_boundary(*at)).unwrap_or(0);
    let error = &error[..end];
    let whole = TEXTS.recognise(error);
    if !whole.is_empty() {
        return whole;
    }
    let sentences = SENTENCES.recognise(error);
    if sentences.is_empty() { beginnings::recognise(error) } else { sentences }
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
                let group = found.name(name)?;
                let value = bare(name, closed(error, group.start(), group.end()));
                (!value.is_empty()).then(|| (name.replace('_', "-"), value.to_owned()))
            });
            recognised.push(Recognised { target, refusal, captures: named.collect(), is_partial: false });
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
                _ if is_number(name) => r"\d+|\?|N|X",
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

/// Whether a name stands for a number.
fn is_number(name: &str) -> bool {
    matches!(name, "index" | "part" | "member" | "part-member" | "line" | "max" | "length" | "count")
}

/// The names of ids and the like, in which no sentence ends and no quote stands; `ids` are several, each in its own.
const IDS: [&str; 4] = ["id", "name", "field", "ids"];

/// The value from `start` to `end`, and on where a brace that it opens is closed behind it: a pattern's `{1,128}` is not
/// the end of an envelope.
fn closed(error: &str, start: usize, end: usize) -> &str {
    let mut end = end;
    while error[end..].starts_with('}') && is_open(&error[start..end], '{', '}') {
        let after = end + 1;
        end = after + error[after..].find(['\n', '"', '}']).unwrap_or(error.len() - after);
        if end - start > LONGEST_NAME {
            return &error[start..after];
        }
    }
    &error[start..end]
}

/// Whether more is opened in a text than is closed.
fn is_open(text: &str, open: char, close: char) -> bool {
    text.matches(open).count() > text.matches(close).count()
}

/// A value without what surrounds it: quotes, emphasis, tags, the sentence's own punctuation and what follows it.
fn bare<'e>(name: &str, value: &'e str) -> &'e str {
    let mut value = value;
    if IDS.contains(&name)
        && let Some((first, _)) = value.split_once(". ")
    {
        value = first;
    }
    loop {
        let before = value;
        value = value.trim();
        value = value.strip_suffix("\\n").or_else(|| value.strip_suffix("\\r")).unwrap_or(value);
        value = value.trim_matches(|character| is_quote(character) || character == '*');
        if IDS[..3].contains(&name)
            && let Some(end) = value.find(is_quote).filter(|end| *end > 0)
        {
            value = &value[..end];
        }
        value = value.trim_end_matches(['.', ',', ';', ':', '\u{2026}']);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
            if value.ends_with(close) && value.matches(close).count() > value.matches(open).count() {
                value = &value[..value.len() - 1];
            }
        }
        if value.ends_with('>')
            && let Some(at) = value.rfind('<').filter(|at| is_tag(&value[*at..]))
        {
            value = &value[..at];
        }
        if let Some(end) = value.find('>').filter(|end| is_tag(&value[..=*end])) {
            value = &value[end + 1..];
        }
        if value == before {
            return value;
        }
    }
}

/// Whether a text is one tag of markup.
fn is_tag(text: &str) -> bool {
    let inside = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    let name = inside.map(|inside| inside.trim_matches('/').trim_end());
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '"' | '`' | '\\' | '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}')
}
