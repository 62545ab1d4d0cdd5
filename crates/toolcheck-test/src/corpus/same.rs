//! One conversation in several formats: all must read alike.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use toolcheck_core::formats;
use toolcheck_core::text::bounded;
use toolcheck_json::Document;
use toolcheck_lint::{Options, lint};

use super::discover::{Case, Corpus, What, folder};
use super::{Failure, Outcome, ReadAs};
use crate::expected::{Difference, Found};
use crate::{Conversation, Feature, Turn};

/// The conversations that the others of their folders are held against: the first of each that can be read.
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
                Outcome::Failed(Failure::Conversation(otherwise(first, expected, &conversation)))
            }
            _ => Outcome::Passed,
        };
        (outcome, Some(read_as))
    }

    fn first(&mut self, case: &Case, corpus: &Corpus) -> Option<&(String, Conversation)> {
        let own = folder(&case.real)?;
        let first = self.0.entry(own.to_owned()).or_insert_with(|| {
            let beside = |other: &&Case| other.what == What::Conversation && folder(&other.real) == Some(own);
            let mut beside = corpus.cases.iter().filter(beside);
            beside.find_map(|case| Some((case.name.clone(), read(case).ok()?.0)))
        });
        first.as_ref()
    }
}

/// Reads a file, which is named after its format, as a conversation.
fn read(case: &Case) -> Result<(Conversation, ReadAs), Box<Outcome>> {
    let failed = |why: &str| Box::new(Outcome::Failed(Failure::Conversation(vec![why.to_owned()])));
    let id = case.real.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let format = formats::find(id).ok_or_else(|| failed("the file is named after no format"))?;
    let bytes = fs::read(&case.real).map_err(|error| Box::new(Outcome::Unreadable(error.to_string())))?;
    let document = Document::read(&bytes);
    let transcript = format.read(document.root());
    let transcript = transcript.ok_or_else(|| failed("it holds no list of messages of its format"))?;
    let report = lint("case", &bytes, &Options::default());
    if report.format != Some(id) {
        let seen = report.format.unwrap_or("no format");
        return Err(failed(&format!("its content is recognised as {seen}")));
    }
    if !report.findings.is_empty() {
        let found: Vec<Found> = report.findings.iter().map(Found::from).collect();
        return Err(Box::new(Outcome::Failed(Failure::Findings(Difference::of(&[], &found)))));
    }
    let conversation = Conversation::of(&transcript, &document).numbered();
    // Not every format says whether a tool failed: that is compared where it is written, in the reading's own tests.
    // Reasoning is for the provider that it came from, and differs from one to the next.
    let mut conversation = conversation.without(Feature::Failures).without(Feature::Reasoning);
    // A corpus shows what is said and done; a system text beside it is the application's own.
    conversation.system.clear();
    for turn in &mut conversation.turns {
        if let Turn::Assistant(said) = turn {
            // Providers have names of their own for what they run; that they ran it is the same.
            said.server_tools.iter_mut().for_each(|name| name.clear());
        }
    }
    Ok((conversation, ReadAs::of(&report)))
}

/// The most characters of a line that are shown.
const LINE_SHOWN: usize = 100;
/// How many lines of each side are shown.
const LINES_SHOWN: usize = 3;

/// Where a conversation is otherwise than the first one.
fn otherwise(first: &str, expected: &Conversation, found: &Conversation) -> Vec<String> {
    let (wanted, got) = (lines(expected), lines(found));
    let alike = wanted.iter().zip(&got).take_while(|(one, other)| one == other).count();
    let mut lines = vec![format!("it reads otherwise than {first}, after {alike} steps that are alike")];
    for (sign, side) in [('-', &wanted), ('+', &got)] {
        let rest = &side[alike..];
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

/// What is said and done, one line each.
fn lines(conversation: &Conversation) -> Vec<String> {
    let mut lines = Vec::new();
    for turn in &conversation.turns {
        match turn {
            Turn::User(text) => lines.push(format!("user: {text}")),
            Turn::Assistant(said) => {
                lines.push(format!("assistant: {}", said.text));
                lines.extend(said.calls.iter().map(|call| {
                    let arguments = serde_json::Value::Object(call.arguments.clone());
                    format!("{} calls {}: {arguments}", call.id, call.name)
                }));
                lines.extend(
                    said.server_tools.iter().map(|_| "the provider runs a tool of its own".to_owned()),
                );
            }
            Turn::Results(outputs) => {
                lines.extend(
                    outputs
                        .iter()
                        .map(|output| format!("{} gets of {}: {}", output.call_id, output.name, output.text)),
                );
            }
            _ => {}
        }
    }
    lines
}
