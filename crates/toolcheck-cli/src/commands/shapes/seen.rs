//! What somebody has seen refused, by the rule that reports it.

use serde_json::{Value, json};
use toolcheck_core::shape::{Demand, Known};
use toolcheck_core::targets;
use toolcheck_lint::{Rule, rules};

/// Something that an API was seen to refuse.
pub(crate) struct Seen {
    pub(crate) target: &'static str,
    pub(crate) object: &'static str,
    demand: Demand<'static>,
    known: Known<'static>,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        let known = &self.known;
        json!({
            "target": self.target, "object": self.object, "key": self.demand.key, "asked": self.demand.asked.to_string(),
            "conditions": known.conditions(), "status": known.status, "text": known.text,
            "level": known.level.map(|level| level.as_str()), "evidence": known.evidence.to_string(),
            "sources": known.sources, "seen": known.seen, "doubt": known.doubt,
        })
    }
}

/// What the built-in targets were seen to refuse, as far as a rule reports it. What a target has from another is left out.
pub(crate) fn of_rule(rule: &Rule) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    if !rule.reports_shape {
        return all;
    }
    let shapes = targets::all().flat_map(|target| {
        let also = target.also.keys().filter_map(|format| target.shape_in(format));
        target.shape().into_iter().chain(also).map(move |shape| (target, shape))
    });
    for (target, shape) in shapes {
        let first = all.len();
        for (_, demand) in
            shape.demands().filter(|(object, demand)| rules::of_demand(*object, demand) == rule.id)
        {
            for known in demand.known.iter().filter(|known| known.is_seen()) {
                let is_same = |other: &Seen| {
                    other.known.sources.as_ptr() == known.sources.as_ptr() && other.demand.key == demand.key
                };
                if !all[first..].iter().any(is_same) {
                    let (demand, known) = (demand.clone(), known.clone());
                    all.push(Seen { target: &target.id, object: known.object, demand, known });
                }
            }
        }
    }
    all
}
