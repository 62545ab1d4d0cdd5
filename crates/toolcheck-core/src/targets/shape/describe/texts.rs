//! The names in the texts of shapes.

use std::collections::BTreeSet;

/// The names in braces that the text of a fault may have, each with its meaning. Those of paths may begin with `parent-`,
/// for the object that has the key or lacks it.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("field", "the key"),
    ("path", "where it is: `messages[1].content[0].text`"),
    ("dotted-path", "the same as `messages.1.content.0.text`"),
    ("tagged-path", "the same with the kinds of objects: `messages.1.content.0.tool_use.id`"),
    ("member-path", "the same, counted from 1: `messages.2.member.content.1.member.text`"),
    ("proto-path", "the same in snake case: `contents[0].parts[0].inline_data`"),
    ("named-path", "the same with the keys of maps: `properties[city]`"),
    ("schema-context", "the path in a tool's schema as a Python tuple: `('properties', 'city')`"),
    ("index", "the index of the innermost element that it is in, from 0"),
    ("outer-index", "the index of the outermost element that it is in"),
    ("name", "the name of the tool that it is in"),
    ("model", "the model of the request"),
    ("value", "the value; strings without quotes"),
    ("json", "the value as JSON"),
    ("values", "the allowed values as `'a', 'b' or 'c'`; for an unknown key, the known ones"),
    ("values-and", "the allowed values as `'a', 'b', and 'c'`"),
    ("values-list", "the allowed values as `a, b, c`"),
    ("expected", "the types that there may be, in the words of `[shape.words]`"),
    ("got", "the type that there is"),
    ("min", "the least that there may be, if there is less"),
    ("max", "the most that there may be, if there is more"),
    ("length", "how many characters there are"),
    ("count", "how many elements or keys there are"),
    ("pattern", "the expression that it must match"),
    ("bare-pattern", "the same without anchors"),
    ("keys", "the keys of the object"),
    ("rest", "words that can't be predicted; left out"),
];

/// Whether the text of a fault may have this name in braces.
pub fn is_placeholder(name: &str) -> bool {
    let path = name.strip_prefix("parent-").filter(|path| path.ends_with("path"));
    PLACEHOLDERS.iter().any(|(known, _)| *known == path.unwrap_or(name))
}

/// The names in the braces of a text. Other braces stand for themselves.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        crate::text::is_placeholder(name).then_some(name)
    })
}

/// A text with the usual names in its braces, for people: in which of its ways the API writes a path or a list does not matter
/// to them.
pub fn with_usual_names(text: &str) -> String {
    let names: BTreeSet<&str> = placeholders(text).collect();
    names.into_iter().fold(text.to_owned(), |text, name| {
        let usual = match name {
            name if name.ends_with("path") || name == "schema-context" => "path",
            name if name.starts_with("values") => "values",
            "bare-pattern" => "pattern",
            _ => return text,
        };
        text.replace(&format!("{{{name}}}"), &format!("{{{usual}}}"))
    })
}
