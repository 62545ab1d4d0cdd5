//! "Did you mean": the known name that is most like a mistyped one.

/// The least likeness, from 0 to 1, that is worth a suggestion.
const LIKE_ENOUGH: f64 = 0.7;

/// The longest name that is a mistyped one: likeness costs the product of both lengths.
const LONGEST: usize = 100;

/// `; did you mean ...?` where a known name is like enough, and nothing otherwise.
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
