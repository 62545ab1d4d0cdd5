//! Methods of Python's texts, dicts and lists.

use std::collections::BTreeSet;

use super::args::Args;
use super::budget::Budget;
use super::fault::{Step, type_error, unsupported, value_error};
use super::lex::is_space;
use super::text::{Builder, Text};
use super::value::{Dict, Function, Value};
use super::{access, ops, print};

pub(crate) fn call(receiver: &Value, name: &str, args: &Args, budget: &Budget) -> Step<Value> {
    budget.go_through(receiver)?;
    match receiver {
        Value::Str(text) => of_text(text, name, args, budget),
        Value::Dict(dict) => of_dict(dict, name, args, budget),
        Value::Function(Function::Dict) => from_keys(args, budget),
        Value::List(_) | Value::Tuple(_) | Value::Range(_) => of_list(receiver, name, args, budget),
        Value::Cycler(cycler) => {
            let next = &cycler.1;
            if name == "reset" {
                *next.borrow_mut() = 0;
                return Ok(Value::None);
            }
            let at = *next.borrow();
            *next.borrow_mut() = (at + 1) % cycler.0.len().max(1);
            Ok(cycler.0.get(at).cloned().unwrap_or(Value::None))
        }
        Value::Float(number) => Ok(Value::Bool(number.fract() == 0.0)),
        _ => unsupported(format!("the method {name} of {}", receiver.type_name())),
    }
}

fn of_dict(dict: &std::rc::Rc<Dict>, name: &str, args: &Args, budget: &Budget) -> Step<Value> {
    if let Some(view) = access::view(name) {
        return Ok(Value::View(dict.clone(), view));
    }
    match name {
        "get" => {
            let Some(key) = args.positional.first() else {
                return type_error("get expected at least 1 argument, got 0");
            };
            if !args.named.is_empty() {
                return type_error("dict.get() takes no keyword arguments");
            }
            if matches!(key, Value::List(_) | Value::Dict(_)) {
                return type_error(format!("unhashable type: '{}'", key.type_name()));
            }
            let default = || args.positional.get(1).cloned().unwrap_or(Value::None);
            Ok(dict.get(key).cloned().unwrap_or_else(default))
        }
        "copy" => Ok(Value::Dict(dict.clone())),
        _ => from_keys(args, budget),
    }
}

fn from_keys(args: &Args, budget: &Budget) -> Step<Value> {
    let value = args.positional.get(1).cloned().unwrap_or(Value::None);
    let keys = ops::items(args.need(0, "iterable", "fromkeys")?, budget)?;
    Dict::new(keys.into_iter().map(|key| (key, value.clone())).collect(), None).map(Value::Dict)
}

fn of_list(list: &Value, name: &str, args: &Args, budget: &Budget) -> Step<Value> {
    let items = ops::items(list, budget)?;
    match name {
        "copy" => Value::list(items),
        "count" => {
            let wanted = args.need(0, "value", "count")?;
            Ok(Value::Int(items.iter().filter(|item| ops::equal(item, wanted)).count() as i128))
        }
        _ => {
            let wanted = args.need(0, "value", "index")?;
            match items.iter().position(|item| ops::equal(item, wanted)) {
                Some(at) => Ok(Value::Int(at as i128)),
                None if matches!(list, Value::Tuple(_)) => value_error("tuple.index(x): x not in tuple"),
                None => value_error(format!("{} is not in list", print::repr_unmarked(wanted))),
            }
        }
    }
}

fn of_text(text: &Text, name: &str, args: &Args, budget: &Budget) -> Step<Value> {
    let whole = text.as_str();
    budget.charge(whole.len())?;
    let changed = |changed: String| Ok(Value::Str(text.changed(changed)));
    match name {
        "strip" | "lstrip" | "rstrip" => strip(text, name, args).map(Value::Str),
        "upper" => changed(whole.to_uppercase()),
        "lower" | "casefold" => changed(whole.to_lowercase()),
        "title" => changed(title(whole)),
        "capitalize" => changed(capitalize(whole)),
        "swapcase" => changed(
            whole
                .chars()
                .flat_map(|c| {
                    if c.is_uppercase() {
                        c.to_lowercase().collect()
                    } else {
                        c.to_uppercase().collect::<Vec<_>>()
                    }
                })
                .collect(),
        ),
        "startswith" | "endswith" => affix(whole, name, args, budget),
        "split" | "rsplit" => split(text, name == "rsplit", args, budget),
        "splitlines" => split_lines(text, args.flag(0, "keepends", false), budget),
        "partition" | "rpartition" => partition(text, name == "rpartition", args),
        "replace" => replace(text, args, budget),
        "removeprefix" | "removesuffix" => {
            let affix = args.text(0, "prefix", name)?.as_str();
            let range = match name {
                "removeprefix" if whole.starts_with(affix) => affix.len()..whole.len(),
                "removesuffix" if whole.ends_with(affix) => 0..whole.len() - affix.len(),
                _ => 0..whole.len(),
            };
            Ok(Value::Str(text.part(range)))
        }
        "join" => {
            let items = args.need(0, "iterable", "join")?;
            join_texts(text, &ops::items(items.defined()?, budget)?, budget)
        }
        "find" | "rfind" | "index" | "rindex" => find(whole, name, args),
        "count" => {
            let part = args.text(0, "sub", name)?.as_str();
            let count = if part.is_empty() { whole.chars().count() + 1 } else { whole.matches(part).count() };
            Ok(Value::Int(count as i128))
        }
        "format" => super::format::format(text, args, budget).map(Value::Str),
        "center" | "ljust" | "rjust" | "zfill" => pad(text, name, args, budget).map(Value::Str),
        "isspace" | "isdigit" | "isdecimal" | "isnumeric" | "isalpha" | "isalnum" | "islower" | "isupper"
        | "isascii" | "isidentifier" => Ok(Value::Bool(is_made_of(whole, name))),
        _ => unsupported(format!("the method {name} of str")),
    }
}

pub(super) fn is_made_of(text: &str, name: &str) -> bool {
    let all = |test: fn(char) -> bool| !text.is_empty() && text.chars().all(test);
    match name {
        "isspace" => all(is_space),
        "isdigit" | "isdecimal" => all(|c| c.is_numeric() && !"½¼¾".contains(c)),
        "isnumeric" => all(char::is_numeric),
        "isalpha" => all(char::is_alphabetic),
        "isalnum" => all(char::is_alphanumeric),
        "islower" => text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase),
        "isupper" => text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase),
        "isascii" => text.is_ascii(),
        _ => all(|c| c.is_alphanumeric() || c == '_') && !text.starts_with(char::is_numeric),
    }
}

/// `str.title`: an upper case letter after each character that is no letter.
pub(crate) fn title(text: &str) -> String {
    let mut titled = String::with_capacity(text.len());
    let mut in_word = false;
    for character in text.chars() {
        if in_word {
            titled.extend(character.to_lowercase());
        } else {
            titled.push_str(&title_case(character));
        }
        in_word = character.is_alphabetic();
    }
    titled
}

/// A letter at the beginning of a word: of the two that `\u{fb01}` becomes, only the first is in upper case.
fn title_case(letter: char) -> String {
    let mut upper = letter.to_uppercase();
    let first = upper.next();
    first.into_iter().chain(upper.flat_map(char::to_lowercase)).collect()
}

pub(crate) fn capitalize(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(title_case).unwrap_or_default();
    first + &rest.as_str().to_lowercase()
}

/// A text without the characters of `set` at its ends, or without whitespace.
pub(crate) fn strip(text: &Text, name: &str, args: &Args) -> Step<Text> {
    let set = match args.get(0, "chars") {
        None | Some(Value::None) => None,
        Some(Value::Str(set)) => Some(set.as_str().chars().collect::<BTreeSet<char>>()),
        Some(other) => {
            let type_name = other.defined()?.type_name();
            return type_error(format!("{name} arg must be None or str, not {type_name}"));
        }
    };
    let is_stripped = |c: char| set.as_ref().map_or_else(|| is_space(c), |set| set.contains(&c));
    Ok(trim(text, is_stripped, name != "rstrip", name != "lstrip"))
}

fn trim(text: &Text, is_trimmed: impl Fn(char) -> bool, left: bool, right: bool) -> Text {
    let whole = text.as_str();
    let start = if left { whole.len() - whole.trim_start_matches(&is_trimmed).len() } else { 0 };
    let rest = &whole[start..];
    let end = start + if right { rest.trim_end_matches(&is_trimmed).len() } else { rest.len() };
    text.part(start..end)
}

fn affix(whole: &str, name: &str, args: &Args, budget: &Budget) -> Step<Value> {
    let test =
        |affix: &str| if name == "startswith" { whole.starts_with(affix) } else { whole.ends_with(affix) };
    if args.positional.len() > 1 {
        return unsupported(format!("{name} with a start"));
    }
    match args.need(0, "prefix", name)? {
        Value::Str(affix) => Ok(Value::Bool(test(affix.as_str()))),
        Value::Tuple(list) => {
            for item in &list.items {
                budget.go_through(item)?;
                if item.as_str().is_some_and(test) {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        other => {
            type_error(format!("{name} first arg must be str or a tuple of str, not {}", other.type_name()))
        }
    }
}

fn split(text: &Text, from_right: bool, args: &Args, budget: &Budget) -> Step<Value> {
    let most = args.int(1, "maxsplit", -1)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let whole = text.as_str();
    let mut parts: Vec<std::ops::Range<usize>> = match args.get(0, "sep") {
        None | Some(Value::None) => split_by_space(whole, from_right, most),
        Some(Value::Str(separator)) if separator.as_str().is_empty() => {
            return value_error("empty separator");
        }
        Some(Value::Str(separator)) => split_by(whole, separator.as_str(), from_right, most),
        Some(other) => return type_error(format!("must be str or None, not {}", other.type_name())),
    };
    if from_right {
        parts.reverse();
    }
    budget.charge_items(parts.len())?;
    Value::list(parts.into_iter().map(|part| Value::Str(text.part(part))).collect())
}

fn split_by(whole: &str, separator: &str, from_right: bool, most: usize) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    if from_right {
        let mut end = whole.len();
        while parts.len() < most
            && let Some(at) = whole[..end].rfind(separator)
        {
            parts.push(at + separator.len()..end);
            end = at;
        }
        parts.push(0..end);
    } else {
        let mut start = 0;
        while parts.len() < most
            && let Some(at) = whole[start..].find(separator)
        {
            parts.push(start..start + at);
            start += at + separator.len();
        }
        parts.push(start..whole.len());
    }
    parts
}

fn split_by_space(whole: &str, from_right: bool, most: usize) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut end) = (0, whole.len());
    loop {
        let inner = &whole[start..end];
        if from_right {
            end = start + inner.trim_end_matches(is_space).len();
        } else {
            start = end - inner.trim_start_matches(is_space).len();
        }
        let inner = &whole[start..end];
        if inner.is_empty() {
            return parts;
        }
        if parts.len() == most {
            // Only the side that is gone through is stripped.
            parts.push(start..end);
            return parts;
        }
        if from_right {
            let at = inner.char_indices().rev().find(|(_, c)| is_space(*c));
            let at = at.map_or(start, |(at, c)| start + at + c.len_utf8());
            parts.push(at..end);
            end = at;
        } else {
            let at = inner.find(is_space).map_or(end, |at| start + at);
            parts.push(start..at);
            start = at;
        }
    }
}

fn split_lines(text: &Text, keep_ends: bool, budget: &Budget) -> Step<Value> {
    let whole = text.as_str();
    let mut lines = Vec::new();
    let mut start = 0;
    let mut rest = whole.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        let is_end = matches!(
            character,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        );
        if !is_end {
            continue;
        }
        let mut end = at + character.len_utf8();
        if character == '\r' && rest.peek().is_some_and(|next| next.1 == '\n') {
            rest.next();
            end += 1;
        }
        lines.push(Value::Str(text.part(start..if keep_ends { end } else { at })));
        start = end;
    }
    if start < whole.len() {
        lines.push(Value::Str(text.part(start..whole.len())));
    }
    budget.charge_items(lines.len())?;
    Value::list(lines)
}

fn partition(text: &Text, from_right: bool, args: &Args) -> Step<Value> {
    let separator = args.text(0, "sep", "partition")?.as_str();
    let whole = text.as_str();
    if separator.is_empty() {
        return value_error("empty separator");
    }
    let at = if from_right { whole.rfind(separator) } else { whole.find(separator) };
    let parts = match at {
        Some(at) => [
            text.part(0..at),
            text.part(at..at + separator.len()),
            text.part(at + separator.len()..whole.len()),
        ],
        None if from_right => ["".into(), "".into(), text.clone()],
        None => [text.clone(), "".into(), "".into()],
    };
    Value::tuple(parts.map(Value::Str).to_vec())
}

/// `str.replace`
pub(crate) fn replace(text: &Text, args: &Args, budget: &Budget) -> Step<Value> {
    let old = args.text(0, "old", "replace")?.as_str();
    let new = args.text(1, "new", "replace")?;
    let most = usize::try_from(args.int(2, "count", -1)?).unwrap_or(usize::MAX);
    let whole = text.as_str();
    let count = if old.is_empty() { whole.chars().count() + 1 } else { whole.matches(old).count() }.min(most);
    budget.charge(whole.len().saturating_add(count.saturating_mul(new.as_str().len())))?;
    let mut built = Builder::default();
    let mut start = 0;
    for _ in 0..count {
        if old.is_empty() {
            built.push(new);
            let next = whole[start..].chars().next().map_or(0, char::len_utf8);
            built.push_part(text, start..start + next);
            start += next;
        } else if let Some(at) = whole[start..].find(old) {
            built.push_part(text, start..start + at);
            built.push(new);
            start += at + old.len();
        }
    }
    built.push_part(text, start..whole.len());
    Ok(Value::Str(built.finish()))
}

fn join_texts(separator: &Text, items: &[Value], budget: &Budget) -> Step<Value> {
    let mut built = Builder::default();
    for (at, item) in items.iter().enumerate() {
        let Value::Str(item) = item else {
            let name = item.type_name();
            return type_error(format!("sequence item {at}: expected str instance, {name} found"));
        };
        if at > 0 {
            built.push(separator);
        }
        built.push(item);
        budget.charge(item.as_str().len() + separator.as_str().len())?;
    }
    budget.charge(built.text.len())?;
    Ok(Value::Str(built.finish()))
}

fn find(whole: &str, name: &str, args: &Args) -> Step<Value> {
    let part = args.text(0, "sub", name)?.as_str();
    let characters = |at: usize| whole[..at].chars().count() as i128;
    // A start or an end is given in characters.
    let place = |at: usize, default: usize| -> Step<usize> {
        let Some(value) = args.positional.get(at).filter(|value| !matches!(value, Value::None)) else {
            return Ok(default);
        };
        let count = whole.chars().count() as i128;
        let number = value.as_int().unwrap_or(0);
        let number = if number < 0 { (number + count).max(0) } else { number.min(count) };
        Ok(access::byte_at(whole, number as usize))
    };
    let (start, end) = (place(1, 0)?, place(2, whole.len())?);
    let inner = whole.get(start..end).unwrap_or("");
    let found = if name.starts_with('r') { inner.rfind(part) } else { inner.find(part) };
    match found {
        Some(at) => Ok(Value::Int(characters(start + at))),
        None if name.ends_with("index") => value_error("substring not found"),
        None => Ok(Value::Int(-1)),
    }
}

fn pad(text: &Text, name: &str, args: &Args, budget: &Budget) -> Step<Text> {
    let width = args.int(0, "width", 0)?;
    let fill = match args.positional.get(1).and_then(Value::as_str) {
        Some(fill) if name != "zfill" => fill.to_owned(),
        _ => if name == "zfill" { "0" } else { " " }.to_owned(),
    };
    padded(text, name, (width, &fill), budget)
}

/// A text with characters added to a width.
pub(crate) fn padded(text: &Text, name: &str, (width, fill): (i128, &str), budget: &Budget) -> Step<Text> {
    let length = text.as_str().chars().count();
    let missing = usize::try_from(width).unwrap_or(0).saturating_sub(length);
    budget.charge(missing.saturating_mul(fill.len()).saturating_add(text.as_str().len()))?;
    let (left, right) = match name {
        "ljust" => (0, missing),
        "rjust" | "zfill" => (missing, 0),
        _ => {
            // As CPython centres: the odd one goes to the left if the width is odd too.
            let left = missing / 2 + (missing & usize::try_from(width).unwrap_or(0) & 1);
            (left, missing - left)
        }
    };
    let mut built = Builder::default();
    let whole = text.as_str();
    let sign = usize::from(name == "zfill" && whole.starts_with(['-', '+']));
    built.push_part(text, 0..sign);
    built.push_str(&fill.repeat(left));
    built.push_part(text, sign..whole.len());
    built.push_str(&fill.repeat(right));
    Ok(built.finish())
}
