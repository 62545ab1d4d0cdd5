//! What is not as simple as one mistake and one finding.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use toolcheck_lint::Finding;

use super::mutations::Mutant;

pub(crate) static KNOWN: LazyLock<Known> =
    LazyLock::new(|| toml::from_str(include_str!("exceptions.toml")).unwrap());

/// What `exceptions.toml` says, which gives the reasons.
#[derive(Deserialize)]
pub(crate) struct Known {
    pub(crate) consequences: BTreeMap<String, String>,
    pub(crate) exceptions: Vec<Exception>,
    pub(crate) uncovered: Vec<Uncovered>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Exception {
    formats: Vec<String>,
    /// The names of objects; all if there are none.
    objects: Vec<String>,
    key: String,
    fault: String,
    rules: Vec<String>,
    #[expect(dead_code, reason = "printed by a failing test")]
    reason: String,
}

#[derive(Deserialize)]
pub(crate) struct Uncovered {
    pub(crate) format: String,
    pub(crate) object: String,
    pub(crate) part: String,
}

impl Exception {
    pub(crate) fn covers(&self, format: &str, mutant: &Mutant, findings: &[&Finding]) -> bool {
        let mut rules: Vec<&str> = findings
            .iter()
            .map(|finding| finding.rule.as_str())
            .filter(|rule| {
                self.rules.iter().any(|own| own == rule) || !KNOWN.consequences.contains_key(*rule)
            })
            .collect();
        rules.sort_unstable();
        rules.dedup();
        self.formats.iter().any(|own| own == format)
            && (self.objects.is_empty() || self.objects.iter().any(|own| own == mutant.object.name()))
            && self.key == mutant.demand.key
            && self.fault == mutant.demand.fault.name()
            && self.rules == rules
    }
}
