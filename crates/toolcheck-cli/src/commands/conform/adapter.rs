//! Adapters: commands that translate lines of JSON.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value as Json, json};
use toolcheck_conform::adapter::{
    self, Answer, BodyKind, Examination, Gravity, Plan, Question, TestConversation, Translation, examine,
    generated,
};
use toolcheck_core::suggest::unknown;
use toolcheck_core::text::{bounded, reason, shown};
use toolcheck_project::printable;

use super::client::{Client, Limits};
use super::examined::{self, Report};
use super::known::Known;
use crate::Status;
use crate::args::{ConformArgs, ConformOutput, TranslationArgs};
use crate::commands::shapes;

/// The most characters of an error that are shown.
const SHOWN: usize = 300;

pub(super) fn run(args: &ConformArgs, out: &mut dyn Write) -> Result<Status> {
    let own = &args.translation;
    let conversations = conversations(args)?;
    if args.list {
        examined::list(&conversations, out)?;
        return Ok(Status::Clean);
    }
    let mut known = Known::read(args.known.as_deref())?;
    let (from, to) = own.from.zip(own.to).context("`--from` and `--to` are needed")?;
    let target = own.target.as_deref().map(shapes::load).transpose()?;
    let translation = Translation::new(from, to).with_target(target);
    let translations = kinds(own).into_iter().map(|kind| (kind, translation.clone())).collect();
    let plan = Plan { translations, conversations, model: Some(own.model.clone()) };
    let command = own.adapter.as_deref().unwrap_or_default();
    let mut client = Client::new(command, Limits::of(args))?;
    let examination = examine(&plan, |question| ask(&mut client, question))?;
    report(args, &examination, &mut known, out)
}

pub(super) fn conversations(args: &ConformArgs) -> Result<Vec<TestConversation>> {
    let own = &args.translation;
    let mut conversations = adapter::conversations().to_vec();
    conversations.extend(generated(own.seed, own.cases));
    for id in &args.only {
        if conversations.iter().all(|conversation| conversation.id != *id) {
            let known = adapter::conversations().iter().map(|conversation| conversation.id.as_str());
            bail!("{}\n\n`--list` beside `--adapter` lists all", unknown("conversation", id, known));
        }
    }
    conversations.retain(|conversation| args.only.is_empty() || args.only.contains(&conversation.id));
    Ok(conversations)
}

pub(super) fn kinds(args: &TranslationArgs) -> Vec<BodyKind> {
    let is_asked = |kind: &BodyKind| args.kind.is_empty() || args.kind.contains(kind);
    BodyKind::ALL.into_iter().filter(is_asked).collect()
}

fn ask(client: &mut Client, question: &Question<'_>) -> Result<Answer> {
    let line = json!({
        "id": question.id, "kind": question.kind.as_str(), "from": question.translation.from.id, "to": question.translation.to.id,
        "body": question.body,
    });
    Ok(client.ask(&line, answer)?.unwrap_or_else(|broken| Answer::Broke(broken.to_string())))
}

/// The answer in a line; `None` if the line is something else.
fn answer(line: &str) -> Option<Answer> {
    let Ok(Json::Object(mut members)) = serde_json::from_str(line.trim()) else { return None };
    if let Some(body) = members.remove("body") {
        return Some(Answer::Body(body));
    }
    let text = |key: &str| members.get(key).and_then(Json::as_str).map(|text| bounded(text, SHOWN));
    text("skip").map(Answer::Skipped).or_else(|| text("error").map(Answer::Errored))
}

/// Fails if a report on an adapter or a gateway is not written in such a way.
pub(super) fn check_output(output: ConformOutput) -> Result<()> {
    if matches!(output, ConformOutput::Junit | ConformOutput::Html) {
        bail!("a report on an adapter or a gateway is written as text, json or markdown");
    }
    Ok(())
}

/// Writes what was found, and says what the exit status is.
pub(super) fn report(
    args: &ConformArgs,
    examination: &Examination,
    known: &mut Known,
    out: &mut dyn Write,
) -> Result<Status> {
    let to = args.translation.to.map_or("", |format| format.id);
    let mut unexpected = 0;
    for case in &examination.cases {
        for fault in case.faults.iter().filter(|fault| fault.gravity == Gravity::Fail) {
            unexpected += usize::from(!known.covers(&case.id, &fault.class, to));
        }
    }
    let judged = examination.cases.iter().filter(|case| case.skipped.is_none());
    let judged: Vec<(&str, &str)> = judged.map(|case| (case.id.as_str(), to)).collect();
    let stale = known.stale_of(&judged);
    let written = args.record.as_deref().map(|folder| record(folder, examination)).transpose()?;
    let report = Report { examination, known, to, stale: &stale, written: written.as_deref() };
    match args.output_format {
        ConformOutput::Text => report.text(out)?,
        ConformOutput::Json => report.json(out)?,
        ConformOutput::Markdown => report.markdown(out)?,
        other => check_output(other)?,
    }
    Ok(if unexpected == 0 && stale.is_empty() { Status::Clean } else { Status::Findings })
}

/// Writes the smallest body before, and what was made of it, for each fault. Returns the names of the files before.
fn record(folder: &Path, examination: &Examination) -> Result<Vec<String>> {
    std::fs::create_dir_all(folder)
        .map_err(|error| anyhow!("cannot create {}: {}", printable(folder), reason(&error)))?;
    let mut names = Vec::new();
    for (number, found) in examination.found.iter().enumerate() {
        let name = format!("{:02}-{}-{}", number + 1, found.kind.as_str(), found.fault.class);
        let sides = [("before", Some(&found.before)), ("after", found.after.as_ref())];
        for (side, body) in sides.into_iter().filter_map(|(side, body)| Some((side, body?))) {
            let path = folder.join(format!("{name}.{side}.json"));
            toolcheck_files::write(&path, |out| writeln!(out, "{body:#}"))
                .map_err(|error| anyhow!("cannot write {}: {}", shown(&name), reason(&error)))?;
        }
        names.push(format!("{name}.before.json"));
    }
    Ok(names)
}
