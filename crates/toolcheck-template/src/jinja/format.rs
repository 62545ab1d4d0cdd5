//! `%` and `str.format` of Python.

use super::args::Args;
use super::budget::{Budget, work};
use super::fault::{Step, type_error, unsupported, value_error};
use super::methods::padded;
use super::text::{Builder, Text};
use super::value::Value;
use super::{access, ops, print};

#[derive(Debug, Default)]
struct Spec {
    /// The method of texts that pads on the side that is asked for.
    side: Option<&'static str>,
    zero: bool,
    plus: bool,
    space: bool,
    comma: bool,
    fill: Option<String>,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

const LEFT: &str = "ljust";
const RIGHT: &str = "rjust";

/// `format % values`
pub(crate) fn percent(format: &Text, values: &Value, budget: &Budget) -> Step<Text> {
    let (whole, mut at) = (format.as_str(), 0);
    // Errors come before the text is charged.
    budget.charge(whole.len())?;
    let mut built = Builder::default();
    let mut next = 0;
    let mut used_names = false;
    while let Some(start) = whole[at..].find('%').map(|found| found + at) {
        built.push_part(format, at..start);
        let mut rest = &whole[start + 1..];
        let mut named = None;
        if let Some(inner) = rest.strip_prefix('(') {
            let Some(end) = inner.find(')') else { return value_error("incomplete format key") };
            let Value::Dict(dict) = values else { return type_error("format requires a mapping") };
            let key = &inner[..end];
            let Some(value) = dict.get_str(key) else { return value_error(print::quoted(key)) };
            named = Some(value.clone());
            used_names = true;
            rest = &inner[end + 1..];
        }
        let (spec, left) = percent_spec(rest)?;
        at = whole.len() - left.len();
        if spec.kind == '%' {
            built.push_str("%");
            continue;
        }
        budget.step()?;
        let value = match named {
            Some(value) => value,
            None => {
                next += 1;
                match values {
                    Value::Tuple(list) => list.items.get(next - 1).cloned(),
                    _ if next == 1 => Some(values.clone()),
                    _ => None,
                }
                .map_or_else(|| type_error("not enough arguments for format string"), Ok)?
            }
        };
        built.push(&percent_value(&value, &spec, budget)?);
    }
    built.push_part(format, at..whole.len());
    let given = if let Value::Tuple(list) = values { list.items.len() } else { 1 };
    // What has items may be meant for names, to Python.
    let has_items = matches!(values, Value::Dict(_) | Value::List(_) | Value::Range(_) | Value::Undefined(_));
    if next < given && !used_names && !has_items {
        return type_error("not all arguments converted during string formatting");
    }
    Ok(built.finish())
}

fn percent_spec(text: &str) -> Step<(Spec, &str)> {
    let mut spec = Spec::default();
    let mut rest = text;
    spec.side = flags(&mut rest, &mut spec).then_some(LEFT);
    let width = number(&mut rest)?;
    spec.width = width.unwrap_or(0);
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        spec.precision = Some(number(&mut rest)?.unwrap_or(0));
    }
    let Some(kind) = rest.chars().next() else { return value_error("incomplete format") };
    spec.kind = kind;
    Ok((spec, &rest[kind.len_utf8()..]))
}

/// Notes the flags at the start of a text, which are stepped over, and returns whether one of them is `-`.
fn flags(rest: &mut &str, spec: &mut Spec) -> bool {
    let mut has_minus = false;
    while let Some(flag) = rest.chars().next().filter(|c| "-+ 0#".contains(*c)) {
        match flag {
            '-' => has_minus = true,
            '+' => spec.plus = true,
            ' ' => spec.space = true,
            '0' => spec.zero = true,
            _ => {}
        }
        *rest = &rest[1..];
    }
    has_minus
}

/// The number at the start of a text, which is stepped over.
fn number(rest: &mut &str) -> Step<Option<usize>> {
    let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(length);
    *rest = after;
    if digits.is_empty() {
        return Ok(None);
    }
    match digits.parse() {
        Ok(number) if number <= 10_000 => Ok(Some(number)),
        _ => super::fault::too_much("the template pads a text to more than 10,000 characters"),
    }
}

fn percent_value(value: &Value, spec: &Spec, budget: &Budget) -> Step<Text> {
    let text = match spec.kind {
        's' => print::str(value),
        'r' | 'a' => print::repr(value),
        'c' => print::str(value),
        'd' | 'i' | 'u' => {
            let number = match value {
                Value::Float(number) => Some(number.trunc() as i128),
                _ => value.as_int(),
            };
            let Some(number) = number else {
                let name = value.type_name();
                return type_error(format!("%{} format: a real number is required, not {name}", spec.kind));
            };
            return signed(number.unsigned_abs().to_string(), number < 0, spec, budget);
        }
        'x' | 'X' | 'o' => {
            let Some(number) = value.as_int() else {
                let name = value.type_name();
                return type_error(format!("%{} format: an integer is required, not {name}", spec.kind));
            };
            return signed(radix(number.unsigned_abs(), spec.kind), number < 0, spec, budget);
        }
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' => {
            let Some(number) = ops::as_float(value) else {
                return type_error(format!("must be real number, not {}", value.type_name()));
            };
            return signed(real(number.abs(), spec)?, number.is_sign_negative(), spec, budget);
        }
        other => {
            return value_error(format!("unsupported format character '{other}' ({:#x})", other as u32));
        }
    };
    let text = match spec.precision {
        Some(most) => cut(&text, most),
        None => text,
    };
    padded(&text, spec.side.unwrap_or(RIGHT), (spec.width as i128, " "), budget)
}

fn cut(text: &Text, most: usize) -> Text {
    let end = text.as_str().char_indices().nth(most).map_or(text.as_str().len(), |(at, _)| at);
    text.part(0..end)
}

fn radix(number: u128, kind: char) -> String {
    match kind {
        'x' => format!("{number:x}"),
        'X' => format!("{number:X}"),
        'b' => format!("{number:b}"),
        _ => format!("{number:o}"),
    }
}

fn real(number: f64, spec: &Spec) -> Step<String> {
    let precision = spec.precision.unwrap_or(6).min(500);
    match spec.kind {
        'f' | 'F' => Ok(format!("{number:.precision$}")),
        'e' | 'E' => {
            let text = format!("{number:.precision$e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            let power: i32 = power.parse().unwrap_or(0);
            Ok(format!("{digits}{}{}{:02}", spec.kind, if power < 0 { '-' } else { '+' }, power.abs()))
        }
        '%' => Ok(format!("{:.precision$}%", number * 100.0)),
        _ => unsupported(format!("the format {}", spec.kind)),
    }
}

fn signed(digits: String, is_negative: bool, spec: &Spec, budget: &Budget) -> Step<Text> {
    let digits = if spec.comma { with_commas(&digits) } else { digits };
    let sign = match (is_negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    let text = Text::from(format!("{sign}{digits}"));
    let width = spec.width as i128;
    if spec.zero && spec.side != Some(LEFT) && spec.fill.is_none() {
        return padded(&text, "zfill", (width, "0"), budget);
    }
    padded(&text, spec.side.unwrap_or(RIGHT), (width, spec.fill.as_deref().unwrap_or(" ")), budget)
}

fn with_commas(digits: &str) -> String {
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::new();
    for (at, digit) in digits[..whole].chars().enumerate() {
        if at > 0 && (whole - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + &digits[whole..]
}

/// `str.format`
pub(crate) fn format(format: &Text, args: &Args, budget: &Budget) -> Step<Text> {
    let (whole, mut at) = (format.as_str(), 0);
    let mut built = Builder::default();
    let mut next = 0;
    while let Some(start) = whole[at..].find(['{', '}']).map(|found| found + at) {
        built.push_part(format, at..start);
        let bracket = &whole[start..=start];
        if whole[start + 1..].starts_with(bracket) {
            built.push_str(bracket);
            at = start + 2;
            continue;
        }
        if bracket == "}" {
            return value_error("Single '}' encountered in format string");
        }
        let Some(end) = whole[start..].find('}').map(|found| found + start) else {
            return value_error("Single '{' encountered in format string");
        };
        let field = &whole[start + 1..end];
        if field.contains('{') {
            return unsupported("a format inside a format");
        }
        let text = field_value(field, args, &mut next, budget)?;
        budget.charge(text.as_str().len())?;
        built.push(&text);
        at = end + 1;
    }
    built.push_part(format, at..whole.len());
    Ok(built.finish())
}

fn field_value(field: &str, args: &Args, next: &mut usize, budget: &Budget) -> Step<Text> {
    work(args.named.len() / 8);
    budget.step()?;
    let (field, spec) = field.split_once(':').unwrap_or((field, ""));
    let (path, conversion) = field.split_once('!').unwrap_or((field, ""));
    let name_end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, mut path) = path.split_at(name_end);
    let place = if name.is_empty() {
        *next += 1;
        Some(*next - 1)
    } else {
        name.parse().ok()
    };
    let mut value = match place {
        Some(place) => match args.positional.get(place) {
            Some(value) => value.clone(),
            None => {
                let message = format!("Replacement index {place} out of range for positional args tuple");
                return value_error(message);
            }
        },
        None => match args.named.iter().find(|(own, _)| &**own == name) {
            Some((_, value)) => value.clone(),
            None => return value_error(print::quoted(name)),
        },
    };
    while !path.is_empty() {
        if let Some(rest) = path.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            value = access::attribute(&value, &rest[..end].into())?;
            path = &rest[end..];
        } else {
            let end = path.find(']').unwrap_or(path.len() - 1);
            let key = &path[1..end.max(1)];
            let key = key.parse().map_or_else(|_| Value::str(key), Value::Int);
            value = access::item(&value, &key)?;
            path = path.get(end + 1..).unwrap_or("");
        }
        value.defined()?;
        work(1);
    }
    match conversion {
        "r" | "a" => value = Value::Str(print::repr(&value)),
        "s" => value = Value::Str(print::str(&value)),
        _ => {}
    }
    formatted(&value, spec, budget)
}

/// What `format(value, spec)` returns.
fn formatted(value: &Value, text: &str, budget: &Budget) -> Step<Text> {
    if text.is_empty() {
        return Ok(print::str(value));
    }
    let spec = field_spec(text)?;
    let is_number = matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_));
    if !is_number {
        let Value::Str(own) = value else {
            let name = value.type_name();
            return type_error(format!("unsupported format string passed to {name}.__format__"));
        };
        if !matches!(spec.kind, '\0' | 's') {
            return value_error(format!("Unknown format code '{}' for object of type 'str'", spec.kind));
        }
        let own = spec.precision.map_or_else(|| own.clone(), |most| cut(own, most));
        let fill = spec.fill.as_deref().unwrap_or(" ");
        return padded(&own, spec.side.unwrap_or(LEFT), (spec.width as i128, fill), budget);
    }
    let number = ops::as_float(value).unwrap_or(0.0);
    let digits = match (spec.kind, value.as_int()) {
        ('\0' | 'd' | 'n', Some(number)) => number.unsigned_abs().to_string(),
        ('x' | 'X' | 'o' | 'b', Some(number)) => radix(number.unsigned_abs(), spec.kind),
        ('f' | 'F' | 'e' | 'E' | '%', _) => real(number.abs(), &spec)?,
        ('\0', None) if spec.precision.is_none() => print::float(number.abs()),
        _ => return unsupported(format!("the format {text}")),
    };
    signed(digits, number < 0.0, &spec, budget)
}

fn field_spec(text: &str) -> Step<Spec> {
    let mut spec = Spec { kind: '\0', ..Spec::default() };
    let mut rest = text;
    let second = rest.chars().nth(1).filter(|c| "<>^=".contains(*c));
    let align = match second {
        Some(align) => {
            let fill = rest.chars().next().unwrap_or(' ');
            spec.fill = Some(fill.to_string());
            rest = &rest[fill.len_utf8() + 1..];
            Some(align)
        }
        None => rest.chars().next().filter(|c| "<>^=".contains(*c)).inspect(|_| rest = &rest[1..]),
    };
    spec.side = match align {
        Some('<') => Some(LEFT),
        Some('>') => Some(RIGHT),
        Some('^') => Some("center"),
        _ => None,
    };
    flags(&mut rest, &mut spec);
    spec.width = number(&mut rest)?.unwrap_or(0);
    if let Some(after) = rest.strip_prefix(',') {
        spec.comma = true;
        rest = after;
    }
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        spec.precision = number(&mut rest)?;
    }
    spec.kind = rest.chars().next().unwrap_or('\0');
    if rest.chars().count() > 1 {
        return value_error("Invalid format specifier");
    }
    Ok(spec)
}
