//! The places in a request that an error names.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Match, Regex};
use toolcheck_json::{Value, unescape_step};

use super::escapes::unescaped;
use super::windows;

const MOST_PLACES: usize = 16;
const MOST_STEPS: usize = 64;
/// The longest type of a block that is compared, in bytes.
const LONGEST_TYPE: usize = 64;
const DEEPEST_REQUEST: usize = 3;
/// The most members of each object around the request that are looked at.
const MOST_CHILDREN: usize = 64;

/// A place that an error names: `messages.3.content.0`, `tools[0].function.parameters`, `/messages/3/content`.
///
/// Providers write their own names for keys, in other styles than the request's, and put the types of blocks between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPlace {
    /// As it is written in the error.
    pub text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A key, without what styles differ in.
    Name(String),
    Index(usize),
}

impl Step {
    fn is_index(&self) -> bool {
        matches!(self, Self::Index(_))
    }
}

/// How near a place in a request is to one that an error names. The nearer, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nearness {
    steps: usize,
    /// Whether the path of the error ends there, with a key or an index that is in the request.
    is_exact: bool,
    /// How far the place is inside the one that is named.
    deeper: std::cmp::Reverse<usize>,
}

/// Paths with dots, brackets and slashes, and lists of steps as Python and JSON write them.
static PATHS: LazyLock<Regex> = LazyLock::new(|| {
    let quoted = r#"["']?[\w-]+["']?"#;
    let path = format!(r"[A-Za-z_$][\w-]*(?:\.?\[{quoted}\]|[./][\w-]+)+");
    let list = format!(r"[\[(]\s*{quoted}(?:,\s*{quoted})+,?\s*[\])]");
    Regex::new(&format!("{list}|{path}")).expect("it is a regular expression")
});

static STEPS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\w$-]+").expect("it is a regular expression"));

impl NamedPlace {
    /// The places that an error names, in their order. A path without a number is none: it is in every request. Numbers alone
    /// are none either.
    pub fn all_in(error: &str) -> Vec<Self> {
        let error = unescaped(error);
        let beginning = windows(&error).next().map_or("", |window| window.text);
        // An address, or a place in what a tool returned.
        let is_address = |path: &Match<'_>| {
            let before = &beginning[..path.start()];
            before.ends_with("//") || before.ends_with("output schema: ")
        };
        // A file, a protocol or a library with its version, or the class of an exception.
        let is_foreign = |path: &str| {
            path.split('/').skip(1).any(|segment| segment.contains('.'))
                || path.starts_with("json.exception")
                || path.contains(".jar")
        };
        let paths = PATHS.find_iter(beginning).filter(|path| !is_address(path) && !is_foreign(path.as_str()));
        let paths = paths.map(|path| Self::of(path.as_str()));
        let mut places: Vec<Self> = Vec::new();
        let has = |place: &Self, is: fn(&Step) -> bool| place.steps.iter().any(is);
        // The name of a model has a number, too.
        let is_version = |place: &Self| matches!(&place.steps[..], [Step::Name(name), Step::Index(_)] if name.ends_with(|last: char| last.is_ascii_digit()));
        let is_place = |place: &Self| {
            has(place, Step::is_index) && has(place, |step| !step.is_index()) && !is_version(place)
        };
        for place in paths.filter(is_place) {
            if places.iter().all(|known| known.steps != place.steps) && places.len() < MOST_PLACES {
                places.push(place);
            }
        }
        places
    }

    fn of(path: &str) -> Self {
        let words: Vec<&str> = STEPS.find_iter(path).take(MOST_STEPS).map(|word| word.as_str()).collect();
        let is_escaped = path.starts_with(['[', '(']) && path.contains('\n');
        let text = if is_escaped { format!("[{}]", words.join(", ")) } else { path.to_owned() };
        let mut steps: Vec<Step> = Vec::new();
        for word in words {
            match (word.parse(), steps.last_mut()) {
                (Ok(index), _) => steps.push(Step::Index(index)),
                // Some count from 1, and say that they mean a member of a list.
                (Err(_), Some(Step::Index(index))) if word == "member" => *index = index.saturating_sub(1),
                (Err(_), _) => steps.push(Step::Name(folded(word))),
            }
        }
        Self { text, steps }
    }

    /// How near a value is to this place, by its JSON Pointer; `None` if it is elsewhere.
    ///
    /// ```
    /// use toolcheck_core::recognise::NamedPlace;
    ///
    /// let error = "Unknown name \"x\" at 'tools[0].function_declarations[1].parameters': Cannot find field.";
    /// let place = &NamedPlace::all_in(error)[0];
    /// assert!(place.nearness("/tools/0/functionDeclarations/1/parameters/x").is_some());
    /// assert!(place.nearness("/tools/0/functionDeclarations/0/parameters/x").is_none());
    /// ```
    pub fn nearness(&self, pointer: &str) -> Option<Nearness> {
        let keys: Vec<Cow<'_, str>> = pointer.split('/').skip(1).map(unescape_step).collect();
        // Some leave out the name of the list.
        if let [Step::Index(index), Step::Name(name), ..] = &self.steps[..] {
            let is_it = |pair: &[Cow<'_, str>]| pair[0].parse() == Ok(*index) && folded(&pair[1]) == *name;
            return walk(&self.steps, &keys[keys.windows(2).position(is_it)?..]);
        }
        // What holds the request is not named, and some name the type of the request first.
        let from = self.steps.iter().take_while(|step| !step.is_index());
        let mut starts = from.enumerate().filter_map(|(number, step)| {
            let Step::Name(name) = step else { return None };
            Some((number, keys.iter().position(|key| folded(key) == *name)?))
        });
        let (number, key) = starts.next()?;
        walk(&self.steps[number..], &keys[key..])
    }
}

impl NamedPlace {
    /// The value at this place below `root`, or what is there of the way to it; `None` if nothing is.
    pub fn find_in<'d, 's>(&self, root: Value<'d, 's>) -> Option<Value<'d, 's>> {
        let mut level = vec![root];
        for _ in 0..=DEEPEST_REQUEST {
            let found = level.iter().filter_map(|value| self.descend(*value)).max_by_key(|(same, _)| *same);
            if let Some((_, value)) = found {
                return Some(value);
            }
            level = level.into_iter().flat_map(|value| value.children().take(MOST_CHILDREN)).collect();
        }
        None
    }

    /// Whether the last step leads to a value that [`Self::find_in`] has found, rather than somewhere into it.
    pub fn ends_at(&self, value: Value<'_, '_>) -> bool {
        let Some(Step::Name(name)) = self.steps.last() else { return true };
        let is_key = value.key_text().is_some_and(|key| folded(&key) == *name);
        // The type of a block ends some paths.
        let is_type = |member: Value<'_, '_>| member.as_str().is_some_and(|text| folded(&text) == *name);
        is_key || value.members().filter(|member| member.raw().len() <= LONGEST_TYPE).any(is_type)
    }

    /// The value that the steps lead to from an object, and how many lead there. A name that is not there is the type of a
    /// block, or what holds the request.
    fn descend<'d, 's>(&self, object: Value<'d, 's>) -> Option<(usize, Value<'d, 's>)> {
        let (mut at, mut same, mut indices) = (object, 0, 0);
        for step in &self.steps {
            let next = match step {
                Step::Name(name) => {
                    at.members().find(|member| member.key_text().is_some_and(|key| folded(&key) == *name))
                }
                Step::Index(index) => Some(at.elements().nth(*index)?),
            };
            if let Some(next) = next {
                (at, same) = (next, same + 1);
                indices += usize::from(step.is_index());
            }
        }
        (indices > 0).then_some((same, at))
    }
}

fn walk(steps: &[Step], keys: &[Cow<'_, str>]) -> Option<Nearness> {
    let (mut same, mut indices, mut at) = (0, 0, 0);
    let mut is_exact = true;
    for step in steps {
        let Some(key) = keys.get(at) else {
            is_exact = false;
            break;
        };
        match step {
            Step::Name(name) if folded(key) == *name => (same, at) = (same + 1, at + 1),
            // The type of a block, or a key that is not there.
            Step::Name(_) => is_exact = false,
            Step::Index(index) if key.parse() == Ok(*index) => {
                (same, at, indices) = (same + 1, at + 1, indices + 1);
            }
            Step::Index(_) => return None,
        }
    }
    (indices > 0).then_some(Nearness { steps: same, is_exact, deeper: std::cmp::Reverse(keys.len() - at) })
}

/// A key without what the styles of names differ in.
fn folded(key: &str) -> String {
    key.chars().filter(|one| !matches!(one, '_' | '-')).flat_map(char::to_lowercase).collect()
}
