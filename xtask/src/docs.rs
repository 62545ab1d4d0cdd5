//! Files that are generated from the tables: one page per rule, the lists of rules and targets, their ids as types of
//! TypeScript, and the schema of the configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use toolcheck_core::Level;
use toolcheck_core::RuleId;
use toolcheck_core::{framework, targets};
use toolcheck_lint::vocabulary::Term;
use toolcheck_lint::{Category, rules};

use crate::{root, shapes};

pub(crate) fn write() -> Result<()> {
    for (path, text) in pages()? {
        let path = root().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

fn pages() -> Result<Vec<(PathBuf, String)>> {
    let mut pages: Vec<(PathBuf, String)> = rules::ALL
        .iter()
        .map(|rule| (PathBuf::from(format!("docs/rules/{}.md", rule.id)), rule_page(rule)))
        .collect();
    pages.push((PathBuf::from("docs/targets.md"), targets_page()));
    pages.push((PathBuf::from("schemas/config.v1.schema.json"), config_schema()?));
    pages.push((PathBuf::from("docs/rules.md"), rules_page()));
    pages.push((PathBuf::from("docs/SUMMARY.md"), summary()?));
    pages.push((PathBuf::from("bindings/npm/lib/names.d.ts"), types()));
    Ok(pages)
}

/// The table of contents of the site, which is written by hand but for a line for each rule.
fn summary() -> Result<String> {
    let page = fs::read_to_string(root().join("docs/SUMMARY.md"))?;
    let mut ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id.as_str()).collect();
    ids.sort_unstable();
    let mut written = String::new();
    for line in page.lines().filter(|line| !line.contains("](rules/")) {
        let _ = writeln!(written, "{line}");
        if line.ends_with("](rules.md)") {
            for id in &ids {
                let _ = writeln!(written, "  - [{id}](rules/{id}.md)");
            }
        }
    }
    Ok(written)
}

/// The ids of rules and targets as types of TypeScript.
fn types() -> String {
    let ids = |name: &str, about: &str, ids: &[&str]| {
        format!("/** {about} */\nexport type {name} =\n  | \"{}\";\n", ids.join("\"\n  | \""))
    };
    let rules: Vec<&str> = rules::ALL.iter().map(|rule| rule.id.as_str()).collect();
    let targets: Vec<&str> = targets::all().map(|target| &*target.id).collect();
    ids("RuleId", "The id of a rule.", &rules) + &ids("TargetId", "The id of a target.", &targets)
}

/// The schema of the configuration, with its id and title.
fn config_schema() -> Result<String> {
    let mut schema = toolcheck_config::schema();
    let name = "schemas/config.v1.schema.json";
    schema["$id"] = format!("{}/blob/main/{name}", env!("CARGO_PKG_REPOSITORY")).into();
    schema["title"] = "Configuration of toolcheck, version 1".into();
    Ok(format!("{}\n", serde_json::to_string_pretty(&schema)?))
}

fn rules_page() -> String {
    let mut page = include_str!("rules.txt").to_owned();
    for category in Category::ALL {
        let head = "| rule | level | finds | rejected by |\n| --- | --- | --- | --- |\n";
        let _ = write!(page, "\n## {}\n\n{head}", category.title());
        for rule in rules::of(category) {
            let (level, summary, note) = (rule.level(), rule.summary(), rule.note());
            let rejected = rejected_by(rule);
            let _ =
                writeln!(page, "| [`{0}`](rules/{0}.md) | {level} | {summary}{note} | {rejected} |", rule.id);
        }
    }
    page
}

/// The targets of which it is known, and not only inherited, that they reject what a rule finds.
fn rejected_by(rule: &toolcheck_lint::Rule) -> String {
    const MOST: usize = 5;
    let rejects = |target: &&targets::Target| {
        let is_own = |refusal: &&targets::Refusal| !refusal.is_inherited && refusal.target == target.id;
        let mut own = target.refusals().iter().filter(is_own);
        let is_error = |refusal: &targets::Refusal| {
            refusal.rule == rule.id && !refusal.legacy && refusal.level() == Level::Error
        };
        target.union.is_empty() && (own.any(is_error) || shapes::refuses(target, rule.id))
    };
    let ids: Vec<String> = targets::all().filter(rejects).map(|target| format!("`{}`", target.id)).collect();
    match ids.len().checked_sub(MOST) {
        Some(more @ 1..) => format!("{} and [{more} more](rules/{}.md)", ids[..MOST].join(", "), rule.id),
        _ => ids.join(", "),
    }
}

fn rule_page(rule: &toolcheck_lint::Rule) -> String {
    let docs = rule.page().replace("```json ", "```jsonc ").replace("  // flagged", "  // <- flagged");
    let mut page = format!("# {}\n\n{}\nSince {}.\n", rule.id, docs, rule.since);
    if rule.is_optional {
        let _ =
            writeln!(page, "Opt-in: enable it with `--extend-select {}` or in the configuration.", rule.id);
    }
    if let Some(note) = rule.dataset_note() {
        let _ = writeln!(page, "{note}");
    }
    if let Some(fix) = &rule.fix {
        let fix = fix.description();
        let _ = writeln!(page, "\n## Fix\n\n{fix}\nSee [fix.md](../fix.md).");
    }
    let mut answers = String::new();
    for target in targets::all().filter(|target| target.union.is_empty()) {
        // What is only inherited from another vendor is listed once, below.
        let is_seen = |refusal: &&targets::Refusal| !(target.is_compatible_only && refusal.is_inherited);
        for refusal in target.refusals().iter().filter(|refusal| refusal.rule == rule.id).filter(is_seen) {
            answers.push_str(&entry(&target.id, refusal));
        }
        for tolerance in target.tolerances().iter().filter(|tolerance| tolerance.rule == rule.id) {
            let case = tolerance.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
            let harm = tolerance.harm.as_ref().map(|harm| format!(", but {harm}")).unwrap_or_default();
            let _ = writeln!(
                answers,
                "- **{}**{case} accepts it{harm} ({}, {}).\n  {}",
                target.id,
                tolerance.evidence,
                tolerance.seen,
                links(&tolerance.sources)
            );
        }
    }
    let inherits = |target: &&targets::Target| {
        let mut entries = target.refusals().iter().filter(|refusal| refusal.rule == rule.id);
        target.is_compatible_only && entries.any(|refusal| refusal.is_inherited && !refusal.legacy)
    };
    let compatible: Vec<String> =
        targets::all().filter(inherits).map(|target| format!("`{}`", target.id)).collect();
    if !compatible.is_empty() {
        let _ = writeln!(
            answers,
            "- Compatible servers are assumed to do the same as the API that they imitate, so their findings are only warnings: {}.",
            compatible.join(", ")
        );
    }
    if !answers.is_empty() {
        let _ = write!(page, "\n## What targets do\n\n{answers}");
    }
    page.push_str(&raised(rule.id));
    if rule.reports_shape {
        page.push_str(&shapes::table(rule.id));
    }
    page.push_str(&vocabulary(rule));
    page
}

/// The errors of frameworks that a rule explains.
fn raised(rule: RuleId) -> String {
    let entries: String =
        framework::errors_of(rule).map(|(framework, error)| entry(&framework.name, error)).collect();
    if entries.is_empty() {
        return entries;
    }
    format!(
        "\n## What frameworks raise\n\nFrameworks raise these errors before they send a request, or instead of running a call.\n\n{entries}"
    )
}

/// Who rejects what a rule finds, with which text, and how that is known.
fn entry(who: &str, refusal: &targets::Refusal) -> String {
    let case = refusal.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
    let models = refusal.model.as_ref().map(|model| format!(" for models `{}`", model.as_str()));
    let text =
        refusal.text.as_ref().map_or_else(|| "text not known".to_owned(), |text| format!("`` {text} ``"));
    let mut entry = format!(
        "- **{who}**{case}{}{}, {} {}: {text}\n",
        models.unwrap_or_default(),
        refusal.status.map(|status| format!(", {status}")).unwrap_or_default(),
        refusal.evidence,
        refusal.seen,
    );
    if let Some(doubt) = &refusal.doubt {
        let _ = writeln!(entry, "  In doubt: {doubt}.");
    }
    let _ = writeln!(entry, "  {}", links(&refusal.sources));
    entry
}

/// The cases and placeholders of a rule that a target's file may use.
fn vocabulary(rule: &toolcheck_lint::Rule) -> String {
    let placeholders: Vec<&Term> = rule.placeholders().collect();
    if rule.cases.is_empty() && placeholders.is_empty() {
        return String::new();
    }
    let mut section = String::from(
        "\n## In a target's file\n\n\
         These names can be used in a [target of your own](../own-target.md).\n",
    );
    let mut table = |title: &str, terms: &[&Term], braces: (&str, &str)| {
        if !terms.is_empty() {
            let _ = write!(section, "\n| {title} | meaning |\n| --- | --- |\n");
        }
        for term in terms {
            let _ = writeln!(section, "| `{}{}{}` | {} |", braces.0, term.name, braces.1, term.meaning);
        }
    };
    table("case", &rule.cases.iter().collect::<Vec<_>>(), ("", ""));
    table("placeholder", &placeholders, ("{", "}"));
    if rule.cases.len() > 1 {
        section.push_str(
            "\nIf several cases apply to a finding, the first in this table that the target defines is used.\n",
        );
    }
    section
}

fn links(sources: &[impl std::fmt::Display]) -> String {
    sources.iter().map(|source| format!("<{source}>")).collect::<Vec<_>>().join(" ")
}

fn targets_page() -> String {
    let mut page = include_str!("targets.txt").to_owned();
    for target in targets::all() {
        let aliases: Vec<String> = target.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let _ = writeln!(
            page,
            "| [`{0}`](#{0}) | {1} | {2} | {3} |",
            target.id,
            target.name,
            aliases.join(", "),
            target.format.as_deref().map_or_else(|| "any".to_owned(), |format| format!("`{format}`")),
        );
    }
    for target in targets::all() {
        target_section(&mut page, target);
    }
    page
}

fn target_section(page: &mut String, target: &targets::Target) {
    let _ = write!(page, "\n## {}\n\n{}.", target.id, target.name);
    if let Some(notes) = &target.notes {
        let _ = write!(page, " {}", notes.trim());
    }
    page.push_str("\n\n");
    if let Some(parent) = &target.extends {
        let manner = if target.is_compatible_only {
            "; what that API rejects gives only a warning here, because this is another vendor's server"
        } else {
            ""
        };
        let _ = writeln!(page, "Everything else is as for [`{parent}`](#{parent}){manner}.\n");
    }
    if !target.union.is_empty() {
        let members: Vec<String> = target.union.iter().map(|id| format!("[`{id}`](#{id})")).collect();
        let _ = writeln!(page, "Rejects everything that one of these rejects: {}.\n", members.join(", "));
    }
    let own = |refusal: &&targets::Refusal| !refusal.is_inherited && refusal.target == target.id;
    let refused = |wanted: Level| {
        let entries = target.refusals().iter().filter(own);
        entries.filter(move |refusal| !refusal.legacy && refusal.level() == wanted).map(|refusal| Entry {
            rule: refusal.rule.as_str(),
            case: refusal.case.as_deref(),
            is_by_model: refusal.model.is_some() || refusal.except_model.is_some(),
        })
    };
    list(page, "Rejected", refused(Level::Error));
    list(page, "In doubt", refused(Level::Warning));
    let inherited = target.extends.as_deref().and_then(targets::find);
    let is_own = |tolerance: &&targets::Tolerance| {
        let is_same = |known: &targets::Tolerance| {
            (&known.rule, &known.case, &known.sources)
                == (&tolerance.rule, &tolerance.case, &tolerance.sources)
        };
        !inherited.is_some_and(|parent| parent.tolerances().iter().any(is_same))
    };
    let tolerated = |has_harm: bool| {
        let entries = target.tolerances().iter().filter(is_own);
        entries.filter(move |tolerance| tolerance.harm.is_some() == has_harm)
    };
    if tolerated(true).next().is_some() {
        page.push_str("- **Accepted with harm**:\n");
    }
    for tolerance in tolerated(true) {
        let case = tolerance.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
        let harm = tolerance.harm.as_deref().unwrap_or_default();
        let _ = writeln!(page, "  - [{0}](rules/{0}.md){case}: {harm}", tolerance.rule);
    }
    list(
        page,
        "Accepted",
        tolerated(false).map(|tolerance| Entry {
            rule: tolerance.rule.as_str(),
            case: tolerance.case.as_deref(),
            is_by_model: tolerance.model.is_some(),
        }),
    );
    let recognised = target.refusals().iter().filter(own).filter(|refusal| {
        let is_checked = |other: &targets::Refusal| other.rule == refusal.rule && !other.legacy;
        refusal.legacy && !target.refusals().iter().filter(own).any(is_checked)
    });
    list(
        page,
        "Only recognised",
        recognised.map(|refusal| Entry { rule: refusal.rule.as_str(), case: None, is_by_model: false }),
    );
    page.push_str(&shapes::summary(target));
    // Limits that it shares with the target that it extends are listed there.
    let shared = inherited.map(limits).unwrap_or_default();
    let limits: Vec<String> = limits(target).into_iter().filter(|limit| !shared.contains(limit)).collect();
    if !limits.is_empty() {
        let _ = writeln!(page, "- **Limits**: {}", limits.join("; "));
    }
}

/// An entry of a target for a rule, or for one of its cases.
struct Entry<'t> {
    rule: &'t str,
    case: Option<&'t str>,
    is_by_model: bool,
}

/// Writes the rules of some entries in one line, each with its cases.
fn list<'t>(page: &mut String, title: &str, entries: impl Iterator<Item = Entry<'t>>) {
    let mut rules: BTreeMap<&str, Vec<Entry<'t>>> = BTreeMap::new();
    for entry in entries {
        rules.entry(entry.rule).or_default().push(entry);
    }
    if rules.is_empty() {
        return;
    }
    let words: Vec<String> = rules
        .iter()
        .map(|(rule, entries)| {
            let mark = |is_by_model: bool| if is_by_model { "\u{2020}" } else { "" };
            let link = format!("[{rule}](rules/{rule}.md)");
            // An entry for the whole rule applies to every case.
            if entries.iter().any(|entry| entry.case.is_none()) {
                let is_by_model = entries.iter().all(|entry| entry.is_by_model);
                return format!("{link}{}", mark(is_by_model));
            }
            let mut cases: Vec<String> = Vec::new();
            for entry in entries {
                let case = format!("{}{}", entry.case.unwrap_or_default(), mark(entry.is_by_model));
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
            format!("{link} ({})", cases.join(", "))
        })
        .collect();
    let _ = writeln!(page, "- **{title}**: {}", words.join(", "));
}

fn limits(target: &targets::Target) -> Vec<String> {
    let named = |what: &str, pattern: &Option<targets::Pattern>, max: Option<usize>| {
        let pattern = pattern.as_ref().map(|pattern| format!("match `{}`", pattern.as_str()));
        let max = max.map(|max| format!("have at most {max} characters"));
        let bounds: Vec<String> = pattern.into_iter().chain(max).collect();
        (!bounds.is_empty()).then(|| format!("{what} {}", bounds.join(" and ")))
    };
    let roles = target.roles.allowed.as_ref();
    let limits = [
        named("tool call ids", &target.ids.pattern, target.ids.max_length),
        named("tool names", &target.names.pattern, target.names.max_length),
        named("texts", &None, target.content.max_length),
        target.tools.max.map(|max| format!("at most {max} tools")),
        target.content.max_cache_marks.map(|max| format!("at most {max} cache markers")),
        roles.map(|roles| format!("roles: {}", roles.join(", "))),
    ];
    limits.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_pages_are_current() {
        for (path, text) in pages().unwrap() {
            let there = fs::read_to_string(root().join(&path)).unwrap_or_default();
            assert!(there == text, "{} is not current: run `cargo xtask docs` and commit it", path.display());
        }
        let count = fs::read_dir(root().join("docs/rules")).unwrap().count();
        assert_eq!(count, rules::ALL.len(), "docs/rules has a page of a rule that no longer exists");
    }

    #[test]
    fn paths_in_the_documentation_exist() {
        for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "fixtures/README.md"] {
            let text = fs::read_to_string(root().join(document)).unwrap();
            // Behind an odd one, what is between two of them is no longer what is quoted.
            assert!(text.matches('`').count().is_multiple_of(2), "{document} has an odd number of backticks");
            let mut named = 0;
            for quoted in text.split('`').skip(1).step_by(2) {
                let is_path = quoted.contains('/')
                    && quoted
                        .chars()
                        .all(|character| character.is_ascii_alphanumeric() || "._-/".contains(character))
                    && !quoted.starts_with('/');
                if !is_path {
                    continue;
                }
                named += 1;
                let exists = root().join(quoted).exists()
                    || root().join("crates").join(quoted).exists()
                    || root().join("fixtures").join(quoted).exists();
                assert!(exists, "{document} names `{quoted}`, which does not exist");
            }
            assert!(named > 0, "{document} names no paths");
        }
    }
}
