//! What a request proves itself with, which is not for a file.

use hyper::http::request::Parts;

use crate::content::Content;

/// What is in the names of headers and of parts of a query that hold a key.
const NAMES: [&str; 4] = ["auth", "cookie", "key", "token"];
/// What is shorter may be a word that people say.
const SHORTEST: usize = 17;
/// The same of what has a digit in it, such as the key of a gateway of one's own.
const SHORTEST_WITH_DIGIT: usize = 7;
/// The scheme of AWS, which is no secret although it is as long.
const SCHEME: &str = "AWS4-HMAC-SHA256";

/// The keys of a request, which a response may repeat.
pub(crate) fn secrets(parts: &Parts) -> Vec<String> {
    let is_secret = |name: &str| NAMES.iter().any(|part| name.contains(part));
    let headers = parts.headers.iter().filter(|(name, _)| is_secret(name.as_str()));
    let values = headers.filter_map(|(_, value)| value.to_str().ok());
    let pairs = parts.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let values = values.chain(pairs.filter(|(name, _)| is_secret(name)).map(|(_, value)| value));
    let words = values.flat_map(|value| value.split([' ', ';', ',']));
    // A cookie has a name before it, and base64 may end with `=`.
    let own = words.map(|word| word.trim_end_matches('=').rsplit('=').next().unwrap_or(word));
    let has_digit = |word: &str| word.contains(|letter: char| letter.is_ascii_digit());
    let shortest = |word| if has_digit(word) { SHORTEST_WITH_DIGIT } else { SHORTEST };
    own.filter(|word| word.len() >= shortest(word) && *word != SCHEME).map(str::to_owned).collect()
}

/// What was sent or answered, without the keys of the request.
pub(crate) fn without(secrets: &[String], content: Content) -> Content {
    let found = secrets.iter().filter(|secret| content.text().contains(secret.as_str()));
    let hidden = found.fold(None::<String>, |text, secret| {
        Some(text.as_deref().unwrap_or(content.text()).replace(secret, "[key]"))
    });
    hidden.map_or(content, |text| Content::of_json(&text))
}
