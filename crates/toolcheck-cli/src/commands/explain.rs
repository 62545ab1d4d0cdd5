use std::io::Write;

use anyhow::{Result, anyhow};
use serde_json::json;
use toolcheck_core::target::{self, Refusal};
use toolcheck_lint::bounded;
use toolcheck_lint::report::rule_url;

use crate::Status;
use crate::args::{ExplainArgs, ListFormat, parse_rule};

pub(crate) fn run(args: &ExplainArgs, out: &mut dyn Write) -> Result<Status> {
    if let Some(error) = &args.error {
        return super::explain_error::run(error, args.subject.as_deref(), args.output_format, out);
    }
    let id = args.subject.as_deref().unwrap_or_default();
    let rule = parse_rule(id).map_err(|error| anyhow!("`{}`: {error}", bounded(id, 80)))?;
    let refusals = target::all().filter(|target| target.union.is_empty()).flat_map(|target| {
        target.refusals.iter().filter(|refusal| refusal.rule == rule.id).map(move |refusal| (target, refusal))
    });
    if args.output_format == ListFormat::Json {
        let refusals = refusals.map(|(target, refusal)| {
            json!({
                "target": target.id, "case": refusal.case, "status": refusal.status, "text": refusal.text,
                "level": refusal.level().as_str(), "evidence": refusal.evidence.to_string(),
                "sources": refusal.sources, "seen": refusal.seen, "doubt": refusal.doubt,
            })
        });
        let page = json!({
            "id": rule.id, "summary": rule.summary.trim(), "since": rule.since, "docs": docs(rule.docs),
            "optional": rule.is_optional, "url": rule_url(rule.id), "refusals": refusals.collect::<Vec<_>>(),
        });
        serde_json::to_writer_pretty(&mut *out, &page)?;
        writeln!(out)?;
        return Ok(Status::Clean);
    }
    writeln!(out, "# {}\n\n{}", rule.id, docs(rule.docs).trim_end())?;
    if rule.is_optional {
        writeln!(out, "\nOff unless selected: `--extend-select {}`, or in the configuration.", rule.id)?;
    }
    if let Some(note) = rule.dataset_note() {
        writeln!(out, "\n{note}")?;
    }
    // Hosts of one API answer in the same words: one entry for all of them.
    let mut shown: Vec<(Vec<&str>, &Refusal)> = Vec::new();
    // What is only taken over from another vendor was not seen of this one.
    let seen = refusals.filter(|(target, refusal)| !(target.is_compatible_only && refusal.is_inherited));
    for (target, refusal) in seen {
        let is_same = |other: &Refusal| {
            (other.status, &other.text, &other.doubt, other.sources.first())
                == (refusal.status, &refusal.text, &refusal.doubt, refusal.sources.first())
        };
        match shown.iter_mut().find(|(_, other)| is_same(other)) {
            Some((targets, _)) if targets.contains(&target.id.as_str()) => {}
            Some((targets, _)) => targets.push(&target.id),
            None => shown.push((vec![&target.id], refusal)),
        }
    }
    if !shown.is_empty() {
        writeln!(out, "\n## Who refuses it?")?;
    }
    for (targets, refusal) in shown {
        let answer = if targets.len() == 1 { "answers" } else { "answer" };
        let status = refusal.status.map(|status| format!(" {status}")).unwrap_or_default();
        writeln!(
            out,
            "\n- {} {answer}{status} ({}, {}):\n  {}",
            targets.join(", "),
            refusal.evidence,
            refusal.seen,
            refusal.text.as_deref().unwrap_or("(text not known)")
        )?;
        if let Some(doubt) = &refusal.doubt {
            writeln!(out, "  In doubt: {doubt}")?;
        }
        if let Some(source) = refusal.sources.first() {
            writeln!(out, "  {source}")?;
        }
    }
    Ok(Status::Clean)
}

/// The page without what is only for its test.
fn docs(docs: &str) -> String {
    let lines = docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.map(|line| format!("{}\n", line.replace("  // flagged", "  <-- flagged"))).collect()
}
