//! What a render may cost.

use std::cell::Cell;

use super::fault::{Step, too_much};

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
        Self { steps: Cell::new(steps), bytes: Cell::new(bytes), longest }
    }

    /// Counts a step.
    pub(crate) fn step(&self) -> Step<()> {
        match self.steps.get().checked_sub(1) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => too_much("the template takes too many steps"),
        }
    }

    /// Counts the bytes of a new text. Called before the text is made where a template says how long it is.
    pub(crate) fn charge(&self, bytes: usize) -> Step<()> {
        if bytes as u64 > self.longest {
            return too_much("the template makes too long a text");
        }
        match self.bytes.get().checked_sub(bytes as u64 + 16) {
            Some(left) => {
                self.bytes.set(left);
                Ok(())
            }
            None => too_much("the template makes too many texts"),
        }
    }

    /// An error if a text is too long.
    pub(crate) fn check_length(&self, bytes: usize) -> Step<()> {
        if bytes as u64 > self.longest { too_much("the template makes too long a text") } else { Ok(()) }
    }

    /// Counts the items of a new list.
    pub(crate) fn charge_items(&self, items: usize) -> Step<()> {
        self.charge(items.saturating_mul(size_of::<super::value::Value>()))
    }
}
