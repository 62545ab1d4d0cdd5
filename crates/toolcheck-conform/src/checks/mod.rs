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

use toolcheck_core::conversation::{Conversation, Turn};
use toolcheck_core::ir::Executor;
use toolcheck_core::{formats, response};
use toolcheck_json::Document;
use toolcheck_lint::{FileReport, Finding};

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
            let run = &self.case.run;
            return Some(match (run.unexpected.first(), run.not_found.first()) {
                (Some(path), _) => format!("no request came but to the path of another API: `{path}`"),
                (None, Some(path)) => {
                    format!("no request came but to paths that are not known, such as `{path}`")
                }
                (None, None) => "no request came".to_owned(),
            });
        }
        let is_it = |finding: &&Finding| rules.contains(&finding.rule) && !is_renamed(finding);
        let found = self.report.findings.iter().find(is_it)?;
        Some(format!("{}: {}", found.rule, found.message))
    }

    /// Where a history has a call only as text, though the format has a place for it: the name of the tool. The rules of
    /// the linter see nothing there.
    fn call_as_text(&self) -> Option<String> {
        self.case.run.exchanges.windows(2).find_map(|pair| {
            let [before, after] = pair else { return None };
            let format = formats::find(before.format).filter(|_| before.format == after.format)?;
            let said = Conversation::read(&after.request, format)?;
            let has_structure = |turn: &Turn| !turn.calls().is_empty() || matches!(turn, Turn::Results(_));
            if said.turns.iter().any(has_structure) {
                return None;
            }
            let texts: Vec<&str> = said.turns.iter().filter_map(text_of).collect();
            let record = before.response.to_string();
            let response = Document::read(record.as_bytes());
            let (choices, ..) = response::read(format, response.root())?;
            let calls = choices.iter().flat_map(|choice| &choice.calls);
            let mut own = calls.filter(|call| call.executor == Executor::Client);
            // Ids are made by the mock: nobody writes one by chance.
            let call = own.find(|call| {
                call.id
                    .as_deref()
                    .is_some_and(|id| id.len() > 8 && texts.iter().any(|text| text.contains(id)))
            })?;
            Some(call.name.as_deref().unwrap_or_default().to_owned())
        })
    }

    /// What is wrong with a history that has calls as text.
    fn flattened(&self) -> Option<String> {
        let tool = self.call_as_text()?;
        Some(format!("the history has the call of `{tool}` as text, and no call and no result"))
    }
}

/// Whether a finding says only that calls have other ids than in the response. They may, if each result has the same one:
/// other rules find those that have not.
fn is_renamed(finding: &Finding) -> bool {
    finding.rule == "dropped-tool-call" && finding.message.contains("a different id in the history")
}

fn text_of(turn: &Turn) -> Option<&str> {
    match turn {
        Turn::User(text) => Some(text),
        Turn::Assistant(said) => Some(&said.text),
        _ => None,
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
