//! "Did you mean": the known name that is most like a mistyped one.

/// The least likeness, from 0 to 1, that is worth a suggestion.
const LIKE_ENOUGH: f64 = 0.7;

/// `; did you mean ...?` where a known name is like enough, and nothing otherwise.
#[must_use]
pub fn did_you_mean<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    known
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(likeness, _)| *likeness > LIKE_ENOUGH)
        .map(|(_, known)| format!("; did you mean `{known}`?"))
        .unwrap_or_default()
}
