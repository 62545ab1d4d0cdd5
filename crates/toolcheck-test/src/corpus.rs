//! The runner of a corpus: each case is a file as a provider would receive it, with its expectation beside it.
//!
//! `<case>.json` (or `.jsonl`) is linted and compared with `<case>.expect.json`; a missing expectation fails. In a
//! directory `same/<conversation>/`, every file is the same conversation in the format that it is named after: all must
//! read alike, and none may have a finding.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::{formats, target};
use toolcheck_json::Document;
use toolcheck_lint::{Config, Options, lint, rules};

use crate::Conversation;

/// What a case expects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    /// What the case shows, in one sentence.
    #[allow(dead_code, reason = "it is for readers, and its presence is checked")]
    description: String,
    /// Where the case comes from.
    #[allow(dead_code, reason = "it is for readers, and its presence is checked")]
    source: String,
    /// The target; the format's own where it is absent.
    #[serde(default)]
    target: Option<String>,
    /// The format; the directory's or the content's where it is absent.
    #[serde(default)]
    format: Option<String>,
    /// What the transcript is for.
    #[serde(default)]
    kind: Option<String>,
    /// The configuration, as a path from the case's folder; none where it is absent.
    #[serde(default)]
    config: Option<String>,
    /// The findings, in the order of the text.
    findings: Vec<Expected>,
}

/// An expected finding: ids and places, never wording.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    rule: String,
    pointer: String,
    #[serde(default)]
    record: usize,
    #[serde(default)]
    level: Option<String>,
}

/// A case that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    /// Its path under the corpus' directory, with forward slashes.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is as expected.
    Passed,
    /// It is not, and why.
    Failed(String),
}

/// Runs all cases of a directory, by name.
///
/// # Errors
///
/// Where the directory cannot be read. A case that cannot be read fails, and the others are run.
pub fn run(directory: &Path) -> io::Result<Vec<CaseResult>> {
    // The names of the directories above count, also where the corpus is `.`.
    let directory = &directory.canonicalize()?;
    let (mut files, mut expectations) = (Vec::new(), Vec::new());
    list(directory, &mut files, &mut expectations)?;
    files.sort();
    expectations.sort();
    let name_of = |path: &Path| {
        let below = path.strip_prefix(directory).unwrap_or(path);
        let names = below.components().map(|part| part.as_os_str().to_string_lossy());
        names.collect::<Vec<_>>().join("/")
    };
    let mut results = Vec::new();
    let mut first_of_same: Option<(PathBuf, String, Conversation)> = None;
    for path in &files {
        let name = name_of(path);
        let parent = path.parent().unwrap_or(directory);
        let is_same = parent.parent().and_then(Path::file_name).is_some_and(|folder| folder == "same");
        let outcome = if is_same {
            match read_same(path) {
                Err(why) => Err(why),
                Ok(conversation) => match &first_of_same {
                    Some((folder, first, expected)) if folder == parent => {
                        if *expected == conversation {
                            Ok(())
                        } else {
                            Err(format!(
                                "  reads otherwise than {first}:\n  {conversation:?}\n  {expected:?}"
                            ))
                        }
                    }
                    _ => {
                        first_of_same = Some((parent.to_owned(), name.clone(), conversation));
                        Ok(())
                    }
                },
            }
        } else {
            run_case(path)
        };
        let outcome = outcome.map_or_else(Outcome::Failed, |()| Outcome::Passed);
        results.push(CaseResult { name, outcome });
    }
    // An expectation whose case was renamed or removed expects nothing any more.
    for path in expectations {
        let has_case = ENDINGS.iter().any(|ending| {
            let name = path.to_string_lossy();
            Path::new(&format!("{}{ending}", name.strip_suffix(EXPECTATION).unwrap_or(&name))).exists()
        });
        if !has_case {
            let outcome = Outcome::Failed("  there is no case for this expectation".to_owned());
            results.push(CaseResult { name: name_of(&path), outcome });
        }
    }
    Ok(results)
}

/// How cases' files end.
const ENDINGS: [&str; 3] = [".json", ".jsonl", ".ndjson"];
/// How expectations' files end.
const EXPECTATION: &str = ".expect.json";

/// The cases and the expectations under a directory.
fn list(directory: &Path, files: &mut Vec<PathBuf>, expectations: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            list(&path, files, expectations)?;
        } else if name.ends_with(EXPECTATION) {
            expectations.push(path);
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            files.push(path);
        }
    }
    Ok(())
}

fn run_case(path: &Path) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|error| format!("  {error}"))?;
    let beside = path.with_extension("expect.json");
    let text = fs::read_to_string(&beside)
        .map_err(|_| format!("  there is no expectation beside it ({})", beside.display()))?;
    let expected: Expectation =
        serde_json::from_str(&text).map_err(|error| format!("  {}: {error}", beside.display()))?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let format = match &expected.format {
        Some(id) => Some(formats::find(id).ok_or_else(|| format!("  there is no format `{id}`"))?),
        None => folder.and_then(formats::find),
    };
    let target = match &expected.target {
        Some(id) => Some(target::find(id).ok_or_else(|| format!("  there is no target `{id}`"))?),
        None => None,
    };
    let kind = expected.kind.as_deref().map_or(Ok(TranscriptKind::default()), str::parse)?;
    let config = match &expected.config {
        Some(name) => read_config(&path.with_file_name(name))?,
        None => Config::default(),
    };
    let settings = &config.settings;
    let options =
        Options { format, target, kind, settings, rules: rules::ALL.to_vec(), ..Options::default() };
    let report = lint("case", &bytes, &options);
    let show = |record: usize, rule: &str, pointer: &str| format!("  {rule} at {record}:{pointer}");
    let found: Vec<String> =
        report.findings.iter().map(|finding| show(finding.record, finding.rule, &finding.pointer)).collect();
    let wanted: Vec<String> = expected
        .findings
        .iter()
        .map(|finding| show(finding.record, &finding.rule, &finding.pointer))
        .collect();
    if found != wanted {
        let lines = |title: &str, lines: &[String]| {
            let lines = if lines.is_empty() { "  nothing".to_owned() } else { lines.join("\n") };
            format!("  {title}:\n{lines}")
        };
        return Err(format!("{}\n{}", lines("expected", &wanted), lines("found", &found)));
    }
    for (finding, expected) in report.findings.iter().zip(&expected.findings) {
        if expected.level.as_deref().is_some_and(|level| level != finding.level.as_str()) {
            return Err(format!("  {} is of the level {}", finding.rule, finding.level));
        }
    }
    Ok(())
}

fn read_config(path: &Path) -> Result<Config, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("  {}: {error}", path.display()))?;
    Config::parse(&text).map_err(|error| format!("  {}:{error}", path.display()))
}

/// Reads a file of `same/<conversation>/`, which is named after its format, as a conversation.
fn read_same(path: &Path) -> Result<Conversation, String> {
    let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let format = formats::find(id).ok_or_else(|| format!("  the file is named after no format: `{id}`"))?;
    let bytes = fs::read(path).map_err(|error| format!("  {error}"))?;
    let document = Document::read(&bytes);
    let transcript = document
        .root()
        .and_then(|root| format.read(root))
        .ok_or_else(|| "  it holds no list of messages of its format".to_owned())?;
    let report = lint("case", &bytes, &Options::default());
    if report.format != Some(id) {
        return Err(format!("  it is recognised as {:?}", report.format));
    }
    if let Some(finding) = report.findings.first() {
        return Err(format!("  {} at {}", finding.rule, finding.pointer));
    }
    let mut conversation = Conversation::of(&transcript, &document);
    // Not every format says whether a tool failed: that is compared where it is written, in the reading's own tests.
    for turn in &mut conversation.turns {
        if let crate::Turn::Results(answers) = turn {
            answers.iter_mut().for_each(|answer| answer.failed = false);
        }
        if let crate::Turn::Assistant { server_tools, .. } = turn {
            // Providers have names of their own for what they run; that they ran it is the same.
            server_tools.iter_mut().for_each(|name| name.clear());
        }
    }
    Ok(conversation)
}
