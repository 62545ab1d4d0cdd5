//! The regular expressions of schemas, which may be written to take all memory or forever.
//!
//! Most become an automaton whose states are built while it reads a text. What it may take is bounded: a small expression
//! may have a large automaton, or one with very many states. The others, with lookaround and backreferences, backtrack
//! a bounded number of times. Either takes its steps from the record's.

use std::cell::RefCell;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use jsonschema::{Keyword, ValidationError};
use regex_automata::Input;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use serde_json::Value as Json;

use super::fuel::{self, Undecided};

/// The maximum length of an expression, in bytes: translating one may take quadratic time.
const LONGEST: usize = 4096;
/// The maximum memory of the expressions of a schema, in bytes.
pub(crate) const MOST_MEMORY: usize = 10 << 20;
/// The memory for the states of an automaton, in bytes, and how often it may be used up.
pub(crate) const MOST_STATES: usize = 1 << 20;
const MOST_CLEARED: usize = 8;
/// The maximum number of places, of the text and the expression, for remembering each where a search was.
const MOST_PLACES: u64 = 1 << 15;
/// How often the library may backtrack for a key.
pub(crate) const BACKTRACK_LIMIT: usize = 100_000;
/// How often an expression may backtrack, and the steps of that. It starts again with the next if that is not enough:
/// few expressions need the second.
const TRIES: [(usize, u64); 3] = [(200, 200), (5_000, 5_000), (BACKTRACK_LIMIT, 100_000)];
/// The maximum length of a text, in bytes, for an expression that backtracks: lookaround may read all of it for each
/// of its characters.
const LONGEST_TEXT: usize = 16 << 10;

/// The memory for the expressions of a schema.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Taken>);

#[derive(Debug, Default)]
struct Taken {
    taken: AtomicUsize,
    /// The same, and what was tried for expressions that are too large.
    tried: AtomicUsize,
}

impl Memory {
    fn left(&self) -> usize {
        MOST_MEMORY.saturating_sub(self.0.taken.load(Ordering::Relaxed))
    }

    fn take(&self, bytes: usize) {
        self.0.taken.fetch_add(bytes, Ordering::Relaxed);
        self.attempt(bytes);
    }

    fn attempt(&self, bytes: usize) {
        self.0.tried.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The memory that was taken or tried, which says how long it took.
    pub(crate) fn tried(&self) -> usize {
        self.0.tried.load(Ordering::Relaxed)
    }
}

/// Why an expression can't be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is invalid, or not supported.
    Unsupported,
    TooLarge,
}

pub(crate) struct Pattern {
    text: Box<str>,
    /// `None` if it would be too large.
    engine: Option<Engine>,
}

enum Engine {
    Automaton(Box<Automaton>),
    Backtracking(Box<Backtracking>),
}

/// An expression that can be searched for in linear time.
struct Automaton {
    /// For long texts: builds states while it reads.
    states: DFA,
    /// For short texts: remembers where in the expression it was at each byte.
    places: BoundedBacktracker,
}

struct Backtracking {
    /// The expression, translated.
    text: Box<str>,
    /// The maximum size of a part of it that does not backtrack, in bytes.
    size: usize,
    /// It is compiled again for each try that is needed.
    tries: [OnceLock<Option<fancy_regex::Regex>>; TRIES.len()],
    steps_a_byte: u64,
    /// The bytes that lookaround reads in a step, from each place where a search begins: fewer if it reads backwards.
    bytes_a_step: u64,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.text).finish()
    }
}

impl Pattern {
    /// Compiles an expression. One that is too large is accepted, and matching it is undecided.
    pub(crate) fn compile(text: &str, memory: &Memory) -> Result<Self, Failure> {
        let engine = match Engine::compile(text, memory) {
            Ok(engine) => Some(engine),
            Err(Failure::TooLarge) => None,
            Err(Failure::Unsupported) => return Err(Failure::Unsupported),
        };
        Ok(Self { text: text.into(), engine })
    }

    /// Whether it matches somewhere in the text; `true` if that is undecided, which is noted.
    fn matches(&self, text: &str) -> bool {
        let found = match &self.engine {
            None => Err(Undecided::Large),
            Some(engine) => engine.finds(text),
        };
        found.unwrap_or_else(|undecided| {
            fuel::note(undecided);
            true
        })
    }
}

/// Whether an expression can be compiled in the memory that is left.
pub(crate) fn check(text: &str, memory: &Memory) -> Result<(), Failure> {
    Engine::compile(text, memory).map(drop)
}

impl Engine {
    fn compile(text: &str, memory: &Memory) -> Result<Self, Failure> {
        if text.len() > LONGEST {
            return Err(Failure::TooLarge);
        }
        let text = jsonschema_regex::to_rust_regex(text).map_err(|()| Failure::Unsupported)?;
        match automaton(&text, memory.left()) {
            Ok(automaton) => {
                memory.take(automaton.states.get_nfa().memory_usage());
                return Ok(Self::Automaton(Box::new(automaton)));
            }
            Err(Failure::TooLarge) => {
                memory.attempt(memory.left());
                return Err(Failure::TooLarge);
            }
            Err(Failure::Unsupported) => {}
        }
        let states = states_at_most(&text);
        let expression = Backtracking {
            text: text.as_ref().into(),
            size: memory.left() / 16,
            tries: std::array::from_fn(|_| OnceLock::new()),
            steps_a_byte: 1 + states / 64,
            bytes_a_step: if text.contains("(?<=") || text.contains("(?<!") { 3 } else { 8 },
        };
        if expression.compiled(0).is_none() {
            return Err(Failure::Unsupported);
        }
        memory.take(usize::try_from(states.saturating_mul(64)).unwrap_or(usize::MAX).min(memory.left()));
        Ok(Self::Backtracking(Box::new(expression)))
    }

    fn finds(&self, text: &str) -> Result<bool, Undecided> {
        let slow = |_| Undecided::Slow;
        fuel::take_for_match(2 + text.len() as u64 / 16).map_err(slow)?;
        match self {
            Self::Automaton(automaton) => automaton.find(text),
            Self::Backtracking(expression) => expression.find(text),
        }
    }
}

impl Backtracking {
    /// The expression for a try.
    fn compiled(&self, number: usize) -> Option<&fancy_regex::Regex> {
        let compiled = self.tries[number].get_or_init(|| {
            let mut builder = fancy_regex::RegexBuilder::new(&self.text);
            builder.backtrack_limit(TRIES[number].0);
            builder.delegate_size_limit(self.size).delegate_dfa_size_limit(MOST_STATES).build().ok()
        });
        compiled.as_ref()
    }

    fn find(&self, text: &str) -> Result<bool, Undecided> {
        if text.len() > LONGEST_TEXT {
            return Err(Undecided::Long);
        }
        let length = text.len() as u64;
        for (number, (most, steps)) in TRIES.into_iter().enumerate() {
            let reads = length * length.min(most as u64) / if number == 0 { 8 } else { self.bytes_a_step };
            let to_read = (self.steps_a_byte * length).saturating_add(reads);
            fuel::take_for_match(to_read.saturating_add(steps)).map_err(|_| Undecided::Slow)?;
            let Some(expression) = self.compiled(number) else { break };
            // The engine is known to panic for some expressions.
            let found = std::panic::catch_unwind(AssertUnwindSafe(|| expression.is_match(text)));
            match found {
                Ok(Ok(found)) => return Ok(found),
                Ok(Err(_)) => {}
                Err(_) => break,
            }
        }
        Err(Undecided::Slow)
    }
}

/// Compiles an expression that needs no backtracking.
fn automaton(text: &str, memory: usize) -> Result<Automaton, Failure> {
    let config = DFA::config()
        .cache_capacity(MOST_STATES)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(MOST_CLEARED));
    let nfa = thompson::Config::new().nfa_size_limit(Some(memory)).which_captures(WhichCaptures::None);
    let nfa =
        thompson::NFA::compiler().configure(nfa).build(text).map_err(|error| match error.size_limit() {
            Some(_) => Failure::TooLarge,
            None => Failure::Unsupported,
        })?;
    let states = DFA::builder().configure(config).build_from_nfa(nfa.clone());
    let places = BoundedBacktracker::builder().build_from_nfa(nfa);
    match (states, places) {
        (Ok(states), Ok(places)) => Ok(Automaton { states, places }),
        _ => Err(Failure::Unsupported),
    }
}

thread_local! {
    /// The places where the last search was.
    static PLACES: RefCell<Option<backtrack::Cache>> = const { RefCell::new(None) };
}

impl Automaton {
    /// Whether the expression is found in a text. The steps don't depend on earlier searches: which these are depends on
    /// how a file is cut into pieces.
    fn find(&self, text: &str) -> Result<bool, Undecided> {
        let places = (self.states.get_nfa().states().len() * (text.len() + 1)) as u64;
        if places > MOST_PLACES {
            return self.find_with_states(text);
        }
        fuel::take_for_match(places / 16).map_err(|_| Undecided::Slow)?;
        PLACES.with_borrow_mut(|places| {
            let places = match places {
                Some(places) => {
                    places.reset(&self.places);
                    places
                }
                None => places.insert(self.places.create_cache()),
            };
            self.places.try_is_match(places, text).map_err(|_| Undecided::Slow)
        })
    }

    fn find_with_states(&self, text: &str) -> Result<bool, Undecided> {
        let mut cache = self.states.create_cache();
        let before = cache.memory_usage();
        let found = self.states.try_search_fwd(&mut cache, &Input::new(text).earliest(true));
        let built = cache.memory_usage().saturating_sub(before) + cache.clear_count() * MOST_STATES;
        fuel::take_for_match((built / 8 + before / 512) as u64).map_err(|_| Undecided::Slow)?;
        found.map(|found| found.is_some()).map_err(|_| Undecided::Slow)
    }
}

/// An upper estimate of the states of an expression: its length times its counted repetitions.
fn states_at_most(text: &str) -> u64 {
    let mut product: u64 = 1;
    let counts = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    for count in counts {
        let largest = count.split(',').filter_map(|number| number.parse::<u64>().ok()).max();
        product = product.saturating_mul(largest.unwrap_or(1).max(1));
    }
    product.min(1 << 20).saturating_mul(text.len() as u64)
}

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, instance: &'i Json) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, instance) {
            Ok(())
        } else {
            Err(ValidationError::custom(format!("value does not match \"{}\"", self.text)))
        }
    }

    fn is_valid(&self, instance: &'i Json) -> bool {
        instance.as_str().is_none_or(|text| self.matches(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuel::Fuel;

    fn matches(pattern: &str, text: &str, steps: u64) -> (bool, Option<Undecided>, u64) {
        let mut fuel = Fuel::steps(steps);
        let pattern = Pattern::compile(pattern, &Memory::default()).expect("it is supported");
        let (found, undecided) = fuel.lend(|| pattern.matches(text));
        (found, undecided, steps - fuel.left())
    }

    #[test]
    fn an_expression_matches_as_in_javascript() {
        for (pattern, text, wanted) in [
            ("^a$", "a", true),
            ("^a$", "a\n", false),
            ("b", "abc", true),
            ("", "", true),
            (r"^\d+$", "12", true),
            (r"^\d+$", "\u{661}", false),
            (r"\bfoo\b", "\u{e9} foo", true),
            (r"^\p{L}+$", "\u{e9}", true),
            ("^.{2}$", "\u{e9}\u{4e00}", true),
            ("^(?!x)", "xy", false),
            (r"^(a+)-\1$", "aa-aa", true),
            (r"^(a+)-\1$", "aa-a", false),
            (r"(?<=a)b", "ab", true),
        ] {
            let (found, undecided, _) = matches(pattern, text, 100_000);
            assert_eq!((found, undecided), (wanted, None), "{pattern} {text}");
            // Both ways to search agree.
            if let Some(Engine::Automaton(automaton)) =
                Pattern::compile(pattern, &Memory::default()).expect("it is supported").engine
            {
                let found = Fuel::steps(100_000).lend(|| automaton.find_with_states(text)).0;
                assert_eq!(found, Ok(wanted), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn what_is_not_supported_is_an_error() {
        for pattern in ["[", "*a", "(?=a", r"\p{Nothing}"] {
            let compiled = Pattern::compile(pattern, &Memory::default());
            assert_eq!(compiled.err(), Some(Failure::Unsupported), "{pattern}");
        }
    }

    #[test]
    fn a_large_expression_is_undecided() {
        let long = "a?".repeat(LONGEST);
        for pattern in ["^.{1,200000}$", r"^(\p{L}{1,900}x){1,9}$", &long] {
            assert_eq!(matches(pattern, "a", 100_000).1, Some(Undecided::Large), "{pattern}");
        }
    }

    #[test]
    fn the_expressions_of_a_schema_share_its_memory() {
        let memory = Memory::default();
        let large = (0..100).filter(|number| {
            let pattern = Pattern::compile(&format!("^.{{1,2000}}{number}$"), &memory);
            pattern.is_ok_and(|pattern| pattern.engine.is_none())
        });
        assert!((50..95).contains(&large.count()));
        assert!(memory.left() < MOST_MEMORY / 10);
    }

    #[test]
    fn each_match_takes_the_same_steps() {
        for repeats in [1, 30, 3_000] {
            each_match_takes_the_same_steps_in(&"abbaababbba".repeat(repeats));
        }
    }

    fn each_match_takes_the_same_steps_in(text: &str) {
        let pattern = Pattern::compile("[ab]*a[ab]{9}c", &Memory::default()).expect("it is supported");
        let steps: Vec<u64> = (0..3)
            .map(|_| {
                let mut fuel = Fuel::steps(1_000_000);
                assert_eq!(fuel.lend(|| pattern.matches(text)).1, None);
                fuel.left()
            })
            .collect();
        assert!(steps.windows(2).all(|pair| pair[0] == pair[1]), "{steps:?}");
    }

    #[test]
    fn an_automaton_with_too_many_states_is_given_up() {
        // Each of its states remembers which of the last 400 letters was an `a`.
        let mut seed = 1u32;
        let mut letter = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if seed >> 31 == 0 { 'a' } else { 'b' }
        };
        let text: String = (0..200_000).map(|_| letter()).collect();
        let (_, undecided, steps) = matches("[ab]*a[ab]{400}c", &text, 10_000_000);
        assert_eq!(undecided, Some(Undecided::Slow));
        assert!(steps < 2_000_000, "{steps}");
    }

    #[test]
    fn backtracking_takes_steps_and_is_bounded() {
        let text = "a".repeat(30) + "!";
        let (_, undecided, steps) = matches(r"^(a*)*\1b$", &text, 1_000_000);
        assert_eq!(undecided, Some(Undecided::Slow));
        assert!((100_000..120_000).contains(&steps), "{steps}");
        assert_eq!(matches(r"^(a*)*\1b$", &text, 1_000).1, Some(Undecided::Slow));
        assert!(matches("^(?!-)[a-z]+$", "abc", 1_000).2 < 300);
        // Lookaround may read the whole text at each of its characters.
        let text = "a".repeat(3000);
        for pattern in ["(?<=(a+)+)b", "(?=a)(a*)*b", r"(a*)\1b"] {
            let fuel = Fuel::of_record(text.len()).left();
            assert_eq!(matches(pattern, &text, fuel), (true, Some(Undecided::Slow), fuel), "{pattern}");
        }
        let long = "a".repeat(LONGEST_TEXT + 1);
        assert_eq!(matches("(?=.*b)a", &long, 1_000_000), (true, Some(Undecided::Long), 1_026));
    }
}
