//! "Did you mean ...?": the known name that is most similar to a mistyped one.

/// The lowest similarity, from 0 to 1, that is worth a suggestion.
const LIKE_ENOUGH: f64 = 0.7;

/// The longest name to suggest something for: comparing two names takes the product of their lengths.
const LONGEST: usize = 100;

/// `; did you mean ...?` if a known name is similar enough, and an empty string otherwise.
#[must_use]
pub fn did_you_mean<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    if name.len() > LONGEST {
        return String::new();
    }
    let name = name.to_lowercase().replace('_', "-");
    known
        .map(|known| (strsim::jaro_winkler(&name, known), known))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(likeness, _)| *likeness > LIKE_ENOUGH)
        .map(|(_, known)| format!("; did you mean `{known}`?"))
        .unwrap_or_default()
}
