//! One conversation in several formats: all must be read as equal conversations.

use std::collections::HashMap;
use std::path::PathBuf;

use toolcheck_core::formats;
use toolcheck_core::text::{bounded, reason};
use toolcheck_json::Document;
use toolcheck_lint::{Options, lint};

use super::discover::{Case, Corpus, Role, folder};
use super::{Failure, Outcome, ReadAs};
use crate::expected::{ActualFinding, Difference};
use crate::{Conversation, Feature, Turn};

/// The conversations that the other files of their folders are compared with: the first of each that can be read.
#[derive(Debug, Default)]
pub(super) struct Conversations(HashMap<PathBuf, Option<(String, Conversation)>>);

impl Conversations {
    /// Runs a case of a folder of conversations.
    pub(super) fn run(&mut self, case: &Case, corpus: &Corpus) -> (Outcome, Option<ReadAs>) {
        let (conversation, read_as) = match read(case) {
            Ok(read) => read,
            Err(outcome) => return (*outcome, None),
        };
        let outcome = match self.first(case, corpus) {
            Some((first, expected)) if *expected != conversation => {
                Outcome::Failed(Failure::Conversation(difference(first, expected, &conversation)))
            }
            _ => Outcome::Passed,
        };
        (outcome, Some(read_as))
    }

    fn first(&mut self, case: &Case, corpus: &Corpus) -> Option<&(String, Conversation)> {
        let own = folder(&case.real)?;
        let first = self.0.entry(own.to_owned()).or_insert_with(|| {
            let beside = |other: &&Case| other.role == Role::Conversation && folder(&other.real) == Some(own);
            let mut beside = corpus.cases.iter().filter(beside);
            beside.find_map(|case| Some((case.name.clone(), read(case).ok()?.0)))
        });
        first.as_ref()
    }
}

/// Reads a file as a conversation in the format that it is named after.
fn read(case: &Case) -> Result<(Conversation, ReadAs), Box<Outcome>> {
    let failed = |why: &str| Box::new(Outcome::Failed(Failure::Conversation(vec![why.to_owned()])));
    let id = case.real.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let format = formats::find(id).ok_or_else(|| failed("the file is not named after a format"))?;
    let bytes =
        toolcheck_files::read(&case.real).map_err(|error| Box::new(Outcome::Unreadable(reason(&error))))?;
    let document = Document::read(&bytes);
    let transcript = format.read(document.root());
    let transcript = transcript.ok_or_else(|| failed("the file has no list of messages of its format"))?;
    let report = lint("case", &bytes, &Options::default());
    if report.format != Some(id) {
        let seen = report.format.unwrap_or("no format");
        return Err(failed(&format!("the content is recognised as {seen}")));
    }
    if !report.findings.is_empty() {
        let found: Vec<ActualFinding> = report.findings.iter().map(ActualFinding::from).collect();
        return Err(Box::new(Outcome::Failed(Failure::Findings(Difference::of(&[], &found)))));
    }
    let conversation = Conversation::of(&transcript, &document).numbered();
    // Some formats cannot mark failed results, and reasoning belongs to the provider that wrote it. Other tests cover
    // both.
    let mut conversation = conversation.without(Feature::Failures).without(Feature::Reasoning);
    // A system text may differ from file to file.
    conversation.system.clear();
    for turn in &mut conversation.turns {
        if let Turn::Assistant(message) = turn {
            // Providers have different names for their server tools.
            message.server_tools.iter_mut().for_each(|name| name.clear());
        }
    }
    Ok((conversation, ReadAs::of(&report)))
}

/// The maximum number of characters of a line that are shown.
const LINE_SHOWN: usize = 100;
/// The maximum number of lines of each side that are shown.
const LINES_SHOWN: usize = 3;

fn difference(first: &str, expected: &Conversation, found: &Conversation) -> Vec<String> {
    let (wanted, got) = (lines(expected), lines(found));
    let equal = wanted.iter().zip(&got).take_while(|(one, other)| one == other).count();
    let mut lines = vec![format!("differs from {first} after {equal} equal steps")];
    for (sign, side) in [('-', &wanted), ('+', &got)] {
        let rest = &side[equal..];
        let shown = rest.iter().take(LINES_SHOWN);
        lines.extend(shown.map(|line| format!("{sign} {}", bounded(line, LINE_SHOWN))));
        match rest.len() {
            0 => lines.push(format!("{sign} the end")),
            count if count > LINES_SHOWN => lines.push(format!("{sign} and {} more", count - LINES_SHOWN)),
            _ => {}
        }
    }
    lines
}

/// The texts, calls and results of a conversation, one line each.
fn lines(conversation: &Conversation) -> Vec<String> {
    let mut lines = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => lines.push(format!("user: {text}")),
            Turn::Assistant(message) => {
                lines.push(format!("assistant: {}", message.text));
                lines.extend(message.calls.iter().map(|call| {
                    let arguments = serde_json::Value::Object(call.arguments.clone());
                    format!("{} calls {}: {arguments}", call.id, call.name)
                }));
                lines.extend(
                    message.server_tools.iter().map(|_| "the provider runs a server tool".to_owned()),
                );
            }
            Turn::Results(outputs) => {
                lines.extend(
                    outputs.iter().map(|output| {
                        format!("{} result of {}: {}", output.call_id, output.name, output.text)
                    }),
                );
            }
            _ => {}
        }
    }
    lines
}
