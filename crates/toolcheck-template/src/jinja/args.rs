//! The arguments of a call.

use std::sync::Arc;

use super::fault::{Step, type_error};
use super::text::Text;
use super::value::Value;

#[derive(Debug, Default, Clone)]
pub(crate) struct Args {
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(Arc<str>, Value)>,
}

impl Args {
    pub(crate) fn get(&self, at: usize, name: &str) -> Option<&Value> {
        let named = || self.named.iter().find(|(own, _)| &**own == name).map(|(_, value)| value);
        self.positional.get(at).or_else(named)
    }

    /// The argument at this place; a missing one is the error of Python.
    pub(crate) fn need(&self, at: usize, name: &str, function: &str) -> Step<&Value> {
        match self.get(at, name) {
            Some(value) => Ok(value),
            None => type_error(format!(
                "{function}() missing 1 required positional argument: {}",
                super::print::quoted(name)
            )),
        }
    }

    pub(crate) fn int(&self, at: usize, name: &str, default: i128) -> Step<i128> {
        match self.get(at, name) {
            None => Ok(default),
            Some(value) => match value.defined()?.as_int() {
                Some(number) => Ok(number),
                None => {
                    let name = value.type_name();
                    type_error(format!("'{name}' object cannot be interpreted as an integer"))
                }
            },
        }
    }

    pub(crate) fn flag(&self, at: usize, name: &str, default: bool) -> bool {
        self.get(at, name).map_or(default, Value::is_true)
    }

    pub(crate) fn text(&self, at: usize, name: &str, function: &str) -> Step<&Text> {
        match self.need(at, name, function)? {
            Value::Str(text) => Ok(text),
            other => {
                let name = other.type_name();
                type_error(format!("{function}() argument {} must be str, not {name}", at + 1))
            }
        }
    }
}
