//! A baseline: existing findings, which are not reported until they are fixed.
//!
//! An entry identifies its finding by the rule, the file, the ids and the bytes at the place, never by a line, a record
//! or a pointer: recordings grow and histories are trimmed.

use std::collections::BTreeMap;

use foldhash::HashSet;
use serde::{Deserialize, Serialize};
use serde_json::json;

use toolcheck_core::RuleId;
use toolcheck_core::text::bounded;
use toolcheck_json::Position;
use toolcheck_lint::Rule;
use toolcheck_lint::fingerprint::Fingerprints;
use toolcheck_lint::report::FileReport;

use crate::Error;
use crate::error::MAX_MESSAGE;

/// Known findings, as stored in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    #[allow(dead_code, reason = "its value was checked when it was read")]
    version: Version,
    /// The findings, by the path of their file relative to the baseline's folder.
    files: BTreeMap<String, Vec<BaselineEntry>>,
}

/// The only version so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
struct Version;

impl TryFrom<u32> for Version {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        if number == 1 { Ok(Self) } else { Err(format!("unsupported version {number} (expected 1)")) }
    }
}

/// A known finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BaselineEntry {
    /// The rule's id.
    pub rule: String,
    /// The message when the entry was written, for readers of the file; it is not compared.
    pub message: String,
    /// Identifies the finding.
    pub fingerprint: String,
}

impl Baseline {
    /// Reads a baseline's text.
    ///
    /// # Errors
    ///
    /// The text is not a valid baseline.
    pub fn parse(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line().max(1), error.column().max(1));
            let message = error.to_string();
            let end = format!(" at line {} column {}", error.line(), error.column());
            let message = message.strip_suffix(&end).unwrap_or(&message);
            // The words of the parser are about numbers and sequences.
            let message = if error.is_data() { "this is not a baseline of toolcheck" } else { message };
            let message = bounded(message, MAX_MESSAGE);
            Error::at(Position { line: line as u64, column: column as u64 }, message)
        })
    }

    /// The text of the file, with one entry per line so that diffs are easy to read.
    pub fn to_text(&self) -> String {
        let files = self.files.iter().map(|(path, entries)| {
            let entry =
                |entry: &BaselineEntry| serde_json::to_string(entry).expect("an entry is three strings");
            let entries = entries.iter().map(|one| format!("\n      {}", entry(one)));
            format!("\n    {}: [{}\n    ]", json!(path), entries.collect::<Vec<_>>().join(","))
        });
        let files = files.collect::<Vec<_>>().join(",");
        let end = if files.is_empty() { "" } else { "\n  " };
        format!("{{\n  \"version\": 1,\n  \"files\": {{{files}{end}}}\n}}\n")
    }

    /// The number of findings that it contains.
    pub fn len(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Whether it contains no findings.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The paths of the files with findings.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Removes a file, and returns the number of its findings.
    pub fn forget(&mut self, path: &str) -> usize {
        self.files.remove(path).map_or(0, |entries| entries.len())
    }

    /// The known findings of a file.
    pub fn of(&self, path: &str) -> FileBaseline<'_> {
        let entries = self.files.get(path).map_or(&[][..], Vec::as_slice);
        FileBaseline {
            path: path.to_owned(),
            entries,
            known: entries.iter().map(|entry| &*entry.fingerprint).collect(),
            matched: HashSet::default(),
            fingerprints: Fingerprints::default(),
        }
    }

    /// Replaces the entries of these rules for a file.
    pub fn renew(&mut self, path: &str, rules: &[&'static Rule], mut found: Vec<BaselineEntry>) {
        let mut entries = self.files.remove(path).unwrap_or_default();
        entries.retain(|entry| !has_run(entry, rules));
        entries.append(&mut found);
        if !entries.is_empty() {
            self.files.insert(path.to_owned(), entries);
        }
    }

    /// Removes entries of a file.
    pub fn drop(&mut self, path: &str, stale: &[BaselineEntry]) {
        let Some(entries) = self.files.get_mut(path) else { return };
        entries.retain(|entry| !stale.contains(entry));
        if entries.is_empty() {
            self.files.remove(path);
        }
    }
}

/// Whether the rule of an entry has run or no longer exists.
fn has_run(entry: &BaselineEntry, rules: &[&'static Rule]) -> bool {
    RuleId::find(&entry.rule).is_none_or(|id| rules.iter().any(|rule| rule.id == id))
}

/// The known findings of one file while it is linted, as a whole or in pieces.
#[derive(Debug)]
pub struct FileBaseline<'b> {
    path: String,
    entries: &'b [BaselineEntry],
    known: HashSet<&'b str>,
    matched: HashSet<&'b str>,
    fingerprints: Fingerprints,
}

impl FileBaseline<'_> {
    /// Removes the known findings from a part of the file's report.
    pub fn apply(&mut self, part: &mut FileReport) {
        let found = self.fingerprints_of(part);
        let mut is_known = found.iter().map(|fingerprint| match self.known.get(&**fingerprint) {
            Some(known) => {
                self.matched.insert(known);
                true
            }
            None => false,
        });
        let before = part.findings.len();
        part.findings.retain(|_| !is_known.next().unwrap_or_default());
        drop(is_known);
        part.in_baseline += before - part.findings.len();
    }

    /// Takes all findings out of a part of the file's report, as entries.
    pub fn take(&mut self, part: &mut FileReport) -> Vec<BaselineEntry> {
        let found = self.fingerprints_of(part);
        part.in_baseline += part.findings.len();
        let entries = part.findings.drain(..).zip(found).map(|(finding, fingerprint)| BaselineEntry {
            rule: finding.rule.to_string(),
            message: finding.message.to_string(),
            fingerprint,
        });
        entries.collect()
    }

    /// The entries that are stale once the whole file is linted: their rule has run and no longer reports them.
    pub fn stale(self, rules: &[&'static Rule]) -> Vec<BaselineEntry> {
        let is_stale =
            |entry: &&BaselineEntry| has_run(entry, rules) && !self.matched.contains(&*entry.fingerprint);
        self.entries.iter().filter(is_stale).cloned().collect()
    }

    fn fingerprints_of(&mut self, part: &FileReport) -> Vec<String> {
        let (fingerprints, path) = (&mut self.fingerprints, &self.path);
        part.findings.iter().map(|finding| fingerprints.next(path, finding)).collect()
    }
}
