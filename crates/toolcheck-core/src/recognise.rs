//! Finds the rule for an error text from an API or a framework, by matching it against the targets' refusals and what the
//! frameworks raise.
//!
//! The text may be wrapped in anything: a JSON body with its escapes, an SDK's exception, a gateway's prefix, a log
//! line. Quotes often get lost, doubled or replaced, and lines wrapped, so matching ignores both.

mod beginnings;
mod classes;
mod envelopes;
mod escapes;
mod expression;
mod pasted;
mod places;
mod similar;

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use toolcheck_json::{distinct, sort_by_positions};

use crate::framework::{self, Framework};
use crate::targets::{self, Pattern, Refusal, Target};

use expression::{Expression, VALUES, Window, is_gap, is_number, is_quote, pattern};

pub use classes::{ClassError, Classified, ErrorClass};
pub use envelopes::Envelope;
pub use pasted::{Contained, Pasted};
pub use places::{NamedPlace, Nearness};

/// Where an error comes from.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Origin {
    /// An API returns it.
    Target(&'static Target),
    /// A framework raises it itself.
    Framework(&'static Framework),
}

impl Origin {
    /// The id of the target or the framework. No target has that of a framework.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Target(target) => &target.id,
            Self::Framework(framework) => &framework.id,
        }
    }

    /// The target that requests can be checked against, if an API returns it.
    pub fn target(&self) -> Option<&'static Target> {
        match self {
            Self::Target(target) => Some(target),
            Self::Framework(_) => None,
        }
    }

    /// Whether it is a variant of another target, whose texts it shares.
    fn is_variant(&self) -> bool {
        self.target().is_some_and(|target| target.extends.is_some())
    }
}

/// How special a refusal is: of those that fit equally well, the plain case comes before its variants.
fn how_special(origin: Origin, refusal: &Refusal) -> usize {
    let is = [origin.is_variant(), refusal.legacy, refusal.case.is_some(), refusal.doubt.is_some()];
    is.into_iter().fold(0, |order, is| order << 1 | usize::from(is))
}

/// A refusal that matches an error's text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recognised {
    /// What returns or raises it.
    pub origin: Origin,
    /// The refusal.
    pub refusal: &'static Refusal,
    /// The values of the text's placeholders, by name.
    pub captures: Vec<(String, String)>,
    /// How much of the text was found.
    pub likeness: Likeness,
    /// Where, and how many literal characters of it.
    extent: Extent,
}

/// Where a text is in an error, and how many of its literal characters were found.
#[derive(Debug, Clone, Default)]
struct Extent {
    span: Range<usize>,
    own: usize,
}

/// How much of a known text an error has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Likeness {
    /// All of it.
    Whole,
    /// Its first sentence or its beginning, for example because a log or a title cut it short.
    Beginning,
    /// Most of its words.
    Similar,
}

impl Recognised {
    /// The models that this API has the same text for, each once, if not for all.
    pub fn models(&self) -> Vec<&'static Pattern> {
        let text = self.refusal.text.as_deref();
        let same = texts().filter(|(origin, _, own)| origin.id() == self.origin.id() && Some(*own) == text);
        distinct(same.filter_map(|(_, refusal, _)| refusal.model.as_ref()))
    }

    fn is_same(&self, origin: Origin, refusal: &Refusal) -> bool {
        self.origin.id() == origin.id() && self.refusal.rule == refusal.rule
    }
}

/// The texts of all targets and frameworks.
struct Table {
    entries: Vec<(Origin, &'static Refusal)>,
    likeness: Likeness,
    expressions: Vec<Expression>,
}

/// The fewest literal characters that a text needs to be recognised.
const FEWEST: usize = 14;
/// The same for a text's first sentence, which is often all that a log keeps. It needs more to be sure.
const FEWEST_OF_SENTENCE: usize = 30;
/// The longest piece of an error to look at. A dump of the request follows the text in some, and a log ends with it.
const LONGEST: usize = 100_000;

/// The longest placeholder value. A longer one means that two unrelated sentences were matched as one.
const LONGEST_NAME: usize = 600;

/// The expression for the last placeholder of a text: it extends to the end of the envelope or the line.
const LAST: &str = r#"[^\n"}]*"#;

/// The whole texts.
static TEXTS: LazyLock<Table> =
    LazyLock::new(|| Table::new(|text| Some((text, LAST)), FEWEST, Likeness::Whole));

static SENTENCES: LazyLock<Table> = LazyLock::new(|| {
    let first = |text: &'static str| text.split_once(". ").map(|(sentence, _)| (sentence, r#"[^\n"}.]*"#));
    Table::new(first, FEWEST_OF_SENTENCE, Likeness::Beginning)
});

/// The texts of all targets, each once because an inherited text belongs to the parent, and of all frameworks.
pub fn texts() -> impl Iterator<Item = (Origin, &'static Refusal, &'static str)> {
    let of_rules = targets().flat_map(|target| {
        let own = target.refusals().iter().filter(|refusal| !refusal.is_inherited);
        own.map(move |refusal| (Origin::Target(target), refusal))
    });
    let of_shapes = OF_SHAPES.iter().map(|(target, refusal)| (Origin::Target(target), refusal));
    let of_frameworks = framework::errors().map(|(framework, error)| (Origin::Framework(framework), error));
    of_rules
        .chain(of_shapes)
        .chain(of_frameworks)
        .filter_map(|(origin, refusal)| Some((origin, refusal, refusal.text.as_deref()?)))
}

fn targets() -> impl Iterator<Item = &'static Target> {
    targets::all().filter(|target| target.union.is_empty())
}

/// What targets answer to requests of the wrong shape, as refusals.
static OF_SHAPES: LazyLock<Vec<(&'static Target, Refusal)>> = LazyLock::new(|| {
    let of_target = |target: &'static Target| {
        let shapes =
            target.enforced().filter_map(|(format, enforced)| Some((enforced, target.shape_in(format)?)));
        shapes
            .flat_map(move |(enforced, shape)| enforced.refusals(shape).map(move |refusal| (target, refusal)))
    };
    targets().flat_map(of_target).collect()
});

/// A part of a text, with the expression for a placeholder at its end.
type Part = fn(&'static str) -> Option<(&'static str, &'static str)>;

impl Table {
    /// The table of a part of each text, with the expression for a placeholder at the end of that part.
    fn new(part: Part, fewest: usize, likeness: Likeness) -> Self {
        let made = texts().filter_map(|(origin, refusal, text)| {
            let (text, last) = part(text)?;
            let expression = Expression::of(text, last);
            (expression.own >= fewest).then_some(((origin, refusal), expression))
        });
        let (entries, expressions) = made.unzip();
        Self { entries, likeness, expressions }
    }
}

/// The refusals that match `error`, the surest first, each origin and rule once. If no whole text matches, these are
/// the refusals whose first sentence matches, and otherwise those that begin like the error, because logs, titles and
/// people cut long texts.
pub fn recognise(error: &str) -> Vec<Recognised> {
    let ways: [fn(&Window<'_>) -> Vec<Recognised>; 3] =
        [|error| TEXTS.recognise(error), |error| SENTENCES.recognise(error), beginnings::recognise];
    let windows: Vec<Window<'_>> = windows(error).collect();
    let found =
        ways.iter().find_map(|recognise| windows.iter().map(recognise).find(|found| !found.is_empty()));
    found.unwrap_or_default()
}

/// What an error is about, whether a rule finds its cause or not.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ErrorReading {
    /// The refusals that it can be, as of [`recognise`], or the most similar one.
    pub matches: Vec<Recognised>,
    /// What it is about where no refusal matches as a whole.
    pub class: Option<Classified>,
    /// Who sent or raised it.
    pub envelopes: Vec<&'static Envelope>,
    /// The HTTP status that it names.
    pub status: Option<u16>,
}

impl ErrorReading {
    /// Reads an error's text. What is known as a whole comes before what is only similar, and a longer text before a shorter
    /// one that is a part of it.
    pub fn new(error: &str) -> Self {
        let error = &*escapes::unescaped(error);
        let status = envelopes::status_in(error);
        let mut matches = recognise(error);
        let of_rule = matches.first().map(|found| found.extent.clone());
        let mut class = classes::known(error, &of_rule.unwrap_or_default());
        if class.is_some() {
            matches.clear();
        } else if matches.is_empty() {
            class = classes::cut(error);
            if class.is_none() {
                matches = similar::recognise(error);
            }
            if class.is_none() && matches.is_empty() {
                class = similar::classify(error).or_else(|| classes::probable(error, status));
            }
        }
        Self { matches, class, envelopes: Envelope::all_in(error), status }
    }
}

/// The pieces of an error to look at: its beginning and, of a log, its end.
fn windows(error: &str) -> impl Iterator<Item = Window<'_>> {
    let end = (0..=LONGEST.min(error.len())).rev().find(|at| error.is_char_boundary(*at)).unwrap_or(0);
    let from = (error.len().saturating_sub(LONGEST)..=error.len()).find(|at| error.is_char_boundary(*at));
    let last = from.filter(|from| *from > 0).map(|from| &error[from..]);
    std::iter::once(&error[..end]).chain(last).map(Window::new)
}

impl Table {
    fn recognise(&self, error: &Window<'_>) -> Vec<Recognised> {
        let all = self.entries.iter().zip(&self.expressions);
        let found = all.filter_map(|(entry, own)| Some((entry, own.own, own.found_in(error)?)));
        let mut found: Vec<(&(Origin, &Refusal), usize, &Regex)> = found.collect();
        // Ties keep the order of the files, in which the plain case comes before its variants.
        sort_by_positions(&mut found, |((origin, refusal), own, _)| {
            (usize::MAX - own, how_special(*origin, refusal))
        });
        let mut recognised: Vec<Recognised> = Vec::new();
        for (&(origin, refusal), own, pattern) in found {
            if recognised.iter().any(|known| known.is_same(origin, refusal)) {
                continue;
            }
            let Some(found) = pattern.captures(error) else { continue };
            let groups = found.iter().skip(1).flatten();
            if groups.map(|group| group.as_str()).any(|value| value.len() > LONGEST_NAME) {
                continue;
            }
            let captures = captured(pattern, error, &found);
            // A number alone is the code of an error, or its status, and a name is one word or several with commas.
            let is_value = |(name, value): &(String, String)| match &**name {
                // Pydantic counts them in front of the first one.
                "field" | "tagged-path" if value == "errors" => false,
                "field" => !value.contains(' ') || value.contains(','),
                "tagged-path" => value.starts_with(char::is_alphabetic),
                name => !name.ends_with("path") || value.contains(char::is_alphabetic),
            };
            let is_cut = |end: usize| {
                let is_letter = |one: Option<char>| one.is_some_and(char::is_alphanumeric);
                is_letter(error[..end].chars().next_back()) && is_letter(error[end..].chars().next())
            };
            if !captures.iter().all(is_value) || is_cut(found.get_match().end()) {
                continue;
            }
            let extent = Extent { span: found.get_match().range(), own };
            recognised.push(Recognised { origin, refusal, captures, likeness: self.likeness, extent });
        }
        recognised
    }
}

fn captured(pattern: &Regex, error: &str, found: &Captures<'_>) -> Vec<(String, String)> {
    let named = pattern.capture_names().flatten().filter_map(|name| {
        let group = found.name(name)?;
        let value = bare(name, closed(error, group.start(), group.end()));
        // Where a line was wrapped, it says one thing.
        let value = value.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        (!value.is_empty()).then(|| (name.replace('_', "-"), value))
    });
    named.collect()
}

/// Placeholders for ids and the like, which contain no end of a sentence and no quote; `ids` is a list of quoted ids.
const IDS: [&str; 4] = ["id", "name", "field", "ids"];

/// The placeholder for keys, each in quotes.
const FIELDS: &str = "fields";

/// The value from `start` to `end`, extended if it opens a brace that is closed after it: the `}` of a pattern's
/// `{1,128}` is not the end of an envelope.
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

fn is_open(text: &str, open: char, close: char) -> bool {
    text.matches(open).count() > text.matches(close).count()
}

/// A value without surrounding quotes, emphasis and tags, the sentence's punctuation and any text after it.
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
        if name.starts_with(VALUES) {
            // Another sentence, or another text, may follow the last one.
            value = value.find("'. ").map_or(value, |end| &value[..=end]);
        }
        // A list of values has a quote on both sides of each, but for the last where the text itself closes it.
        if name.starts_with(VALUES) && value.starts_with(is_quote) {
            let is_odd = value.chars().filter(|one| is_quote(*one)).count() % 2 == 1;
            value = if is_odd { value.trim_end_matches(is_quote) } else { value };
        } else if name != FIELDS {
            value = value.trim_matches(|character| is_quote(character) || character == '*');
        }
        if IDS[..3].contains(&name)
            && let Some(end) = value.find(is_quote).filter(|end| *end > 0)
        {
            value = &value[..end];
        }
        // The class of an exception or the id of the request may follow in brackets.
        if IDS.contains(&name)
            && let Some((first, _)) = value.split_once(" (")
        {
            value = first;
        }
        // Serde says where it has stopped.
        value = value.split_once(" at line ").map_or(value, |(first, _)| first);
        // Another key of a dictionary of Python follows.
        let empty = || Some(("", value.strip_prefix(", '")?));
        if let Some((first, rest)) = value.split_once("', '").or_else(empty)
            && rest.contains("': ")
            && !is_open(first, '{', '}')
        {
            value = first;
        }
        // A path has a space only in quotes.
        if name.ends_with("path")
            && let Some(end) = value.find("' ").or_else(|| value.find("\" "))
        {
            value = &value[..end];
        }
        value = value.trim_end_matches(['.', ',', ';', ':', '\u{2026}']);
        for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
            if value.ends_with(close) && value.matches(close).count() > value.matches(open).count() {
                value = &value[..value.len() - 1];
            }
        }
        // A set or a list, as Python writes it.
        if IDS.contains(&name)
            && let Some(inside) = inside(value, '{', '}').or_else(|| inside(value, '[', ']'))
        {
            value = inside;
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

/// The text between two brackets, if it has no others.
fn inside(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close).filter(|inside| !inside.contains([open, close]))
}

fn is_tag(text: &str) -> bool {
    let inside = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    let name = inside.map(|inside| inside.trim_matches('/').trim_end());
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic()))
}
