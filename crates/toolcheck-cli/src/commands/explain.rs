//! `toolcheck explain`: the page of a rule or a scenario.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow};
use serde_json::json;
use toolcheck_core::framework::{self, Framework};
use toolcheck_core::suggest;
use toolcheck_core::targets::{self, Refusal, Target, Tolerance};
use toolcheck_core::text::bounded;
use toolcheck_lint::report::rule_url;
use toolcheck_lint::{Rule, rules};
use toolcheck_report::shapes::{refusal_json, tolerance_json};

use super::shapes::seen::{self, Seen};
use crate::args::{Color, ExplainArgs, ListFormat};
use crate::{Status, markdown, screen};

pub(crate) fn run(args: &ExplainArgs, out: &mut dyn Write) -> Result<Status> {
    if let Some(error) = &args.error {
        return super::explain_error::run(error, args, out);
    }
    let id = args.subject.as_deref().unwrap_or_default();
    let Some(rule) = rules::find(id) else {
        #[cfg(feature = "serve")]
        if let Some(scenario) = toolcheck_conform::scenarios::find(id) {
            return super::explain_scenario::run(scenario, args.output_format, out);
        }
        let name = bounded(id, 80);
        return Err(match hint_for(id) {
            Some(hint) => anyhow!("`{name}` is not a rule\n\n{hint}"),
            None => anyhow!(unknown(id)),
        });
    };
    let refusals = targets::all().filter(|target| target.union.is_empty()).flat_map(|target| {
        target
            .refusals()
            .iter()
            .filter(|refusal| refusal.rule == rule.id)
            .map(move |refusal| (target, refusal))
    });
    let tolerances = targets::all().filter(|target| target.union.is_empty()).flat_map(|target| {
        let of_rule = target.tolerances().iter().filter(|tolerance| tolerance.rule == rule.id);
        of_rule.map(move |tolerance| (target, tolerance))
    });
    let raised = framework::errors_of(rule.id);
    if args.output_format == ListFormat::Json {
        let refusals = refusals.map(|(target, refusal)| refusal_json(refusal, "target", &target.id));
        let page = json!({
            "id": rule.id, "summary": rule.summary(), "category": rule.category.id(), "since": rule.since, "docs": page_of(rule),
            "optional": rule.is_optional, "url": rule_url(rule.id), "fix": rule.fix.as_ref().map(|fix| fix.description()),
            "refusals": refusals.collect::<Vec<_>>(),
            "tolerances": tolerances.map(|(target, tolerance)| tolerance_json(tolerance, "target", &target.id)).collect::<Vec<_>>(),
            "frameworks": raised.map(|(framework, error)| refusal_json(error, "framework", &framework.id)).collect::<Vec<_>>(),
            "shapes": seen::of_rule(rule).iter().map(Seen::json).collect::<Vec<_>>(),
        });
        serde_json::to_writer_pretty(&mut *out, &page)?;
        writeln!(out)?;
        return Ok(Status::Clean);
    }
    let mut page = format!("# {}\n\n{}\n", rule.id, page_of(rule).trim_end());
    if rule.is_optional {
        let _ = writeln!(
            page,
            "\nThis rule is opt-in: enable it with `--extend-select {}` or in the configuration.",
            rule.id
        );
    }
    if let Some(note) = rule.dataset_note() {
        writeln!(page, "\n{note}")?;
    }
    if let Some(fix) = &rule.fix {
        let _ = writeln!(page, "\n## What does `toolcheck fix` do?\n\n{}", fix.description());
    }
    write_refusals(refusals, &mut page);
    write_tolerances(tolerances, &mut page);
    write_raised(raised, &mut page);
    write_shapes(rule, &mut page);
    // The findings of the rule lead here, so it comes first.
    #[cfg(feature = "serve")]
    if let Some(scenario) = toolcheck_conform::scenarios::find(id) {
        let _ = write!(
            page,
            "\nA scenario of `toolcheck conform` has the same name.\n\n{}",
            super::explain_scenario::page(scenario)
        );
    }
    write_page(&page, out)?;
    Ok(Status::Clean)
}

/// Writes a page, as Markdown or as a terminal of a known width shows it.
pub(super) fn write_page(page: &str, out: &mut dyn Write) -> io::Result<()> {
    let style = screen::style(Color::Auto);
    if style.color || screen::is_wrapped() {
        markdown::write(page, &style, out)
    } else {
        out.write_all(page.as_bytes())
    }
}

/// A hint if an argument is not a rule but an error text or a file.
fn hint_for(subject: &str) -> Option<String> {
    if subject.contains(char::is_whitespace) {
        return Some("To explain an API error: toolcheck explain --error TEXT [FILE]".to_owned());
    }
    if targets::find(subject).is_some() {
        return Some(format!("This is a target: toolcheck shapes {subject}"));
    }
    let is_file = Path::new(subject).is_file() || subject == "-" || subject.contains(['/', '.']);
    is_file.then(|| {
        let file = bounded(subject, 80);
        format!(
            "To check a file:              toolcheck lint {file}\n\
             To find an API error in it:   toolcheck explain --error TEXT {file}"
        )
    })
}

/// What there is in place of a rule or a scenario: a check, or what has a name like it.
#[cfg(feature = "serve")]
fn unknown(id: &str) -> String {
    use super::explain_scenario::{about_check, ids};

    let known = rules::ALL.iter().map(|rule| rule.id.as_str()).chain(ids());
    about_check(id).unwrap_or_else(|| {
        format!(
            "{}\n\n`toolcheck rules` lists all rules, and `toolcheck conform --list` all scenarios",
            suggest::unknown("rule or scenario", id, known)
        )
    })
}

/// What has a name like a rule that there is not.
#[cfg(not(feature = "serve"))]
fn unknown(id: &str) -> String {
    let known = rules::ALL.iter().map(|rule| rule.id.as_str());
    format!("{}\n\n`toolcheck rules` lists all rules", suggest::unknown("rule", id, known))
}

/// What targets say of a rule. Several hosts of the same API say the same: they share one entry.
fn shared<'t, T, K: PartialEq>(
    all: impl Iterator<Item = (&'t Target, &'t T)>,
    key: impl Fn(&'t T) -> K,
) -> Vec<(Vec<&'t str>, &'t T)> {
    let mut shown: Vec<(Vec<&str>, &T)> = Vec::new();
    for (target, said) in all {
        match shown.iter_mut().find(|(_, other)| key(other) == key(said)) {
            Some((targets, _)) if targets.contains(&&*target.id) => {}
            Some((targets, _)) => targets.push(&target.id),
            None => shown.push((vec![&target.id], said)),
        }
    }
    shown
}

/// Writes which targets reject what a rule finds, and with which text.
fn write_refusals<'t>(refusals: impl Iterator<Item = (&'t Target, &'t Refusal)>, page: &mut String) {
    // A refusal inherited from another vendor has not been observed for this one.
    let observed = refusals.filter(|(target, refusal)| !(target.is_compatible_only && refusal.is_inherited));
    let shown = shared(observed, |refusal| {
        let Refusal { status, case, text, doubt, legacy, .. } = refusal;
        (*status, case, text, doubt, *legacy, refusal.sources.first())
    });
    let (known, legacy): (Vec<_>, Vec<_>) = shown.into_iter().partition(|(_, refusal)| !refusal.legacy);
    for (title, refusals) in
        [("Who rejects it?", known), ("Other error texts that `explain --error` recognises", legacy)]
    {
        if !refusals.is_empty() {
            let _ = writeln!(page, "\n## {title}\n");
        }
        for (targets, refusal) in refusals {
            write_entry(&targets.join(", "), refusal, page);
        }
    }
}

/// Writes which targets accept what a rule finds, and with what harm.
fn write_tolerances<'t>(tolerances: impl Iterator<Item = (&'t Target, &'t Tolerance)>, page: &mut String) {
    let shown = shared(tolerances, |tolerance| {
        (&tolerance.case, &tolerance.harm, &tolerance.seen, tolerance.sources.first())
    });
    if !shown.is_empty() {
        page.push_str("\n## Who accepts it?\n\n");
    }
    for (targets, tolerance) in shown {
        let case = tolerance.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
        let models = tolerance.model.as_ref().map(|model| format!(", for models `{}`", model.as_str()));
        let harm = tolerance.harm.as_ref().map(|harm| format!(":\n  But {}", harm.trim_end_matches('.')));
        let _ = writeln!(
            page,
            "- {}{case}{}, {} {}{}",
            targets.join(", "),
            models.unwrap_or_default(),
            tolerance.evidence,
            tolerance.seen,
            harm.unwrap_or_default()
        );
        if let Some(source) = tolerance.sources.first() {
            let _ = writeln!(page, "  <{source}>");
        }
    }
}

/// Writes which frameworks raise what a rule finds, and with which text.
fn write_raised<'r>(raised: impl Iterator<Item = (&'r Framework, &'r Refusal)>, page: &mut String) {
    for (number, (framework, error)) in raised.enumerate() {
        if number == 0 {
            page.push_str("\n## Which frameworks raise it?\n\n");
        }
        write_entry(&framework.name, error, page);
    }
}

/// Writes who rejects what a rule finds, with which text, and how that is known.
fn write_entry(who: &str, refusal: &Refusal, page: &mut String) {
    let case = refusal.case.as_ref().map(|case| format!(" ({case})")).unwrap_or_default();
    let models = refusal.model.as_ref().map(|model| format!(", for models `{}`", model.as_str()));
    let status = refusal.status.map(|status| format!(", status {status}")).unwrap_or_default();
    let _ = writeln!(
        page,
        "- {who}{case}{}{status}, {} {}:\n  {}",
        models.unwrap_or_default(),
        refusal.evidence,
        refusal.seen,
        refusal.text.as_deref().unwrap_or("(text unknown)")
    );
    if let Some(doubt) = &refusal.doubt {
        let _ = writeln!(page, "  (in doubt: {})", doubt.trim_end_matches('.'));
    }
    if let Some(source) = refusal.sources.first() {
        let _ = writeln!(page, "  <{source}>");
    }
}

const MOST_OBJECTS: usize = 8;

/// Writes the objects of which somebody has seen keys refused, if the rule reports shapes.
fn write_shapes(rule: &Rule, page: &mut String) {
    let mut targets: Vec<(&str, Vec<String>)> = Vec::new();
    for seen in seen::of_rule(rule) {
        if targets.last().is_none_or(|(target, _)| *target != seen.target) {
            targets.push((seen.target, Vec::new()));
        }
        let object = format!("`{}`", seen.object);
        if let Some((_, objects)) = targets.last_mut()
            && !objects.contains(&object)
        {
            objects.push(object);
        }
    }
    if targets.is_empty() {
        return;
    }
    page.push_str(
        "\n## What is known of keys\n\n\
         `toolcheck shapes TARGET OBJECT` shows what each API requires, allows and refuses. \
         Keys of these objects were seen refused:\n\n",
    );
    for (target, objects) in targets {
        let more = objects.len().saturating_sub(MOST_OBJECTS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named: Vec<String> = objects.into_iter().take(MOST_OBJECTS).collect();
        let _ = writeln!(page, "- {target}: {}{more}", named.join(", "));
    }
}

/// The page, with the marks for its test replaced by readable ones.
fn page_of(rule: &Rule) -> String {
    rule.page().replace("  // flagged", "  <-- flagged")
}
