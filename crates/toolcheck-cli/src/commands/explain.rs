use std::io::Write;

use anyhow::Result;
use serde_json::json;
use toolcheck_core::target;
use toolcheck_lint::report::rule_url;

use crate::Status;
use crate::args::{ExplainArgs, ListFormat};

pub(crate) fn run(args: &ExplainArgs, out: &mut dyn Write) -> Result<Status> {
    let rule = args.rule;
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
            "url": rule_url(rule.id), "refusals": refusals.collect::<Vec<_>>(),
        });
        serde_json::to_writer_pretty(&mut *out, &page)?;
        writeln!(out)?;
        return Ok(Status::Clean);
    }
    writeln!(out, "# {}\n\n{}", rule.id, docs(rule.docs).trim_end())?;
    let mut shown = Vec::new();
    for (target, refusal) in refusals {
        if shown.is_empty() {
            writeln!(out, "\n## Who refuses it?")?;
        }
        let text = refusal.text.as_deref().unwrap_or("(text not known)");
        let key = (target.id.as_str(), text);
        if shown.contains(&key) {
            continue;
        }
        writeln!(
            out,
            "\n- {} answers {} ({}, {}):\n  {text}",
            target.id, refusal.status, refusal.evidence, refusal.seen
        )?;
        if let Some(doubt) = &refusal.doubt {
            writeln!(out, "  In doubt: {doubt}")?;
        }
        if let Some(source) = refusal.sources.first() {
            writeln!(out, "  {source}")?;
        }
        shown.push(key);
    }
    Ok(Status::Clean)
}

/// The page without what is only for its test.
fn docs(docs: &str) -> String {
    let lines = docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.map(|line| format!("{}\n", line.replace("  // flagged", "  <-- flagged"))).collect()
}
