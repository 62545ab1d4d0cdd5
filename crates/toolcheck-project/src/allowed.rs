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
    /// By file, line and column.
    entries: BTreeMap<(String, u64, u64), Usage>,
}

#[derive(Debug)]
struct Usage {
    allow: Allow,
    /// Whether it applies to a file.
    applies: bool,
    /// Whether it allowed anything.
    is_used: bool,
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
                let new = || Usage { allow: entry.clone(), applies: false, is_used: false };
                let usage = self.entries.entry(key).or_insert_with(new);
                usage.applies |= entry.is_for(path);
                usage.is_used |= used;
            }
        }
    }

    /// The entries that allowed nothing, if the run has searched these folders completely. Files outside of them may
    /// still need an entry.
    pub(crate) fn unused(&self, searched: &[PathBuf]) -> Vec<UnusedAllow> {
        // The file of one that applies to none may have another name by now.
        let unused = self.entries.iter().filter(|(_, Usage { allow, applies, is_used })| {
            !is_used && if *applies { allow.is_covered(searched) } else { allow.is_below(searched) }
        });
        unused
            .map(|((config, line, column), Usage { allow, .. })| UnusedAllow {
                config: config.clone(),
                line: *line,
                column: *column,
                rule: allow.rule.id,
            })
            .collect()
    }
}
