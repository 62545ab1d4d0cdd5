//! How much of a text that is known in full is in an error as people paste it.
//!
//! Quotes, backslashes and whitespace are ignored, because they change with each wrapping: a JSON body, an exception, a
//! narrow terminal. An ellipsis stands for anything.

use std::cmp::Ordering;

use super::escapes::unescaped;
use super::{LONGEST, LONGEST_NAME, is_quote};

/// The fewest characters of a text that identify it.
const FEWEST: usize = 10;
/// The same if the error is cut before the end of the text.
const FEWEST_OF_CUT: usize = 20;
/// The number of characters that are searched for first.
const HEAD: usize = 10;
/// The number of characters after an ellipsis that show where the text continues, and the fewest.
const AFTER_ELLIPSIS: (usize, usize) = (8, 3);
/// The most places in the error to try.
const MOST_PLACES: usize = 16;
const LONGEST_TEXT: usize = 20_000;

/// Three dots or more.
const ELLIPSIS: char = '\u{2026}';

/// An error, prepared to look for texts in it.
#[derive(Debug)]
pub struct Pasted {
    characters: Characters,
}

/// How much of a text an error contains. The more, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contained {
    /// Whether the text is there to its end; otherwise the error was cut.
    pub is_whole: bool,
    /// The number of its characters that are there.
    pub characters: usize,
}

impl Ord for Contained {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.is_whole, self.characters).cmp(&(other.is_whole, other.characters))
    }
}

impl PartialOrd for Contained {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Pasted {
    /// Prepares an error. Only its first 100 kB count.
    pub fn new(error: &str) -> Self {
        Self { characters: Characters::of(&unescaped(error), LONGEST) }
    }

    /// How much of a text is in the error; `None` if it is not there, or it says something else from some point on.
    ///
    /// ```
    /// use toolcheck_core::recognise::Pasted;
    ///
    /// let pasted = Pasted::new(r#"Error code: 400 - {'message': 'messages.2.content: Field\n  required'}"#);
    /// assert!(pasted.contains("messages.2.content: Field required").expect("it is there").is_whole);
    /// assert!(pasted.contains("messages.3.content: Field required").is_none());
    /// let cut = Pasted::new("messages.2: `tool_use` ids were fou...");
    /// assert!(!cut.contains("messages.2: `tool_use` ids were found without").expect("it begins so").is_whole);
    /// ```
    pub fn contains(&self, text: &str) -> Option<Contained> {
        let mut text = Characters::of(text, LONGEST_TEXT);
        // The final full stop is often lost.
        while text.characters.last() == Some(&'.') {
            text.pop();
        }
        let head: String = text.characters.iter().take(HEAD).take_while(|one| **one != ELLIPSIS).collect();
        if text.characters.len() < FEWEST || head.is_empty() {
            return None;
        }
        let starts = self.characters.text.match_indices(&head).map(|(at, _)| self.characters.number_of(at));
        let starts = starts.filter(|start| !self.characters.is_inside_word(*start));
        starts.take(MOST_PLACES).filter_map(|start| self.contained_at(start, &text)).max()
    }

    fn contained_at(&self, start: usize, text: &Characters) -> Option<Contained> {
        let error = &self.characters;
        let (mut at, mut own, mut count) = (start, 0, 0);
        loop {
            let (theirs, ours) = (error.characters.get(at), text.characters.get(own));
            // Whether something follows an ellipsis that shows where the text continues.
            let goes_on = || {
                let behind = error.characters[at + 1..].iter().filter(|one| one.is_alphanumeric());
                behind.take(AFTER_ELLIPSIS.1).count() == AFTER_ELLIPSIS.1
            };
            match (theirs, ours) {
                (_, None) => {
                    let is_whole = !(error.is_inside_word(at)
                        && text.characters.last().is_some_and(|last| last.is_alphanumeric()));
                    return is_whole.then_some(Contained { is_whole, characters: count });
                }
                (Some(theirs), Some(ours)) if theirs == ours => {
                    (at, own, count) = (at + 1, own + 1, count + 1)
                }
                // Part of it was left out.
                (Some(&ELLIPSIS), Some(_)) if goes_on() => {
                    let skipped = after(&error.characters[at + 1..], &text.characters[own..]);
                    (at, own) = (at + 1, own + skipped?);
                }
                (Some(_), Some(&ELLIPSIS)) => {
                    let skipped = after(&text.characters[own + 1..], &error.characters[at..]);
                    (at, own) = (at + skipped?, own + 1);
                }
                // A number that is not known.
                (Some(theirs), Some('N' | '?')) if theirs.is_ascii_digit() => {
                    let digits = error.characters[at..].iter().take_while(|digit| digit.is_ascii_digit());
                    (at, own) = (at + digits.count(), own + 1);
                }
                _ => {
                    let is_cut = error.is_cut_at(at) && count >= FEWEST_OF_CUT;
                    return is_cut.then_some(Contained { is_whole: false, characters: count });
                }
            }
        }
    }
}

/// Where a text continues after an ellipsis, as the number of its characters that are left out.
fn after(behind: &[char], text: &[char]) -> Option<usize> {
    let wanted = behind.iter().take(AFTER_ELLIPSIS.0).take_while(|one| **one != ELLIPSIS).count();
    if wanted == 0 && behind.is_empty() {
        return Some(text.len());
    }
    let wanted = &behind[..wanted];
    let text = &text[..text.len().min(LONGEST_NAME + wanted.len())];
    if wanted.len() < AFTER_ELLIPSIS.1 && wanted.len() < behind.len() {
        return None;
    }
    text.windows(wanted.len().max(1)).position(|window| window == wanted)
}

/// The characters of a text that count.
#[derive(Debug, Default)]
struct Characters {
    characters: Vec<char>,
    text: String,
    starts: Vec<usize>,
    /// Whether each follows on the one before it, with nothing in between.
    follows: Vec<bool>,
}

impl Characters {
    fn of(text: &str, longest: usize) -> Self {
        let mut all = Self::default();
        let mut characters =
            text.char_indices().take_while(|(at, _)| *at < longest).map(|(_, one)| one).peekable();
        let mut follows = false;
        while let Some(character) = characters.next() {
            if is_left_out(character) {
                follows = false;
                continue;
            }
            if character == '.' && characters.peek() == Some(&'.') {
                let mut dots = 1;
                while characters.next_if_eq(&'.').is_some() {
                    dots += 1;
                }
                if dots < 3 {
                    (0..dots).for_each(|_| all.push('.', false));
                    continue;
                }
                // In brackets, it is the same.
                if all.characters.last() == Some(&'[') && characters.next_if_eq(&']').is_some() {
                    all.pop();
                }
                all.push(ELLIPSIS, false);
                continue;
            }
            all.push(character, std::mem::replace(&mut follows, true));
        }
        all
    }

    fn push(&mut self, character: char, follows: bool) {
        self.starts.push(self.text.len());
        self.text.push(character);
        self.characters.push(character);
        self.follows.push(follows);
    }

    fn pop(&mut self) {
        self.characters.pop();
        self.follows.pop();
        self.text.truncate(self.starts.pop().unwrap_or_default());
    }

    /// The number of the character that starts at a byte of the text.
    fn number_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start < byte)
    }

    fn is_inside_word(&self, at: usize) -> bool {
        let is_letter = |at: usize| self.characters.get(at).is_some_and(|one| one.is_alphanumeric());
        at > 0 && self.follows.get(at) == Some(&true) && is_letter(at) && is_letter(at - 1)
    }

    /// Whether the error ends at a character, or what is around it continues there.
    fn is_cut_at(&self, at: usize) -> bool {
        match self.characters.get(at) {
            None | Some(&ELLIPSIS | '}' | ']' | ')') => true,
            // After the closing quote of a message in a body.
            Some(',') => self.follows.get(at) == Some(&false),
            Some(_) => false,
        }
    }
}

/// Whether a character is lost or added when a text is quoted, wrapped and framed.
fn is_left_out(character: char) -> bool {
    character.is_whitespace()
        || is_quote(character)
        || matches!(character, '*' | '>' | '|' | '\u{2500}'..='\u{257f}')
}
