//! Jinja's filters, with the `tojson` of transformers.

use std::num::ParseIntError;

use super::args::Args;
use super::fault::{Fault, RefusalKind, Step, type_error, unsupported};
use super::lex::is_space;
use super::print::{self, JsonStyle};
use super::run::Run;
use super::text::{Builder, Text};
use super::value::Value;
use super::{methods, ops, sequences};

/// The filters that a template may use, separated by spaces.
pub const KNOWN: &str = "abs attr batch capitalize center count d default dictsort e escape filesizeformat first float \
    forceescape format groupby indent int items join last length list lower map max min pprint \
    random reject rejectattr replace reverse round safe select selectattr slice sort string \
    striptags sum title tojson trim truncate unique upper urlencode urlize wordcount wordwrap \
    xmlattr";

pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.split(' ').any(|own| own == name)
}

pub(crate) fn apply(run: &Run<'_>, name: &str, value: &Value, args: &Args) -> Step<Value> {
    run.budget.apply(value, args)?;
    match name {
        "default" | "d" => {
            let is_default =
                matches!(value, Value::Undefined(_)) || args.flag(1, "boolean", false) && !value.is_true();
            let default = || args.get(0, "default_value").cloned().unwrap_or_else(|| Value::str(""));
            Ok(if is_default { default() } else { value.clone() })
        }
        "length" | "count" => ops::length(value).map(|length| Value::Int(length as i128)),
        "tojson" => tojson(run, value, args),
        "string" | "safe" | "lower" | "upper" | "trim" | "title" | "capitalize" | "replace" | "indent"
        | "escape" | "e" | "forceescape" | "center" | "format" | "truncate" | "wordcount" | "urlencode" => {
            of_text(run, name, value, args)
        }
        "abs" | "round" | "int" | "float" => of_number(name, value, args),
        "attr" => {
            let Some(attribute) = args.get(0, "name") else { return type_error("attr needs a name") };
            let attribute = print::str(attribute);
            let found = super::access::attribute(value, &attribute.shared())?;
            // Attributes only, and never items.
            Ok(if matches!(found, Value::Method(_)) { found } else { Value::undefined(&attribute.shared()) })
        }
        _ if is_known(name) => sequences::apply(run, name, value, args),
        _ => {
            let message = format!("No filter named '{name}' found.");
            Err(Fault::new(RefusalKind::Undefined, message))
        }
    }
}

fn tojson(run: &Run<'_>, value: &Value, args: &Args) -> Step<Value> {
    let indent = match args.get(1, "indent") {
        None | Some(Value::None) => None,
        Some(Value::Str(text)) => Some(text.as_str().to_owned()),
        Some(other) => Some(print::spaces(other.as_int().unwrap_or(0))?),
    };
    let between = if indent.is_some() { "," } else { ", " };
    let (mut item_separator, mut key_separator) = (between.to_owned(), ": ".to_owned());
    match args.get(2, "separators") {
        None | Some(Value::None) => {}
        Some(separators) => {
            let parts = ops::items(separators, &run.budget)?;
            let [Value::Str(item), Value::Str(key)] = &parts[..] else {
                return type_error("separators must be two texts");
            };
            item_separator = item.as_str().to_owned();
            key_separator = key.as_str().to_owned();
        }
    }
    if item_separator.len() + key_separator.len() + indent.as_ref().map_or(0, String::len) > 20_000 {
        return super::fault::too_much("the separators of JSON are too long");
    }
    let ascii = args.flag(0, "ensure_ascii", false);
    let sort_keys = args.flag(3, "sort_keys", false);
    let style = JsonStyle { indent, item_separator, key_separator, sort_keys, ascii };
    run.budget.charge(print::json_length(value, &style, 0))?;
    print::json(value, &style).map(Value::Str)
}

fn of_text(run: &Run<'_>, name: &str, value: &Value, args: &Args) -> Step<Value> {
    if !matches!(value, Value::Str(_)) {
        no_text(name, value)?;
    }
    let text = print::str(value);
    let whole = text.as_str();
    run.budget.charge(whole.len())?;
    let changed = |changed: String| Ok(Value::Str(text.changed(changed)));
    match name {
        "string" => Ok(if let Value::Str(_) = value { value.clone() } else { Value::Str(text) }),
        "safe" => Ok(Value::Str(text.with_markup(true))),
        "escape" | "e" | "forceescape" => match value {
            Value::Str(own) if own.is_markup() && name != "forceescape" => Ok(value.clone()),
            _ => Ok(Value::Str(text.changed(ops::escape(whole)).with_markup(true))),
        },
        "lower" => changed(whole.to_lowercase()),
        "upper" => changed(whole.to_uppercase()),
        "capitalize" => changed(methods::capitalize(whole)),
        "title" => changed(title(whole)),
        "trim" => methods::strip(&text, "strip", args).map(Value::Str),
        "replace" => {
            let mut args = args.clone();
            for value in &mut args.positional[..].iter_mut().take(2) {
                *value = Value::Str(print::str(value));
            }
            if matches!(args.get(2, "count"), Some(Value::None)) {
                args.positional.truncate(2);
            }
            methods::replace(&text, &args, &run.budget)
        }
        "indent" => indent(run, &text, args),
        "center" => {
            let width = args.int(0, "width", 80)?;
            methods::padded(&text, "center", (width, " "), &run.budget).map(Value::Str)
        }
        "format" => {
            let values = if args.named.is_empty() {
                Value::tuple(args.positional.clone())?
            } else {
                let named = args.named.iter().map(|(name, value)| (Value::str(name.clone()), value.clone()));
                super::value::Dict::new(named.collect(), None).map(Value::Dict)?
            };
            super::format::percent(&text, &values, &run.budget).map(Value::Str)
        }
        "truncate" => truncate(run, &text, args).map(Value::Str),
        "wordcount" => {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let count = whole.split(|c| !is_word(c)).filter(|word| !word.is_empty()).count();
            Ok(Value::Int(count as i128))
        }
        _ => urlencode(&text),
    }
}

/// The errors of filters that take nothing but a text.
fn no_text(name: &str, value: &Value) -> Step<()> {
    let type_name = value.type_name();
    match (name, value) {
        ("indent", Value::List(_)) => type_error("'list' object has no attribute 'splitlines'"),
        ("indent", Value::Tuple(_)) => type_error("can only concatenate tuple (not \"str\") to tuple"),
        ("indent", _) => {
            value.defined()?;
            type_error(format!("unsupported operand type(s) for +=: '{type_name}' and 'str'"))
        }
        ("truncate", _) => {
            ops::length(value)?;
            unsupported("truncating something else than a text")
        }
        ("urlencode", Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Generator(_)) => {
            unsupported("urlencode of pairs")
        }
        _ => Ok(()),
    }
}

fn urlencode(text: &Text) -> Step<Value> {
    let mut encoded = String::new();
    for byte in text.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"_.-~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(Value::Str(text.changed(encoded)))
}

/// Jinja's filter `title`, which knows words in another way than Python's method.
fn title(text: &str) -> String {
    let is_between = |c: char| is_space(c) || "-({[<".contains(c);
    let mut titled = String::with_capacity(text.len());
    let mut at_start = true;
    for character in text.chars() {
        if is_between(character) {
            titled.push(character);
            at_start = true;
        } else if at_start {
            titled.extend(character.to_uppercase());
            at_start = false;
        } else {
            titled.extend(character.to_lowercase());
        }
    }
    titled
}

fn indent(run: &Run<'_>, text: &Text, args: &Args) -> Step<Value> {
    let indention = match args.get(0, "width") {
        None => "    ".to_owned(),
        Some(Value::Str(text)) => text.as_str().to_owned(),
        Some(other) => match other.as_int() {
            Some(width) => print::spaces(width)?,
            None => {
                return type_error(format!(
                    "can't multiply sequence by non-int of type '{}'",
                    other.type_name()
                ));
            }
        },
    };
    let (first, blank) = (args.flag(1, "first", false), args.flag(2, "blank", false));
    let whole = text.as_str();
    let lines = whole.matches('\n').count() + 1;
    run.budget.charge(whole.len().saturating_add(lines.saturating_mul(indention.len())))?;
    let mut with_end = Builder::default();
    with_end.push(text);
    with_end.push_str("\n");
    let lines = methods::call(&Value::Str(with_end.finish()), "splitlines", &Args::default(), &run.budget)?;
    let mut built = Builder::default();
    for (at, line) in ops::items(&lines, &run.budget)?.iter().enumerate() {
        let Value::Str(line) = line else { continue };
        if at > 0 {
            built.push_str("\n");
        }
        let is_indented = if at == 0 { first } else { blank || !line.as_str().is_empty() };
        if is_indented {
            built.push_str(&indention);
        }
        built.push(line);
    }
    Ok(Value::Str(built.finish()))
}

fn truncate(run: &Run<'_>, text: &Text, args: &Args) -> Step<Text> {
    let most = usize::try_from(args.int(0, "length", 255)?).unwrap_or(0);
    let end = args.get(2, "end").map_or_else(|| "...".into(), print::str);
    let leeway = usize::try_from(args.int(3, "leeway", 5)?).unwrap_or(0);
    let whole = text.as_str();
    if whole.chars().count() <= most.saturating_add(leeway) {
        return Ok(text.clone());
    }
    let kept = most.saturating_sub(end.as_str().chars().count());
    let mut until = whole.char_indices().nth(kept).map_or(whole.len(), |(at, _)| at);
    if !args.flag(1, "killwords", false) {
        until = whole[..until].rfind(' ').unwrap_or(until);
    }
    let mut built = Builder::default();
    built.push_part(text, 0..until);
    built.push(&end);
    run.budget.charge(built.text.len())?;
    Ok(built.finish())
}

/// A number in a base, as Python reads it: with `0`, its beginning says in which.
fn of_base(text: &str, base: i128) -> Result<i128, ParseIntError> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let prefixes = [("0x", 16), ("0o", 8), ("0b", 2)];
    let lower = digits.to_ascii_lowercase();
    for (prefix, own) in prefixes {
        if let Some(digits) = lower.strip_prefix(prefix).filter(|_| base == 0 || base == i128::from(own)) {
            return i128::from_str_radix(&format!("{sign}{digits}"), own);
        }
    }
    i128::from_str_radix(text, u32::try_from(base).ok().filter(|base| (2..=36).contains(base)).unwrap_or(10))
}

fn of_number(name: &str, value: &Value, args: &Args) -> Step<Value> {
    match name {
        "abs" => match value {
            Value::Float(number) => Ok(Value::Float(number.abs())),
            other => match other.as_int() {
                Some(number) => Ok(Value::Int(number.wrapping_abs())),
                None => type_error(format!("bad operand type for abs(): '{}'", other.type_name())),
            },
        },
        "int" => {
            let default = args.get(0, "default").cloned().unwrap_or(Value::Int(0));
            value.defined()?;
            Ok(match value {
                Value::Float(number) if number.is_finite() => Value::Int(number.trunc() as i128),
                Value::Str(text) => {
                    let text = text.as_str().trim_matches(is_space).replace('_', "");
                    let of_float = || text.parse::<f64>().ok().filter(|number| number.is_finite());
                    let base = args.get(1, "base").and_then(Value::as_int).unwrap_or(10);
                    match of_base(&text, base) {
                        Ok(number) => Value::Int(number),
                        Err(_) => of_float().map_or(default, |number| Value::Int(number.trunc() as i128)),
                    }
                }
                other => other.as_int().map_or(default, Value::Int),
            })
        }
        "float" => {
            let default = args.get(0, "default").cloned().unwrap_or(Value::Float(0.0));
            value.defined()?;
            Ok(match value {
                Value::Str(text) => {
                    text.as_str().trim_matches(is_space).parse().map_or(default, Value::Float)
                }
                other => ops::as_float(other).map_or(default, Value::Float),
            })
        }
        _ => round(value, args),
    }
}

fn round(value: &Value, args: &Args) -> Step<Value> {
    let precision = args.int(0, "precision", 0)?;
    let method = args.get(1, "method").and_then(Value::as_str).unwrap_or("common");
    let Some(number) = ops::as_float(value) else {
        return type_error(format!("type {} doesn't define __round__ method", value.type_name()));
    };
    if !(-300..=300).contains(&precision) {
        return unsupported("such a precision");
    }
    let factor = 10f64.powi(precision as i32);
    match method {
        "ceil" => Ok(Value::Float((number * factor).ceil() / factor)),
        "floor" => Ok(Value::Float((number * factor).floor() / factor)),
        "common" if precision >= 0 && value.as_int().is_some() => {
            Ok(value.as_int().map_or(Value::None, Value::Int))
        }
        // Formatting rounds correctly to even, as Python does.
        "common" if precision >= 0 => {
            let text = format!("{number:.*}", precision as usize);
            Ok(Value::Float(text.parse().unwrap_or(number)))
        }
        "common" => Ok(Value::Float((number * factor).round_ties_even() / factor)),
        _ => Err(Fault::new(RefusalKind::Value, "method must be common, ceil or floor")),
    }
}
