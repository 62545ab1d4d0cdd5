//! Which entries of `[[allow]]` are still needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcheck_config::allow::Allow;

use crate::settle::Settled;

/// What came of the entries of all configurations. A configuration that several extend has each of its entries once.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    /// By file, line and column: the entry, and whether it allowed anything. What speaks of no file is not there.
    entries: BTreeMap<(String, u64, u64), (Allow, bool)>,
}

impl Allowed {
    /// Learns which entries were used in a file.
    pub(crate) fn learn(&mut self, settled: &Settled, path: &Path, used: &[bool]) {
        let (allows, rules) = (&settled.loaded.config.allows, &settled.rules);
        for (entry, used) in allows.iter().zip(used.iter().copied()) {
            // A rule that has not run could find nothing.
            let has_run = rules.iter().any(|rule| rule.id == entry.rule.id);
            if has_run && entry.is_for(path) {
                let key = (entry.config.clone(), entry.position.line, entry.position.column);
                self.entries.entry(key).or_insert_with(|| (entry.clone(), false)).1 |= used;
            }
        }
    }

    /// The entries that allowed nothing, in words, where the run has searched these folders whole. What the run did not
    /// look at may need an entry still.
    pub(crate) fn unused(&self, searched: &[PathBuf]) -> Vec<String> {
        let unused = self.entries.iter().filter(|(_, (allow, used))| !used && allow.is_covered(searched));
        unused
            .map(|((name, line, column), (allow, _))| {
                let rule = allow.rule.id;
                format!("{name}:{line}:{column}: unused [[allow]]: no `{rule}` finding matches it")
            })
            .collect()
    }
}
