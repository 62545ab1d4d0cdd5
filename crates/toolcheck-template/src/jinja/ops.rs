//! Operators of Python.

use std::cmp::Ordering;

use super::ast::{Binary, Comparison};
use super::budget::{Budget, size, weight, work};
use super::fault::{Step, type_error, unsupported, value_error};
use super::print;
use super::text::Builder;
use super::value::{Value, View, range_length};

/// The number, if the value is one.
pub(crate) fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Big(digits) => {
            work(weight(value));
            digits.parse().ok()
        }
        _ => None,
    }
}

/// What `==` returns.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    if !work(1) {
        return false;
    }
    match (left, right) {
        (Value::Undefined(_), Value::Undefined(_)) | (Value::None, Value::None) => true,
        (Value::Str(left), Value::Str(right)) => left.is_same(right),
        (Value::Big(left), Value::Big(right)) => left == right,
        (Value::List(left), Value::List(right)) | (Value::Tuple(left), Value::Tuple(right)) => {
            left.items.len() == right.items.len()
                && left.items.iter().zip(&right.items).all(|(left, right)| equal(left, right))
        }
        (Value::Dict(left), Value::Dict(right)) => {
            left.entries.len() == right.entries.len()
                && left.entries.iter().all(|(key, value)| right.get(key).is_some_and(|own| equal(value, own)))
        }
        (Value::Namespace(left), Value::Namespace(right)) | (Value::Loop(left), Value::Loop(right)) => {
            left == right
        }
        (Value::Macro(left, _), Value::Macro(right, _)) => left == right,
        (Value::Function(left), Value::Function(right)) => left == right,
        (Value::Range(left), Value::Range(right)) => {
            let length = range_length(left);
            length == range_length(right)
                && (length == 0 || left.0 == right.0 && (length == 1 || left.2 == right.2))
        }
        _ => match (left.as_int(), right.as_int()) {
            (Some(left), Some(right)) => left == right,
            _ => matches!((as_float(left), as_float(right)), (Some(left), Some(right)) if left == right),
        },
    }
}

/// How two values are ordered, or the error of the operator `sign`.
pub(crate) fn order(left: &Value, right: &Value, sign: &str) -> Step<Ordering> {
    left.defined()?;
    right.defined()?;
    match (left, right) {
        (Value::Str(one), Value::Str(other)) => {
            work(1 + weight(left).min(weight(right)));
            return Ok(one.as_str().cmp(other.as_str()));
        }
        (Value::List(left), Value::List(right)) | (Value::Tuple(left), Value::Tuple(right)) => {
            for (left, right) in left.items.iter().zip(&right.items) {
                if !equal(left, right) {
                    return order(left, right, sign);
                }
            }
            return Ok(left.items.len().cmp(&right.items.len()));
        }
        _ => {}
    }
    if let (Some(left), Some(right)) = (left.as_int(), right.as_int()) {
        return Ok(left.cmp(&right));
    }
    if let (Some(left), Some(right)) = (as_float(left), as_float(right)) {
        return Ok(left.partial_cmp(&right).unwrap_or(Ordering::Less));
    }
    let (left, right) = (left.type_name(), right.type_name());
    type_error(format!("'{sign}' not supported between instances of '{left}' and '{right}'"))
}

/// Sorts by keys; an error of their comparison is that of Python.
pub(crate) fn sort<T>(items: &mut [T], key: impl Fn(&T) -> &Value, is_reverse: bool) -> Step<()> {
    let mut failed = None;
    items.sort_by(|left, right| {
        let (left, right) = if is_reverse { (right, left) } else { (left, right) };
        order(key(left), key(right), "<").unwrap_or_else(|fault| {
            failed.get_or_insert(fault);
            Ordering::Equal
        })
    });
    failed.map_or(Ok(()), Err)
}

pub(crate) fn compare(comparison: Comparison, left: &Value, right: &Value) -> Step<bool> {
    Ok(match comparison {
        Comparison::Equal => equal(left, right),
        Comparison::Unequal => !equal(left, right),
        Comparison::Less => order(left, right, "<")?.is_lt(),
        Comparison::LessEqual => order(left, right, "<=")?.is_le(),
        Comparison::Greater => order(left, right, ">")?.is_gt(),
        Comparison::GreaterEqual => order(left, right, ">=")?.is_ge(),
        Comparison::In => contains(right, left)?,
        Comparison::NotIn => !contains(right, left)?,
    })
}

/// What `in` returns.
pub(crate) fn contains(container: &Value, item: &Value) -> Step<bool> {
    Ok(match container {
        Value::Str(text) => match item {
            Value::Str(part) => {
                work(weight(container) + weight(item));
                text.as_str().contains(part.as_str())
            }
            _ => {
                let name = item.type_name();
                return type_error(format!("'in <string>' requires string as left operand, not {name}"));
            }
        },
        Value::List(list) | Value::Tuple(list) => list.items.iter().any(|own| equal(own, item)),
        Value::Dict(dict) | Value::View(dict, View::Keys) => {
            if matches!(item, Value::List(_) | Value::Dict(_)) {
                return type_error(format!("unhashable type: '{}'", item.type_name()));
            }
            dict.get(item).is_some()
        }
        Value::View(dict, View::Values) => dict.entries.iter().any(|(_, value)| equal(value, item)),
        Value::View(dict, View::Items) => match item {
            Value::Tuple(pair) if pair.items.len() == 2 => {
                dict.get(&pair.items[0]).is_some_and(|value| equal(value, &pair.items[1]))
            }
            _ => false,
        },
        Value::Range(range) => match item.as_int() {
            Some(number) => {
                let (start, stop, step) = **range;
                let within = if step > 0 {
                    start <= number && number < stop
                } else {
                    stop < number && number <= start
                };
                within && (number - start) % step == 0
            }
            None => false,
        },
        Value::Generator(generator) => loop {
            match generator.next()? {
                Some(own) if equal(&own, item) => break true,
                Some(_) => {}
                None => break false,
            }
        },
        Value::Undefined(_) => false,
        _ => return type_error(format!("argument of type '{}' is not iterable", container.type_name())),
    })
}

pub(crate) fn binary(operator: Binary, left: &Value, right: &Value, budget: &Budget) -> Step<Value> {
    if operator == Binary::Mod
        && let Value::Str(format) = left
    {
        return super::format::percent(format, right, budget).map(Value::Str);
    }
    left.defined()?;
    right.defined()?;
    match operator {
        Binary::Add => add(left, right, budget),
        Binary::Mul => multiply(left, right, budget),
        _ => arithmetic(operator, left, right),
    }
}

fn add(left: &Value, right: &Value, budget: &Budget) -> Step<Value> {
    match (left, right) {
        (Value::Str(one), Value::Str(other)) => {
            budget.charge(one.as_str().len() + other.as_str().len())?;
            let mut built = Builder::default();
            let is_markup = one.is_markup() || other.is_markup();
            for part in [one, other] {
                if is_markup && !part.is_markup() {
                    built.push_changed(&escape(part.as_str()), part.marks());
                } else {
                    built.push(part);
                }
            }
            let text = built.finish();
            Ok(Value::Str(if is_markup { text.with_markup(true) } else { text }))
        }
        (Value::List(one), Value::List(other)) => {
            budget.charge_items(one.items.len() + other.items.len())?;
            Value::list(one.items.iter().chain(&other.items).cloned().collect())
        }
        (Value::Tuple(one), Value::Tuple(other)) => {
            budget.charge_items(one.items.len() + other.items.len())?;
            Value::tuple(one.items.iter().chain(&other.items).cloned().collect())
        }
        (Value::Str(_) | Value::List(_) | Value::Tuple(_), _) => {
            let (own, name) = (left.type_name(), right.type_name());
            type_error(format!("can only concatenate {own} (not \"{name}\") to {own}"))
        }
        _ => arithmetic(Binary::Add, left, right),
    }
}

/// The characters of HTML escaped.
pub(crate) fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('>', "&gt;").replace('<', "&lt;");
    text.replace('\'', "&#39;").replace('"', "&#34;")
}

fn multiply(left: &Value, right: &Value, budget: &Budget) -> Step<Value> {
    let (sequence, count) = match (left, right) {
        (Value::Str(_) | Value::List(_) | Value::Tuple(_), _) => (left, right),
        (_, Value::Str(_) | Value::List(_) | Value::Tuple(_)) => (right, left),
        _ => return arithmetic(Binary::Mul, left, right),
    };
    let Some(count) = count.as_int() else {
        let name = count.type_name();
        return type_error(format!("can't multiply sequence by non-int of type '{name}'"));
    };
    let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    match sequence {
        Value::Str(text) => {
            budget.charge(text.as_str().len().saturating_mul(count))?;
            let mut built = Builder::default();
            for _ in 0..if text.as_str().is_empty() { 0 } else { count } {
                built.push(text);
            }
            Ok(Value::Str(built.finish()))
        }
        Value::List(list) | Value::Tuple(list) => {
            budget.charge_items(list.items.len().saturating_mul(count))?;
            let count = if list.items.is_empty() { 0 } else { count };
            let items = std::iter::repeat_n(&list.items, count).flatten().cloned().collect();
            if matches!(sequence, Value::List(_)) { Value::list(items) } else { Value::tuple(items) }
        }
        _ => unsupported("this product"),
    }
}

fn arithmetic(operator: Binary, left: &Value, right: &Value) -> Step<Value> {
    if let (Some(left), Some(right)) = (left.as_int(), right.as_int()) {
        return integers(operator, left, right);
    }
    let (Some(one), Some(other)) = (as_float(left), as_float(right)) else {
        let (left, right, sign) = (left.type_name(), right.type_name(), operator.sign());
        return type_error(format!("unsupported operand type(s) for {sign}: '{left}' and '{right}'"));
    };
    if matches!(left, Value::Big(_)) || matches!(right, Value::Big(_)) {
        return unsupported("arithmetic with very large integers");
    }
    let by_zero = || match operator {
        Binary::Div => value_error("float division by zero"),
        Binary::FloorDiv => value_error("float floor division by zero"),
        _ => value_error("float modulo"),
    };
    Ok(Value::Float(match operator {
        Binary::Add => one + other,
        Binary::Sub => one - other,
        Binary::Mul => one * other,
        Binary::Pow => one.powf(other),
        Binary::Div if other != 0.0 => one / other,
        Binary::FloorDiv if other != 0.0 => (one / other).floor(),
        Binary::Mod if other != 0.0 => one - other * (one / other).floor(),
        _ => return by_zero(),
    }))
}

fn integers(operator: Binary, left: i128, right: i128) -> Step<Value> {
    let found = match operator {
        Binary::Add => left.checked_add(right),
        Binary::Sub => left.checked_sub(right),
        Binary::Mul => left.checked_mul(right),
        Binary::Pow if right >= 0 => u32::try_from(right).ok().and_then(|power| left.checked_pow(power)),
        Binary::Pow if left == 0 => {
            return value_error("0.0 cannot be raised to a negative power");
        }
        Binary::Pow => return Ok(Value::Float((left as f64).powf(right as f64))),
        Binary::Div if right == 0 => return value_error("division by zero"),
        Binary::Div => return Ok(Value::Float(left as f64 / right as f64)),
        Binary::FloorDiv | Binary::Mod if right == 0 => {
            let text = if operator == Binary::Mod {
                "integer modulo by zero"
            } else {
                "integer division or modulo by zero"
            };
            return value_error(text);
        }
        Binary::FloorDiv => left.checked_div_euclid(right).map(|found| {
            // Rounds down, whatever the sign of the divisor.
            if right < 0 && left.rem_euclid(right) != 0 { found - 1 } else { found }
        }),
        Binary::Mod => left
            .checked_rem_euclid(right)
            .map(|found| if right < 0 && found != 0 { found + right } else { found }),
    };
    found.map_or_else(|| unsupported("integers of more than 128 bits"), |found| Ok(Value::Int(found)))
}

/// `-x` and `+x`.
pub(crate) fn negative(value: &Value, is_negative: bool) -> Step<Value> {
    value.defined()?;
    match value {
        Value::Float(number) => Ok(Value::Float(if is_negative { -number } else { *number })),
        Value::Bool(_) | Value::Int(_) => {
            let number = value.as_int().unwrap_or(0);
            Ok(Value::Int(if is_negative { number.wrapping_neg() } else { number }))
        }
        _ => {
            let sign = if is_negative { '-' } else { '+' };
            type_error(format!("bad operand type for unary {sign}: '{}'", value.type_name()))
        }
    }
}

/// What `~` returns.
pub(crate) fn concat(values: &[Value], budget: &Budget) -> Step<Value> {
    let mut built = Builder::default();
    for value in values {
        let before = built.text.len();
        print::push_str(value, &mut built);
        budget.charge(built.text.len() - before)?;
    }
    Ok(Value::Str(built.finish()))
}

/// The items of something that can be gone through.
pub(crate) fn items(value: &Value, budget: &Budget) -> Step<Vec<Value>> {
    budget.charge_items(size(value))?;
    Ok(match value {
        Value::List(list) | Value::Tuple(list) => list.items.clone(),
        Value::Dict(dict) | Value::View(dict, View::Keys) => {
            dict.entries.iter().map(|(key, _)| key.clone()).collect()
        }
        Value::View(dict, View::Values) => dict.entries.iter().map(|(_, value)| value.clone()).collect(),
        Value::View(dict, View::Items) => pairs(dict)?,
        Value::Str(text) => {
            budget.charge_items(text.as_str().len())?;
            text.characters().map(Value::Str).collect()
        }
        Value::Range(range) => {
            (0..range_length(range)).map(|at| Value::Int(range.0 + at * range.2)).collect()
        }
        Value::Generator(generator) => {
            let items = generator.take()?;
            budget.charge_items(items.len())?;
            items
        }
        Value::Undefined(_) => Vec::new(),
        _ => return type_error(format!("'{}' object is not iterable", value.type_name())),
    })
}

/// The entries of a dict as tuples.
pub(crate) fn pairs(dict: &super::value::Dict) -> Step<Vec<Value>> {
    work(dict.entries.len());
    dict.entries.iter().map(|(key, value)| Value::tuple(vec![key.clone(), value.clone()])).collect()
}

/// What `len` returns.
pub(crate) fn length(value: &Value) -> Step<usize> {
    Ok(match value {
        Value::Str(text) => text.as_str().chars().count(),
        Value::List(list) | Value::Tuple(list) => list.items.len(),
        Value::Dict(dict) | Value::View(dict, _) => dict.entries.len(),
        Value::Range(range) => usize::try_from(range_length(range)).unwrap_or(usize::MAX),
        Value::Undefined(_) => 0,
        _ => return type_error(format!("object of type '{}' has no len()", value.type_name())),
    })
}
