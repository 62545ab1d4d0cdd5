//! Reads a user's own target and checks it against the rules: [`Target::parse`] does not know them, so it would accept
//! a mistyped case or placeholder.

mod shape;
mod tree;

use std::ops::Range;

use regex::Regex;
use serde::Deserialize;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::suggest::similar;
use toolcheck_core::targets::{self, Target};
use toolcheck_lint::{Rule, rules, vocabulary};

use self::shape::ShapeTable;
use self::tree::{Name, Table, named_tables, names, tables, under};
use crate::Error;
use crate::file::{error_of, read_despite_unknown};
use crate::names::{Named, RuleName, named};
use crate::values::{Faults, FileFault};

/// Reads the file of a target, and checks every name in it: the format, the targets that it is based on, rules with
/// their cases and placeholders, roles, and the objects, rules, types and placeholders of `[shape]`.
///
/// ```
/// let text = "id = \"gateway\"\nname = \"Our gateway\"\nextends = \"opnai-chat\"\n";
/// let error = toolcheck_config::parse_target(text).expect_err("the target is unknown");
/// assert_eq!(error.to_string(), "3:11: there is no target `opnai-chat`; did you mean `openai-chat`?");
/// ```
///
/// # Errors
///
/// All errors in the file, with their line and column.
pub fn parse_target(text: &str) -> Result<Target, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut faults = Faults::default();
    // What is similar to an unknown name is told below, with all others of its kind.
    let is_told =
        |message: &str| ["unknown rule", "unknown type"].iter().any(|told| message.starts_with(told));
    let read =
        read_despite_unknown(text, &mut faults, |text| match toolcheck_toml::from_str::<Target>(text) {
            Err(error) if is_told(error.message().trim()) => Ok(()),
            read => read.map(drop),
        });
    let tree = Table::parse(text).ok();
    let file = tree.as_ref().filter(|_| read.is_some()).map(|tree| TargetFile { table: tree.get_ref() });
    if let Some(file) = &file {
        file.check(text, &mut faults.0);
    }
    if !faults.0.is_empty() {
        return Err(error_of(text, faults));
    }
    // The remaining errors only show once the file is merged with the targets that it is based on.
    let target = Target::parse(text)
        .map_err(|error| error_of(text, Faults(vec![FileFault(0..0, error.to_string())])))?;
    if let Some(file) = &file {
        let own = file.shape().zip(target.shape());
        let also = file.also().filter_map(|(format, table)| Some((table, target.shape_in(format.text)?)));
        for (table, shape) in own.into_iter().chain(also) {
            table.check_effect(shape, &mut faults.0);
        }
    }
    if faults.0.is_empty() { Ok(target) } else { Err(error_of(text, faults)) }
}

named! {
    /// The id of a format.
    OwnFormat, "format": formats::ALL.iter().map(|format| format.id), formats::find => &'static Format;
    /// The id of a built-in target.
    BuiltIn, "target": targets::ids(), targets::find => &'static Target;
}

/// The file of a target.
struct TargetFile<'t> {
    table: &'t Table<'t>,
}

impl<'t> TargetFile<'t> {
    fn check(&self, text: &str, found: &mut Vec<FileFault>) {
        let format = self.name("format").and_then(|name| name.meaning::<OwnFormat>(found));
        let parent = self.name("extends").and_then(|name| name.meaning::<BuiltIn>(found));
        for member in names(self.table, &["union"]) {
            member.meaning::<BuiltIn>(found);
        }
        found.extend(self.patterns().filter_map(|pattern| fault_of_pattern(&pattern)));
        self.check_roles(found);
        for fact in self.rule_facts() {
            check_rule_fact(fact, text, found);
        }
        self.check_shapes(format, parent, text, found);
    }

    fn name(&self, key: &'static str) -> Option<Name<'t>> {
        self.table.get(key).and_then(tree::name_of)
    }

    /// `[shape]`.
    fn shape(&self) -> Option<ShapeTable<'t>> {
        under(self.table, "shape").map(ShapeTable::new)
    }

    /// The shapes in other formats.
    fn also(&self) -> impl Iterator<Item = (Name<'t>, ShapeTable<'t>)> {
        let also = under(self.table, "also").into_iter().flat_map(named_tables);
        also.map(|(format, table)| (format, ShapeTable::new(table)))
    }

    /// The refusals and tolerances.
    fn rule_facts(&self) -> impl Iterator<Item = &'t Table<'t>> {
        tables(self.table, "refusal").chain(tables(self.table, "tolerance"))
    }

    /// Checks `[shape]`, whose objects are those of the format, and the shapes in other formats.
    fn check_shapes(
        &self,
        own: Option<&'static Format>,
        parent: Option<&'static Target>,
        text: &str,
        found: &mut Vec<FileFault>,
    ) {
        let format = own.map(|format| format.id).or_else(|| parent?.format.as_deref());
        match (self.shape(), format) {
            (Some(shape), Some(format)) => shape.check(format, parent, text, found),
            // Otherwise the name is wrong, which is reported.
            (Some(_), None) if self.name("format").is_none() && self.name("extends").is_none() => {
                let span = self.table.get("shape").map(toml::Spanned::span).unwrap_or_default();
                let message = "`[shape]` needs `format` or `extends`, which say what the objects are";
                found.push(FileFault(span, message.to_owned()));
            }
            _ => {}
        }
        for (format, shape) in self.also() {
            if let Some(format) = format.meaning::<OwnFormat>(found) {
                shape.check(format.id, parent, text, found);
            }
        }
    }

    /// The regular expressions outside of shapes.
    fn patterns(&self) -> impl Iterator<Item = Name<'t>> {
        const KEYS: [&str; 6] =
            ["pattern", "server-pattern", "item-pattern", "model", "except-model", "advisor"];
        let own = ["ids", "names"].into_iter().filter_map(|key| under(self.table, key));
        let tools = under(self.table, "tools").into_iter();
        let tools = tools.flat_map(|tools| tables(tools, "unsupported").chain(tables(tools, "advisors")));
        own.chain(self.rule_facts()).chain(tools).flat_map(|table| names(table, &KEYS))
    }

    /// An API may have roles of its own, so an unknown role is an error only if it is similar to a known one.
    fn check_roles(&self, found: &mut Vec<FileFault>) {
        let builtin = targets::all().filter_map(|target| target.roles.allowed.as_ref()).flatten();
        let known: Vec<&str> = builtin.map(String::as_str).collect();
        let roles = under(self.table, "roles").into_iter().flat_map(|roles| names(roles, &["allowed"]));
        for role in roles {
            let similar = similar(role.text, known.iter().copied());
            if !known.contains(&role.text) && similar.name().is_some() {
                found.push(role.fault(format!("unknown role `{}`{similar}", role.text)));
            }
        }
    }
}

/// Checks a refusal or a tolerance.
fn check_rule_fact(fact: &Table<'_>, text: &str, found: &mut Vec<FileFault>) {
    let name = |key: &'static str| fact.get(key).and_then(tree::name_of);
    let Some(rule) = name("rule").and_then(|rule| rule.meaning::<RuleName>(found)) else { return };
    if let Some(case) = name("case").filter(|case| rule.case(case.text).is_none()) {
        let known = rule.cases.iter().map(|case| case.name);
        found.push(case.fault(unknown_term("case", case.text, rule, known.collect())));
    }
    let Some(refused) = name("text") else { return };
    let is_legacy = fact.get("legacy").and_then(|legacy| legacy.get_ref().as_bool()).unwrap_or_default();
    for (name, span) in placeholders(&refused, text) {
        let everywhere = vocabulary::EVERYWHERE.iter();
        // A text that only serves to recognise errors is never filled in, so it may have the names of all rules.
        let is_filled = !rule.only_explains() && !is_legacy;
        let of_rule = rules::ALL.iter().filter(|other| !is_filled || other.id == rule.id);
        let known: Vec<&str> =
            of_rule.flat_map(|rule| rule.placeholders()).chain(everywhere).map(|term| term.name).collect();
        if !known.contains(&name) {
            found.push(FileFault(span, unknown_term("placeholder", name, rule, known)));
        }
    }
}

/// The error in a regular expression, if any.
fn fault_of_pattern(pattern: &Name<'_>) -> Option<FileFault> {
    let error = Regex::new(pattern.text).err()?;
    // The error shows the expression on several lines; the last line has the reason.
    let error = error.to_string();
    let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
    Some(pattern.fault(format!("invalid regular expression: {why}")))
}

/// The names in the braces of a text, each with its span in the file.
fn placeholders<'t>(refused: &Name<'t>, text: &str) -> Vec<(&'t str, Range<usize>)> {
    let names = refused.text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let whole = refused.span.clone();
    let mut from = whole.start;
    names
        .map(|name| {
            let quoted = format!("{{{name}}}");
            // If it is written with an escape, the span is that of the whole text.
            let at = text.get(from..whole.end).and_then(|rest| rest.find(&quoted)).map(|at| from + at);
            let span = at.map_or(whole.clone(), |at| at..at + quoted.len());
            from = at.map_or(from, |at| at + quoted.len());
            (name, span)
        })
        .collect()
}

/// The maximum number of names to list in a message.
const MAX_LISTED: usize = 12;

/// A message about a case or a placeholder that a rule does not have.
fn unknown_term(what: &str, name: &str, rule: &Rule, known: Vec<&str>) -> String {
    let similar = similar(name, known.iter().copied());
    let others = match known.len() {
        0 => format!(", which has no {what}s"),
        1..=MAX_LISTED => format!(", expected one of {}", known.join(", ")),
        _ => String::new(),
    };
    format!("unknown {what} `{name}` of `{}`{others}{similar}", rule.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_targets_are_read() {
        for id in targets::ids() {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolcheck-core/targets");
            let text = std::fs::read_to_string(folder.join(id).with_extension("toml")).unwrap();
            let read = parse_target(&text);
            assert!(read.is_ok(), "{id}: {read:?}");
        }
    }
}
