//! Jinja's tests, such as `is defined`.

use super::args::Args;
use super::ast::Comparison;
use super::budget::Budget;
use super::fault::{Fault, RefusalKind, Step, type_error, unsupported};
use super::value::Value;
use super::{methods, ops, print};

/// The tests that a template may use after `is`, separated by spaces.
pub const KNOWN: &str = "!= < <= == > >= boolean callable defined divisibleby eq equalto escaped even false filter float \
    ge greaterthan gt in integer iterable le lessthan lower lt mapping ne none number odd sameas \
    sequence string test true undefined upper";

pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.split(' ').any(|own| own == name)
}

pub(crate) fn apply(name: &str, value: &Value, args: &Args, budget: &Budget) -> Step<bool> {
    if let Some(found) = of_type(name, value) {
        return Ok(found);
    }
    budget.apply(value, args)?;
    let comparison = match name {
        "eq" | "equalto" | "==" => Comparison::Equal,
        "ne" | "!=" => Comparison::Unequal,
        "lt" | "lessthan" | "<" => Comparison::Less,
        "le" | "<=" => Comparison::LessEqual,
        "gt" | "greaterthan" | ">" => Comparison::Greater,
        "ge" | ">=" => Comparison::GreaterEqual,
        "in" => Comparison::In,
        _ => return other(name, value, args, budget),
    };
    let Some(right) = args.positional.first() else {
        return type_error(format!("{name} expected 2 arguments, got 1"));
    };
    ops::compare(comparison, value, right)
}

fn of_type(name: &str, value: &Value) -> Option<bool> {
    Some(match name {
        "defined" => !matches!(value, Value::Undefined(_)),
        "undefined" => matches!(value, Value::Undefined(_)),
        "none" => matches!(value, Value::None),
        "true" => matches!(value, Value::Bool(true)),
        "false" => matches!(value, Value::Bool(false)),
        "boolean" => matches!(value, Value::Bool(_)),
        "integer" => matches!(value, Value::Int(_) | Value::Big(_)),
        "float" => matches!(value, Value::Float(_)),
        "number" => matches!(value, Value::Int(_) | Value::Big(_) | Value::Float(_) | Value::Bool(_)),
        "string" => matches!(value, Value::Str(_)),
        "mapping" => matches!(value, Value::Dict(_)),
        "sequence" => is_sequence(value),
        "iterable" => {
            is_sequence(value) || matches!(value, Value::View(..) | Value::Generator(_) | Value::Loop(_))
        }
        "callable" => matches!(
            value,
            Value::Macro(..)
                | Value::Method(_)
                | Value::Function(_)
                | Value::Loop(_)
                | Value::Joiner(_)
                | Value::Undefined(_)
        ),
        "escaped" => matches!(value, Value::Str(text) if text.is_markup()),
        _ => return None,
    })
}

/// Whether a value has a length and an order.
pub(super) fn is_sequence(value: &Value) -> bool {
    matches!(
        value,
        Value::Str(_)
            | Value::List(_)
            | Value::Tuple(_)
            | Value::Dict(_)
            | Value::Range(_)
            | Value::Undefined(_)
    )
}

fn other(name: &str, value: &Value, args: &Args, budget: &Budget) -> Step<bool> {
    match name {
        "lower" => Ok(methods::is_made_of(print::str(value).as_str(), "islower")),
        "upper" => Ok(methods::is_made_of(print::str(value).as_str(), "isupper")),
        "odd" | "even" | "divisibleby" => {
            let by = if name == "divisibleby" {
                args.need(0, "num", "test_divisibleby")?.clone()
            } else {
                Value::Int(2)
            };
            let rest = ops::binary(super::ast::Binary::Mod, value, &by, budget)?;
            Ok(ops::equal(&rest, &Value::Int(i128::from(name == "odd"))))
        }
        "sameas" => {
            let other = args.need(0, "other", "test_sameas")?;
            Ok(match (value, other) {
                (Value::List(left), Value::List(right)) => std::rc::Rc::ptr_eq(left, right),
                (Value::Dict(left), Value::Dict(right)) => std::rc::Rc::ptr_eq(left, right),
                _ => value.type_name() == other.type_name() && ops::equal(value, other),
            })
        }
        "filter" => Ok(value.as_str().is_some_and(super::filters::is_known)),
        "test" => Ok(value.as_str().is_some_and(is_known)),
        _ if is_known(name) => unsupported(format!("the test {name}")),
        _ => {
            let message = format!("No test named '{name}' found.");
            Err(Fault::new(RefusalKind::Undefined, message))
        }
    }
}
