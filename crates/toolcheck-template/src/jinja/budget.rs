//! What a render may cost.

use std::cell::Cell;

use super::args::Args;
use super::fault::{Step, too_much};
use super::value::Value;

thread_local! {
    /// What is left of the work of the render on this thread. Comparing and printing have no errors to return, and values
    /// that share their parts can be larger than all memory when they are gone through.
    static WORK: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The bytes of a text, or the items of a list, that are worth a step.
pub(crate) const PER_STEP: usize = 32;

/// The bytes of a text, or the items of what has some.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.as_str().len(),
        Value::Big(digits) => digits.len(),
        Value::List(list) | Value::Tuple(list) => list.items.len(),
        Value::Dict(dict) | Value::View(dict, _) => dict.entries.len(),
        Value::Range(range) => usize::try_from(super::value::range_length(range)).unwrap_or(usize::MAX),
        _ => 0,
    }
}

/// The steps that it takes to go through a value once.
pub(crate) fn weight(value: &Value) -> usize {
    size(value) / PER_STEP
}

/// Counts a piece of work. Says whether there may be more: what goes through a value stops otherwise, and the next step of
/// the render is an error.
#[inline]
pub(crate) fn work(steps: usize) -> bool {
    let left = WORK.get().saturating_sub(steps as u64);
    WORK.set(left);
    left > 0
}

/// What is left of the limits of a render.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: Cell<u64>,
    bytes: Cell<u64>,
    longest: u64,
}

impl Budget {
    /// So many steps and so many bytes in all, and no text longer than `longest`.
    pub(crate) fn new(steps: u64, bytes: u64, longest: u64) -> Self {
        WORK.set(steps);
        Self { steps: Cell::new(steps), bytes: Cell::new(bytes), longest }
    }

    #[inline]
    pub(crate) fn step(&self) -> Step<()> {
        match self.steps.get().checked_sub(1).filter(|_| WORK.get() > 0) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => too_much("the template takes too many steps"),
        }
    }

    pub(crate) fn go_through(&self, value: &Value) -> Step<()> {
        work(weight(value));
        self.step()
    }

    /// Counts what a filter, a test, a function or a method may go through: its value and its arguments.
    pub(crate) fn apply(&self, value: &Value, args: &Args) -> Step<()> {
        let values = args.positional.iter().chain(args.named.iter().map(|(_, value)| value));
        work(values.map(|value| weight(value) + 1).sum());
        self.go_through(value)
    }

    /// Counts the bytes of a new text. Called before the text is made where a template says how long it is.
    pub(crate) fn charge(&self, bytes: usize) -> Step<()> {
        if bytes as u64 > self.longest {
            return too_much("the template makes a text that is too long");
        }
        match self.bytes.get().checked_sub(bytes as u64 + 16) {
            Some(left) => {
                self.bytes.set(left);
                Ok(())
            }
            None => too_much("the template makes more text than is allowed"),
        }
    }

    /// An error if a text is too long.
    pub(crate) fn check_length(&self, bytes: usize) -> Step<()> {
        if bytes as u64 > self.longest {
            too_much("the template makes a text that is too long")
        } else {
            Ok(())
        }
    }

    /// Counts the items of a new list.
    pub(crate) fn charge_items(&self, items: usize) -> Step<()> {
        self.charge(items.saturating_mul(size_of::<Value>()))
    }
}
