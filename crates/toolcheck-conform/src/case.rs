//! What is judged.

use toolcheck_serve::MockLog;

use crate::scenarios::Scenario;

/// A run of a scenario.
#[derive(Debug, Clone, Copy)]
pub struct Case<'c> {
    /// The scenario.
    pub scenario: &'c Scenario,
    /// What the mock has seen.
    pub run: &'c MockLog,
    /// What the loop told its user.
    pub outcome: &'c Outcome,
}

/// How a run ended for the user of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Whether it ended with an answer, and not with an error.
    pub is_done: bool,
    /// The answer, or the error.
    pub text: String,
    /// How the run before it ended, if the user spoke again after it and the loop says so.
    pub first: Option<Box<Outcome>>,
}

impl Outcome {
    /// It ended with an answer.
    pub fn done(text: impl Into<String>) -> Self {
        Self { is_done: true, text: text.into(), first: None }
    }

    /// It ended with an error.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_done: false, text: text.into(), first: None }
    }

    /// The same, after a run that ended like this and before which the user spoke first.
    pub fn after(mut self, first: Outcome) -> Self {
        self.first = Some(Box::new(first));
        self
    }
}
