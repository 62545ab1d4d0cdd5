//! What is made from the tables: a page a rule, one for all rules and one for all targets, and the schema of the
//! configuration.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use toolcheck_core::target::{self, Verdict};
use toolcheck_lint::{Category, rules};

use crate::root;

/// Writes the pages.
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

/// Every page with its text, by its path in the project.
fn pages() -> Result<Vec<(PathBuf, String)>> {
    let mut pages: Vec<(PathBuf, String)> = rules::ALL
        .iter()
        .map(|rule| (PathBuf::from(format!("docs/rules/{}.md", rule.id)), rule_page(rule)))
        .collect();
    pages.push((PathBuf::from("docs/targets.md"), targets_page()));
    pages.push((PathBuf::from("schemas/config.v1.schema.json"), config_schema()?));
    pages.push((PathBuf::from("docs/rules.md"), rules_page()));
    Ok(pages)
}

/// The schema of the configuration, with what its code does not know of it.
fn config_schema() -> Result<String> {
    let mut schema = toolcheck_lint::config::schema();
    let name = "schemas/config.v1.schema.json";
    schema["$id"] = format!("{}/blob/main/{name}", env!("CARGO_PKG_REPOSITORY")).into();
    schema["title"] = "Configuration of toolcheck, version 1".into();
    Ok(format!("{}\n", serde_json::to_string_pretty(&schema)?))
}

fn rules_page() -> String {
    let mut page = String::from(
        "# Rules\n\n\
         `toolcheck explain RULE` shows a rule's page in the terminal.\n\
         The level is that of a finding about which nothing is known for the target; `target` means that the rule reports \
         only what a target is known to reject or to mishandle. What each target does: [targets.md](targets.md).\n",
    );
    for category in Category::ALL {
        let _ = write!(page, "\n## {}\n\n| rule | level | finds |\n| --- | --- | --- |\n", category.title());
        for rule in rules::of(category) {
            let (level, summary, note) = (rule.level(), rule.summary.trim(), rule.note());
            let _ = writeln!(page, "| [`{0}`](rules/{0}.md) | {level} | {summary}{note} |", rule.id);
        }
    }
    page
}

fn rule_page(rule: &toolcheck_lint::Rule) -> String {
    let docs: String =
        rule.docs.lines().map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    let docs = docs.replace("```json ", "```jsonc ").replace("  // flagged", "  // <- flagged");
    let mut page = format!("# {}\n\n{}\nSince {}.\n", rule.id, docs, rule.since);
    if rule.is_optional {
        let _ =
            writeln!(page, "Opt-in: enable it with `--extend-select {}` or in the configuration.", rule.id);
    }
    let mut answers = String::new();
    for target in target::all().filter(|target| target.union.is_empty()) {
        for refusal in target.refusals.iter().filter(|refusal| refusal.rule == rule.id) {
            let case = refusal.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
            let models = refusal.model.as_ref().map(|model| format!(" for models `{}`", model.0.as_str()));
            let text = refusal
                .text
                .as_ref()
                .map_or_else(|| "text not known".to_owned(), |text| format!("`` {text} ``"));
            let _ = writeln!(
                answers,
                "- **{}**{case}{}{}, {} {}: {text}",
                target.id,
                models.unwrap_or_default(),
                refusal.status.map(|status| format!(", {status}")).unwrap_or_default(),
                refusal.evidence,
                refusal.seen,
            );
            if let Some(doubt) = &refusal.doubt {
                let _ = writeln!(answers, "  In doubt: {doubt}");
            }
            let _ = writeln!(answers, "  {}", links(&refusal.sources));
        }
        for tolerance in target.tolerances.iter().filter(|tolerance| tolerance.rule == rule.id) {
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
    if !answers.is_empty() {
        let _ = write!(page, "\n## What the targets say\n\n{answers}");
    }
    page
}

fn links(sources: &[String]) -> String {
    sources.iter().map(|source| format!("<{source}>")).collect::<Vec<_>>().join(" ")
}

fn targets_page() -> String {
    let targets: Vec<_> = target::all().filter(|target| target.union.is_empty()).collect();
    let mut page = String::from(
        "# What each target says of each rule\n\n\
         **refused**: an error. *in doubt*: a warning, because sources disagree or the fact is inferred.\n\
         harm: accepted, and a warning because of what it does. ok: accepted, and silent. Empty: nothing is known.\n\
         Where a rule has several cases, the gravest is shown; the rule's page has them all, with their sources.\n\n",
    );
    let _ = writeln!(
        page,
        "| rule | {} |",
        targets.iter().map(|target| target.id.as_str()).collect::<Vec<_>>().join(" | ")
    );
    let _ = writeln!(page, "| --- |{}", " --- |".repeat(targets.len()));
    for rule in rules::ALL {
        let _ = write!(page, "| [{0}](rules/{0}.md) |", rule.id);
        for target in &targets {
            let refusals =
                target.refusals.iter().filter(|refusal| refusal.rule == rule.id && !refusal.legacy);
            let refusals = refusals.map(|refusal| &refusal.case);
            let tolerances = target
                .tolerances
                .iter()
                .filter(|tolerance| tolerance.rule == rule.id)
                .map(|tolerance| &tolerance.case);
            let gravest = refusals
                .chain(tolerances)
                .map(|case| grade(target, rule.id, case.as_deref()))
                .max()
                .map_or("", |(_, word)| word);
            let _ = write!(page, " {gravest} |");
        }
        page.push('\n');
    }
    page.push_str("\n## Targets\n\n");
    for target in target::all() {
        let _ = writeln!(page, "- `{}`: {}", target.id, target.name);
        if let Some(notes) = &target.notes {
            let _ = writeln!(page, "  {}", notes.trim());
        }
    }
    page
}

/// How grave what a target says is, and the word for it.
fn grade(target: &target::Target, rule: &str, case: Option<&str>) -> (u8, &'static str) {
    match target.verdict(rule, case, None, None) {
        Verdict::Refused(refusal) if refusal.level() == toolcheck_core::Level::Error => (4, "**refused**"),
        Verdict::Refused(_) => (3, "*in doubt*"),
        Verdict::Tolerated(tolerance) if tolerance.harm.is_some() => (2, "harm"),
        Verdict::Tolerated(_) => (1, "ok"),
        // An entry for certain models only.
        Verdict::Unknown => (3, "by model"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_as_the_tables_make_them() {
        for (path, text) in pages().unwrap() {
            let there = fs::read_to_string(root().join(&path)).unwrap_or_default();
            assert!(there == text, "{} is not current: run `cargo xtask docs` and commit it", path.display());
        }
        let count = fs::read_dir(root().join("docs/rules")).unwrap().count();
        assert_eq!(count, rules::ALL.len(), "docs/rules holds a page of a rule that is gone");
    }

    #[test]
    fn paths_that_the_documentation_names_exist() {
        for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "fixtures/README.md"] {
            let text = fs::read_to_string(root().join(document)).unwrap();
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
            assert!(named > 0, "{document} names paths");
        }
    }
}
