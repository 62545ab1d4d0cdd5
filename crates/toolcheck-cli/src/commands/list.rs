use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use toolcheck_core::{formats, target};
use toolcheck_lint::report::rule_url;
use toolcheck_lint::rules;

use crate::Status;
use crate::args::{ListArgs, ListFormat};

pub(crate) fn rules(args: &ListArgs, out: &mut dyn Write) -> Result<Status> {
    let rows = rules::ALL.iter().map(|rule| Row {
        id: rule.id.to_owned(),
        text: format!("{}{}", rule.summary.trim(), rule.note()),
        json: json!({
            "id": rule.id, "summary": rule.summary.trim(), "since": rule.since, "url": rule_url(rule.id),
            "explained_only": rule.check.is_none(), "optional": rule.is_optional,
        }),
    });
    write(args, out, "rules", rows.collect())
}

pub(crate) fn formats(args: &ListArgs, out: &mut dyn Write) -> Result<Status> {
    let rows = formats::ALL.iter().map(|format| Row {
        id: format.id.to_owned(),
        text: format!("{}{}", format.name, also(format.aliases)),
        json: json!({"id": format.id, "name": format.name, "aliases": format.aliases}),
    });
    write(args, out, "formats", rows.collect())
}

pub(crate) fn targets(args: &ListArgs, out: &mut dyn Write) -> Result<Status> {
    let rows = target::all().map(|target| Row {
        id: target.id.clone(),
        text: format!("{}{}", target.name, also(&target.aliases)),
        json: json!({
            "id": target.id, "name": target.name, "aliases": target.aliases, "format": target.format, "extends": target.extends,
            "notes": target.notes,
            "refusals": target.refusals.iter().map(|refusal| json!({
                "rule": refusal.rule, "case": refusal.case, "status": refusal.status, "text": refusal.text,
                "level": refusal.level().as_str(), "evidence": refusal.evidence.to_string(),
                "sources": refusal.sources, "seen": refusal.seen, "doubt": refusal.doubt,
            })).collect::<Vec<_>>(),
            "tolerances": target.tolerances.iter().map(|tolerance| json!({
                "rule": tolerance.rule, "case": tolerance.case, "harm": tolerance.harm,
                "evidence": tolerance.evidence.to_string(), "sources": tolerance.sources, "seen": tolerance.seen,
            })).collect::<Vec<_>>(),
        }),
    });
    write(args, out, "targets", rows.collect())
}

/// The other names of a format or target, behind its name in prose.
fn also<S: AsRef<str>>(aliases: &[S]) -> String {
    let aliases: Vec<&str> = aliases.iter().map(AsRef::as_ref).collect();
    if aliases.is_empty() { String::new() } else { format!("; also {}", aliases.join(", ")) }
}

struct Row {
    id: String,
    text: String,
    json: Value,
}

fn write(args: &ListArgs, out: &mut dyn Write, key: &str, rows: Vec<Row>) -> Result<Status> {
    match args.output_format {
        ListFormat::Text => {
            let width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0);
            for row in rows {
                writeln!(out, "{:width$}  {}", row.id, row.text)?;
            }
        }
        ListFormat::Json => {
            let rows: Vec<Value> = rows.into_iter().map(|row| row.json).collect();
            serde_json::to_writer_pretty(&mut *out, &json!({"version": 1, key: rows}))?;
            writeln!(out)?;
        }
    }
    Ok(Status::Clean)
}
