//! What is wrong with the shape of a request, for the rules that report it.

mod join;
mod settle;
mod wording;

use rustc_hash::FxHashSet;
use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::shape::{Answer, Fault, FaultKind, Foreign, Kind, ModelFacts, Shape};
use toolcheck_core::text::kept;
use toolcheck_json::NodeId;

use self::join::Unknown;
pub(crate) use self::settle::settle;
use self::wording::Wording;
use crate::finding::OfShape;
use crate::rule::{Context, Rule, Sink};

/// What is wrong with the shape of a transcript.
#[derive(Debug, Default)]
pub(crate) struct Found<'c> {
    /// The faults, without those of objects that are written for another API.
    refused: Vec<Refused<'c>>,
    /// Those objects.
    pub(crate) foreign: Vec<ForeignObjects<'c>>,
    nodes: FxHashSet<NodeId>,
}

/// A fault that the target refuses, with what else is the same mistake.
#[derive(Debug)]
struct Refused<'c> {
    fault: Fault<'c>,
    answer: Answer,
    /// The rule that reports it.
    rule: &'c str,
    /// The help of the target's data.
    help: Option<&'c str>,
    /// The other keys that the object lacks.
    also_missing: Vec<String>,
    /// The unknown keys of the object, if a key is missing, or if it has no other.
    unknown: Vec<Unknown>,
    /// The same fault in other objects.
    repeats: Vec<Place>,
}

/// Objects of one kind that are written for another API.
#[derive(Debug)]
pub(crate) struct ForeignObjects<'c> {
    /// The first.
    pub(crate) first: Foreign<'c>,
    /// The others.
    pub(crate) others: Vec<NodeId>,
    /// What the target answers to the first.
    pub(crate) answer: Answer,
}

/// Finds what is wrong with the shape of a transcript.
pub(crate) fn find<'c>(cx: &Context<'c, '_>) -> Found<'c> {
    let is_sent_somewhere = !cx.is_training_example() || cx.is_target_named;
    let shape = cx.known_target.zip(cx.transcript.format);
    let shape = shape.and_then(|(target, format)| target.shape_for(format));
    let Some(shape) = shape.filter(|_| is_sent_somewhere) else {
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
    // Whoever silences a rule does not want to hear the same from another.
    let is_silenced = |id: &str| !cx.wanted_rules.iter().any(|rule| rule.id == id);
    let counts = |fault: &Fault<'c>| {
        let is_own = has_own_keys && fault.kind == FaultKind::Unknown;
        !is_own && fault.checked_by().all(|(_, rule)| !is_silenced(rule))
    };
    let faults: Vec<Fault<'c>> =
        faults.into_iter().filter(|fault| counts(fault) && fault.is_refused(shape, model)).collect();
    if faults.is_empty() {
        return Found::default();
    }
    let answer = |fault: &Fault<'c>| fault.answer(shape, cx.document, model);
    let (foreign, nodes) = foreign_objects(cx, shape, &faults, answer);
    let faults = faults.into_iter().filter(|fault| !fault.objects().any(|node| nodes.contains(&node)));
    let refused = faults.map(|fault| Refused {
        rule: rule_of(&fault),
        help: fault.help(shape, model),
        answer: answer(&fault),
        fault,
        also_missing: Vec::new(),
        unknown: Vec::new(),
        repeats: Vec::new(),
    });
    let refused = join::objects(cx.document, refused.collect());
    Found { refused: join::repeats(cx.document, refused), foreign, nodes }
}

/// The objects that are written for another API, grouped, and their nodes.
fn foreign_objects<'c>(
    cx: &Context<'c, '_>,
    shape: &'c Shape,
    faults: &[Fault<'c>],
    answer: impl Fn(&Fault<'c>) -> Answer,
) -> (Vec<ForeignObjects<'c>>, FxHashSet<NodeId>) {
    let mut nodes = FxHashSet::default();
    let mut groups: Vec<ForeignObjects<'c>> = Vec::new();
    for foreign in shape.foreign(faults, cx.document) {
        nodes.insert(foreign.node);
        let is_same = |known: &&mut ForeignObjects<'c>| {
            known.first.kind == foreign.kind && known.first.format == foreign.format
        };
        match groups.iter_mut().find(is_same) {
            Some(known) => known.others.push(foreign.node),
            None => {
                let answer = answer(&faults[foreign.fault]);
                groups.push(ForeignObjects { answer, first: foreign, others: Vec::new() });
            }
        }
    }
    // A request of which several kinds of things are written for one other API is that API's.
    let is_of_one =
        groups.len() > 1 && groups.iter().all(|group| group.first.format == groups[0].first.format);
    if is_of_one && cx.transcript.is_body {
        groups.truncate(1);
        let node = cx.transcript.place.node;
        groups[0].first.node = node;
        groups[0].first.kind = Kind::Request;
        groups[0].others.clear();
        nodes.insert(node);
    }
    (groups, nodes)
}

/// The rules that are treated in their own way.
const MISSING_PARAMETER: &str = "missing-parameter";
const UNKNOWN_CONTENT_TYPE: &str = "unknown-content-type";
const FOREIGN_SHAPE: &str = "foreign-shape";
const INVALID_TOOL_SCHEMA: &str = "invalid-tool-schema";
const UNREAD_CONTENT: &str = "unread-content";
const UNANSWERED_TOOL_CALL: &str = "unanswered-tool-call";
const ORPHAN_TOOL_RESULT: &str = "orphan-tool-result";

/// The rule that reports a fault.
fn rule_of<'f>(fault: &Fault<'f>) -> &'f str {
    let usual = || usual_rule(fault.kind, fault.is_of_type(), fault.is_of_request());
    fault.rule().unwrap_or_else(usual)
}

/// The id of the rule that reports a fault, if the shape names no other.
pub(crate) fn usual_rule(fault: FaultKind, is_of_type: bool, is_of_request: bool) -> &'static str {
    match fault {
        FaultKind::Missing if is_of_request => MISSING_PARAMETER,
        FaultKind::Value if is_of_type => UNKNOWN_CONTENT_TYPE,
        other => other.usual_rule(),
    }
}

/// The most places that a finding shows besides its own.
const MOST_LABELS: usize = 4;

/// Reports the faults of a rule.
pub(crate) fn report(cx: &Context<'_, '_>, rule: &Rule, out: &mut Sink<'_>) {
    for refused in cx.shape_faults().refused.iter().filter(|refused| refused.rule == rule.id) {
        let fault = &refused.fault;
        let Wording { message, caption, help } = Wording::of(cx.document, refused);
        let place = match refused.is_all_unknown() {
            true => Place::of(cx.document.value(fault.object_node())),
            false => fault.place(cx.document),
        };
        let finding = out.report(place, message);
        finding.caption(caption);
        if let Some(help) = help {
            finding.help(help);
        }
        for other in refused.unknown.iter().take(MOST_LABELS) {
            finding.label(Place::of_key(cx.document.value(other.node)), "unknown key");
        }
        for place in refused.repeats.iter().take(MOST_LABELS) {
            finding.label(*place, "and here");
        }
        finding.tool_name = fault.name(cx.document).map(|name| kept(&name));
        finding.answer = Some(refused.answer.clone());
        finding.of_shape = Some(OfShape {
            node: fault.node(),
            object: fault.object_node(),
            is_value: fault.kind != FaultKind::Missing,
            checked_by: fault.checked_by().map(|(element, rule)| (element, rule.to_owned())).collect(),
            element: fault.element_node(),
            renames: refused.unknown.iter().any(|other| other.means.is_some()),
        });
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
