//! Counts of findings over many rows: of a data set, of a table, of a partition of one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};
use toolcheck_core::{Error, Level};
use toolcheck_json::Document;

use crate::fingerprint::{fnv_of, mixed};

/// What was found in many rows.
///
/// Each row is linted by itself, and rows can be counted in any order and in any number of summaries: their sum is the
/// same, to the byte. So the parts of a data set can be linted on many machines. Examples are chosen by a hash of the
/// row's key, and not by which row came first.
///
/// ```
/// use toolcheck_lint::{Options, Summary, lint};
///
/// let rows = [r#"{"messages": [{"role": "user", "content": "hello"}]}"#, "{}"];
/// let of_row = |number: usize| {
///     let mut summary = Summary::new(5);
///     summary.add_row(&number.to_string(), &lint("row", rows[number].as_bytes(), &Options::new()));
///     summary
/// };
/// let (mut one, mut other) = (of_row(0), of_row(1));
/// one.add(of_row(1));
/// other.add(of_row(0));
/// assert_eq!(one.to_json(), other.to_json());
/// assert_eq!((one.rows, one.unread), (2, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The number of rows.
    pub rows: u64,
    /// The number of rows in which nothing was read.
    pub unread: u64,
    /// The number of transcripts.
    pub transcripts: u64,
    /// The number of messages in them.
    pub messages: u64,
    /// The number of calls in them.
    pub tool_calls: u64,
    /// The number of results in them.
    pub tool_results: u64,
    /// The number of transcripts that were read as each format, by its id.
    pub formats: BTreeMap<String, u64>,
    /// What was left out, such as lists of tools under keys that are not known, in words for people, and how many.
    pub left_out: BTreeMap<String, u64>,
    /// What each rule has found, by its id and the level.
    pub rules: BTreeMap<(String, Level), RuleSummary>,
    /// The most examples of each rule; of two summaries, the sum keeps the fewer. `None`, of the empty one, is any.
    most: Option<usize>,
}

/// What a rule has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RuleSummary {
    /// The number of findings.
    pub findings: u64,
    /// The number of rows with such a finding.
    pub rows: u64,
    /// Examples, at most one of a row.
    pub samples: Vec<Sample>,
}

/// An example of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Sample {
    /// By this they are chosen.
    hash: u128,
    /// The key of the row.
    pub row: String,
    /// The JSON Pointer in the row.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

/// The most bytes of a key or a pointer in an example.
const LONGEST_KEY: usize = 1024;

impl Sample {
    pub(crate) fn new(rule: &str, row: &str, pointer: &str, message: String) -> Self {
        let row = cut(row);
        let hash = mixed(fnv_of(&[rule.as_bytes(), row.as_bytes()]));
        Self { hash, row, pointer: cut(pointer), message }
    }
}

/// The key of a row: the text of the value at a path of names with dots between them, such as `meta.id`; `None` if there is
/// none in it.
///
/// ```
/// use toolcheck_lint::summary::key_of;
///
/// let row = br#"{"meta": {"id": "17", "shard": 3}}"#;
/// assert_eq!(key_of(row, "meta.id").as_deref(), Some("17"));
/// assert_eq!(key_of(row, "meta.shard").as_deref(), Some("3"));
/// assert_eq!(key_of(row, "uuid"), None);
/// ```
pub fn key_of(row: &[u8], path: &str) -> Option<String> {
    let document = Document::read(row);
    let value = path.split('.').try_fold(document.root(), |value, name| value.get(name))?;
    match value.as_str() {
        Some(text) => Some(text.into_owned()),
        None => Some(String::from_utf8_lossy(value.raw()).into_owned()),
    }
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST_KEY)].to_owned()
}

impl Summary {
    /// Nothing yet; of each rule, this many examples are kept.
    pub fn new(samples: usize) -> Self {
        Self { most: Some(samples), ..Self::default() }
    }

    /// Counts a row that could not be read at all.
    pub fn add_unread(&mut self) {
        self.rows += 1;
        self.unread += 1;
    }

    /// Counts what another summary has counted.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.unread += other.unread;
        self.transcripts += other.transcripts;
        self.messages += other.messages;
        self.tool_calls += other.tool_calls;
        self.tool_results += other.tool_results;
        self.most = [self.most, other.most].into_iter().flatten().min();
        for (format, count) in other.formats {
            *self.formats.entry(format).or_default() += count;
        }
        for (what, count) in other.left_out {
            *self.left_out.entry(what).or_default() += count;
        }
        for ((rule, level), found) in other.rules {
            self.add_rule(rule, level, found);
        }
        let most = self.most();
        self.rules.values_mut().for_each(|rule| rule.samples.truncate(most));
    }

    fn most(&self) -> usize {
        self.most.unwrap_or(usize::MAX)
    }

    pub(crate) fn add_rule(&mut self, rule: String, level: Level, found: RuleSummary) {
        let most = self.most();
        match self.rules.entry((rule, level)) {
            Entry::Vacant(entry) => {
                let known = entry.insert(found);
                known.samples.truncate(most);
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                known.findings += found.findings;
                known.rows += found.rows;
                for sample in found.samples {
                    let at = known.samples.partition_point(|other| *other <= sample);
                    if at < most {
                        known.samples.insert(at, sample);
                        known.samples.truncate(most);
                    }
                }
            }
        }
    }

    /// The number of findings with a level.
    pub fn count(&self, level: Level) -> u64 {
        let with = self.rules.iter().filter(|((_, other), _)| *other == level);
        with.map(|(_, rule)| rule.findings).sum()
    }

    /// The summary as JSON of version 1, which `schemas/summary.v1.schema.json` of the repository describes.
    pub fn to_json(&self) -> String {
        let rules = self.rules.iter().map(|((rule, level), found)| RuleV1 {
            rule: rule.clone(),
            level: level.as_str().to_owned(),
            findings: found.findings,
            rows: found.rows,
            samples: found.samples.iter().cloned().map(SampleV1::from).collect(),
        });
        let v1 = SummaryV1 {
            version: 1,
            rows: self.rows,
            unread: self.unread,
            transcripts: self.transcripts,
            messages: self.messages,
            tool_calls: self.tool_calls,
            tool_results: self.tool_results,
            errors: self.count(Level::Error),
            warnings: self.count(Level::Warning),
            samples_per_rule: self.most,
            formats: self.formats.clone(),
            left_out: self.left_out.clone(),
            rules: rules.collect(),
        };
        serde_json::to_string(&v1).unwrap_or_default()
    }

    /// Reads what [`to_json`](Self::to_json) has written.
    ///
    /// # Errors
    ///
    /// It is not JSON of version 1.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let wrong = |reason: &str| Error::new(format!("not a summary of version 1: {reason}"));
        let v1: SummaryV1 = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        if v1.version != 1 {
            return Err(wrong(&format!("version {}", v1.version)));
        }
        let mut summary = Self {
            rows: v1.rows,
            unread: v1.unread,
            transcripts: v1.transcripts,
            messages: v1.messages,
            tool_calls: v1.tool_calls,
            tool_results: v1.tool_results,
            formats: v1.formats,
            left_out: v1.left_out,
            rules: BTreeMap::new(),
            most: v1.samples_per_rule,
        };
        for RuleV1 { rule, level, findings, rows, samples } in v1.rules {
            let level: Level = level.parse().map_err(|_| wrong(&format!("the level {level:?}")))?;
            let sample = |sample: SampleV1| Sample::new(&rule, &sample.row, &sample.pointer, sample.message);
            let mut samples: Vec<Sample> = samples.into_iter().map(sample).collect();
            samples.sort_unstable();
            summary.add_rule(rule, level, RuleSummary { findings, rows, samples });
        }
        Ok(summary)
    }
}

#[derive(Serialize, Deserialize)]
struct SummaryV1 {
    version: u8,
    rows: u64,
    unread: u64,
    transcripts: u64,
    messages: u64,
    tool_calls: u64,
    tool_results: u64,
    #[serde(default)]
    errors: u64,
    #[serde(default)]
    warnings: u64,
    samples_per_rule: Option<usize>,
    formats: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, u64>,
    rules: Vec<RuleV1>,
}

#[derive(Serialize, Deserialize)]
struct RuleV1 {
    rule: String,
    level: String,
    findings: u64,
    rows: u64,
    samples: Vec<SampleV1>,
}

#[derive(Serialize, Deserialize)]
struct SampleV1 {
    row: String,
    pointer: String,
    message: String,
}

impl From<Sample> for SampleV1 {
    fn from(Sample { row, pointer, message, .. }: Sample) -> Self {
        Self { row, pointer, message }
    }
}
