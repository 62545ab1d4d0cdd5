//! Results that move to their calls.

use std::collections::BTreeSet;

use toolcheck_core::RuleId;
use toolcheck_core::fix::Cost;
use toolcheck_core::ir::Role;
use toolcheck_core::pairing::{CallSite, ResultSite, Turn};

use super::Action;
use super::arrange::Unit;
use super::plan::Planner;

impl<'p> Planner<'p, '_> {
    /// A result that is not in its place.
    pub(super) fn moved(
        &mut self,
        call: &CallSite<'_, '_>,
        site: &ResultSite<'_, '_>,
        late: &BTreeSet<usize>,
    ) -> Option<Unit> {
        if late.contains(&site.turn) {
            return Some(Unit::Moved(site.number));
        }
        let finding = self.misplaced(site).filter(|_| site.message.role == Role::Assistant)?;
        if self.done.last().is_some_and(|done| done.finding == finding) {
            return Some(Unit::Moved(site.number));
        }
        if self.has_skipped(finding) {
            return None;
        }
        let cost = Cost::Guess("the result was in a message of the model".to_owned());
        let at = call.part.place.span.end;
        self.try_fix(finding, Action::Moved, at, Some(cost)).then_some(Unit::Moved(site.number))
    }

    /// The finding that a result is misplaced. One stands for all in a message of the model.
    pub(super) fn misplaced(&self, site: &ResultSite<'_, '_>) -> Option<usize> {
        let results = &self.pairing.results;
        let first = match site.message.role {
            Role::Assistant => {
                &results[results.partition_point(|other| other.message_number < site.message_number)]
            }
            _ => site,
        };
        self.finding(RuleId::MisplacedToolResult, first.part.place)
    }

    /// The slot behind which the results of a turn are, and the turn that holds them. What the model says behind calls whose
    /// results are before them, it says with these, which are right behind the calls then.
    pub(super) fn home_of(&self, turn: usize, anchor: usize, units: &[Unit]) -> (usize, Option<&'p Turn>) {
        let pairing = self.pairing;
        let last = pairing.calls_of_turn(turn).last().map(|call| self.slot_of(call.part.place.node));
        if let Some(last) = last.filter(|slot| *slot < anchor && self.come_from_before(turn, units)) {
            return (last, None);
        }
        let is_home = |next: &&Turn| matches!(next.role, Role::User | Role::Tool);
        (anchor, pairing.turns.get(turn + 1).filter(is_home))
    }

    /// Whether results of a turn were before it, and none is in its place.
    fn come_from_before(&self, turn: usize, units: &[Unit]) -> bool {
        let is_early =
            |unit: &Unit| matches!(unit, Unit::Moved(number) if self.pairing.results[*number].turn < turn);
        let is_in_place = |unit: &Unit| matches!(unit, Unit::InPlace(_));
        units.iter().any(is_early) && !units.iter().any(is_in_place)
    }
}
