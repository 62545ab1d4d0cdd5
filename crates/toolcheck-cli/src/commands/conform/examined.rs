//! What an examination of an adapter says.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value as Json, json};
use toolcheck_conform::adapter::{BodyKind, Examination, Gravity, ReducedFault, TestConversation};
use toolcheck_core::text::{Counted, bounded, guard, line};
use toolcheck_report::outputs::write_json;

use super::known::Known;

/// The most characters of a body that the terminal shows.
const SHOWN: usize = 2000;

pub(super) struct Report<'r> {
    pub(super) examination: &'r Examination,
    pub(super) known: &'r Known,
    /// The id of the format after.
    pub(super) to: &'r str,
    pub(super) stale: &'r [String],
    /// The names of the files with the bodies before, if there are such files.
    pub(super) written: Option<&'r [String]>,
}

pub(super) fn list(conversations: &[TestConversation], out: &mut dyn Write) -> io::Result<()> {
    let width = conversations.iter().map(|conversation| conversation.id.len()).max().unwrap_or_default();
    for conversation in conversations {
        writeln!(out, "{:width$}  {}", conversation.id, conversation.title)?;
    }
    Ok(())
}

impl Report<'_> {
    /// Why a fault is known, in all conversations that show it.
    fn reason(&self, found: &ReducedFault) -> Option<&str> {
        let mut reasons = found.cases.iter().map(|case| self.known.reason(case, &found.fault.class, self.to));
        let first = reasons.next()??;
        reasons.all(|reason| reason.is_some()).then_some(first)
    }

    pub(super) fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        // An adapter that does only requests skips all the rest for one reason.
        let mut skipped: BTreeMap<(BodyKind, &str), Vec<&str>> = BTreeMap::new();
        for case in &self.examination.cases {
            if let Some(why) = &case.skipped {
                skipped.entry((case.kind, why)).or_default().push(&case.id);
            }
        }
        for ((kind, why), cases) in skipped {
            let others = others(cases.len() - 1);
            writeln!(out, "skip {} {}{others}: {}", kind.as_str(), cases[0], line(why))?;
        }
        for found in &self.examination.found {
            let fault = &found.fault;
            let known = self.reason(found).map_or_else(String::new, |why| format!(" (known: {})", line(why)));
            let said = format!(
                "{} {} {}: {}{known}",
                fault.gravity.as_str(),
                found.kind.as_str(),
                fault.class,
                line(&fault.message)
            );
            writeln!(out, "{}", guard(&said))?;
            writeln!(out, "  in: {}{}", found.cases[0], others(found.cases.len() - 1))?;
            let smallest = if found.is_smallest { "smallest" } else { "smallest so far" };
            writeln!(out, "  {smallest}: {}", shown(&found.before))?;
            if let Some(after) = &found.after {
                writeln!(out, "  becomes: {}", shown(after))?;
            }
        }
        for entry in self.stale {
            writeln!(out, "stale {}: it no longer fails", line(entry))?;
        }
        let cases = &self.examination.cases;
        let failed = |gravity: Gravity| {
            cases
                .iter()
                .filter(|case| case.faults.iter().map(|fault| fault.gravity).max() == Some(gravity))
                .count()
        };
        let skipped = cases.iter().filter(|case| case.skipped.is_some()).count();
        let (fail, weak) = (failed(Gravity::Fail), failed(Gravity::Weak));
        let pass = cases.len() - fail - weak - skipped;
        let counts = [(fail, "fail"), (pass, "pass"), (skipped, "skip"), (weak, "weak")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
        let faults = Counted(self.examination.found.len(), "smallest conversation");
        writeln!(out, "{}: {}; {faults}", Counted(cases.len(), "case"), counts.join(", "))
    }

    pub(super) fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let cases = self.examination.cases.iter().map(|case| {
            let faults = case.faults.iter().map(|fault| {
                json!({
                    "origin": fault.origin.as_str(), "class": fault.class, "status": fault.gravity.as_str(),
                    "message": fault.message, "place": fault.place,
                })
            });
            let status = match case.faults.iter().map(|fault| fault.gravity).max() {
                _ if case.skipped.is_some() => "skip",
                Some(gravity) => gravity.as_str(),
                None => "pass",
            };
            json!({
                "id": case.id, "kind": case.kind.as_str(), "status": status, "reason": case.skipped,
                "faults": faults.collect::<Vec<_>>(),
            })
        });
        let found = self.examination.found.iter().enumerate().map(|(number, found)| {
            json!({
                "origin": found.fault.origin.as_str(), "class": found.fault.class,
                "status": found.fault.gravity.as_str(), "kind": found.kind.as_str(),
                "message": found.fault.message, "place": found.fault.place, "cases": found.cases,
                "known": self.reason(found), "smallest": found.is_smallest,
                "before": found.before, "after": found.after,
                "file": self.written.and_then(|names| names.get(number)),
            })
        });
        let (cases, found): (Vec<Json>, Vec<Json>) = (cases.collect(), found.collect());
        write_json(&json!({"version": 1, "cases": cases, "found": found, "stale": self.stale}), out)
    }

    pub(super) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "| | what | fault | seen in | smallest conversation | becomes |")?;
        writeln!(out, "| --- | --- | --- | --- | --- | --- |")?;
        for found in &self.examination.found {
            let fault = &found.fault;
            let after = found.after.as_ref().map_or_else(|| cell(&fault.message), cell_of_body);
            let class = format!("`{}` ({})", fault.class, fault.origin.as_str());
            writeln!(
                out,
                "| {} | {} | {class} | {} | {} | {after} |",
                fault.gravity.as_str(),
                found.kind.as_str(),
                cell(&found.cases.join(", ")),
                cell_of_body(&found.before)
            )?;
        }
        Ok(())
    }
}

fn others(count: usize) -> String {
    if count > 0 { format!(" and {count} more") } else { String::new() }
}

fn shown(body: &Json) -> String {
    guard(&line(&bounded(&body.to_string(), SHOWN))).to_string()
}

/// A body as code in a cell of a table.
fn cell_of_body(body: &Json) -> String {
    let text = shown(body).replace('|', "\\|");
    // More than any run of them inside.
    let fence = "`".repeat(text.split(|one| one != '`').map(str::len).max().unwrap_or_default() + 1);
    format!("{fence} {text} {fence}")
}

fn cell(text: &str) -> String {
    line(text).replace('|', "\\|").replace('<', "&lt;")
}
