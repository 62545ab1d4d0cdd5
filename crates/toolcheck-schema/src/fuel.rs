//! What checking the arguments of one record may cost.
//!
//! Schemas and arguments both come from the linted file, and checking costs their product. So a record has a number of
//! steps that grows with its length, and what they don't suffice for is not checked, and reported as that.

use std::cell::Cell;

/// The steps that a record may take for each of its bytes, and those that it may take besides.
const STEPS_A_BYTE: u64 = 64;
const STEPS_A_RECORD: u64 = 50_000;

/// The steps that are left for the arguments in a record. A step takes about 20 ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fuel {
    left: u64,
}

/// Fewer steps are left than were to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfFuel;

impl Fuel {
    /// The steps for a record of this many bytes.
    pub fn of_record(bytes: usize) -> Self {
        Self { left: STEPS_A_RECORD.saturating_add(STEPS_A_BYTE.saturating_mul(bytes as u64)) }
    }

    /// This many steps.
    pub(crate) fn steps(left: u64) -> Self {
        Self { left }
    }

    /// Takes steps. If there are too few, none is left.
    ///
    /// # Errors
    ///
    /// There were too few.
    pub fn take(&mut self, steps: u64) -> Result<(), OutOfFuel> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(OutOfFuel)
            }
        }
    }

    /// Whether none is left.
    pub fn is_spent(self) -> bool {
        self.left == 0
    }

    #[cfg(test)]
    pub(crate) fn left(self) -> u64 {
        self.left
    }

    /// Calls `check`, in which regular expressions take their steps by [`take_for_match`].
    ///
    /// The validator calls them, so the steps reach them on the side: a schema may be used by several threads.
    pub(crate) fn lend<R>(&mut self, check: impl FnOnce() -> R) -> (R, Option<Undecided>) {
        let before = ON_LOAN.replace(Loan { fuel: *self, undecided: None });
        let result = check();
        let loan = ON_LOAN.replace(before);
        *self = loan.fuel;
        (result, loan.undecided)
    }
}

/// Why it is unknown whether a text matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undecided {
    Slow,
    /// The text is too long for an expression that backtracks.
    Long,
    /// The compiled expression would be too large.
    Large,
}

#[derive(Clone, Copy)]
struct Loan {
    fuel: Fuel,
    undecided: Option<Undecided>,
}

thread_local! {
    static ON_LOAN: Cell<Loan> = const { Cell::new(Loan { fuel: Fuel { left: 0 }, undecided: None }) };
}

/// Takes steps for matching a regular expression. There are none once a match was undecided: no other can change that.
pub(crate) fn take_for_match(steps: u64) -> Result<(), OutOfFuel> {
    let mut loan = ON_LOAN.get();
    if loan.undecided.is_some() {
        return Err(OutOfFuel);
    }
    let taken = loan.fuel.take(steps);
    ON_LOAN.set(loan);
    taken
}

/// Notes that a match is undecided: the result of the whole check is then unknown.
pub(crate) fn note(undecided: Undecided) {
    let mut loan = ON_LOAN.get();
    loan.undecided.get_or_insert(undecided);
    ON_LOAN.set(loan);
}
