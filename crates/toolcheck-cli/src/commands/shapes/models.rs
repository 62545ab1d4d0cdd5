//! `toolcheck models`: what is known of models, by the evidence in targets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use toolcheck_core::shape::{Shape, Verdict};
use toolcheck_core::targets::{self, Pattern, Refusal, Target};
use toolcheck_core::text::{bounded, shown};
use toolcheck_report::outputs::write_json;

use super::catalog::{Catalog, Fact};
use super::{json, page};
use crate::Status;
use crate::args::{ListFormat, ModelsArgs};

/// What a target does with requests to some models only.
struct OfModels<'t> {
    target: &'t Target,
    /// Demands on requests, each with the object that it is for.
    facts: Vec<(&'t str, Fact<'t>)>,
    refusals: Vec<&'t Refusal>,
}

pub(crate) fn run(args: &ModelsArgs, out: &mut dyn Write) -> Result<Status> {
    let all: Vec<OfModels<'_>> =
        targets::all().map(|target| OfModels::new(target, args.model.as_deref())).collect();
    let known: Vec<&OfModels<'_>> = all.iter().filter(|known| !known.is_empty()).collect();
    match (args.output_format, &args.model) {
        (ListFormat::Json, model) => write_json(&report(model.as_deref(), &known), out)?,
        (ListFormat::Text, Some(model)) => super::write_page(&page_of(model, &known), out)?,
        (ListFormat::Text, None) => super::write_page(&list(&known), out)?,
    }
    Ok(Status::Clean)
}

impl<'t> OfModels<'t> {
    /// What is known of this model, or of any.
    fn new(target: &'t Target, model: Option<&str>) -> Self {
        let holds = |own: Option<&str>, except: Option<&str>| {
            let is =
                |pattern: &str| model.is_none_or(|model| Pattern::from(pattern.to_owned()).is_match(model));
            own.is_some_and(is) && !(model.is_some() && except.is_some_and(is))
        };
        let facts = target.shape().map(|shape: &Shape| Catalog::new(shape)).into_iter().flat_map(|catalog| {
            let facts =
                |object: super::Named<'t>| object.facts().into_iter().map(move |fact| (object.name, fact));
            catalog.objects.into_iter().flat_map(facts).collect::<Vec<_>>()
        });
        let facts = facts.filter(|(object, fact)| {
            let known = &fact.known;
            // What an object adds to is listed for that one.
            let is_own = !known.is_inherited && known.object == *object;
            is_own && holds(known.model, known.except_model)
        });
        let refusals = target.refusals.iter().filter(|refusal| {
            let text = |pattern: &'t Option<Pattern>| pattern.as_ref().map(Pattern::as_str);
            !refusal.legacy
                && !refusal.is_inherited
                && holds(text(&refusal.model), text(&refusal.except_model))
        });
        Self { target, facts: facts.collect(), refusals: refusals.collect() }
    }

    fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.refusals.is_empty()
    }

    /// The expressions for the models that something is known of.
    fn patterns(&self) -> impl Iterator<Item = &str> {
        let of_refusals =
            self.refusals.iter().filter_map(|refusal| refusal.model.as_ref().map(Pattern::as_str));
        self.facts.iter().filter_map(|(_, fact)| fact.known.model).chain(of_refusals)
    }
}

/// What is known of a model, as Markdown.
fn page_of(model: &str, known: &[&OfModels<'_>]) -> String {
    let mut page = format!("# {}\n", bounded(model, 80));
    for of_target in known {
        let _ = write!(page, "\n## {}\n\n", shown(&of_target.target.id));
        for (object, fact) in &of_target.facts {
            let although = match fact.known.verdict {
                Verdict::Accepted => "accepted, although the documents say: ",
                _ => "",
            };
            let (subject, when) = (page::subject(fact), fact.known.conditions());
            let _ = writeln!(
                page,
                "- {subject} of {}: {although}{}, {}",
                shown(object),
                fact.asked,
                shown(&when)
            );
            page::evidence(&mut page, fact);
        }
        for refusal in &of_target.refusals {
            let case = refusal.case.as_deref().map(|case| format!(" ({})", shown(case))).unwrap_or_default();
            let _ = writeln!(page, "- refuses what `{}`{case} finds", refusal.rule);
            let status = refusal.status.map(|status| format!(" {status}")).unwrap_or_default();
            if let Some(text) = &refusal.text {
                let _ = writeln!(page, "  answers{status}: {}", shown(text));
            }
            let sources: Vec<String> =
                refusal.sources.iter().map(|source| format!("<{}>", shown(source))).collect();
            let _ = writeln!(page, "  {} {} {}", refusal.evidence, shown(&refusal.seen), sources.join(" "));
        }
    }
    if known.is_empty() {
        page.push_str("\nNothing is known of this model that is not known of all. `toolcheck shapes TARGET` shows what an API asks of each request.\n");
    }
    page
}

/// The models that something is known of, with the number of facts in each target, as Markdown.
fn list(known: &[&OfModels<'_>]) -> String {
    let mut models: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for of_target in known {
        for pattern in of_target.patterns() {
            *models.entry(pattern).or_default().entry(&of_target.target.id).or_default() += 1;
        }
    }
    let mut page = "# Models\n\nExpressions for the models of which an API refuses or accepts something else than of others.\n\n".to_owned();
    for (pattern, counts) in models {
        let counts: Vec<String> =
            counts.iter().map(|(target, count)| format!("{} {count}", shown(target))).collect();
        let _ = writeln!(page, "- `{}`: {}", shown(pattern), counts.join(", "));
    }
    page.push_str("\n`toolcheck models MODEL` shows what is known of one.\n");
    page
}

fn report(model: Option<&str>, known: &[&OfModels<'_>]) -> Value {
    let facts = known.iter().flat_map(|of_target| {
        let id = &of_target.target.id;
        let facts = of_target.facts.iter().map(move |(object, fact)| {
            let known = json::known(&fact.known);
            json!({"target": id, "object": object, "key": fact.key, "asked": fact.asked, "rule": fact.rule, "known": known})
        });
        let refusals = of_target.refusals.iter().map(move |refusal| {
            let known = crate::commands::refusal_json(refusal, "rule", refusal.rule.as_str());
            json!({"target": id, "rule": refusal.rule, "known": known})
        });
        facts.chain(refusals)
    });
    json!({"version": 1, "model": model, "facts": facts.collect::<Vec<_>>()})
}
