//! `toolcheck rules`, `formats` and `targets`: lists.

use std::io::Write;

use anstyle::Style as Paint;
use anyhow::Result;
use serde_json::{Value, json};
use toolcheck_core::readers::SourceKind;
use toolcheck_core::{formats, readers, targets};
use toolcheck_lint::report::rule_url;
use toolcheck_lint::{Category, rules};
use toolcheck_report::shapes::{refusal_json, tolerance_json};

use crate::args::{Color, ListArgs, ListFormat};
use crate::{Status, screen};

pub(crate) fn rules(args: &ListArgs, out: &mut dyn Write) -> Result<Status> {
    let rows = |category: Category| {
        let rows = rules::of(category).map(|rule| Row {
            id: rule.id.to_string(),
            level: rule.level(),
            text: format!("{}{}", rule.summary(), rule.note()),
            json: json!({
                "id": rule.id, "summary": rule.summary(), "category": category.id(),
                "default_level": rule.default_level.map(|level| level.as_str()), "since": rule.since,
                "url": rule_url(rule.id), "explained_only": rule.only_explains(), "optional": rule.is_optional,
            }),
        });
        (category.title(), rows.collect())
    };
    let groups: Vec<(&str, Vec<Row>)> = Category::ALL.map(rows).into();
    write(args, out, "rules", &groups)?;
    if args.output_format == ListFormat::Text {
        let style = screen::style(Color::Auto);
        let notes = "The second column is the default level; `target` means that it depends on the target. \
                     `toolcheck explain RULE` shows a rule's page.";
        writeln!(out)?;
        for line in screen::wrapped(notes, "", &style) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(Status::Clean)
}

pub(crate) fn formats(args: &ListArgs, out: &mut dyn Write) -> Result<Status> {
    let wire = formats::ALL.iter().map(|format| Row {
        id: format.id.to_owned(),
        level: "",
        text: format!("{}{}", format.name, also(format.aliases)),
        json: json!({"id": format.id, "name": format.name, "aliases": format.aliases, "sort": "request"}),
    });
    let mut groups = vec![("Requests", wire.collect())];
    for kind in SourceKind::ALL {
        let readers = readers::ALL.iter().filter(|reader| reader.kind == kind);
        let rows: Vec<Row> = readers
            .map(|reader| Row {
                id: reader.id.to_owned(),
                level: "",
                text: reader.name.to_owned(),
                json: json!({"id": reader.id, "name": reader.name, "aliases": [], "sort": kind.as_str()}),
            })
            .collect();
        if !rows.is_empty() {
            groups.push((kind.title(), rows));
        }
    }
    let containers = toolcheck_open::ALL.iter().map(|container| Row {
        id: container.id.to_owned(),
        level: "",
        text: format!("{}{}", container.name, if container.is_built() { "" } else { " (not in this build)" }),
        json: json!({
            "id": container.id, "name": container.name, "aliases": [], "container": true,
            "built": container.is_built(),
        }),
    });
    groups.push(("Recordings and batches", containers.collect()));
    write(args, out, "formats", &groups)
}

pub(crate) fn targets(args: &ListArgs, out: &mut dyn Write) -> Result<Status> {
    let rows = targets::all().map(|target| Row {
        id: target.id.to_string(),
        level: "",
        text: format!("{}{}", target.name, also(&target.aliases)),
        json: json!({
            "id": target.id, "name": target.name, "aliases": target.aliases, "format": target.format, "extends": target.extends,
            "notes": target.notes,
            "refusals": target.refusals().iter().map(|refusal| refusal_json(refusal, "rule", refusal.rule.as_str())).collect::<Vec<_>>(),
            "tolerances": target.tolerances().iter().map(|tolerance| tolerance_json(tolerance, "rule", tolerance.rule.as_str())).collect::<Vec<_>>(),
        }),
    });
    write(args, out, "targets", &[("", rows.collect())])
}

/// The aliases of a format or target, to append to its name.
fn also<S: AsRef<str>>(aliases: &[S]) -> String {
    let aliases: Vec<&str> = aliases.iter().map(AsRef::as_ref).collect();
    if aliases.is_empty() { String::new() } else { format!("; also {}", aliases.join(", ")) }
}

struct Row {
    id: String,
    /// The level of a rule; empty for other rows.
    level: &'static str,
    text: String,
    json: Value,
}

/// The minimum screen width to show a row's text beside its id instead of below it.
const TWO_COLUMNS: usize = 72;

/// Writes rows in groups, each with a title; a single group without a title is a plain list.
fn write(args: &ListArgs, out: &mut dyn Write, key: &str, groups: &[(&str, Vec<Row>)]) -> Result<Status> {
    let rows = || groups.iter().flat_map(|(_, rows)| rows);
    if args.output_format == ListFormat::Json {
        let rows: Vec<&Value> = rows().map(|row| &row.json).collect();
        serde_json::to_writer_pretty(&mut *out, &json!({"version": 1, key: rows}))?;
        writeln!(out)?;
        return Ok(Status::Clean);
    }
    let style = screen::style(Color::Auto);
    let paint = |text: &str, colors: Paint| screen::painted(text, colors, &style);
    let bold = Paint::new().bold();
    let id = rows().map(|row| row.id.len()).max().unwrap_or(0);
    let level = rows().map(|row| row.level.len()).max().unwrap_or(0);
    let column = id + 2 + if level > 0 { level + 2 } else { 0 };
    for (number, (title, rows)) in groups.iter().enumerate() {
        if !title.is_empty() {
            if number > 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", paint(title, bold))?;
        }
        let margin = if title.is_empty() { "" } else { "  " };
        for row in rows {
            let colors = screen::colors_of(row.level);
            if screen::is_wrapped() && style.width < TWO_COLUMNS {
                writeln!(out, "{margin}{}", paint(&row.id, bold))?;
                let text = if row.level.is_empty() {
                    row.text.clone()
                } else {
                    format!("{}: {}", row.level, row.text)
                };
                for (number, line) in
                    screen::wrapped(&text, &format!("{margin}    "), &style).iter().enumerate()
                {
                    let is_level = number == 0 && !row.level.is_empty();
                    let line = if is_level {
                        line.replacen(row.level, &paint(row.level, colors), 1)
                    } else {
                        line.clone()
                    };
                    writeln!(out, "{line}")?;
                }
                continue;
            }
            let mut head = format!("{margin}{}{}  ", paint(&row.id, bold), " ".repeat(id - row.id.len()));
            if level > 0 {
                let padding = " ".repeat(level - row.level.len());
                head.push_str(&format!("{}{padding}  ", paint(row.level, colors)));
            }
            // In a pipe, each row is one line, for `grep`.
            let indent = if screen::is_wrapped() { " ".repeat(margin.len() + column) } else { String::new() };
            for (number, line) in screen::wrapped(&row.text, &indent, &style).iter().enumerate() {
                let line = if number == 0 { format!("{head}{}", line.trim_start()) } else { line.clone() };
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(Status::Clean)
}
