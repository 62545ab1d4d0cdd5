//! What the Jinja of llama.cpp does in another way than that of Python: seen in its `common/jinja` in November 2026.

use std::rc::Rc;

use super::args::Args;
use super::ast::Binary;
use super::budget::{PER_STEP, size, work};
use super::fault::{Step, type_error, unsupported, value_error};
use super::run::Run;
use super::text::Builder;
use super::value::{List, Value};
use super::{ops, print};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Python,
    /// That of llama.cpp, and whether it only tries what the template reads.
    LlamaCpp {
        tries: bool,
    },
}

/// Appends what `{{ value }}` prints: nothing for none and for objects, and the items of a list one after another.
pub(crate) fn push_printed(value: &Value, built: &mut Builder) {
    match value {
        Value::None | Value::Dict(_) => {}
        Value::List(list) | Value::Tuple(list) => {
            for item in &list.items {
                if work(1 + size(item) / 8) {
                    push_printed(item, built);
                }
            }
        }
        _ => print::push_str(value, built),
    }
}

/// The sum of values of which one is a text: the other becomes one too, and what is missing counts as empty.
pub(crate) fn joined(run: &Run<'_>, operator: Binary, left: &Value, right: &Value) -> Option<Step<Value>> {
    let is_text = |value: &Value| matches!(value, Value::Str(_));
    (operator == Binary::Add && is_text(left) != is_text(right))
        .then(|| ops::concat(&[left, right].map(|value| run.present(value)), &run.budget))
}

/// What a filter makes of a value, if it isn't what Python makes of it.
pub(crate) fn filtered(name: &str, value: &Value, args: &Args) -> Option<Step<Value>> {
    match (name, value) {
        ("default" | "d", Value::None) => args.get(0, "default_value").cloned().map(Ok),
        ("items", Value::None) => Some(Value::list(Vec::new())),
        _ => None,
    }
}

/// A list in the place of what Python goes through only once.
pub(crate) fn listed(value: Value) -> Step<Value> {
    match value {
        Value::Generator(generator) => Value::list(generator.take()?),
        _ => Ok(value),
    }
}

/// An error if llama.cpp does not go through it in a loop.
pub(crate) fn check_iterable(value: &Value) -> Step<()> {
    match value {
        Value::None | Value::Str(_) | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            type_error(format!("Expected iterable or object type in for loop: got {}", value.type_name()))
        }
        _ => Ok(()),
    }
}

impl Run<'_> {
    /// Whether an undefined value has undefined attributes and items, and not an error.
    pub(crate) fn stays_undefined(&self, value: &Value) -> bool {
        self.engine != Engine::Python && matches!(value, Value::Undefined(_))
    }

    /// A value in a text that is put together. While llama.cpp tries what the template reads, this does not count.
    pub(crate) fn present(&self, value: &Value) -> Value {
        match (self.engine, value) {
            (Engine::LlamaCpp { .. }, Value::None)
            | (Engine::LlamaCpp { tries: true }, Value::Dict(_) | Value::List(_)) => Value::str(""),
            _ => value.clone(),
        }
    }

    /// Calls a method that changes a list, wherever it has a name.
    pub(crate) fn change_list(&mut self, list: Rc<List>, method: &str, args: &Args) -> Step<Value> {
        work(self.values_mut().count() / 8);
        let own = Rc::as_ptr(&list);
        let is_own = |value: &&mut Value| matches!(value, Value::List(list) if Rc::as_ptr(list) == own);
        let mut places: Vec<&mut Value> = self.values_mut().filter(is_own).collect();
        match &mut places[..] {
            [] => return unsupported("changing a list without a name"),
            // In its only place, it is changed without a copy.
            [place] => **place = Value::None,
            _ => {}
        }
        if Rc::strong_count(&list) > 1 {
            work(list.items.len());
        }
        let mut list = Rc::unwrap_or_clone(list);
        let popped = if method == "append" {
            list.push(args.need(0, "item", "append")?.clone())?;
            None
        } else {
            let (at, length) = (args.int(0, "index", -1)?, list.items.len());
            let at = usize::try_from(if at < 0 { at + length as i128 } else { at });
            let Some(at) = at.ok().filter(|at| *at < length) else {
                return value_error("Index out of bounds");
            };
            work((length - at) / PER_STEP);
            Some(list.items.remove(at))
        };
        let changed = Value::List(Rc::new(list));
        for place in places {
            *place = changed.clone();
        }
        self.budget.charge_items(1)?;
        Ok(popped.unwrap_or(changed))
    }
}
