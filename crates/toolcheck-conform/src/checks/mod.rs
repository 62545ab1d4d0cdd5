//! What a loop is held against. Each check is a file, and two lines here.

mod answers_every_call;
mod does_not_loop;
mod finishes;
mod is_not_refused;
mod is_valid;
mod keeps_arguments;
mod keeps_opaque;
mod keeps_order;
mod keeps_reasoning;
mod keeps_turn;
mod never_says_default;
mod reports_error;
mod respects_refusal;
mod runs_only_finished;
mod sends_whole_characters;
mod shortens;
mod shows_image;
mod survives_switch;
mod tells_failure;
mod tells_no_half_answer;
mod tries_again;
mod waits;

use toolcheck_lint::FileReport;

use crate::case::Case;

/// A check.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// Its id.
    pub id: &'static str,
    /// What is right.
    pub summary: &'static str,
    /// What is wrong in a run; `None` if nothing is.
    pub(crate) judge: fn(&Seen<'_>) -> Option<String>,
}

/// All checks.
pub static ALL: &[&Check] = &[
    &answers_every_call::CHECK,
    &does_not_loop::CHECK,
    &finishes::CHECK,
    &is_not_refused::CHECK,
    &is_valid::CHECK,
    &keeps_arguments::CHECK,
    &keeps_opaque::CHECK,
    &keeps_order::CHECK,
    &keeps_reasoning::CHECK,
    &keeps_turn::CHECK,
    &never_says_default::CHECK,
    &reports_error::CHECK,
    &respects_refusal::CHECK,
    &runs_only_finished::CHECK,
    &sends_whole_characters::CHECK,
    &shortens::CHECK,
    &shows_image::CHECK,
    &survives_switch::CHECK,
    &tells_failure::CHECK,
    &tells_no_half_answer::CHECK,
    &tries_again::CHECK,
    &waits::CHECK,
];

/// The check with an id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.iter().find(|check| check.id == id).copied()
}

/// What a check looks at.
#[derive(Debug)]
pub(crate) struct Seen<'s> {
    pub(crate) case: &'s Case<'s>,
    /// What the linter finds in the exchanges.
    pub(crate) report: &'s FileReport,
}

impl Seen<'_> {
    /// The first finding of one of these rules; or that there was no request at all.
    fn finding_of(&self, rules: &[&str]) -> Option<String> {
        if self.case.run.exchanges.is_empty() {
            return Some("no request came".to_owned());
        }
        let found = self.report.findings.iter().find(|finding| rules.contains(&finding.rule))?;
        Some(format!("{}: {}", found.rule, found.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_unique() {
        let ids: Vec<&str> = ALL.iter().map(|check| check.id).collect();
        assert!(ids.is_sorted_by(|one, other| one < other), "{ids:?}");
    }
}
