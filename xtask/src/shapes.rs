//! What is known of the shape of requests, for the generated pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolcheck_core::RuleId;
use toolcheck_core::shape::{Known, ObjectView, Shape, ShapeFaultKind, UnverifiedLevel};
use toolcheck_core::targets::{self, Target};
use toolcheck_lint::rules;

const MOST_ROWS: usize = 12;

/// What somebody has seen an API refuse, or accept.
struct Row {
    rule: RuleId,
    object: String,
    keys: Vec<String>,
    /// What it is about if it is not about keys.
    whole: &'static str,
    asked: String,
    known: String,
}

/// The table of what a rule that reports shapes finds, as far as somebody has seen it refused.
pub(crate) fn table(rule: RuleId) -> String {
    let mut rows = String::new();
    for target in targets::all() {
        let mut own: Vec<Row> = seen(target);
        own.retain(|row| row.rule == rule);
        for row in own.iter().take(MOST_ROWS) {
            let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            let keys = if keys.is_empty() { row.whole.to_owned() } else { keys.join(", ") };
            let (object, asked, known) = (cell(&row.object), cell(&row.asked), cell(&row.known));
            let _ = writeln!(rows, "| {} | `{object}` | {} | {asked} | {known} |", target.id, cell(&keys));
        }
        if own.len() > MOST_ROWS {
            let more = own.len() - MOST_ROWS;
            let _ = writeln!(rows, "| {0} | … | | {more} more: `toolcheck shapes {0}` | |", target.id);
        }
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n## What is known of keys\n\n\
         Somebody has seen these refused. `toolcheck shapes TARGET OBJECT` shows all that is known of an object, also what \
         is only documented ([shapes.md](../shapes.md)).\n\n\
         | target | object | key | what must hold | known |\n| --- | --- | --- | --- | --- |\n{rows}"
    )
}

/// The line about shapes in the section of a target.
pub(crate) fn summary(target: &Target) -> String {
    let Some(shape) = target.shape() else { return String::new() };
    let follows = match shape.unseen() {
        UnverifiedLevel::Error => "errors",
        UnverifiedLevel::Warning => "warnings",
        _ => "nothing",
    };
    let mut counts: BTreeMap<RuleId, usize> = BTreeMap::new();
    for row in seen(target) {
        *counts.entry(row.rule).or_default() += row.keys.len().max(1);
    }
    let counts: Vec<String> =
        counts.iter().map(|(rule, count)| format!("[{rule}](rules/{rule}.md) {count}")).collect();
    let seen =
        if counts.is_empty() { String::new() } else { format!("seen refused: {}; ", counts.join(", ")) };
    format!("- **Shape of requests** (`toolcheck shapes {}`): {seen}only documented: {follows}\n", target.id)
}

/// Whether somebody has seen a target refuse what a rule finds in the shape of a request.
pub(crate) fn refuses(target: &Target, rule: RuleId) -> bool {
    seen(target).iter().any(|row| row.rule == rule)
}

fn seen(target: &Target) -> Vec<Row> {
    let also = target.also.keys().filter_map(|format| target.shape_in(format));
    let shapes = target.shape().into_iter().chain(also);
    let mut rows: Vec<Row> = Vec::new();
    for (object, demand) in shapes.flat_map(Shape::demands) {
        let rule = rules::of_demand(object, &demand);
        for known in demand.known.iter().filter(|known| known.is_seen()) {
            let conditions = known.conditions();
            let comma = if conditions.is_empty() { "" } else { ", " };
            let is_kind =
                demand.fault == ShapeFaultKind::Value && object.by().is_some_and(|by| by == demand.key);
            let asked = if is_kind && demand.is_documented {
                "one of its kinds".to_owned()
            } else {
                demand.asked.to_string()
            };
            let row = Row {
                rule,
                object: name(object, known).to_owned(),
                keys: Some(demand.key.to_string()).into_iter().filter(|key| !key.is_empty()).collect(),
                whole: if demand.fault == ShapeFaultKind::Unknown { "other keys" } else { "all keys" },
                asked: format!("{asked}{comma}{conditions}"),
                known: evidence(known),
            };
            // One fact may be about variants that ask for different things.
            let is_same = |other: &&mut Row| {
                (&other.rule, &other.object, &other.known) == (&row.rule, &row.object, &row.known)
                    && (other.asked == row.asked || other.keys == row.keys)
            };
            match rows.iter_mut().find(is_same) {
                Some(other) => {
                    let new = row.keys.into_iter().filter(|key| !other.keys.contains(key));
                    let new: Vec<String> = new.collect();
                    other.keys.extend(new);
                }
                None => rows.push(row),
            }
        }
    }
    rows
}

/// The object that a fact is noted for.
fn name<'f>(object: ObjectView<'f>, known: &Known<'f>) -> &'f str {
    if known.object.is_empty() { object.name() } else { known.object }
}

fn evidence(known: &Known<'_>) -> String {
    let words = format!("{} {}", known.evidence, known.seen);
    let doubt = if known.doubt.is_some() { ", in doubt" } else { "" };
    match known.sources.first() {
        Some(source) => format!("[{words}]({source}){doubt}"),
        None => format!("{words}{doubt}"),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
