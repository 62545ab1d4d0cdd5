//! Values as languages print them that are not read: what each writes at the start is in no JSON.

use super::texts::{Text, text};

static LANGUAGES: &[Text] = &[
    text("what Ruby prints of a Hash", "write it as JSON: `JSON.generate(value)`", is_ruby),
    text("what Elixir prints of a map", "write it as JSON: `Jason.encode!(value)`", is_elixir),
    text("what Go prints with `%v`", "write it as JSON: `json.Marshal(value)`", is_go),
    text("what Rust prints with `{:?}`", "write it as JSON: `serde_json::to_string(&value)`", is_rust),
    text(
        "what Java or Kotlin prints of an object",
        "write it as JSON, with the mapper of the client's library",
        is_java,
    ),
];

/// The language whose printed value begins like this.
pub(super) fn find(head: &[u8]) -> Option<&'static Text> {
    // Each file of JSON is looked at.
    let has_key = matches!(first_key(head), [b'"', rest @ ..] if behind_string(rest).is_some_and(|rest| !rest.starts_with(b"=>")));
    if has_key { None } else { LANGUAGES.iter().find(|language| (language.sniff)(head)) }
}

/// What is behind the brackets at the start of a text.
fn first_key(head: &[u8]) -> &[u8] {
    let is_before = |byte: &u8| matches!(byte, b'[' | b'{') || byte.is_ascii_whitespace();
    &head[head.iter().position(|byte| !is_before(byte)).unwrap_or(head.len())..]
}

/// What is behind the first string of a text, if it is as short as a key.
fn behind_string(text: &[u8]) -> Option<&[u8]> {
    const LONGEST_KEY: usize = 64;
    let end = text.iter().take(LONGEST_KEY).position(|byte| *byte == b'"')?;
    Some(text[end + 1..].trim_ascii_start())
}

/// The name at the start of a text, and what is behind it.
fn name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    text.first().is_some_and(u8::is_ascii_alphabetic).then(|| text.split_at(end))
}

fn has_brackets(head: &[u8]) -> bool {
    matches!(head.trim_ascii_start().first(), Some(b'{' | b'['))
}

fn is_type(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase)
}

/// Whether the first key of a text is a symbol or a string that an arrow follows, or since Ruby 3.4 a name, with a `nil`.
fn is_ruby(head: &[u8]) -> bool {
    let first = first_key(head);
    let rest = match first {
        [b':', symbol @ ..] => name(symbol).map(|(_, rest)| rest.trim_ascii_start()),
        [b'"', text @ ..] => behind_string(text),
        _ => None,
    };
    let is_named = || has_brackets(head) && name(first).is_some_and(|(_, rest)| rest.starts_with(b": "));
    let has_nil = || [&b": nil, "[..], b": nil}"].iter().any(|nil| memchr::memmem::find(head, nil).is_some());
    rest.is_some_and(|rest| rest.starts_with(b"=>")) || is_named() && has_nil()
}

/// Whether a text begins with a map, perhaps in a list.
fn is_elixir(head: &[u8]) -> bool {
    first_key(head).starts_with(b"%{")
}

/// Whether a text begins with a map of Go, or in brackets with a field, which has neither a blank nor a quote before its
/// value.
fn is_go(head: &[u8]) -> bool {
    let first = first_key(head);
    let first = first.strip_prefix(b"&{").unwrap_or(first);
    let is_field = |(field, rest): (&[u8], &[u8])| {
        is_type(field)
            && matches!(rest, [b':', value, ..] if value.is_ascii_alphanumeric() || matches!(value, b'[' | b'{'))
    };
    first.starts_with(b"map[") && memchr::memchr(b':', &first[..first.len().min(64)]).is_some()
        || first.len() < head.len() && name(first).is_some_and(is_field)
}

/// Whether a text begins with a struct or a value of `serde_json`. JavaScript prints objects of classes like structs, but with
/// single quotes.
fn is_rust(head: &[u8]) -> bool {
    let Some((of_type, rest)) = name(first_key(head)).filter(|(name, _)| is_type(name)) else { return false };
    let fields = rest.strip_prefix(b" {").unwrap_or_default().trim_ascii_start();
    let value = name(fields).and_then(|(_, rest)| rest.strip_prefix(b": "));
    let is_value = |value: &[u8]| match value {
        [b'[', rest @ ..] => is_value_of_rust(rest.trim_ascii_start()),
        _ => is_value_of_rust(value),
    };
    of_type == b"Object" && fields.starts_with(b"\"")
        || of_type == b"Array" && rest.starts_with(b" [Object {")
        || value.is_some_and(is_value)
}

/// Whether the value of a field is a text, an option or a struct.
fn is_value_of_rust(value: &[u8]) -> bool {
    let is_of_type =
        |(name, rest): (&[u8], &[u8])| is_type(name) && matches!(rest, [b'(' | b',', ..] | [b' ', b'{', ..]);
    value.starts_with(b"\"") || name(value).is_some_and(is_of_type)
}

/// Whether a text begins with a map of Java, or with an object of a record, a data class or the like: values have no quotes.
fn is_java(head: &[u8]) -> bool {
    let is_field = |text: &[u8]| {
        let field = name(text).and_then(|(_, rest)| rest.strip_prefix(b"="));
        field.is_some_and(|value| matches!(value, [first, ..] if first.is_ascii_alphanumeric() || matches!(first, b'[' | b'{')))
    };
    let first = first_key(head);
    let is_map =
        first.len() < head.len() && head.get(head.len() - first.len() - 1) == Some(&b'{') && is_field(first);
    // Python prints objects with parentheses too, but texts with quotes.
    let is_word = |text: &[u8]| {
        let value = name(text).and_then(|(_, rest)| name(rest.strip_prefix(b"=")?));
        value.is_some_and(|(word, rest)| {
            !matches!(word, b"None" | b"True" | b"False") && rest.starts_with(b", ")
        })
    };
    is_map
        || name(first).filter(|(name, _)| is_type(name)).is_some_and(|(_, rest)| match rest {
            [b'[' | b'{', rest @ ..] => is_field(rest),
            [b'(', rest @ ..] => is_word(rest),
            _ => false,
        })
}
