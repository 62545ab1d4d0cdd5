//! What a target takes from the one that it extends.

use toml::de::{DeTable, DeValue};
use toolcheck_toml::Error;

use super::{Evidence, Refusal, Target, text_of};

impl Target {
    /// Takes from the parent the entries and the shape that this file does not say.
    pub(super) fn inherit(&mut self, parent: &Self) {
        let is_compatible_only = self.is_compatible_only;
        let elsewhere = format!("seen for {}, but not for {}", parent.name, self.name);
        let doubt_here = |evidence: Evidence, doubt: &Option<String>| {
            let is_seen = evidence != Evidence::Inferred;
            doubt.clone().or_else(|| (is_compatible_only && is_seen).then(|| elsewhere.clone()))
        };
        // What this file says of a case replaces what the parent says of it; a text that only serves to recognise an
        // error says nothing.
        let said: Vec<(String, Option<String>)> = self
            .refusals
            .iter()
            .filter(|refusal| !refusal.legacy)
            .map(|refusal| (refusal.rule.clone(), refusal.case.clone()))
            .chain(self.tolerances.iter().map(|tolerance| (tolerance.rule.clone(), tolerance.case.clone())))
            .collect();
        let is_new = |rule: &str, case: &Option<String>| {
            !said
                .iter()
                .any(|(known, known_case)| known == rule && (known_case.is_none() || known_case == case))
        };
        let inherited = parent.refusals.iter().filter(|refusal| is_new(&refusal.rule, &refusal.case));
        self.refusals.extend(inherited.map(|refusal| Refusal {
            is_inherited: true,
            evidence: if is_compatible_only { Evidence::Inferred } else { refusal.evidence },
            doubt: doubt_here(refusal.evidence, &refusal.doubt),
            ..refusal.clone()
        }));
        if self.format == parent.format {
            self.shape.inherit(&parent.shape, is_compatible_only.then_some(&elsewhere));
        }
        self.tolerances.extend(
            parent.tolerances.iter().filter(|tolerance| is_new(&tolerance.rule, &tolerance.case)).cloned(),
        );
    }
}

/// The keys of a file that are about this target alone, or that are put together with more care than facts are.
const NOT_FACTS: [&str; 12] = [
    "id",
    "name",
    "aliases",
    "clients",
    "extends",
    "is-compatible-only",
    "union",
    "notes",
    "shape",
    "also",
    "refusal",
    "tolerance",
];

/// A target with the facts of those that it extends, as far as its own file does not state them.
pub(super) fn overlaid(text: &str) -> Result<Target, Error> {
    let mut table = DeTable::parse(text)?.into_inner();
    let parent_of = |table: &DeTable<'_>| table.get("extends").and_then(|id| text_of(id.get_ref().as_str()?));
    let mut above = parent_of(&table);
    while let Some(text) = above {
        let mut parent = DeTable::parse(text)?.into_inner();
        above = parent_of(&parent);
        for key in NOT_FACTS {
            parent.remove(key);
        }
        fill_in(&mut table, parent);
    }
    toolcheck_toml::from_table(table)
}

/// Adds what a table lacks, in the tables below it too.
fn fill_in<'t>(own: &mut DeTable<'t>, parent: DeTable<'t>) {
    for (key, value) in parent {
        let Some(known) = own.get_mut(key.get_ref().as_ref()) else {
            own.insert(key, value);
            continue;
        };
        if let (DeValue::Table(own), DeValue::Table(parent)) = (known.get_mut(), value.into_inner()) {
            fill_in(own, parent);
        }
    }
}
