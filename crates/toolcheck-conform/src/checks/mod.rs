//! What a loop is held against. Each check is a file, and two lines here, unless it is one of `by_findings`.

mod answers_every_call;
mod by_findings;
mod does_not_loop;
mod finishes;
mod is_not_refused;
mod is_valid;
mod judgement;
mod keeps_history;
mod keeps_opaque;
mod keeps_order;
mod keeps_result;
mod never_says_default;
mod reports_error;
mod respects_refusal;
mod sends_whole_characters;
mod shortens;
mod shows_image;
mod survives_switch;
mod tells_failure;
mod tells_no_half_answer;
mod tries_again;
mod waits;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toolcheck_core::conversation::{Conversation, ToolOutput, Turn};
use toolcheck_core::ir::Executor;
use toolcheck_core::response::{self, Choice, ChoiceCall};
use toolcheck_core::{RuleId, formats};
use toolcheck_json::Document;
use toolcheck_lint::{FileReport, Finding};
use toolcheck_serve::{Exchange, Turn as ScriptedTurn};

pub(crate) use self::judgement::Judgement;
use crate::case::Case;

/// A check.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// Its id.
    pub id: &'static str,
    /// What is right.
    pub summary: &'static str,
    /// What to do about a loop that does otherwise: a clause that begins in lower case.
    pub help: &'static str,
    /// What it says of a run in which a request came.
    pub(crate) judge: fn(&Seen<'_>) -> Judgement,
}

/// All checks.
pub static ALL: &[&Check] = &[
    &answers_every_call::CHECK,
    &does_not_loop::CHECK,
    &finishes::CHECK,
    &is_not_refused::CHECK,
    &is_valid::CHECK,
    &by_findings::KEEPS_ARGUMENTS,
    &keeps_history::CHECK,
    &keeps_opaque::CHECK,
    &keeps_order::CHECK,
    &by_findings::KEEPS_REASONING,
    &keeps_result::CHECK,
    &by_findings::KEEPS_TURN,
    &never_says_default::CHECK,
    &reports_error::CHECK,
    &respects_refusal::CHECK,
    &by_findings::RUNS_ONLY_FINISHED,
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
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.iter().find(|check| check.id == id).copied()
}

#[derive(Debug)]
pub(crate) struct Seen<'s> {
    pub(crate) case: &'s Case<'s>,
    pub(crate) report: &'s FileReport,
    /// What the model said in each exchange: nothing where it was an error.
    pub(crate) said: Vec<Vec<Choice>>,
}

impl<'s> Seen<'s> {
    pub(crate) fn new(case: &'s Case<'s>, report: &'s FileReport) -> Self {
        Self { case, report, said: case.run.exchanges.iter().map(said_in).collect() }
    }

    /// What the model said in an exchange that is not an error; what the loop may choose from is none of it.
    fn choice(&self, number: usize) -> Option<&Choice> {
        match self.said.get(number).map(Vec::as_slice) {
            Some([choice]) => Some(choice),
            _ => None,
        }
    }

    /// The calls of a turn that the loop must answer.
    fn calls<'c>(&self, choice: &'c Choice) -> impl Iterator<Item = &'c ChoiceCall> {
        let last = self.case.scenario.final_tool.as_deref();
        choice.calls.iter().filter(move |call| {
            call.executor == Executor::Client && (last.is_none() || call.name.as_deref() != last)
        })
    }

    /// Whether an exchange has an error, or a response that broke off.
    fn went_wrong(&self) -> bool {
        let is_cut = |turn: &ScriptedTurn| {
            turn.cut_in.is_some() || turn.cut_after.is_some() || turn.error_after.is_some()
        };
        let is_error = |number: usize| {
            let status = self.case.run.exchanges.get(number).map(|exchange| exchange.status);
            status.is_some_and(|status| status >= 400)
                || self.choice(number).is_none_or(|choice| !choice.is_whole)
        };
        // A connection that breaks does not show in what came, where the reason to stop comes with the first call.
        self.case.scenario.turns.first().is_some_and(is_cut) || (0..self.said.len()).any(is_error)
    }

    fn finding_of(&self, rules: &[RuleId]) -> Judgement {
        self.first_finding(|finding| rules.contains(&finding.rule) && !is_renamed(finding))
    }

    fn first_finding(&self, is_it: impl Fn(&Finding) -> bool) -> Judgement {
        let found = self.report.findings.iter().find(|finding| is_it(finding));
        found.map(|found| format!("{}: {}", found.rule, found.message)).into()
    }

    /// The first finding of one of these rules about calls and results; nothing can be judged where a history has them as
    /// text.
    fn structure(&self, rules: &[RuleId]) -> Judgement {
        self.flattened().or_else(|| self.finding_of(rules))
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
            let choices = said_in(before);
            let calls = choices.iter().flat_map(|choice| &choice.calls);
            let mut own = calls.filter(|call| call.executor == Executor::Client);
            // Nobody writes by chance what the mock has made up: an id, or a name with its arguments.
            let call = own.find(|call| {
                let is_there = |text: &str| !text.is_empty() && texts.iter().any(|said| said.contains(text));
                let has_id = call.id.as_deref().is_some_and(|id| id.len() > 8 && is_there(id));
                let words = words(&call.arguments);
                let is_named = call.name.as_deref().is_some_and(is_there);
                has_id || is_named && !words.is_empty() && words.iter().all(|word| is_there(word))
            })?;
            Some(call.name.as_deref().unwrap_or_default().to_owned())
        })
    }

    /// Whether the history has calls as text.
    fn flattened(&self) -> Judgement {
        let say = |tool| format!("the history has the call of `{tool}` as text, and no call and no result");
        self.call_as_text().map_or(Judgement::Met, |tool| Judgement::Inconclusive(say(tool)))
    }
}

fn said_in(exchange: &Exchange) -> Vec<Choice> {
    let Some(format) = formats::find(exchange.format).filter(|_| exchange.status < 400) else {
        return Vec::new();
    };
    let record = exchange.response.to_string();
    let response = Document::read(record.as_bytes());
    response::read(format, response.root()).map(|(choices, _)| choices).unwrap_or_default()
}

/// Whether a finding says only that calls have other ids than in the response. They may, if each result has the same one:
/// other rules find those that have not.
fn is_renamed(finding: &Finding) -> bool {
    finding.rule == RuleId::DroppedToolCall && finding.message.contains("a different id in the history")
}

fn words(arguments: &str) -> Vec<String> {
    let members: BTreeMap<String, Json> = serde_json::from_str(arguments).unwrap_or_default();
    members.values().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// The results in a history.
fn outputs(said: &Conversation) -> impl Iterator<Item = &ToolOutput> {
    said.turns
        .iter()
        .filter_map(|turn| if let Turn::Results(outputs) = turn { Some(outputs) } else { None })
        .flatten()
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
