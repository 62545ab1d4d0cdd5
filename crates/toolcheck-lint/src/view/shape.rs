//! What is wrong with the shape of a request, for the rules that report it.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::shape::{Answer, Condition, Detail, Fault, FaultKind, Foreign, ModelFacts, Shape};
use toolcheck_core::suggest::similar;
use toolcheck_core::text::shorten;
use toolcheck_json::NodeId;

use crate::finding::Draft;
use crate::rule::{Context, Rule, Sink};
use crate::rules;

/// A fault that the target refuses.
#[derive(Debug)]
pub(crate) struct Refused<'c> {
    pub(crate) fault: Fault<'c>,
    answer: Answer,
    /// The rule that reports it.
    rule: &'c str,
    /// The help of the target's data.
    help: Option<&'c str>,
    /// The unknown keys of the object, if a key is missing.
    misspelt: Vec<Misspelt>,
}

/// What is wrong with the shape of a transcript.
pub(crate) fn find<'c>(cx: &Context<'c, '_>) -> Found<'c> {
    let is_sent_somewhere = !cx.is_training_example() || cx.is_target_named;
    let shape = cx.known_target.and_then(|target| target.shape());
    let Some(shape) = shape.filter(|_| is_sent_somewhere && cx.speaks_own_format()) else {
        return Found::default();
    };
    let model = cx.transcript.request.model.as_deref();
    let root = cx.document.value(cx.transcript.place.node);
    let facts = cx.verdicts.shape_facts(shape, model);
    let faults = match root.is_object() {
        true => shape.check_request(&facts, root, cx.is_request()),
        false => shape.check_messages(&facts, root),
    };
    // A record of a data set has keys of its own, unless a service defines them.
    let has_own_keys = cx.is_training_example() && cx.target().kind != Some(TranscriptKind::Dataset);
    let counts = |fault: &Fault<'c>| !(has_own_keys && fault.kind == FaultKind::Unknown);
    let faults: Vec<Fault<'c>> =
        faults.into_iter().filter(|fault| counts(fault) && fault.is_refused(shape, model)).collect();
    if faults.is_empty() {
        return Found::default();
    }
    let answer = |fault: &Fault<'c>| fault.answer(shape, cx.document, model);
    let mut found = Found::default();
    for foreign in shape.foreign(&faults, cx.document) {
        found.nodes.insert(foreign.node);
        let same = |known: &&mut ForeignObjects<'c>| {
            known.first.kind == foreign.kind && known.first.format == foreign.format
        };
        if let Some(known) = found.foreign.iter_mut().find(same) {
            known.others.push(foreign.node);
            continue;
        }
        let answer = answer(&faults[foreign.fault]);
        found.foreign.push(ForeignObjects { answer, first: foreign, others: Vec::new() });
    }
    let faults = faults.into_iter().filter(|fault| !fault.objects().any(|node| found.nodes.contains(&node)));
    found.refused = faults
        .map(|fault| {
            let (answer, help) = (answer(&fault), fault.help(shape, model));
            Refused { rule: rule_of(&fault), help, answer, fault, misspelt: Vec::new() }
        })
        .collect();
    join_misspelt(&mut found.refused);
    found
}

/// What is wrong with the shape of a transcript.
#[derive(Debug, Default)]
pub(crate) struct Found<'c> {
    /// The faults, without those of objects that are written as another API has them.
    refused: Vec<Refused<'c>>,
    /// Those objects.
    pub(crate) foreign: Vec<ForeignObjects<'c>>,
    nodes: FxHashSet<NodeId>,
}

/// Objects of one kind that are written as another API has them.
#[derive(Debug)]
pub(crate) struct ForeignObjects<'c> {
    /// The first.
    pub(crate) first: Foreign<'c>,
    /// The others.
    pub(crate) others: Vec<NodeId>,
    /// What the target answers to the first.
    pub(crate) answer: Answer,
}

/// Makes one of keys that are missing and others that are unknown in the same object: the API names the missing ones, and
/// the others are probably what was meant.
fn join_misspelt(refused: &mut Vec<Refused<'_>>) {
    let mut unknown: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
    for (number, other) in refused.iter().enumerate() {
        if other.fault.kind == FaultKind::Unknown && other.rule == rules::UNKNOWN_FIELD {
            unknown.entry(other.fault.object_node()).or_default().push(number);
        }
    }
    if unknown.is_empty() {
        return;
    }
    let mut joined = FxHashSet::default();
    for number in 0..refused.len() {
        let missing = &refused[number].fault;
        if missing.kind != FaultKind::Missing || missing.is_of_request() {
            continue;
        }
        let Some(others) = unknown.remove(&missing.object_node()) else { continue };
        let others: Vec<Misspelt> = others
            .into_iter()
            .inspect(|other| {
                joined.insert(*other);
            })
            .take(MOST_VALUES)
            .map(|other| Misspelt {
                node: refused[other].fault.node(),
                key: refused[other].fault.key.to_string(),
                is_near: is_near(&refused[other].fault.key, &missing.key),
            })
            .collect();
        refused[number].misspelt = others;
    }
    let mut number = 0;
    refused.retain(|_| {
        number += 1;
        !joined.contains(&(number - 1))
    });
}

/// A key that is there in place of a missing one.
#[derive(Debug)]
struct Misspelt {
    node: NodeId,
    key: String,
    /// Whether it is the same but for case and separators.
    is_near: bool,
}

/// Whether two keys are the same but for case and separators.
fn is_near(one: &str, other: &str) -> bool {
    let letters = |key: &str| -> String {
        key.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(one) == letters(other)
}

/// The rule that reports a fault.
fn rule_of<'f>(fault: &Fault<'f>) -> &'f str {
    let usual = || rules::of_fault(fault.kind, fault.is_of_type(), fault.is_of_request());
    fault.rule().unwrap_or_else(usual)
}

/// Reports the faults of a rule.
pub(crate) fn report(cx: &Context<'_, '_>, rule: &Rule, out: &mut Sink<'_>) {
    for refused in cx.shape_faults().refused.iter().filter(|refused| refused.rule == rule.id) {
        let fault = &refused.fault;
        let Wording { message, caption, help } = wording(fault);
        let finding = out.report(fault.place(cx.document), message);
        finding.caption(caption);
        if let Some(help) = refused.help.map(str::to_owned).or(help) {
            finding.help(help);
        }
        for other in &refused.misspelt {
            finding.label(Place::of_key(cx.document.value(other.node)), "unknown key");
            if other.is_near {
                finding.help(format!("rename `{}` to `{}`", shorten(&other.key), fault.key));
            }
        }
        finding.tool_name = fault.name(cx.document).map(|name| name.into_owned());
        finding.answer = Some(refused.answer.clone());
        finding.yields_to = Some(Yields {
            node: fault.node(),
            object: fault.object_node(),
            is_value: fault.kind != FaultKind::Missing,
            rules: fault
                .checked_by()
                .filter_map(|(element, rule)| Some((element, rules::find(rule)?.id)))
                .collect(),
        });
    }
}

/// The findings of other rules that say more about a fault than the shape does.
#[derive(Debug, Clone)]
pub(crate) struct Yields {
    /// The value.
    node: NodeId,
    /// The object that has it, or lacks it.
    pub(crate) object: NodeId,
    /// Whether it is about the value, rather than about one that is not there.
    is_value: bool,
    /// The rules that report it wherever in an object they point.
    rules: Vec<(NodeId, &'static str)>,
}

/// Leaves one finding of those that the shape and other rules have about the same thing: the one that is worse, and else
/// that of the other rule, which says more. The first `first` findings are of earlier transcripts.
pub(crate) fn settle(cx: &Context<'_, '_>, findings: &mut Vec<Draft>, first: usize) {
    let found = cx.shape_faults();
    if found.foreign.is_empty() && findings[first..].iter().all(|finding| finding.yields_to.is_none()) {
        return;
    }
    let others = OtherFindings::new(cx, &findings[first..]);
    let mut dropped = FxHashSet::default();
    for (number, finding) in findings.iter().enumerate().skip(first) {
        let Some(yields) = &finding.yields_to else {
            if others.follows(found, finding) {
                dropped.insert(number);
            }
            continue;
        };
        for other in others.about(finding.rule, yields, &findings[first..]) {
            let is_worse = finding.level > findings[first + other].level;
            dropped.insert(if is_worse { first + other } else { number });
        }
    }
    let mut number = 0;
    findings.retain(|_| {
        number += 1;
        !dropped.contains(&(number - 1))
    });
}

/// The findings of the rules that look at more than the shape.
struct OtherFindings<'r, 'c, 's> {
    cx: &'r Context<'c, 's>,
    /// Their numbers, by the node that they point at.
    by_node: FxHashMap<NodeId, Vec<usize>>,
    /// The nodes that those of each rule point at, sorted, with their numbers.
    by_rule: FxHashMap<&'static str, Vec<(usize, usize)>>,
    /// The schemas that the shape has a finding in.
    schemas: Vec<usize>,
    /// The values of the objects that are written as another API has them: they follow the object.
    foreign: Vec<Range<usize>>,
}

impl<'r, 'c, 's> OtherFindings<'r, 'c, 's> {
    fn new(cx: &'r Context<'c, 's>, findings: &[Draft]) -> Self {
        let mut by_node: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
        let mut by_rule: FxHashMap<&'static str, Vec<(usize, usize)>> = FxHashMap::default();
        let mut schemas = Vec::new();
        for (number, finding) in findings.iter().enumerate() {
            match &finding.yields_to {
                None if finding.rule == rules::FOREIGN_SHAPE
                    || finding.rule == rules::INVALID_TOOL_SCHEMA => {}
                None => {
                    by_node.entry(finding.place.node).or_default().push(number);
                    by_rule.entry(finding.rule).or_default().push((finding.place.node.index(), number));
                }
                Some(yields) if finding.rule == rules::INVALID_TOOL_SCHEMA => {
                    schemas.push(yields.object.index())
                }
                Some(_) => {}
            }
        }
        by_rule.values_mut().for_each(|nodes| nodes.sort_unstable());
        schemas.sort_unstable();
        let nodes = |node: &NodeId| node.index()..node.index() + cx.document.value(*node).count();
        let mut foreign: Vec<Range<usize>> = cx.shape_faults().nodes.iter().map(nodes).collect();
        foreign.sort_unstable_by_key(|object| object.start);
        Self { cx, by_node, by_rule, schemas, foreign }
    }

    /// The first finding at the same value, and the first of each rule that reports the same of the object.
    fn about(&self, rule: &str, yields: &Yields, findings: &[Draft]) -> Vec<usize> {
        let is_other = |number: &&usize| findings[**number].rule != rule;
        let at_value = self.by_node.get(&yields.node).filter(|_| yields.is_value);
        let at_value = at_value.into_iter().flatten().find(is_other).copied();
        let of_rules = yields.rules.iter().filter_map(|(element, rule)| {
            let of_rule = self.by_rule.get(rule)?;
            let (start, count) = (element.index(), self.cx.document.value(*element).count());
            let (node, number) = of_rule.get(of_rule.partition_point(|(node, _)| *node < start))?;
            (*node < start + count).then_some(*number)
        });
        at_value.into_iter().chain(of_rules).collect()
    }

    /// Whether a finding only follows from what the shape reports.
    fn follows(&self, found: &Found<'_>, finding: &Draft) -> bool {
        let node = finding.place.node.index();
        if finding.rule == rules::INVALID_TOOL_SCHEMA {
            // What the API says of a schema is more than that it is not JSON Schema.
            let count = self.cx.document.value(finding.place.node).count();
            let next = self.schemas.partition_point(|schema| *schema < node);
            return self.schemas.get(next).is_some_and(|schema| *schema < node + count);
        }
        if found.foreign.is_empty() || !follows_from_foreign(finding.rule) {
            return false;
        }
        let next = self.foreign.partition_point(|object| object.start <= node);
        next > 0 && self.foreign[next - 1].contains(&node)
    }
}

/// Whether a rule reports what an object that is written as another API has it only seems to lack.
fn follows_from_foreign(rule: &str) -> bool {
    rule != rules::FOREIGN_SHAPE
        && (rule == rules::UNREAD_CONTENT || rules::find(rule).is_some_and(|rule| rule.on_wire))
}

/// What a finding says.
struct Wording {
    message: String,
    caption: String,
    help: Option<String>,
}

fn wording(fault: &Fault<'_>) -> Wording {
    let key = shorten(&fault.key).into_owned();
    let (message, caption, help): (String, &str, Option<String>) = match (&fault.kind, &fault.detail) {
        (FaultKind::Missing, _) => {
            let add = match fault.only_value() {
                Some(value) => format!("add `\"{key}\": {value}`"),
                None => format!("add `{key}`"),
            };
            (format!("required key `{key}` is missing"), "missing here", Some(add))
        }
        (FaultKind::Unknown, _) => {
            let help = match similar(&key, fault.known_keys()).name() {
                Some(known) => format!("did you mean `{known}`?"),
                None => "remove it: send only keys that the API documents".to_owned(),
            };
            match fault.is_of_known_key() {
                true => (
                    format!("key `{key}` is not allowed here"),
                    "not allowed",
                    Some(format!("remove `{key}`")),
                ),
                false => (format!("unknown key `{key}`"), "not a known key", Some(help)),
            }
        }
        (_, Detail::Types { expected, got }) => {
            let wanted: Vec<&str> = expected.iter().map(|expected| expected.with_article()).collect();
            let (one, what) = match (key.strip_suffix("[]"), key.strip_suffix("{}")) {
                (Some(list), _) => (format!("an element of `{list}`"), got.with_article()),
                (_, Some(map)) => (format!("a value in `{map}`"), got.with_article()),
                _ => (format!("`{key}`"), got.with_article()),
            };
            let wanted = either(&wanted);
            (format!("{one} is {what}, but it must be {wanted}"), what, Some(format!("write {wanted}")))
        }
        (_, Detail::Values { allowed, got }) => {
            let what = if got.is_empty() {
                format!("the value of `{key}` is not allowed")
            } else {
                format!("`{got}` is not an allowed value of `{key}`")
            };
            (what, "not allowed", one_of(allowed, got))
        }
        (FaultKind::Pattern, Detail::Pattern { pattern, got }) => {
            let what = match key.as_str() {
                _ if got.is_empty() => format!("invalid `{key}`"),
                _ => format!("`{got}` is not a valid `{}`", key.trim_end_matches("{}")),
            };
            (what, "does not match", Some(format!("it must match the pattern {pattern}")))
        }
        (kind, Detail::Limit { min, max, got, .. }) => {
            let (unit, verb) = match kind {
                FaultKind::Length => (" characters", "has"),
                FaultKind::Items => (" elements", "has"),
                _ => ("", "is"),
            };
            let limit = match (min, max) {
                (Some(min), Some(max)) if min == max => format!("it must be {min}"),
                (Some(min), Some(max)) => format!("it must be from {min} to {max}"),
                (Some(min), None) => format!("the least is {min}"),
                (None, Some(max)) => format!("the most is {max}"),
                (None, None) => String::new(),
            };
            let unit = if got == "1" { unit.trim_end_matches('s') } else { unit };
            (format!("`{key}` {verb} {got}{unit}, but {limit}"), "out of range", None)
        }
        (FaultKind::Base64, _) => (
            format!("`{key}` is not Base64"),
            "not Base64",
            Some("send the data alone, in Base64, without a `data:` prefix".to_owned()),
        ),
        (FaultKind::Unique, Detail::Value { got }) => (
            format!("two have the same `{key}`: `{got}`"),
            "the second",
            Some("use different names".to_owned()),
        ),
        (FaultKind::Names, Detail::Value { got }) => match fault.lists_all() {
            Some(of) => (
                format!("`{key}` must list every key of `{of}`, and `{got}` is missing"),
                "incomplete",
                Some(format!("add `{got}`, and allow `null` where it is optional")),
            ),
            None => (
                format!("`{key}` lists `{got}`, which is not declared"),
                "not declared",
                Some("declare it, or remove it from the list".to_owned()),
            ),
        },
        (_, Detail::Union { of, count }) => {
            let keys: Vec<String> = of.iter().take(MOST_VALUES).map(|key| format!("`{key}`")).collect();
            let keys = keys.join(", ");
            let what =
                if *count == 0 { "none of its kinds is there" } else { "it is of several kinds at once" };
            (
                format!("invalid `{}`: {what}", fault.object()),
                "this object",
                Some(format!("use exactly one of {keys}")),
            )
        }
        (_, Detail::Other { key: other, values }) => conflict(fault, &key, other, values),
        _ => (format!("invalid `{key}`"), "invalid", None),
    };
    Wording { message, caption: caption.to_owned(), help }
}

/// A key that something else forbids.
fn conflict<'m>(
    fault: &Fault<'_>,
    key: &str,
    other: &str,
    values: &[&str],
) -> (String, &'m str, Option<String>) {
    let other = other.trim_start_matches('/').replace('/', ".");
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    let values = values.join(" or ");
    let (what, help) = match fault.condition() {
        Some(Condition::Needs) => (
            format!("`{key}` needs `{other}`, which is not there"),
            format!("add `{other}`, or remove `{key}`"),
        ),
        Some(Condition::Excludes) => {
            (format!("`{key}` and `{other}` exclude each other"), format!("remove `{key}` or `{other}`"))
        }
        Some(Condition::OnlyIf) => (
            format!("`{key}` is allowed only if `{other}` is {values}"),
            format!("remove `{key}`, or change `{other}`"),
        ),
        Some(Condition::NotIf) => (
            format!("`{key}` is not allowed if `{other}` is {values}"),
            format!("remove `{key}`, or change `{other}`"),
        ),
        Some(Condition::LessThan) => {
            (format!("`{key}` must be less than `{other}`"), format!("lower `{key}`, or raise `{other}`"))
        }
        _ => (format!("`{key}` is not allowed here"), format!("remove `{key}`")),
    };
    (what, "this key", Some(help))
}

/// The most values that a help lists.
const MOST_VALUES: usize = 12;

/// Which values to use.
fn one_of(allowed: &[&str], got: &str) -> Option<String> {
    if let Some(known) = similar(got, allowed.iter().copied()).name() {
        return Some(format!("did you mean `{known}`?"));
    }
    let listed: Vec<String> = allowed.iter().take(MOST_VALUES).map(|value| format!("`{value}`")).collect();
    match listed.as_slice() {
        [] => None,
        [one] => Some(format!("use {one}")),
        [others @ .., last] if allowed.len() <= MOST_VALUES => {
            Some(format!("use {} or {last}", others.join(", ")))
        }
        _ => Some(format!("use one of {}, …", listed.join(", "))),
    }
}

fn either(wanted: &[&str]) -> String {
    match wanted {
        [] => "something else".to_owned(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// The facts of a shape that hold for a model, by the model.
pub(crate) type FactsOfModels = Vec<(Option<String>, ModelFacts)>;

/// Finds the facts for a model, or works them out.
pub(crate) fn facts_of(
    known: &mut FactsOfModels,
    shape: &Shape,
    model: Option<&str>,
    most: usize,
) -> ModelFacts {
    if let Some((_, facts)) = known.iter().find(|(own, _)| own.as_deref() == model) {
        return facts.clone();
    }
    let facts = shape.facts_for(model);
    known.truncate(most - 1);
    known.insert(0, (model.map(str::to_owned), facts.clone()));
    facts
}
