//! What is wrong with the shape of a request, for the rules that report it.

mod fixes;
mod guesses;
mod ids;
mod join;
mod keywords;
mod last;
mod merge_faults;
mod required;
mod same;
mod table;
mod translated;
mod wording;

use std::borrow::Cow;
use std::cell::OnceCell;

use foldhash::HashSet;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Body, Part, Place, TranscriptKind};
use toolcheck_core::shape::{Action, Answer, Detail, Foreign, Kind, Shape, ShapeFault, ShapeFaultKind};
use toolcheck_core::text::{kept, shorten};
use toolcheck_core::{RuleId, formats, targets};
use toolcheck_json::{Document, NodeId, Value};

pub(crate) use self::fixes::told_choice;
pub(crate) use self::guesses::{EMPTY, only_text, tool_name};
use self::join::Unknown;
pub(crate) use self::keywords::Keywords;
pub(crate) use self::last::{left_out, names_a_call, of_block, tools};
pub(crate) use self::merge_faults::settle;
pub(crate) use self::required::required_above;
pub(crate) use self::same::in_own_field;
pub(crate) use self::translated::translated;
use self::wording::Wording;
use crate::finding::OfShape;
use crate::rule::{Context, Rule, Sink};

#[derive(Debug, Default)]
pub(crate) struct ShapeFaults<'c> {
    /// The faults, without those of objects that are written for another API.
    refused: Vec<Refused<'c>>,
    pub(crate) foreign: Vec<ForeignObjects<'c>>,
    nodes: HashSet<NodeId>,
}

/// A fault that the target refuses, with what else is the same mistake.
#[derive(Debug)]
struct Refused<'c> {
    fault: ShapeFault<'c>,
    /// What the target answers; found last, because thousands of faults may be the same mistake.
    answer: Option<Answer>,
    rule: RuleId,
    /// The help of the target's data; found last too.
    help: Option<Cow<'c, str>>,
    /// The other keys that the object lacks.
    also_missing: Vec<String>,
    /// The unknown keys of the object, if a key is missing, or if it has no other.
    unknown: Vec<Unknown>,
    /// The key that is meant by one that is not known.
    means: Option<Cow<'c, str>>,
    /// The rules that check the key where it belongs, if it is in a wrong place.
    misplaced: Vec<RuleId>,
    /// The rules that miss what belongs to the object where it would be in its place, if it is one of another message.
    of_another: Vec<(NodeId, RuleId)>,
    /// The same fault in other objects: the first of them.
    repeats: Vec<Place>,
    /// How many there are with the first one.
    times: usize,
    /// Whether all are in the same tool, or whatever else has a name.
    is_of_one_name: bool,
    /// What fixes all of them.
    fix: Option<Fix>,
}

/// Objects of one kind that are written for another API.
#[derive(Debug)]
pub(crate) struct ForeignObjects<'c> {
    pub(crate) first: Foreign<'c>,
    pub(crate) others: Vec<NodeId>,
    pub(crate) fix: Option<Fix>,
    /// What the target answers to the first.
    pub(crate) answer: Answer,
}

impl ShapeFaults<'_> {
    /// Whether an element of a list has only keys that are not known.
    pub(crate) fn has_unknown_element(&self, list: Value<'_, '_>) -> bool {
        let unknown = self.refused.iter().filter(|refused| refused.fault.kind == ShapeFaultKind::Unknown);
        let objects: HashSet<NodeId> = unknown.map(|refused| refused.fault.object_node()).collect();
        !objects.is_empty() && list.elements().any(|element| objects.contains(&element.id()))
    }

    pub(crate) fn are_none(&self) -> bool {
        self.refused.is_empty() && self.foreign.is_empty()
    }

    /// Whether it tells that schemas have a key in place of the one that is meant, which they may lack then.
    fn tells_of_keyword(&self, key: &str, meant: &str) -> bool {
        let of_schemas = self.refused.iter().filter(|refused| refused.rule == RuleId::InvalidToolSchema);
        of_schemas.map(|refused| &refused.fault).any(|fault| match fault.lacks_key() {
            true => fault.key == meant,
            false => fault.kind == ShapeFaultKind::Unknown && fault.key == key,
        })
    }

    /// Whether it has a fault of a tool's schema in a schema.
    pub(crate) fn has_fault_in_schema(&self, schema: Value<'_, '_>) -> bool {
        self.faults_in(schema).next().is_some()
    }

    /// Whether it tells that a schema requires keys that it does not declare.
    pub(crate) fn tells_of_undeclared(&self, schema: Value<'_, '_>) -> bool {
        let mut faults = self.faults_in(schema);
        faults.any(|fault| fault.kind == ShapeFaultKind::Names && fault.lists_all().is_none())
    }

    fn faults_in(&self, schema: Value<'_, '_>) -> impl Iterator<Item = &ShapeFault<'_>> {
        let (first, count) = (schema.id().index(), schema.count());
        let of_schemas = self.refused.iter().filter(|refused| refused.rule == RuleId::InvalidToolSchema);
        of_schemas.map(|refused| &refused.fault).filter(move |fault| {
            let object = fault.object_node().index();
            object >= first && object < first + count
        })
    }
}

pub(crate) fn find<'c>(cx: &Context<'c, '_>) -> ShapeFaults<'c> {
    let is_sent_somewhere = !cx.is_training_example() || cx.named_target.is_some();
    let model = cx.transcript.request.model.as_deref();
    let Some((shape, faults)) = faults_in(cx, model).filter(|_| is_sent_somewhere) else {
        return ShapeFaults::default();
    };
    // A record of a data set has keys and types of its own, unless a service defines them.
    let has_own_keys = cx.is_training_example() && cx.target().kind != Some(TranscriptKind::Dataset);
    // Whoever ignores a rule does not want to hear the same from another. A rule that was not selected is no such rule.
    let is_silenced = |id: RuleId| cx.ignored_rules.iter().any(|rule| rule.id == id);
    let results = OnceCell::new();
    let counts = |fault: &ShapeFault<'c>| {
        let is_own = has_own_keys
            && match fault.kind {
                ShapeFaultKind::Unknown => true,
                ShapeFaultKind::Type => table::keeps(cx.document, fault),
                _ => false,
            };
        let is_known = fault.kind == ShapeFaultKind::Missing && found_elsewhere(cx, fault, &results);
        !is_own
            && !is_known
            && fault.checked_by().chain(fault.checked_around_by()).all(|(_, rule)| !is_silenced(rule))
    };
    let is_wrong = |fault: &ShapeFault<'c>| fault.is_refused(shape, model) || fault.is_ignored();
    let faults: Vec<_> = faults.into_iter().filter(|fault| counts(fault) && is_wrong(fault)).collect();
    if faults.is_empty() {
        return ShapeFaults::default();
    }
    let answer = |fault: &ShapeFault<'c>| fault.answer(shape, cx.document, model);
    let (foreign, nodes) = foreign_objects(cx, shape, &faults, answer);
    let faults = faults.into_iter().filter(|fault| !fault.objects().any(|node| nodes.contains(&node)));
    let refused = faults.map(|fault| Refused {
        rule: rule_of(&fault),
        help: None,
        answer: None,
        also_missing: Vec::new(),
        unknown: Vec::new(),
        means: None,
        misplaced: match fault.is_of_known_key() {
            true => Vec::new(),
            false => shape.checked_elsewhere_by(&fault).collect(),
        },
        of_another: of_another(&fault),
        repeats: Vec::new(),
        times: 1 + fault.alike.len(),
        is_of_one_name: fault.alike.is_empty(),
        fix: None,
        fault,
    });
    let mut refused = join::objects(cx.document, refused.collect());
    ids::find_renamed(cx, &mut refused);
    fixes::find(cx, shape, model, &mut refused);
    join::repeats(cx.document, &mut refused);
    for refused in &mut refused {
        refused.help = help_of(cx.document, shape, &refused.fault, model);
        let mut answer = answer(&refused.fault);
        let is_certain = answer.grounds.caution().is_none() && refused.means.is_none();
        if let Some(doubt) = refused.fault.may_be_newer(cx.document).filter(|_| is_certain) {
            answer.grounds.doubt = Some(doubt.into());
        }
        refused.answer = Some(answer);
    }
    ShapeFaults { refused, foreign, nodes }
}

/// Whether the id that a result lacks stands under a key that only a framework has, which writes another message before it
/// sends it. `results` are the messages with such ids.
fn found_elsewhere(
    cx: &Context<'_, '_>,
    fault: &ShapeFault<'_>,
    results: &OnceCell<HashSet<NodeId>>,
) -> bool {
    let has_id = |part: &Part<'_>| matches!(&part.body, Body::Result(result) if result.call_id.is_some());
    let find = || {
        let messages = cx.transcript.messages_with_parts();
        let with_ids = messages.filter(|(_, parts)| parts.iter().any(has_id));
        with_ids.map(|(message, _)| message.place.node).collect()
    };
    fault.checked_by().any(|(_, rule)| rule == RuleId::MissingToolCallId)
        && results.get_or_init(find).contains(&fault.object_node())
}

/// What is wrong with the shape of a request, or with the schemas of tools that are in none, and the shape that it must have.
fn faults_in<'c>(cx: &Context<'c, '_>, model: Option<&str>) -> Option<(&'c Shape, Vec<ShapeFault<'c>>)> {
    let Some(shape) = cx.known_shape() else {
        let is_read = cx.transcript.format.is_some_and(|format| formats::find(format.id).is_none());
        let shape = cx.known_target.filter(|_| is_read && cx.transcript.messages.is_empty())?.shape()?;
        let tools = cx.transcript.request.tools.listed().iter();
        let value = |place: Place| cx.document.value(place.node);
        let schemas = tools.filter_map(|tool| Some((value(tool.place), value(tool.schema?))));
        return Some((shape, shape.check_schemas(&shape.facts_for(model), schemas)));
    };
    let root = cx.document.value(cx.transcript.place.node);
    let facts = shape.facts_for(model);
    let faults = match (root.is_object(), cx.body_names_model) {
        (true, Some(names_model)) => shape.check_body(&facts, root, names_model),
        (true, None) => shape.check_request(&facts, root, cx.is_request()),
        (false, _) => shape.check_messages(&facts, root),
    };
    Some((shape, faults))
}

/// The help of the target's data, or how to write an object that only lacks what goes around it.
fn help_of<'c>(
    document: &Document<'_>,
    shape: &'c Shape,
    fault: &ShapeFault<'c>,
    model: Option<&str>,
) -> Option<Cow<'c, str>> {
    let lacks_key = fault.kind == ShapeFaultKind::Missing && fault.object_kind().is_some();
    let around =
        || fault.object_example().filter(|_| lacks_key && shape.unwrapped(fault, document).is_some());
    let written = || Some(format!("write it as {}", around()?).into());
    fault.help(shape, model).map(Cow::Borrowed).or_else(written)
}

impl ShapeFaults<'_> {
    /// The keys that should be others.
    fn renamed(&self) -> impl Iterator<Item = NodeId> {
        let unknown = self.refused.iter().flat_map(|refused| &refused.unknown);
        unknown.filter(|other| other.means.is_some()).map(|other| other.node)
    }
}

/// The most messages that are translated.
pub(crate) const MOST_TRANSLATED: usize = 64;

/// The objects that are written for another API, grouped, and their nodes.
fn foreign_objects<'c>(
    cx: &Context<'c, '_>,
    shape: &'c Shape,
    faults: &[ShapeFault<'c>],
    answer: impl Fn(&ShapeFault<'c>) -> Answer,
) -> (Vec<ForeignObjects<'c>>, HashSet<NodeId>) {
    let mut nodes = HashSet::default();
    let mut groups: Vec<ForeignObjects<'c>> = Vec::new();
    for mut foreign in shape.foreign(faults, cx.document) {
        let alike = std::mem::take(&mut foreign.alike);
        let own = || {
            let mut of_object = faults.iter().filter(|fault| fault.object_node() == foreign.node);
            let only = of_object.next().filter(|_| of_object.next().is_none());
            let renamed = only.and_then(|fault| fault.fix(cx.document, None));
            let renamed = renamed.filter(|fix| matches!(fix.changes[..], [Change::Rename(..)]));
            renamed.or_else(|| tool_name(cx, Some(foreign.kind), foreign.node, false))
        };
        let is_said = matches!(foreign.kind, Kind::Message | Kind::Content)
            && alike.is_empty()
            && nodes.len() < MOST_TRANSLATED;
        let message = || is_said.then(|| translated(cx, foreign.node, Some(foreign.format))).flatten();
        let rest = || match foreign.kind {
            _ if !cx.is_request() => None,
            Kind::Content => of_block(cx, foreign.node),
            Kind::ToolChoice => {
                let choice = cx.document.value(foreign.node);
                let same = fixes::choice_as(cx, choice).map(|change| Fix::safe([change]));
                same.or_else(|| left_out(cx, choice))
            }
            Kind::Tool => last::tool(cx, cx.document.value(foreign.node)),
            _ => None,
        };
        let fix = foreign.fix.take().or_else(own).or_else(message).or_else(rest);
        nodes.insert(foreign.node);
        nodes.extend(&alike);
        let is_same = |known: &&mut ForeignObjects<'c>| {
            known.first.kind == foreign.kind && known.first.format == foreign.format
        };
        match groups.iter_mut().find(is_same) {
            Some(known) => {
                known.fix = known.fix.take().zip(fix).and_then(|(one, other)| one.and(other));
                known.others.push(foreign.node);
                known.others.extend(alike);
            }
            None => {
                let answer = answer(&faults[foreign.fault]);
                groups.push(ForeignObjects { answer, fix, first: foreign, others: alike });
            }
        }
    }
    // A request of which several kinds of things are written for one other API is that API's.
    let is_of_one =
        groups.len() > 1 && groups.iter().all(|group| group.first.format == groups[0].first.format);
    if is_of_one && cx.transcript.is_body {
        let fixes = groups.iter_mut().map(|group| group.fix.take());
        groups[0].fix = fixes.reduce(|one, other| one?.and(other?)).flatten();
        groups.truncate(1);
        let node = cx.transcript.place.node;
        groups[0].first.node = node;
        groups[0].first.kind = Kind::Request;
        groups[0].others.clear();
        nodes.insert(node);
    }
    (groups, nodes)
}

/// The rules about the two ends of a pair.
const OF_PAIRS: [RuleId; 2] = [RuleId::MalformedToolCallId, RuleId::InvalidToolName];

fn rule_of(fault: &ShapeFault<'_>) -> RuleId {
    let usual = || usual_rule(fault.kind, fault.is_of_type(), fault.is_of_request());
    fault.rule().unwrap_or_else(usual)
}

/// The id of the rule that reports a fault, if the shape names no other.
pub(crate) fn usual_rule(fault: ShapeFaultKind, is_of_type: bool, is_of_request: bool) -> RuleId {
    match fault {
        ShapeFaultKind::Missing if is_of_request => RuleId::MissingParameter,
        ShapeFaultKind::Value if is_of_type => RuleId::UnknownContentType,
        other => other.usual_rule(),
    }
}

/// The most places that a finding shows besides its own.
const MOST_LABELS: usize = 4;

pub(crate) fn report(cx: &Context<'_, '_>, rule: &Rule, out: &mut Sink<'_>) {
    for refused in cx.shape_faults().refused.iter().filter(|refused| refused.rule == rule.id) {
        let fault = &refused.fault;
        // What a grader reads has any key.
        let is_of_row = rule.id == RuleId::UnknownField && fault.object_node() == cx.transcript.place.node;
        if is_of_row && cx.is_graded_row() {
            continue;
        }
        let Wording { message, caption, help } = Wording::of(cx.document, refused);
        let place = match refused.is_all_unknown() {
            true => Place::of(cx.document.value(fault.object_node())),
            false => fault.place(cx.document),
        };
        let finding = out.report(place, message);
        finding.caption(caption);
        // What a key was probably meant to be says more than where else there is one like it.
        let renamed = refused.fix.as_ref().and_then(|fix| match &fix.changes[..] {
            [Change::Rename(node, key)] => Some((cx.document.value(*node).key_text()?, key)),
            _ => None,
        });
        let is_vague = matches!(help.as_deref().and_then(Action::of), Some(Action::Move(Some(_))));
        if let (Some((key, meant)), true) = (renamed, is_vague) {
            finding.help(format!("rename `{}` to `{meant}`", shorten(&key)));
        } else if let Some(help) = told_choice(cx, refused.fix.as_ref()).or(help) {
            finding.help(help);
        }
        for other in refused.unknown.iter().take(MOST_LABELS) {
            finding.label(Place::of_key(cx.document.value(other.node)), other.label);
        }
        for place in &refused.repeats {
            finding.label(*place, "and here");
        }
        let said = finding.say();
        said.repeats = refused.times - 1;
        // A finding about several tools is about none of them by itself.
        let name = fault.name(cx.document).filter(|_| refused.is_of_one_name);
        said.tool_name = name.map(|name| kept(&name));
        finding.say().answer.clone_from(&refused.answer);
        finding.say().fix = refused.fix.clone().map(Box::new);
        let is_misspelt = fault.meant(cx.document).is_some();
        let hides = |kind| fault.hides(cx.document, kind);
        let is_no_object = fault.kind == ShapeFaultKind::Type && fault.key.ends_with("[]");
        // A block that is nothing may be any, and so may a tool without a name or a type.
        let is_nothing = is_no_object && (hides(Kind::Content) || hides(Kind::Message))
            || fault.kind == ShapeFaultKind::None
                && fault.object_kind() == Some(Kind::Content)
                && cx.document.value(fault.object_node()).members().next().is_none();
        let is_vague_tool = fault.object_kind() == Some(Kind::Tool)
            && (is_misspelt
                || fault.kind == ShapeFaultKind::None
                || fault.is_of_type()
                || &*fault.key == "name"
                    && matches!(fault.kind, ShapeFaultKind::Missing | ShapeFaultKind::Type));
        finding.of_shape = Some(Box::new(OfShape {
            node: fault.node(),
            object: fault.object_node(),
            is_value: fault.kind != ShapeFaultKind::Missing,
            checked_by: fault.checked_by().collect(),
            checked_around_by: fault.checked_around_by().collect(),
            element: fault.element_node(),
            renames: refused.means.is_some()
                || refused.unknown.iter().any(|other| other.means.is_some())
                || fault.is_well_known(cx.document),
            explains: explained(refused),
            hides_calls: hides(Kind::ToolCall)
                || is_nothing
                || fault.kind == ShapeFaultKind::Type
                    && fault.holds_objects()
                    && fault.checked_in_place_by().next().is_some(),
            hides_results: is_misspelt
                && fault.object_kind() == Some(Kind::Content)
                && !hides(Kind::ToolCall)
                || is_nothing,
            hides_tools: hides(Kind::Tool) || is_vague_tool,
            is_misspelt: is_misspelt || fault.misspelt(cx.document).is_some(),
            is_no_object,
        }));
    }
}

/// The rules that check a block which may not be in its message: what they miss belongs to the message that it is from.
fn of_another(fault: &ShapeFault<'_>) -> Vec<(NodeId, RuleId)> {
    let is_refused = matches!(&fault.detail, Detail::Values { allowed, .. } if allowed.is_empty());
    let is_misplaced = is_refused && rule_of(fault) == RuleId::UnknownContentType;
    if is_misplaced { fault.checked_by().collect() } else { Vec::new() }
}

/// The rules that miss what is there under a wrong key, or in a wrong place.
fn explained(refused: &Refused<'_>) -> Vec<(NodeId, RuleId)> {
    let fault = &refused.fault;
    // A call or a result that is no object has no id.
    let is_hollow = fault.kind == ShapeFaultKind::Type
        && fault.object_kind() == Some(Kind::Content)
        && fault.holds_objects();
    let lacks_id = refused.means.is_some() || is_hollow;
    let id = lacks_id.then(|| (fault.object_node(), RuleId::MissingToolCallId));
    let misplaced = refused.misplaced.iter().map(|rule| (fault.element_node(), *rule));
    // What is of another type may still be there: calls, in a message without content.
    let in_place = fault.checked_in_place_by().filter(|_| fault.kind == ShapeFaultKind::Type);
    let in_place = in_place.map(|rule| (fault.object_node(), rule));
    let elsewhere = refused.of_another.iter().copied();
    id.into_iter().chain(misplaced).chain(in_place).chain(elsewhere).collect()
}

/// Whether a body has fewer mistakes as a request of another format.
pub(crate) fn fits_better(other: &str, format: &str, body: Value<'_, '_>) -> bool {
    let mistakes = |format: &str| Some(targets::find(format)?.shape()?.rate(body)?.mistakes);
    mistakes(other).zip(mistakes(format)).is_none_or(|(other, own)| other < own)
}
