//! What changed in all of a conversation: ids, turns, messages, and how much there is.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::{At, Finder, title};
use crate::conversation::Feature;
use crate::diff::Counts;
use crate::diff::events::EventKind;
use crate::diff::kinds::{Kind, Level};
use crate::pairing::Binding;

impl<'s> Finder<'_, '_, 's> {
    pub(super) fn ids(&mut self) {
        let (mut renamed, mut gone, mut new) = ([0; 3], None, None);
        let mut first_renamed = None;
        let mut own: HashMap<&str, &str> = HashMap::default();
        let mut collapsed = Vec::new();
        for number in 0..self.paired.before.all.len() {
            let Some(other) = self.paired.pairs.before[number] else { continue };
            let (before, after) = (self.before(number), self.after(other));
            if before.sort != EventKind::Call {
                continue;
            }
            let at = At(Some(number), Some(other));
            match (before.id.as_deref(), after.id.as_deref()) {
                (Some(one), Some(two)) => {
                    if one != two {
                        renamed[0] += 1;
                        first_renamed.get_or_insert(at);
                    }
                    // One id for several calls that had different ones.
                    if *own.entry(two).or_insert(one) != one {
                        collapsed.push(at);
                    }
                }
                (Some(_), None) => {
                    renamed[1] += 1;
                    gone.get_or_insert(at);
                }
                (None, Some(_)) => {
                    renamed[2] += 1;
                    new.get_or_insert(at);
                }
                (None, None) => {}
            }
        }
        let collapses = self.sides[1].binding == Binding::Ids;
        for at in collapsed {
            let level = if collapses { Level::Loss } else { Level::Form };
            let about = at.0.map(|number| title(self.before(number))).unwrap_or_default();
            self.add(Kind::IdCollapsed, level, at, about);
        }
        let cannot = self.cannot(Feature::CallIds);
        let level = if cannot { Level::Form } else { Level::Change };
        let kinds = [(Kind::IdRenamed, Level::Form), (Kind::IdLost, level), (Kind::IdAdded, Level::Form)];
        for (((kind, level), at), count) in kinds.into_iter().zip([first_renamed, gone, new]).zip(renamed) {
            if let Some(at) = at {
                let about = format!("{count} id{}", if count == 1 { "" } else { "s" });
                self.add(kind, level, at, about);
                self.last().into_iter().for_each(|change| {
                    change.count = count;
                    change.inexpressible = kind == Kind::IdLost && cannot;
                });
            }
        }
    }

    /// Turns of the model that are one on the other side.
    pub(super) fn turns(&mut self) {
        // For each stretch on each side: the first event, and the number of turns.
        let mut stretches: BTreeMap<usize, [(Option<usize>, usize); 2]> = BTreeMap::new();
        for (side, events) in [self.paired.before, self.paired.after].into_iter().enumerate() {
            let pairs = if side == 0 { &self.paired.pairs.before } else { &self.paired.pairs.after };
            let mut last: HashMap<usize, usize> = HashMap::default();
            let mut results = 0;
            for (number, event) in
                events.all.iter().enumerate().filter(|(number, _)| pairs[*number].is_some())
            {
                // Turns without results in between are one only because what was between them is gone.
                results += usize::from(event.sort == EventKind::Result);
                if event.sort == EventKind::Call {
                    let stretch = self.paired.stretch(side, event);
                    let (first, turns) = &mut stretches.entry(stretch).or_default()[side];
                    first.get_or_insert(number);
                    *turns += usize::from(last.insert(stretch, results) != Some(results));
                }
            }
        }
        for (stretch, [before, after]) in stretches {
            if before.0.is_some() && after.0.is_some() && before.1 != after.1 {
                let kind = if before.1 > after.1 { Kind::TurnMerged } else { Kind::TurnSplit };
                let about = format!("{} into {}", before.1, after.1);
                self.add(kind, Level::Change, At(before.0, after.0), about);
                self.regrouped.insert(stretch);
            }
        }
    }

    /// Messages of one turn that are one on the other side.
    pub(super) fn messages(&mut self) {
        if !self.is_one_family {
            return;
        }
        // For each turn, its first event and how many messages more and fewer there are.
        let mut turns: BTreeMap<usize, (At, usize, usize)> = BTreeMap::new();
        for pair in self.paired.chain.windows(2) {
            let [(one, one_after), (two, two_after)] = [pair[0], pair[1]];
            let (before, after) =
                ([one, two].map(|at| self.before(at)), [one_after, two_after].map(|at| self.after(at)));
            if before[0].turn != before[1].turn || after[0].turn != after[1].turn {
                continue;
            }
            let are_apart = [before, after].map(|[one, two]| one.message != two.message);
            if are_apart[0] != are_apart[1] {
                let at = At(Some(one), Some(one_after));
                let (_, merged, split) = turns.entry(before[0].turn).or_insert((at, 0, 0));
                *(if are_apart[0] { merged } else { split }) += 1;
            }
        }
        for (at, merged, split) in turns.into_values() {
            for (kind, count) in [(Kind::MessageMerged, merged), (Kind::MessageSplit, split)] {
                if count > 0 {
                    self.add(kind, Level::Form, at, String::new());
                    self.last().into_iter().for_each(|change| change.count = count);
                }
            }
        }
    }

    /// How many parts there are, and how many of them are kept.
    pub(super) fn counts(&self) -> Counts {
        let merged: HashSet<usize> =
            self.paired.merged.iter().flat_map(|(group, _)| group).copied().collect();
        let kept = self.paired.before.all.iter().enumerate().filter(|(number, _)| {
            let is_paired = self.paired.pairs.before[*number].is_some() || merged.contains(number);
            is_paired && !self.lost.contains(number)
        });
        let mut counts = Counts::default();
        counts.count(&self.paired.before.all, |count| &mut count.before);
        counts.count(&self.paired.after.all, |count| &mut count.after);
        counts.count(kept.map(|(_, event)| event), |count| &mut count.kept);
        counts
    }
}
