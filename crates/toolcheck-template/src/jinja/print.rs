//! Values as text: what `str`, `repr` and `json.dumps` of Python return.

use std::fmt::Write as _;

use super::budget::work;
use super::fault::{Step, type_error, value_error};
use super::text::{Builder, Text};
use super::value::{Function, Value, View};

/// A text as Python's `repr` writes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    quoted.push(quote);
    for character in text.chars() {
        match character {
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if character == quote => quoted.extend(['\\', quote]),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}' => {
                let _ = write!(quoted, "\\x{:02x}", character as u32);
            }
            _ if is_unprintable(character) => {
                let code = character as u32;
                let _ = if code < 0x1_0000 {
                    write!(quoted, "\\u{code:04x}")
                } else {
                    write!(quoted, "\\U{code:08x}")
                };
            }
            _ => quoted.push(character),
        }
    }
    quoted.push(quote);
    quoted
}

/// Whether Python escapes a character beyond Latin-1: separators, marks of direction, and private or unassigned ones.
fn is_unprintable(character: char) -> bool {
    matches!(
        character,
        '\u{1680}' | '\u{180e}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{3000}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{fffe}' | '\u{ffff}'
            | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{e0001}'..='\u{10ffff}'
    ) && !('\u{e0100}'..='\u{e01ef}').contains(&character)
}

/// A floating-point number as Python writes it.
pub(crate) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let scientific = format!("{number:e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if number != 0.0 && !(-4..16).contains(&power) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", power.abs());
    }
    let plain = format!("{number}");
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

/// What `str` returns.
pub(crate) fn str(value: &Value) -> Text {
    match value {
        Value::Str(text) if text.is_markup() => text.with_markup(false),
        Value::Str(text) => text.clone(),
        _ => {
            let mut built = Builder::default();
            push_str(value, &mut built);
            built.finish()
        }
    }
}

/// Appends what `str` returns.
pub(crate) fn push_str(value: &Value, built: &mut Builder) {
    match value {
        Value::Str(text) => built.push(text),
        Value::Undefined(_) => {}
        _ => push_repr(value, built),
    }
}

/// What `repr` returns.
pub(crate) fn repr(value: &Value) -> Text {
    let mut built = Builder::default();
    push_repr(value, &mut built);
    built.finish()
}

/// What `repr` returns, as a plain text.
pub(crate) fn repr_unmarked(value: &Value) -> String {
    let mut built = Builder::default();
    push_repr(value, &mut built);
    built.text
}

/// Appends a literal of a text: its marks cover it, without its quotes.
fn push_literal(literal: &str, text: &Text, built: &mut Builder) {
    let (Some(inner), Some(quote)) = (literal.get(1..literal.len().saturating_sub(1)), literal.get(..1))
    else {
        built.push_str(literal);
        return;
    };
    built.push_str(quote);
    if inner == text.as_str() {
        built.push(text);
    } else {
        built.push_changed(inner, text.marks());
    }
    built.push_str(&literal[literal.len() - 1..]);
}

fn push_repr(value: &Value, built: &mut Builder) {
    if !work(1 + value.as_str().map_or(0, |text| text.len() / 4)) {
        return;
    }
    let start = built.text.len();
    match value {
        Value::Str(text) if text.marks().is_empty() => built.push_str(&quoted(text.as_str())),
        Value::Str(text) => push_literal(&quoted(text.as_str()), text, built),
        Value::Undefined(_) => built.push_str("Undefined"),
        Value::None => built.push_str("None"),
        Value::Bool(value) => built.push_str(if *value { "True" } else { "False" }),
        Value::Int(number) => {
            let _ = write!(built.text, "{number}");
        }
        Value::Big(digits) => built.push_str(digits),
        Value::Float(number) => built.push_str(&float(*number)),
        Value::List(list) => {
            push_sequence("[", &list.items, "]", built);
            cover(list.source, start, built);
        }
        Value::Tuple(list) => {
            let end = if list.items.len() == 1 { ",)" } else { ")" };
            push_sequence("(", &list.items, end, built);
        }
        Value::Dict(dict) => {
            built.push_str("{");
            for (at, (key, value)) in dict.entries.iter().enumerate() {
                built.push_str(if at == 0 { "" } else { ", " });
                push_repr(key, built);
                built.push_str(": ");
                push_repr(value, built);
            }
            built.push_str("}");
            cover(dict.source, start, built);
        }
        Value::View(dict, view) => push_view(dict, *view, built),
        Value::Range(range) => {
            let (start, stop, step) = **range;
            let _ = match step {
                1 => write!(built.text, "range({start}, {stop})"),
                _ => write!(built.text, "range({start}, {stop}, {step})"),
            };
        }
        Value::Function(function) => built.push_str(function_name(*function)),
        Value::Method(method) => {
            let _ = write!(
                built.text,
                "<built-in method {} of {} object at 0x0>",
                method.1,
                method.0.type_name()
            );
        }
        _ => {
            let _ = write!(built.text, "<{} object at 0x0>", value.type_name());
        }
    }
}

fn function_name(function: Function) -> &'static str {
    match function {
        Function::Range => "<class 'range'>",
        Function::RaiseException => "<function raise_exception at 0x0>",
        Function::StrftimeNow => "<function strftime_now at 0x0>",
        Function::Namespace => "<class 'namespace'>",
        Function::Dict => "<dict at 0x0>",
        Function::Cycler => "<class 'jinja2.utils.Cycler'>",
        Function::Joiner => "<class 'jinja2.utils.Joiner'>",
        Function::Lipsum => "<function generate_lorem_ipsum at 0x0>",
    }
}

fn cover(source: Option<u32>, start: usize, built: &mut Builder) {
    if let Some(source) = source {
        built.cover(start, source);
    }
}

fn push_sequence<'v>(
    start: &str,
    items: impl IntoIterator<Item = &'v Value>,
    end: &str,
    built: &mut Builder,
) {
    built.push_str(start);
    for (at, item) in items.into_iter().enumerate() {
        built.push_str(if at == 0 { "" } else { ", " });
        push_repr(item, built);
    }
    built.push_str(end);
}

fn push_view(dict: &super::value::Dict, view: View, built: &mut Builder) {
    let entries = dict.entries.iter();
    match view {
        View::Items => {
            built.push_str("dict_items([");
            for (at, (key, value)) in entries.enumerate() {
                push_sequence(if at == 0 { "(" } else { ", (" }, [key, value], ")", built);
            }
            built.push_str("])");
        }
        View::Keys => push_sequence("dict_keys([", entries.map(|(key, _)| key), "])", built),
        View::Values => push_sequence("dict_values([", entries.map(|(_, value)| value), "])", built),
    }
}

/// How JSON is written.
pub(crate) struct JsonStyle {
    pub(crate) indent: Option<String>,
    pub(crate) item_separator: String,
    pub(crate) key_separator: String,
    pub(crate) sort_keys: bool,
    pub(crate) ascii: bool,
}

/// What `json.dumps` returns.
pub(crate) fn json(value: &Value, style: &JsonStyle) -> Step<Text> {
    let mut built = Builder::default();
    push_json(value, style, 0, &mut built)?;
    Ok(built.finish())
}

fn push_json(value: &Value, style: &JsonStyle, depth: usize, built: &mut Builder) -> Step<()> {
    if !work(1) {
        return Ok(());
    }
    let start = built.text.len();
    match value {
        Value::Str(text) => push_literal(&json_text(text.as_str(), style.ascii), text, built),
        Value::None => built.push_str("null"),
        Value::Bool(value) => built.push_str(if *value { "true" } else { "false" }),
        Value::Int(number) => {
            let _ = write!(built.text, "{number}");
        }
        Value::Big(digits) => built.push_str(digits),
        Value::Float(number) => built.push_str(&json_float(*number)),
        Value::List(list) | Value::Tuple(list) => {
            let open = Open { start: "[", end: "]", is_empty: list.items.is_empty() };
            push_container(open, style, depth, built, |built| {
                for (at, item) in list.items.iter().enumerate() {
                    separate(at, style, depth + 1, built);
                    push_json(item, style, depth + 1, built)?;
                }
                Ok(())
            })?;
            cover(list.source, start, built);
        }
        Value::Dict(dict) => {
            let mut entries: Vec<&(Value, Value)> = dict.entries.iter().collect();
            if style.sort_keys {
                super::ops::sort(&mut entries, |entry| &entry.0, false)?;
            }
            let open = Open { start: "{", end: "}", is_empty: entries.is_empty() };
            push_container(open, style, depth, built, |built| {
                for (at, (key, value)) in entries.into_iter().enumerate() {
                    separate(at, style, depth + 1, built);
                    built.push_str(&json_text(&json_key(key)?, style.ascii));
                    built.push_str(&style.key_separator);
                    push_json(value, style, depth + 1, built)?;
                }
                Ok(())
            })?;
            cover(dict.source, start, built);
        }
        _ => return type_error(format!("Object of type {} is not JSON serializable", value.type_name())),
    }
    Ok(())
}

struct Open {
    start: &'static str,
    end: &'static str,
    is_empty: bool,
}

fn push_container(
    open: Open,
    style: &JsonStyle,
    depth: usize,
    built: &mut Builder,
    inner: impl FnOnce(&mut Builder) -> Step<()>,
) -> Step<()> {
    built.push_str(open.start);
    inner(built)?;
    if !open.is_empty {
        line_break(style, depth, built);
    }
    built.push_str(open.end);
    Ok(())
}

fn line_break(style: &JsonStyle, depth: usize, built: &mut Builder) {
    if let Some(indent) = &style.indent {
        built.push_str("\n");
        built.push_str(&indent.repeat(depth));
    }
}

fn separate(at: usize, style: &JsonStyle, depth: usize, built: &mut Builder) {
    if at > 0 {
        built.push_str(&style.item_separator);
    }
    line_break(style, depth, built);
}

fn json_key(key: &Value) -> Step<String> {
    Ok(match key {
        Value::Str(text) => text.as_str().to_owned(),
        Value::None => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => json_float(*number),
        _ => {
            let name = key.type_name();
            return type_error(format!("keys must be str, int, float, bool or None, not {name}"));
        }
    })
}

fn json_float(number: f64) -> String {
    match float(number).as_str() {
        "nan" => "NaN".to_owned(),
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        text => text.to_owned(),
    }
}

/// A text as `json.dumps` writes it.
fn json_text(text: &str, ascii: bool) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for character in text.chars() {
        match character {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '\u{8}' => written.push_str("\\b"),
            '\u{c}' => written.push_str("\\f"),
            '\0'..='\u{1f}' => {
                let _ = write!(written, "\\u{:04x}", character as u32);
            }
            '\u{7f}'.. if ascii && character != '\u{7f}' => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(written, "\\u{unit:04x}");
                }
            }
            _ => written.push(character),
        }
    }
    written.push('"');
    written
}

/// A width or an indentation that a template asks for.
pub(crate) fn spaces(count: i128) -> Step<String> {
    match usize::try_from(count) {
        Ok(count) if count <= 10_000 => Ok(" ".repeat(count)),
        Ok(_) => super::fault::too_much("an indentation of more than 10000 characters"),
        Err(_) if count > -10_000 => Ok(String::new()),
        Err(_) => value_error("a negative width"),
    }
}

/// At least the length of what `json.dumps` adds for indentation and separators, so that a template can't make a short
/// value very long.
pub(crate) fn json_length(value: &Value, style: &JsonStyle, depth: usize) -> usize {
    if !work(1) {
        return 0;
    }
    let indent = style.indent.as_ref().map_or(0, |indent| (indent.len() + 1) * (depth + 1));
    let around = indent + style.item_separator.len() + style.key_separator.len() + 4;
    match value {
        Value::Str(text) => text.as_str().len() + 2,
        Value::List(list) | Value::Tuple(list) => {
            let inner =
                list.items.iter().map(|item| json_length(item, style, depth + 1).saturating_add(around));
            inner.fold(2 + indent, usize::saturating_add)
        }
        Value::Dict(dict) => {
            let inner = dict.entries.iter().map(|(key, value)| {
                let key = key.as_str().map_or(8, str::len);
                json_length(value, style, depth + 1).saturating_add(around + key)
            });
            inner.fold(2 + indent, usize::saturating_add)
        }
        _ => 8,
    }
}
