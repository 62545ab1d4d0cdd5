//! Texts that are cut off after their beginning, by a terminal, an issue title or a person quoting them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use toolcheck_json::sort_by_positions;

use super::expression::{Expression, Window};
use super::{
    Extent, IDS, LONGEST_NAME, Likeness, Origin, Recognised, bare, closed, how_special, is_gap, is_number,
    is_quote, texts,
};
use crate::targets::{FREE, Refusal};

/// The fewest literal characters that a beginning needs.
const FEWEST: usize = 20;
/// The same if nothing shows that the text was cut, and it continues in other words: of the sentence that no other text begins.
const FEWEST_OF_OTHER: usize = 40;
/// The same for a text of a class: many of them are short, and begin with words that others have too.
const FEWEST_OF_CLASS: usize = 28;
/// The number of literal characters to search for first.
const HEAD: usize = 14;
/// The most starting places to try: errors are short, and long ones repeat themselves.
const MOST_PLACES: usize = 8;
/// The number of characters after an ellipsis that are needed to find where the text continues.
const AFTER_ELLIPSIS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// A literal character, which is required.
    Own(char),
    /// White space and quotes, which are optional; whether there is a quote.
    Gap(bool),
    Name(&'static str),
}

/// A text that may have been cut.
struct KnownBeginning {
    origin: Origin,
    refusal: &'static Refusal,
    tokens: Vec<Token>,
}

struct Table {
    entries: Vec<KnownBeginning>,
    /// The expressions for the beginnings, with the entries of each: many texts begin alike.
    heads: Vec<(Expression, Vec<usize>)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (mut entries, mut heads) = (Vec::new(), Vec::<(Expression, Vec<usize>)>::new());
    let mut known: HashMap<String, usize> = HashMap::new();
    for (origin, refusal, text) in texts() {
        let tokens = tokens(text);
        // People who quote an error often leave out the path or the title at its beginning, such as
        // `messages.{index}.content.{part}.type: ` or `Invalid parameter: `.
        let behind_title = tokens.windows(2).position(ends_title).map(|at| at + 2);
        for from in [Some(0), behind_title].into_iter().flatten() {
            let named = tokens[from..].iter().take_while(|token| !matches!(token, Token::Own(_))).count();
            let tokens = tokens[from + named..].to_vec();
            let Some((pattern, literals)) = head(&tokens) else { continue };
            let index = *known.entry(pattern.clone()).or_insert_with(|| {
                heads.push((Expression::new(pattern, literals), Vec::new()));
                heads.len() - 1
            });
            heads[index].1.push(entries.len());
            entries.push(KnownBeginning { origin, refusal, tokens });
        }
    }
    Table { entries, heads }
});

fn tokens(text: &'static str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            tokens.push(Token::Name(name));
            rest = after;
            continue;
        }
        rest = &rest[character.len_utf8()..];
        match tokens.last_mut() {
            _ if !is_gap(character) => tokens.push(Token::Own(character)),
            Some(Token::Gap(is_quoted)) => *is_quoted |= is_quote(character),
            _ => tokens.push(Token::Gap(is_quote(character))),
        }
    }
    tokens
}

fn ends_title(pair: &[Token]) -> bool {
    matches!(pair, [Token::Own(':'), Token::Gap(_)])
}

/// A regular expression for the beginning of a text, and its literal characters, with a space wherever something else may
/// come between; `None` if the text is too short to be recognised by it.
fn head(tokens: &[Token]) -> Option<(String, String)> {
    if tokens.iter().filter(|token| matches!(token, Token::Own(_))).count() < FEWEST {
        return None;
    }
    let (mut pattern, mut literals, mut own) = (String::new(), String::new(), 0);
    for token in tokens {
        literals.push(if let Token::Own(character) = token { *character } else { ' ' });
        match token {
            Token::Own(character) => {
                pattern.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
                own += 1;
            }
            Token::Gap(_) => pattern.push_str(r#"(?:[\s\\'"`\u{2018}\u{2019}\u{201c}\u{201d}]|\\n)*"#),
            Token::Name(name) if is_number(name) => pattern.push_str(r"(?:\d+|\?|N|X)"),
            Token::Name(_) => pattern.push_str(r"[^\n]*?"),
        }
        if own == HEAD {
            break;
        }
    }
    Some((pattern, literals))
}

/// The texts whose beginning is in `error`; only those with the longest match.
pub(super) fn recognise(error: &Window<'_>) -> Vec<Recognised> {
    let mut found: Vec<(&KnownBeginning, Walk)> = Vec::new();
    for (head, entries) in &TABLE.heads {
        let Some(pattern) = head.found_in(error) else { continue };
        let starts: Vec<usize> =
            pattern.find_iter(error).take(MOST_PLACES).map(|found| found.start()).collect();
        for start in starts {
            let entries = entries.iter().map(|index| &TABLE.entries[*index]);
            let mut walks: Vec<(&KnownBeginning, Walk)> =
                entries.map(|entry| (entry, Walk::new(&entry.tokens, error, start))).collect();
            let all: Vec<(&KnownBeginning, usize)> =
                walks.iter().map(|(entry, walk)| (*entry, walk.own)).collect();
            walks.retain(|(entry, walk)| {
                // The same text may be known for several rules.
                let twins = || all.iter().filter(|(other, _)| other.tokens == entry.tokens);
                let is_other = |rule| twins().all(|(twin, _)| twin.refusal.rule != rule);
                let of_others = || all.iter().filter(|(other, _)| is_other(other.refusal.rule));
                walk.is_enough(error, || of_others().map(|(_, own)| *own).max().unwrap_or_default())
            });
            found.extend(walks);
        }
    }
    let most = found.iter().map(|(_, walk)| walk.own).max().unwrap_or_default();
    found.retain(|(_, walk)| walk.own == most);
    sort_by_positions(&mut found, |(entry, walk)| {
        (usize::MAX - walk.own, how_special(entry.origin, entry.refusal))
    });
    let mut recognised: Vec<Recognised> = Vec::new();
    for (entry, walk) in found {
        let (origin, refusal) = (entry.origin, entry.refusal);
        if recognised.iter().any(|known| known.is_same(origin, refusal)) {
            continue;
        }
        let extent = Extent { span: walk.start..walk.end, own: walk.own };
        let captures = walk.captures.into_iter().filter_map(|(name, span)| {
            let value = bare(name, closed(error, span.start, span.end));
            (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
        });
        recognised.push(Recognised {
            origin,
            refusal,
            captures: captures.collect(),
            likeness: Likeness::Beginning,
            extent,
        });
    }
    recognised
}

/// A text that no rule is known for, and that may have been cut.
#[derive(Debug)]
pub(super) struct Cut {
    head: Expression,
    tokens: Vec<Token>,
}

impl Cut {
    /// `None` if the text is too short to be recognised by its beginning.
    pub(super) fn of(text: &'static str) -> Option<Self> {
        let mut tokens = tokens(text);
        let named = tokens.iter().take_while(|token| !matches!(token, Token::Own(_))).count();
        tokens.drain(..named);
        let (pattern, literals) = head(&tokens)?;
        Some(Self { head: Expression::new(pattern, literals), tokens })
    }

    /// How many literal characters of its beginning an error has, if they are enough.
    pub(super) fn found_in(&self, error: &Window<'_>) -> Option<usize> {
        let starts = self.head.found_in(error)?.find_iter(error).take(MOST_PLACES);
        let walks = starts.map(|start| Walk::new(&self.tokens, error, start.start()));
        walks
            .filter(|walk| walk.own >= FEWEST_OF_CLASS && walk.is_enough(error, || 0))
            .map(|walk| walk.own)
            .max()
    }
}

/// How far an error matches a text.
#[derive(Debug, Default)]
struct Walk {
    /// The number of literal characters that match.
    own: usize,
    /// The beginning and the end of the match in the error.
    start: usize,
    end: usize,
    captures: Vec<(&'static str, Range<usize>)>,
    /// The number of those that are a title, such as `Invalid parameter: `, which many errors have.
    title: usize,
    /// Whether the match ends behind a title.
    is_at_title: bool,
    /// Whether the match ends in the middle of a word.
    is_inside_word: bool,
    /// Whether the text has a quote where the match ends.
    is_at_quote: bool,
    /// Whether the rest of a line was taken for a value that may be anything.
    takes_anything: bool,
}

impl Walk {
    fn new(tokens: &[Token], error: &str, start: usize) -> Self {
        let mut walk = Self { start, end: start, ..Self::default() };
        let (mut at, mut before_gap) = (0, start);
        while let Some(token) = tokens.get(at) {
            let rest = &error[walk.end..];
            let advanced = match token {
                Token::Gap(_) => Some(gap(rest)),
                Token::Own(wanted) => {
                    let gap = gap(rest);
                    let next = rest[gap..].chars().next();
                    (next == Some(*wanted)).then(|| gap + wanted.len_utf8())
                }
                Token::Name(name) => name_length(name, &tokens[at + 1..], rest),
            };
            let Some(length) = advanced else {
                match after_ellipsis(&tokens[at..], rest) {
                    Some((skipped, length)) => {
                        at += skipped;
                        walk.end += length;
                        continue;
                    }
                    None => break,
                }
            };
            if matches!(token, Token::Gap(_)) {
                before_gap = walk.end;
            }
            walk.is_at_title = matches!(token, Token::Gap(_)) && at > 0 && ends_title(&tokens[at - 1..=at]);
            match token {
                Token::Own(_) => walk.own += 1,
                Token::Gap(_) if walk.is_at_title => walk.title = walk.own,
                Token::Gap(_) => {}
                Token::Name(name) => {
                    let follows = &error[walk.end + length..];
                    let value = &error[walk.end..walk.end + length];
                    let is_word = IDS[..3].contains(name) || name.ends_with("path");
                    walk.takes_anything |= (*name == FREE || is_word && value.contains(char::is_whitespace))
                        && tokens[at + 1..].iter().any(|token| matches!(token, Token::Own(_)))
                        && (follows.is_empty() || follows.starts_with(['\n', '"', '}']));
                    let is_new = walk.captures.iter().all(|(known, _)| known != name);
                    if is_new && *name != FREE && length > 0 {
                        walk.captures.push((name, walk.end..walk.end + length));
                    }
                }
            }
            walk.end += length;
            at += 1;
        }
        let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        walk.is_inside_word =
            is_letter(error[..walk.end].chars().next_back()) && is_letter(error[walk.end..].chars().next());
        if let Some(Token::Gap(is_quoted)) = at.checked_sub(1).and_then(|at| tokens.get(at)) {
            // What is there may be the end of what was quoted.
            (walk.end, walk.is_at_quote) = (before_gap, *is_quoted);
        }
        walk
    }

    /// Whether the match is too long to be a coincidence: enough of the text is there, and either the error ends or is
    /// cut at the end of the match, or the match is much longer than its title and the `shared` beginning of other texts.
    fn is_enough(&self, error: &str, shared: impl Fn() -> usize) -> bool {
        // A title alone says nothing.
        if self.own < FEWEST || self.is_at_title || self.is_inside_word {
            return false;
        }
        let rest = &error[self.end..];
        let gap = &rest[..gap(rest)];
        let after = rest[gap.len()..].trim_start_matches(['*', ',', ':']);
        let is_cut = after.is_empty()
            || after.starts_with([')', ']', '}', '>', '<', '|', '\u{2026}'])
            || after.starts_with("[.")
            || after.starts_with("[\u{2026}")
            // The end of a sentence, not the next step of a path.
            || after.starts_with('.') && !after[1..].starts_with(char::is_alphanumeric)
            || error[..self.end].ends_with("...");
        // A quote or a line may end there, or only be wrapped.
        let may_end = gap.contains('\n')
            || gap.contains("\\n")
            || !self.is_at_quote && gap.contains(['"', '\'', '`', '\u{201d}', '\u{2019}']);
        !self.takes_anything && (is_cut || may_end && self.own >= FEWEST + shared())
            || self.own >= FEWEST_OF_OTHER + shared().max(self.title)
    }
}

/// The length of the whitespace and quotes at the beginning of a text.
fn gap(text: &str) -> usize {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(is_gap);
        // An escaped line end: its backslash was skipped as a quote.
        let is_escape = rest[..rest.len() - trimmed.len()].ends_with('\\');
        match trimmed.strip_prefix('n').filter(|_| is_escape) {
            // `\name` is a word after a quote.
            Some(after) if !after.starts_with(char::is_lowercase) => rest = after,
            _ => return text.len() - trimmed.len(),
        }
    }
}

/// The length of the placeholder value at the beginning of `rest`. If the text after the placeholder does not follow,
/// the value is the rest of the line.
fn name_length(name: &str, behind: &[Token], rest: &str) -> Option<usize> {
    if is_number(name) {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_placeholder = rest.starts_with(['?', 'N', 'X']);
        return (digits > 0 || is_placeholder).then_some(digits.max(1));
    }
    let mut most = rest.len().min(LONGEST_NAME);
    while !rest.is_char_boundary(most) {
        most -= 1;
    }
    let own = behind.iter().filter_map(|token| match token {
        Token::Own(character) => Some(*character),
        _ => None,
    });
    let next: Vec<char> = own.take(AFTER_ELLIPSIS).collect();
    if !next.is_empty() {
        let starts = rest[..most].char_indices().map(|(at, _)| at);
        if let Some(at) = starts.into_iter().find(|at| begins_with(&rest[*at..], &next)) {
            return Some(at);
        }
    }
    let line = &rest[..most];
    Some(line.find(['\n', '"', '}']).unwrap_or(line.len()))
}

/// Whether a text begins with these characters, ignoring gaps between them.
fn begins_with(text: &str, wanted: &[char]) -> bool {
    let mut rest = text;
    for (number, wanted) in wanted.iter().enumerate() {
        rest = if number == 0 { rest } else { &rest[gap(rest)..] };
        match rest.strip_prefix(*wanted) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

/// Where a text continues after an ellipsis in place of its middle: the number of tokens left out, and the length of
/// the ellipsis.
fn after_ellipsis(tokens: &[Token], rest: &str) -> Option<(usize, usize)> {
    let gap_before = gap(rest);
    let dots = &rest[gap_before..];
    let behind = dots.strip_prefix("...").or_else(|| dots.strip_prefix('\u{2026}'))?;
    let wanted: Vec<char> =
        behind.chars().filter(|character| !is_gap(*character)).take(AFTER_ELLIPSIS).collect();
    if wanted.len() < AFTER_ELLIPSIS {
        return None;
    }
    let own: Vec<(usize, char)> = tokens
        .iter()
        .enumerate()
        .filter_map(|(at, token)| match token {
            Token::Own(character) => Some((at, *character)),
            _ => None,
        })
        .collect();
    let found = own
        .windows(AFTER_ELLIPSIS)
        .find(|window| window.iter().map(|(_, character)| *character).eq(wanted.iter().copied()))?;
    Some((found[0].0, rest.len() - behind.len() + gap(behind)))
}
