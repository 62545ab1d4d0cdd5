//! Attributes, items and slices of values, as Jinja's sandbox gives them.

use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use super::budget::{Budget, PER_STEP, weight, work};
use super::fault::{Step, type_error, value_error};
use super::print;
use super::text::Text;
use super::value::{Function, Missing, Value, View, range_length};

/// The methods of texts that a template may call, in alphabetical order.
pub static OF_TEXTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "capitalize casefold center count encode endswith expandtabs find format format_map index \
     isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace \
     istitle isupper join ljust lower lstrip maketrans partition removeprefix removesuffix \
     replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip \
     swapcase title translate upper zfill"
        .split(' ')
        .collect()
});
/// What a value has by itself under this name; methods of texts among others.
fn own(value: &Value, name: &str) -> Option<Value> {
    if let (Value::Cycler(cycler), "current") = (value, name) {
        return cycler.0.get(*cycler.1.borrow()).cloned();
    }
    let is_method = match value {
        Value::Str(_) => OF_TEXTS.binary_search(&name).is_ok(),
        Value::Dict(_) => matches!(name, "get" | "items" | "keys" | "values" | "copy" | "fromkeys"),
        Value::List(_) => matches!(name, "count" | "index" | "copy"),
        Value::Tuple(_) | Value::Range(_) => matches!(name, "count" | "index"),
        Value::Float(_) => name == "is_integer",
        Value::Int(_) | Value::Bool(_) => name == "bit_length",
        Value::Joiner(_) | Value::Cycler(_) => matches!(name, "next" | "reset"),
        Value::Function(Function::Dict) => name == "fromkeys",
        _ => false,
    };
    // Methods that change a value are hidden by the sandbox.
    let is_changing = match value {
        Value::Dict(_) => matches!(name, "clear" | "pop" | "popitem" | "setdefault" | "update"),
        Value::List(_) => {
            matches!(name, "append" | "clear" | "extend" | "insert" | "pop" | "remove" | "reverse" | "sort")
        }
        _ => false,
    };
    if is_method {
        return Some(Value::Method(Rc::new((value.clone(), name.into()))));
    }
    if is_changing || name.starts_with("__") && name.ends_with("__") {
        let type_name = value.type_name();
        let message =
            format!("access to attribute {} of '{type_name}' object is unsafe.", print::quoted(name));
        return Some(Value::Undefined(Rc::new(Missing::Unsafe(message))));
    }
    None
}

fn type_for_errors(value: &Value) -> &'static str {
    match value {
        Value::Namespace(_) => "transformers.utils.chat_template_utils.TemplateNamespace",
        Value::Function(Function::Dict) => "transformers.utils.chat_template_utils.TemplateDict",
        Value::Loop(_) => "jinja2.runtime.LoopContext",
        Value::Macro(..) => "jinja2.runtime.Macro",
        _ => value.type_name(),
    }
}

/// `value.name`, for values whose attributes are known without the state of a render.
pub(crate) fn attribute(value: &Value, name: &Arc<str>) -> Step<Value> {
    if let Some(own) = own(value.defined()?, name) {
        return Ok(own);
    }
    if let Value::Dict(dict) = value
        && let Some(found) = dict.get_str(name)
    {
        return Ok(found.clone());
    }
    Ok(Value::Undefined(Rc::new(Missing::Attribute(type_for_errors(value), name.clone()))))
}

/// `value[key]`
pub(crate) fn item(value: &Value, key: &Value) -> Step<Value> {
    value.defined()?;
    work(weight(key));
    let found = match (value, key) {
        (Value::Dict(dict), Value::Str(key)) => dict.get_str(key.as_str()).cloned(),
        (Value::Dict(_), Value::List(_) | Value::Dict(_)) => None,
        (Value::Dict(dict), _) => dict.get(key).cloned(),
        (Value::List(list) | Value::Tuple(list), _) => match key.as_int() {
            Some(at) => at_index(at, list.items.len()).map(|at| list.items[at].clone()),
            None => None,
        },
        (Value::Str(text), _) => key.as_int().and_then(|at| character(text, at)),
        (Value::Range(range), _) => match key.as_int() {
            Some(at) => {
                let length = usize::try_from(range_length(range)).unwrap_or(0);
                at_index(at, length).map(|at| Value::Int(range.0 + at as i128 * range.2))
            }
            None => None,
        },
        _ => None,
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let type_name = type_for_errors(value);
    let missing = match key {
        Value::Str(name) => {
            if let Some(own) = own(value, name.as_str()) {
                return Ok(own);
            }
            Missing::Attribute(type_name, name.shared())
        }
        _ => Missing::Element(type_name, print::repr_unmarked(key)),
    };
    Ok(Value::Undefined(Rc::new(missing)))
}

fn at_index(at: i128, length: usize) -> Option<usize> {
    let at = if at < 0 { at + length as i128 } else { at };
    usize::try_from(at).ok().filter(|at| *at < length)
}

fn character(text: &Text, at: i128) -> Option<Value> {
    let start = byte_at(text.as_str(), at_index(at, length(text.as_str()))?);
    let found = text.as_str()[start..].chars().next()?;
    Some(Value::Str(text.part(start..start + found.len_utf8())))
}

/// Whether all characters are ASCII, which is found out quickly.
fn is_ascii(text: &str) -> bool {
    work(text.len() / PER_STEP / 8);
    text.is_ascii()
}

/// The number of characters.
pub(crate) fn length(text: &str) -> usize {
    if is_ascii(text) {
        return text.len();
    }
    work(text.len() / PER_STEP);
    text.chars().count()
}

/// The byte at which a character begins; the end, if there are not as many.
pub(crate) fn byte_at(text: &str, at: usize) -> usize {
    if is_ascii(text) {
        return at.min(text.len());
    }
    work(at.min(text.len()) / PER_STEP);
    text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte)
}

/// `value[start:stop:step]`
pub(crate) fn slice(value: &Value, parts: [Value; 3], budget: &Budget) -> Step<Value> {
    value.defined()?;
    // Jinja compiles a slice to one of Python, so a wrong one is an error and not an undefined value.
    match value {
        Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Range(_) => {}
        Value::Dict(_) => return type_error("unhashable type: 'slice'"),
        _ => return type_error(format!("'{}' object is not subscriptable", value.type_name())),
    }
    let is_index = |part: &Value| matches!(part, Value::None) || part.as_int().is_some();
    if !parts.iter().all(is_index) {
        return type_error("slice indices must be integers or None or have an __index__ method");
    }
    let [start, stop, step] = parts.map(|part| part.as_int());
    let step = step.unwrap_or(1);
    if step == 0 {
        return value_error("slice step cannot be zero");
    }
    match value {
        Value::Str(text) => slice_text(text, start, stop, step, budget),
        Value::Range(range) => {
            let all = super::ops::items(&Value::Range(range.clone()), budget)?;
            Value::list(pick(&all, start, stop, step))
        }
        Value::List(list) | Value::Tuple(list) => {
            budget.charge_items(list.items.len())?;
            let picked = pick(&list.items, start, stop, step);
            if matches!(value, Value::List(_)) { Value::list(picked) } else { Value::tuple(picked) }
        }
        _ => type_error("this slice"),
    }
}

/// The first place of a slice, the place after its last, and the number of items.
fn bounds(length: usize, start: Option<i128>, stop: Option<i128>, step: i128) -> (i128, i128) {
    let length = length as i128;
    let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let place = |at: Option<i128>, default: i128| match at {
        None => default,
        Some(at) if at < 0 => (at + length).max(lowest),
        Some(at) => at.min(highest),
    };
    if step > 0 {
        (place(start, 0), place(stop, length))
    } else {
        (place(start, length - 1), place(stop, -1))
    }
}

fn pick(items: &[Value], start: Option<i128>, stop: Option<i128>, step: i128) -> Vec<Value> {
    let (mut at, stop) = bounds(items.len(), start, stop, step);
    let mut found = Vec::new();
    while if step > 0 { at < stop } else { at > stop } {
        found.extend(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned());
        at = at.saturating_add(step);
    }
    found
}

fn slice_text(
    text: &Text,
    start: Option<i128>,
    stop: Option<i128>,
    step: i128,
    budget: &Budget,
) -> Step<Value> {
    let whole = text.as_str();
    if step == 1 {
        let (start, stop) = bounds(length(whole), start, stop, step);
        let byte = |at: i128| byte_at(whole, usize::try_from(at).unwrap_or(0));
        let (start, stop) = (byte(start), byte(stop));
        budget.charge(stop.saturating_sub(start))?;
        return Ok(Value::Str(text.part(start..stop.max(start))));
    }
    let characters = super::ops::items(&Value::Str(text.clone()), budget)?;
    super::ops::concat(&pick(&characters, start, stop, step), budget)
}

pub(crate) fn view(name: &str) -> Option<View> {
    match name {
        "items" => Some(View::Items),
        "keys" => Some(View::Keys),
        "values" => Some(View::Values),
        _ => None,
    }
}
