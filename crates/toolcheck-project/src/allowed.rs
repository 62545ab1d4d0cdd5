//! Used and unused entries of `[[allow]]`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toolcheck_config::allow::Allow;
use toolcheck_core::RuleId;

use crate::resolve::FileSettings;

/// The entries of all configurations, and which of them were used. A configuration that several extend has each of its
/// entries once.
#[derive(Debug, Default)]
pub(crate) struct AllowUsage {
    /// By file, line and column: the entry, whether it applies to a file, and whether it allowed anything.
    entries: BTreeMap<(String, u64, u64), (Allow, bool, bool)>,
}

/// An entry of `[[allow]]` that allows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedAllow {
    /// The configuration file, as messages show it.
    pub config: String,
    /// The line of the entry, from 1.
    pub line: u64,
    /// The column of the entry, from 1, in characters.
    pub column: u64,
    /// The id of the rule.
    pub rule: RuleId,
}

impl fmt::Display for UnusedAllow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, line, column, rule } = self;
        write!(f, "{config}:{line}:{column}: unused [[allow]]: no `{rule}` finding matches it")
    }
}

impl AllowUsage {
    pub(crate) fn add(&mut self, settings: &FileSettings, path: &Path, used: &[bool]) {
        let (allows, rules) = (&settings.config.config.allows, &settings.rules);
        for (entry, used) in allows.iter().zip(used.iter().copied()) {
            // A rule that did not run can't have used its entries.
            let has_run = rules.iter().any(|rule| rule.id == entry.rule.id);
            if has_run {
                let key = (entry.config.clone(), entry.position.line, entry.position.column);
                let usage = self.entries.entry(key).or_insert_with(|| (entry.clone(), false, false));
                usage.1 |= entry.is_for(path);
                usage.2 |= used;
            }
        }
    }

    /// The entries that allowed nothing, if the run has searched these folders completely. Files outside of them may
    /// still need an entry.
    pub(crate) fn unused(&self, searched: &[PathBuf]) -> Vec<UnusedAllow> {
        // The file of one that applies to none may have another name by now.
        let unused = self.entries.iter().filter(|(_, (allow, applies, used))| {
            !used && if *applies { allow.is_covered(searched) } else { allow.is_below(searched) }
        });
        unused
            .map(|((config, line, column), (allow, ..))| UnusedAllow {
                config: config.clone(),
                line: *line,
                column: *column,
                rule: allow.rule.id,
            })
            .collect()
    }
}
