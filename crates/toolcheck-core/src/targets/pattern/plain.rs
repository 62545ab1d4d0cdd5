//! Regular expressions as targets have them, matched without an engine: characters, classes, groups of alternatives,
//! the start and the end of the text, and hardly a repetition. What has many paths through it is left to an engine, which
//! takes all of them at once.

/// An expression that is matched step by step.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    steps: Vec<Step>,
    /// Whether it can only match from the start of a text on.
    is_anchored: bool,
    /// The only character that it can begin with.
    first: Option<u8>,
    /// Whether a text with other characters than ASCII needs an engine: a class may take one, or ignore case.
    is_for_ascii: bool,
}

#[derive(Debug, Clone)]
enum Step {
    /// Characters of ASCII of a set, as many as there are up to the most.
    Set {
        set: u128,
        least: usize,
        most: usize,
    },
    /// Alternatives, each by its first step.
    Either(Vec<usize>),
    /// The step with which it goes on behind an alternative.
    Jump(usize),
    Start,
    End,
}

/// How many paths may lead through an expression: each may be tried from each character on.
const MOST_PATHS: usize = 512;
const MOST_DEPTH: usize = 8;

/// The characters of names, the most usual first.
const USUAL: &str = "abcdefghijklmnopqrstuvwxyz0123456789-._:/@";
/// The most characters that an example has of one set.
const LONGEST_RUN: usize = 64;

impl Plain {
    /// The steps of an expression. None if it needs an engine.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let (rest, ignores_case) = match pattern.strip_prefix("(?i)") {
            Some(rest) => (rest, true),
            None => (pattern, false),
        };
        let mut parser = Parser {
            rest,
            ignores_case,
            has_long_loop: false,
            is_for_ascii: ignores_case,
            steps: Vec::new(),
        };
        let paths = parser.alternatives(0)?;
        // Of several alternatives, another one may begin elsewhere.
        let (is_anchored, first) = match parser.steps.as_slice() {
            [Step::Either(starts), Step::Start, ..] if starts.len() == 1 => (true, None),
            [Step::Either(starts), Step::Set { set, least: 1.., .. }, ..] if starts.len() == 1 => {
                (false, (set.count_ones() == 1).then_some(set.trailing_zeros() as u8))
            }
            _ => (false, None),
        };
        // A long loop from each character on would be quadratic.
        let is_cheap = paths <= MOST_PATHS && (is_anchored || !parser.has_long_loop);
        let is_plain = parser.rest.is_empty() && is_cheap;
        let is_for_ascii = parser.is_for_ascii;
        is_plain.then_some(Self { steps: parser.steps, is_anchored, first, is_for_ascii })
    }

    /// Whether it can only match from the start of a text on.
    pub(super) fn is_anchored(&self) -> bool {
        self.is_anchored
    }

    /// Whether something in a text matches. None if only an engine can tell.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        if self.is_for_ascii && !text.is_ascii() {
            return None;
        }
        let text = text.as_bytes();
        Some(match self.first {
            _ if self.is_anchored => self.goes_on(0, text, 0),
            Some(first) => memchr::memchr_iter(first, text).any(|from| self.goes_on(0, text, from)),
            None => (0..=text.len()).any(|from| self.goes_on(0, text, from)),
        })
    }

    /// The text that the first alternatives make, each repetition as short as it may be. It mostly matches.
    pub(super) fn example(&self) -> String {
        let (mut step, mut text) = (0, String::new());
        while let Some(own) = self.steps.get(step) {
            step = match own {
                Step::Either(starts) => starts.first().copied().unwrap_or(usize::MAX),
                Step::Jump(to) => *to,
                Step::Set { set, least, .. } => {
                    let mut bytes = USUAL.bytes().chain(b'!'..=b'~');
                    let byte = bytes.find(|byte| is_in(*byte, *set)).unwrap_or(b'a');
                    text.extend(std::iter::repeat_n(char::from(byte), (*least).min(LONGEST_RUN)));
                    step + 1
                }
                Step::Start | Step::End => step + 1,
            };
        }
        text
    }

    /// Whether the steps from one on match the bytes from a place on.
    fn goes_on(&self, mut step: usize, text: &[u8], mut at: usize) -> bool {
        loop {
            match self.steps.get(step) {
                None => return true,
                Some(Step::Set { set, least: 1, most: 1 }) => {
                    if !text.get(at).is_some_and(|byte| is_in(*byte, *set)) {
                        return false;
                    }
                    (step, at) = (step + 1, at + 1);
                }
                Some(Step::Set { set, least, most }) => {
                    let fitting = fitting(&text[at..], *set, *most);
                    if least == most && fitting == *most {
                        (step, at) = (step + 1, at + fitting);
                        continue;
                    }
                    return (*least..=fitting).rev().any(|count| self.goes_on(step + 1, text, at + count));
                }
                Some(Step::Either(starts)) if starts.len() == 1 => step += 1,
                Some(Step::Either(starts)) => {
                    return starts.iter().any(|start| self.goes_on(*start, text, at));
                }
                Some(Step::Jump(to)) => step = *to,
                Some(Step::Start) if at != 0 => return false,
                Some(Step::End) if at != text.len() => return false,
                Some(Step::Start | Step::End) => step += 1,
            }
        }
    }
}

fn is_in(byte: u8, set: u128) -> bool {
    is_in_halves(byte, [set as u64, (set >> 64) as u64])
}

#[inline]
fn is_in_halves(byte: u8, halves: [u64; 2]) -> bool {
    byte.is_ascii() && halves[usize::from(byte >> 6 & 1)] >> (byte & 63) & 1 == 1
}

/// How many bytes at the start of a text are in a set, up to `most`. Nearly all bytes of ids and names are compared here.
fn fitting(text: &[u8], set: u128, most: usize) -> usize {
    let halves = [set as u64, (set >> 64) as u64];
    let text = &text[..text.len().min(most)];
    text.iter().position(|byte| !is_in_halves(*byte, halves)).unwrap_or(text.len())
}

struct Parser<'p> {
    rest: &'p str,
    ignores_case: bool,
    /// Whether a loop may take any number of characters.
    has_long_loop: bool,
    is_for_ascii: bool,
    steps: Vec<Step>,
}

impl Parser<'_> {
    /// The alternatives of a group, up to its end, and how many paths lead through them.
    fn alternatives(&mut self, depth: usize) -> Option<usize> {
        let either = self.steps.len();
        self.steps.push(Step::Either(Vec::new()));
        let (mut starts, mut ends, mut paths) = (Vec::new(), Vec::new(), 0_usize);
        loop {
            starts.push(self.steps.len());
            paths = paths.saturating_add(self.sequence(depth)?);
            ends.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            if !self.skip("|") {
                break;
            }
        }
        let behind = self.steps.len();
        ends.into_iter().for_each(|end| self.steps[end] = Step::Jump(behind));
        self.steps[either] = Step::Either(starts);
        Some(paths)
    }

    /// What stands one after another, up to the end of an alternative, and how many paths lead through it.
    fn sequence(&mut self, depth: usize) -> Option<usize> {
        let mut paths = 1_usize;
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            if self.skip("^") {
                self.steps.push(Step::Start);
            } else if self.skip("$") {
                self.steps.push(Step::End);
            } else if self.skip("(") {
                let is_plain = self.skip("?:") || !self.rest.starts_with('?');
                (is_plain && depth < MOST_DEPTH).then_some(())?;
                paths = paths.saturating_mul(self.alternatives(depth + 1)?);
                self.skip(")").then_some(())?;
            } else {
                let set = self.set()?;
                let (least, most) = self.times()?;
                let is_long = most - least > 1;
                (!(is_long && self.has_long_loop)).then_some(())?;
                self.has_long_loop |= is_long;
                paths = if most - least == 1 { paths.saturating_mul(2) } else { paths };
                self.steps.push(Step::Set { set, least, most });
                continue;
            }
            // What repeats a group or a place needs an engine.
            (!self.rest.starts_with(REPETITIONS)).then_some(())?;
        }
        Some(paths)
    }

    fn set(&mut self) -> Option<u128> {
        let mut set = if self.skip("[") {
            let is_other = self.skip("^");
            let (class, rest) = self.rest.split_once(']')?;
            self.rest = rest;
            self.is_for_ascii |= is_other;
            let class = class_of(class)?;
            if is_other { !class } else { class }
        } else if self.skip(".") {
            self.is_for_ascii = true;
            !(1 << b'\n')
        } else if self.skip("\\S") {
            self.is_for_ascii = true;
            !b" \t\n\x0b\x0c\r".iter().fold(0, |blank, byte| blank | 1 << byte)
        } else {
            1 << self.character()?
        };
        if self.ignores_case {
            let letters = |first: u8| ((1_u128 << 26) - 1) << first;
            let (upper, lower) = (set & letters(b'A'), set & letters(b'a'));
            set |= upper << 32 | lower >> 32;
        }
        Some(set)
    }

    /// A character of ASCII that means itself, or is written with a backslash.
    fn character(&mut self) -> Option<u8> {
        let is_escaped = self.skip("\\");
        let (first, rest) = self.rest.split_at_checked(1)?;
        let byte = first.as_bytes()[0];
        self.rest = rest;
        match (is_escaped, byte) {
            (false, _) => (!b".^$|()[]{}*+?\\".contains(&byte)).then_some(byte),
            (true, b'n') => Some(b'\n'),
            // These stand for the ends of a word.
            (true, b'<' | b'>') => None,
            (true, _) => byte.is_ascii_punctuation().then_some(byte),
        }
    }

    /// How often it is repeated, at least and at most.
    fn times(&mut self) -> Option<(usize, usize)> {
        let times = if self.skip("+") {
            (1, usize::MAX)
        } else if self.skip("*") {
            (0, usize::MAX)
        } else if self.skip("?") {
            (0, 1)
        } else if self.skip("{") {
            let (times, rest) = self.rest.split_once('}')?;
            self.rest = rest;
            let (least, most) = times.split_once(',').unwrap_or((times, times));
            (least.parse().ok()?, most.parse().ok()?)
        } else {
            (1, 1)
        };
        // Another repetition behind it makes it lazy or is an error.
        (times.0 <= times.1 && !self.rest.starts_with(REPETITIONS)).then_some(times)
    }

    fn skip(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

const REPETITIONS: [char; 4] = ['+', '*', '?', '{'];

fn class_of(class: &str) -> Option<u128> {
    let is_plain = class.is_ascii() && !class.contains(['\\', '[', '^', '&', '~']) && !class.contains("--");
    let mut rest = Some(class.as_bytes()).filter(|class| is_plain && !class.is_empty())?;
    let mut set = 0;
    while let [first, after @ ..] = rest {
        let (last, after) = match after {
            [b'-', last, after @ ..] => (last, after),
            _ => (first, after),
        };
        // Backwards it is no range.
        if last < first {
            return None;
        }
        (*first..=*last).for_each(|byte| set |= 1_u128 << byte);
        rest = after;
    }
    Some(set)
}
