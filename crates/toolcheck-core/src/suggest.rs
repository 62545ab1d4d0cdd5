//! "Did you mean ...?": the known name that is most similar to a mistyped one.

use std::fmt;

use crate::text::bounded;

/// The lowest similarity, from 0 to 1, that is worth a suggestion.
const LIKE_ENOUGH: f64 = 0.75;

/// The fewest letters that can be a mistyped name.
const FEWEST: usize = 2;

/// The longest name to suggest something for: comparing two names takes the product of their lengths.
const LONGEST: usize = 100;

/// The name that was probably meant, if there is one.
///
/// As text it is a clause to write behind a message about an unknown name: "; did you mean ...?", or nothing.
///
/// ```
/// use toolcheck_core::suggest::similar;
///
/// let known = ["openai-chat", "anthropic"];
/// assert_eq!(similar("opnai-chat", known).name(), Some("openai-chat"));
/// assert_eq!(similar("opnai-chat", known).to_string(), "; did you mean `openai-chat`?");
/// assert_eq!(similar("yaml", known).to_string(), "");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suggestion<'k>(Option<&'k str>);

impl<'k> Suggestion<'k> {
    /// The name.
    pub fn name(self) -> Option<&'k str> {
        self.0
    }
}

impl<'k> From<&'k str> for Suggestion<'k> {
    fn from(name: &'k str) -> Self {
        Self(Some(name))
    }
}

impl fmt::Display for Suggestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |name| write!(f, "; did you mean `{name}`?"))
    }
}

/// The message about a name that is none of the known ones, which is the same wherever options are written.
///
/// ```
/// use toolcheck_core::suggest::unknown;
///
/// let message = unknown("format", "opnai-chat", ["openai-chat", "anthropic"]);
/// assert_eq!(message, "there is no format `opnai-chat`; did you mean `openai-chat`?");
/// ```
pub fn unknown<'k>(noun: &str, name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    format!("there is no {noun} `{}`{}", bounded(name, LONGEST), similar(name, known))
}

/// An error of a TOML reader about an unknown key or value, with a suggestion in place of the list of all that are known, if
/// one is similar, and in plain words. Other errors are left as they are.
///
/// ```
/// use toolcheck_core::suggest::in_place_of_list;
///
/// let message = in_place_of_list("unknown field `turns`, expected `turn` or `text`");
/// assert_eq!(message, "unknown field `turns`; did you mean `turn`?");
/// ```
pub fn in_place_of_list(message: &str) -> String {
    let message = message.trim();
    let mut names = message.split('`').skip(1).step_by(2);
    let similar = match names.next().filter(|_| message.starts_with("unknown ")) {
        Some(unknown) => similar(unknown, names),
        None => Suggestion(None),
    };
    let Some((found, expected)) = message.split_once(", expected ") else { return message.to_owned() };
    if similar.0.is_some() {
        return format!("{found}{similar}");
    }
    // The words of people who write files, not of those who write Rust.
    let found = found.replace("type: sequence", "type: list").replace("type: map", "type: table");
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "a table",
        "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more",
        other => other,
    };
    format!("{found}, expected {expected}")
}

/// The most similar of the known names, if it is similar enough.
pub fn similar<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Suggestion<'k> {
    if name.len() > LONGEST {
        return Suggestion(None);
    }
    let name = name.to_lowercase().replace('_', "-");
    let likeness = |known: &str| if is_part(&name, known) { 1.0 } else { strsim::jaro_winkler(&name, known) };
    let known = known.into_iter().map(|known| (likeness(known), known));
    // Of equals the shortest, and of those the last.
    let nearest = known.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.len().cmp(&one.1.len())));
    let is_meant = |(likeness, known): &(f64, &str)| *likeness > LIKE_ENOUGH && is_long_enough(&name, known);
    Suggestion(nearest.filter(is_meant).map(|(_, known)| known))
}

/// Whether a name has enough letters to say which one is meant: a short one has its letters in many long ones.
fn is_long_enough(name: &str, known: &str) -> bool {
    name.len() >= FEWEST && (name.len() * 2 >= known.len() || known.starts_with(name) || is_part(name, known))
}

/// Whether a name is the words of a known one without some of them: `orphan-result` for `orphan-tool-result`.
fn is_part(name: &str, known: &str) -> bool {
    name.contains('-') && name.split('-').all(|word| known.split('-').any(|other| other == word))
}
