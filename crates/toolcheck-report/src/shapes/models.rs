//! What is known of models, by the evidence in targets and by what pages and tables say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use toolcheck_core::Level;
use toolcheck_core::models::{ModelFacts, facts_of, own_name};
use toolcheck_core::shape::{Shape, Verdict, with_usual_names};
use toolcheck_core::suggest::similar;
use toolcheck_core::targets::{self, Pattern, Refusal, Target};
use toolcheck_core::text::{bounded, shown};
use toolcheck_lint::rules;

use super::catalog::{Catalog, Fact, Named};
use super::{json, page};

/// What a target does with requests to some models only.
struct OfModels<'t> {
    target: &'t Target,
    /// Demands on requests, each with the object that it is for.
    facts: Vec<(&'t str, Fact<'t>)>,
    refusals: Vec<&'t Refusal>,
}

/// What is known of a model, or the list of those that something is known of, as Markdown.
pub fn models_page(model: Option<&str>) -> String {
    let known = known(model);
    match model {
        Some(model) => page_of(model, &known),
        None => list(&known),
    }
}

/// What is known of a model, or of all, as JSON.
pub fn models_json(model: Option<&str>) -> Value {
    report(model, &known(model))
}

/// The rule of a refusal, with its case.
fn what(refusal: &Refusal) -> String {
    let case = refusal.case.as_deref().map(|case| format!(" ({})", shown(case))).unwrap_or_default();
    format!("`{}`{case}", refusal.rule)
}

/// How many facts of a model are told in short.
const MOST_IN_SHORT: usize = 10;

/// The most important of what is known of a model, as Markdown of a few lines, for the APIs with a format; empty if nothing
/// is known.
pub fn models_in_short(model: &str, format: &str) -> String {
    // What several targets say is said once.
    let mut lines: Vec<(Option<Level>, String, Vec<&str>)> = Vec::new();
    let mut say = |target, level, line: String| match lines.iter_mut().find(|(_, said, _)| *said == line) {
        Some((.., targets)) => targets.push(target),
        None => lines.push((level, line, vec![target])),
    };
    for of_target in known_by(&[model]).iter().filter(|known| known.target.format.as_deref() == Some(format))
    {
        let target = &*of_target.target.id;
        let of_level =
            |level: Option<Level>| level.map(|level| format!(" ({})", level.as_str())).unwrap_or_default();
        for (object, fact) in &of_target.facts {
            let (level, subject) = (fact.known.level, page::subject(fact));
            let line = format!("{subject} of {}: {}{}", shown(object), demand(fact, ""), of_level(level));
            say(target, level, line);
        }
        for refusal in &of_target.refusals {
            let level = Some(refusal.level());
            let line = format!("{} {}{}", what(refusal), rules::get(refusal.rule).summary(), of_level(level));
            say(target, level, line);
        }
    }
    // What the API of the format refuses comes first.
    lines.sort_by_key(|(level, _, targets)| (!targets.contains(&format), Reverse(*level)));
    let told = facts_of(Some(model)).map(|(provider, facts)| format!("{provider}: {}", told(facts)));
    let lines = lines.into_iter().map(|(_, line, targets)| format!("{}: {line}", shown(&targets.join(", "))));
    let all: Vec<String> = told.chain(lines).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut text = format!("{}:\n\n", bounded(model, 80));
    for line in all.iter().take(MOST_IN_SHORT) {
        let _ = writeln!(text, "- {}", bounded(line, LONGEST_LINE));
    }
    let more = all.len().saturating_sub(MOST_IN_SHORT);
    let more = if more > 0 { format!("and {more} more; ") } else { String::new() };
    let _ = write!(text, "\n{more}all with their sources: `toolcheck models`, [about models]({MODELS_URL})");
    text
}

/// The most bytes of a line in short.
const LONGEST_LINE: usize = 160;

const MODELS_URL: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/shapes.md#models");

/// What pages and tables say of a model, in a line.
fn told(facts: &ModelFacts) -> String {
    let then =
        facts.replacement.as_ref().map(|other| format!(", use `{}`", shown(other))).unwrap_or_default();
    let reads = |reads| if reads { "reads images" } else { "reads no images" }.to_owned();
    let told = [
        facts.shutdown.as_ref().map(|day| format!("shut down from {} on{then}", shown(day))),
        facts.max_output.map(|most| format!("an answer has at most {most} tokens")),
        facts.reads_images.map(reads),
    ];
    told.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// What is known of a model by its provider's name for it or by the one that is given, or of all.
fn known(model: Option<&str>) -> Vec<OfModels<'static>> {
    let own = model.map(own_name);
    let names: Vec<&str> = model.into_iter().chain(own.as_deref()).collect();
    known_by(&names)
}

/// What is known of a model by one of these names, or of all models without any.
fn known_by(names: &[&str]) -> Vec<OfModels<'static>> {
    targets::all().map(|target| OfModels::new(target, names)).filter(|known| !known.is_empty()).collect()
}

/// What is known of a fact, where it holds `when`. It may contradict the documents.
fn demand(fact: &Fact<'_>, when: &str) -> String {
    match fact.known.verdict {
        Verdict::Accepted => format!("accepted{when}, although the documentation says: {}", fact.asked),
        _ => format!("{}{when}", fact.asked),
    }
}

impl<'t> OfModels<'t> {
    fn new(target: &'t Target, names: &[&str]) -> Self {
        let holds = |own: Option<&str>, except: Option<&str>| {
            let Some(own) = own.map(|own| Pattern::from(own.to_owned())) else { return false };
            let except = except.map(|except| Pattern::from(except.to_owned()));
            let is = |name: &&str| {
                own.is_match(name) && !except.as_ref().is_some_and(|except| except.is_match(name))
            };
            // What fits each name with a slash is known of routers, and not of a model.
            names.is_empty() || !own.is_match("/") && names.iter().any(is)
        };
        let facts = target.shape().map(|shape: &Shape| Catalog::new(shape)).into_iter().flat_map(|catalog| {
            let facts = |object: Named<'t>| object.facts().into_iter().map(move |fact| (object.name, fact));
            catalog.objects.into_iter().flat_map(facts).collect::<Vec<_>>()
        });
        let facts = facts.filter(|(object, fact)| {
            let known = &fact.known;
            // What an object adds to is listed for that one.
            let is_own = !known.is_inherited && known.object == *object;
            is_own && holds(known.model, known.except_model)
        });
        let refusals = target.refusals().iter().filter(|refusal| {
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
        self.grades().map(|(pattern, _)| pattern)
    }

    /// The same, with what each fact rests on.
    fn grades(&self) -> impl Iterator<Item = (&str, String)> {
        let of_refusals = self.refusals.iter().filter_map(|refusal| {
            Some((refusal.model.as_ref().map(Pattern::as_str)?, refusal.evidence.to_string()))
        });
        let of_facts = self.facts.iter().filter_map(|(_, fact)| {
            let is_accepted = fact.known.verdict == Verdict::Accepted;
            let grade = if is_accepted { "accepted".to_owned() } else { fact.known.evidence.to_string() };
            Some((fact.known.model?, grade))
        });
        of_facts.chain(of_refusals)
    }
}

fn page_of(model: &str, known: &[OfModels<'_>]) -> String {
    let mut page = format!("# {}\n", bounded(model, 80));
    let all_told: Vec<_> = facts_of(Some(model)).collect();
    for (number, (provider, facts)) in all_told.iter().enumerate() {
        page.push_str(if number == 0 { "\n" } else { "" });
        let _ = writeln!(page, "- {provider}: {}", told(facts));
        let _ = writeln!(page, "  {} {} {}", facts.evidence, shown(&facts.seen), links(&facts.sources));
    }
    let own = own_name(model);
    if own != model && !known.is_empty() {
        let _ = writeln!(
            page,
            "\nThis is another's name for `{}`, of which this is known. A router may rename or leave out what an API refuses: `toolcheck lint` says only what holds for the name as a request has it.",
            shown(&own)
        );
    }
    for of_target in known {
        let _ = write!(page, "\n## {}\n\n", shown(&of_target.target.id));
        for (object, fact) in &of_target.facts {
            let (subject, when) = (page::subject(fact), fact.known.conditions());
            let when = format!(", {}", shown(&when));
            let _ = writeln!(page, "- {subject} of {}: {}", shown(object), demand(fact, &when));
            page::evidence(&mut page, fact);
        }
        for refusal in &of_target.refusals {
            let _ = writeln!(page, "- refuses what {} finds", what(refusal));
            let status = refusal.status.map(|status| format!(" {status}")).unwrap_or_default();
            if let Some(text) = &refusal.text {
                let _ = writeln!(page, "  answers{status}: {}", shown(&with_usual_names(text)));
            }
            let sources = links(&refusal.sources);
            let _ = writeln!(page, "  {} {} {sources}", refusal.evidence, shown(&refusal.seen));
        }
    }
    if known.is_empty() && all_told.is_empty() {
        let meant = meant(model).map(|meant| format!("; did you mean `{}`?", shown(&meant)));
        let meant = meant.unwrap_or_else(|| ".".to_owned());
        let _ = writeln!(
            page,
            "\nNothing specific is known about this model{meant} `toolcheck shapes TARGET` shows what an API requires of every request."
        );
    }
    page
}

fn links(sources: &[impl AsRef<str>]) -> String {
    sources.iter().map(|source| format!("<{}>", shown(source.as_ref()))).collect::<Vec<_>>().join(" ")
}

/// The name of a model that something is known of, if this looks like it.
fn meant(model: &str) -> Option<String> {
    let known = known(None);
    let mut names: BTreeSet<String> =
        known.iter().flat_map(OfModels::patterns).flat_map(beginnings).collect();
    names.extend(facts_of(None).flat_map(|(_, facts)| facts.ids.iter().cloned()));
    let meant = similar(model, names.iter().map(|name| &**name)).name()?;
    Some(meant.to_owned())
}

/// The names with which an expression begins: `gpt-5` of `^gpt-5(-|$)`, `nova` and `llama` of `(?i)nova|llama`.
fn beginnings(pattern: &str) -> Vec<String> {
    let plain = pattern.replace("\\.", ".");
    let plain = plain.trim_start_matches("(?i)").trim_start_matches('^');
    let alternatives = match plain.split_once('(') {
        Some(("", group)) => group.split(')').next().unwrap_or_default(),
        Some((prefix, _)) => prefix,
        None => plain,
    };
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let names = alternatives.split('|').map(|text| text.chars().take_while(is_plain).collect::<String>());
    names.map(|name| name.trim_end_matches('-').to_owned()).filter(|name| name.len() > 1).collect()
}

/// The models that something is known of, with the number of facts in each target by their evidence, as Markdown.
fn list(known: &[OfModels<'_>]) -> String {
    let mut models: BTreeMap<&str, BTreeMap<&str, BTreeMap<String, usize>>> = BTreeMap::new();
    for of_target in known {
        for (pattern, grade) in of_target.grades() {
            let of_model = models.entry(pattern).or_default().entry(&of_target.target.id).or_default();
            *of_model.entry(grade).or_default() += 1;
        }
    }
    let mut page = "# Models\n\nPatterns for models that an API treats differently from others, with the number of facts about each, by kind of evidence.\n\n".to_owned();
    for (pattern, targets) in models {
        let counts = targets.iter().map(|(target, grades)| {
            let grades: Vec<_> = grades.iter().map(|(grade, count)| format!("{count} {grade}")).collect();
            format!("{} ({})", shown(target), grades.join(", "))
        });
        let counts: Vec<String> = counts.collect();
        let _ = writeln!(page, "- `{}`: {}", shown(pattern), counts.join(", "));
    }
    page.push_str("\n## What pages and tables say\n\n");
    for (provider, facts) in facts_of(None) {
        let ids = facts.ids.join("`, `");
        let _ = writeln!(page, "- `{}` ({provider}): {} ({})", shown(&ids), told(facts), facts.evidence);
    }
    page.push_str("\n`toolcheck models MODEL` shows what is known about one.\n");
    page
}

fn report(model: Option<&str>, known: &[OfModels<'_>]) -> Value {
    let facts = known.iter().flat_map(|of_target| {
        let id = &of_target.target.id;
        let facts = of_target.facts.iter().map(move |(object, fact)| {
            let known = json::known(&fact.known);
            json!({"target": id, "object": object, "key": fact.key, "asked": fact.asked, "rule": fact.rule, "known": known})
        });
        let refusals = of_target.refusals.iter().map(move |refusal| {
            let known = json::refusal_json(refusal, "rule", refusal.rule.as_str());
            json!({"target": id, "rule": refusal.rule, "known": known})
        });
        facts.chain(refusals)
    });
    let told = facts_of(model).map(|(provider, facts)| json!({"provider": provider, "told": facts}));
    let own = model.map(own_name);
    json!({"version": 1, "model": model, "own_name": own, "facts": facts.collect::<Vec<_>>(), "told": told.collect::<Vec<_>>()})
}
