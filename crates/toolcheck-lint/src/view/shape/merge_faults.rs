//! What the shape and other rules say about the same thing becomes one finding.

use std::ops::Range;

use foldhash::{HashMap, HashSet};
use toolcheck_core::RuleId;
use toolcheck_core::fix::Change;
use toolcheck_core::ir::{Body, Place};
use toolcheck_json::{Document, NodeId, Value};

use super::ShapeFaults;
use crate::finding::{Draft, DraftContent, OfShape};
use crate::rule::Context;

/// Leaves one finding of those that the shape and other rules have about the same thing: the one that is worse, and else
/// that of the other rule, which says more. What the API prints, and which key was meant, goes with it. The first `first`
/// findings are of earlier transcripts.
pub(crate) fn settle(cx: &Context<'_, '_>, findings: &mut Vec<Draft>, first: usize) {
    let found = cx.shape_faults();
    if found.foreign.is_empty() && findings[first..].iter().all(|finding| finding.of_shape.is_none()) {
        return;
    }
    let others = OtherFindings::new(cx, &findings[first..]);
    let mut dropped = HashSet::default();
    let (mut told, mut follow): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), Vec::new());
    for (number, finding) in findings.iter().enumerate().skip(first) {
        let Some(yields) = &finding.of_shape else { continue };
        for other in others.about(finding.rule, yields, &findings[first..]) {
            let other = first + other;
            let level = findings[other].target_level;
            let explains = || {
                yields.is_no_object || yields.explains.iter().any(|(_, rule)| *rule == findings[other].rule)
            };
            if finding.target_level > level || finding.target_level == level && explains() {
                dropped.insert(other);
            } else {
                dropped.insert(number);
                told.push((other, number));
            }
        }
    }
    for (number, finding) in findings.iter().enumerate().skip(first) {
        if finding.of_shape.is_none()
            && others.follows(found, finding, |shape| !dropped.contains(&(first + shape)))
        {
            follow.push(number);
        }
    }
    dropped.extend(follow);
    for (other, number) in told {
        let renames = findings[number].of_shape.as_ref().is_some_and(|yields| yields.renames);
        let place = findings[number].place;
        if let Some(said) = findings[number].said().cloned().filter(|_| findings[other].said().is_some()) {
            tell(&mut findings[other], place, said, renames);
        }
    }
    let mut number = 0;
    findings.retain(|_| {
        number += 1;
        !dropped.contains(&(number - 1))
    });
}

/// Lets a finding of another rule say what the shape says of the same mistake.
fn tell(finding: &mut Draft, place: Place, said: DraftContent, renames: bool) {
    let is_vague = is_vague(finding);
    let own = finding.say();
    let text = said.provider_error.and_then(|error| error.text);
    if let (Some(answer), Some(text)) = (&mut own.provider_error, text)
        && (is_vague || answer.text.is_none())
    {
        answer.text = Some(text);
    }
    if is_vague {
        // It says what is wrong where it is.
        (own.message, own.caption, own.labels, own.help) =
            (said.message, said.caption, said.labels, said.help);
        (own.repeats, own.fix) = (said.repeats, said.fix);
        finding.place = place;
    } else if renames {
        own.labels.extend(said.labels);
        own.help = said.help;
        // What is only spelled otherwise may be wrong in more than that.
        let is_rename = |change: &Change| matches!(change, Change::Rename(..));
        let renaming = said.fix.filter(|fix| fix.changes.iter().all(is_rename));
        own.fix = renaming.or(own.fix.take());
    }
}

/// The cases of a rule that reports a whole result, of which the shape knows the part that is wrong.
const VAGUE: (RuleId, [&str; 3]) = (RuleId::InvalidResultContent, ["foreign", "bare-json", "not-object"]);

fn is_vague(finding: &Draft) -> bool {
    let cases = finding.said().map_or(&[][..], |said| &said.cases);
    finding.rule == VAGUE.0 && !cases.is_empty() && cases.iter().all(|case| VAGUE.1.contains(case))
}

/// The findings of the rules that look at more than the shape.
struct OtherFindings<'r, 'c, 's> {
    cx: &'r Context<'c, 's>,
    /// Their numbers, by the node that they point at.
    by_node: HashMap<NodeId, Vec<usize>>,
    /// The nodes that those of each rule point at, sorted, with their numbers.
    by_rule: HashMap<RuleId, Vec<(usize, usize)>>,
    tool_schemas: Vec<Range<usize>>,
    /// The parts of schemas that the shape has a finding in, sorted, with its number.
    schemas: Vec<(usize, usize)>,
    /// The values of the objects that are written for another API: they follow the object.
    foreign: Vec<Range<usize>>,
    /// The ids in calls and results that are not read because of their shape.
    unread_ids: HashSet<String>,
    /// The first calls that are not read, the last results, and whether tools are not.
    first_hidden: Option<usize>,
    last_hidden: Option<usize>,
    hides_tools: bool,
    /// The tools whose schemas have a key that was meant to be another.
    misspelt: HashSet<String>,
    /// The values under keys that should be others.
    renamed: HashSet<NodeId>,
}

impl<'r, 'c, 's> OtherFindings<'r, 'c, 's> {
    fn new(cx: &'r Context<'c, 's>, findings: &[Draft]) -> Self {
        let mut by_node: HashMap<NodeId, Vec<usize>> = HashMap::default();
        let mut by_rule: HashMap<RuleId, Vec<(usize, usize)>> = HashMap::default();
        let mut schemas = Vec::new();
        let mut elements: Vec<NodeId> = cx.shape_faults().nodes.iter().copied().collect();
        for (number, finding) in findings.iter().enumerate() {
            match &finding.of_shape {
                None if finding.rule == RuleId::ForeignShape => {}
                // That rule settles with the shape itself, once it has removed what follows from what it reports.
                None if finding.rule == RuleId::UnreadContent => {}
                // What is wrong with the text has nothing to do with its shape.
                None if finding.is_on_text => {}
                None => {
                    by_node.entry(finding.place.node).or_default().push(number);
                    let nodes = by_rule.entry(finding.rule).or_default();
                    nodes.push((finding.place.node.index(), number));
                    // What a label points at is a part of the finding.
                    nodes.extend(finding.label_nodes().map(|node| (node.index(), number)));
                }
                Some(yields) => {
                    elements.push(yields.element);
                    if finding.rule == RuleId::InvalidToolSchema {
                        schemas.push((yields.object.index(), number));
                    }
                }
            }
        }
        by_rule.values_mut().for_each(|nodes| nodes.sort_unstable());
        schemas.sort_unstable();
        let values = |node: &NodeId| node.index()..node.index() + cx.document.value(*node).count();
        let mut foreign: Vec<Range<usize>> = cx.shape_faults().nodes.iter().map(values).collect();
        toolcheck_json::sort_by_position(&mut foreign, |object| object.start);
        let hidden = || findings.iter().filter_map(|finding| finding.of_shape.as_ref());
        let first_hidden = hidden().filter(|yields| yields.hides_calls).map(|it| it.node.index()).min();
        let last_hidden = hidden().filter(|yields| yields.hides_results).map(|it| it.node.index()).max();
        let is_misspelt = |finding: &&Draft| {
            finding.rule == RuleId::InvalidToolSchema
                && finding.of_shape.as_ref().is_some_and(|yields| yields.is_misspelt)
        };
        let misspelt =
            findings.iter().filter(is_misspelt).filter_map(|finding| finding.said()?.tool_name.clone());
        let tools = cx.transcript.request.tools.listed().iter().filter_map(|tool| tool.schema);
        let mut tool_schemas: Vec<Range<usize>> = tools.map(|schema| values(&schema.node)).collect();
        toolcheck_json::sort_by_position(&mut tool_schemas, |schema| schema.start);
        // An element may have very many findings.
        elements.sort_unstable();
        elements.dedup();
        let unread_ids = unread_ids(cx, &elements);
        Self {
            cx,
            by_node,
            by_rule,
            tool_schemas,
            schemas,
            foreign,
            unread_ids,
            first_hidden,
            last_hidden,
            hides_tools: hidden().any(|yields| yields.hides_tools),
            misspelt: misspelt.collect(),
            renamed: cx.shape_faults().renamed().collect(),
        }
    }

    /// The first finding at the same value, and the first of each rule that reports the same of the object.
    fn about(&self, rule: RuleId, yields: &OfShape, findings: &[Draft]) -> Vec<usize> {
        let is_other = |number: &&usize| {
            let other = findings[**number].rule;
            !(other == rule && rule == RuleId::InvalidToolSchema)
        };
        let at_value = self.by_node.get(&yields.node).filter(|_| yields.is_value);
        // What is not an object lacks everything.
        let most = if yields.is_no_object { usize::MAX } else { 1 };
        let at_value = at_value.into_iter().flatten().filter(is_other).take(most).copied();
        let of_rules = yields.checked_by.iter().filter_map(|(element, rule)| self.first_in(*element, *rule));
        let holds = |number: &usize| {
            let place = findings[*number].place.node;
            let holds = |outer: NodeId, inner: NodeId| {
                (outer.index()..outer.index() + self.cx.document.value(outer).count())
                    .contains(&inner.index())
            };
            holds(place, yields.node) || holds(yields.node, place)
        };
        let explained = yields.explains.iter().filter_map(|(object, rule)| self.first_in(*object, *rule));
        let around = yields.checked_around_by.iter();
        let around = around.filter_map(|(element, rule)| self.first_in(*element, *rule)).filter(holds);
        let of_rules = of_rules.chain(explained).chain(around);
        at_value.chain(of_rules).collect()
    }

    fn first_in(&self, object: NodeId, rule: RuleId) -> Option<usize> {
        let of_rule = self.by_rule.get(&rule)?;
        let (start, count) = (object.index(), self.cx.document.value(object).count());
        let (node, number) = of_rule.get(of_rule.partition_point(|(node, _)| *node < start))?;
        (*node < start + count).then_some(*number)
    }

    /// Whether a finding only follows from what the shape reports.
    fn follows(&self, found: &ShapeFaults<'_>, finding: &Draft, is_kept: impl Fn(usize) -> bool) -> bool {
        let node = finding.place.node.index();
        if finding.rule == RuleId::InvalidToolSchema {
            // What the API says of a schema is more than that it is not JSON Schema.
            let next = self.tool_schemas.partition_point(|schema| schema.start <= node);
            let whole = next.checked_sub(1).map(|last| &self.tool_schemas[last]);
            let Some(whole) = whole.filter(|schema| schema.contains(&node)) else { return false };
            let next = self.schemas.partition_point(|(schema, _)| *schema < whole.start);
            let mut inside = self.schemas[next..].iter().take_while(|(schema, _)| *schema < whole.end);
            return inside.any(|(_, number)| is_kept(*number));
        }
        let follows_calls = self.first_hidden.is_some_and(|calls| calls < node);
        let follows = match finding.rule {
            RuleId::OrphanToolResult | RuleId::OrphanServerResult => follows_calls,
            RuleId::UnansweredToolCall | RuleId::UnansweredServerCall => {
                self.last_hidden.is_some_and(|results| results > node)
            }
            // Without an id, the next call is taken for the one that is not read.
            RuleId::ToolNameMismatch | RuleId::DuplicateToolResult => {
                finding.tool_call_id.is_none() && follows_calls
            }
            RuleId::MissingToolDefinitions | RuleId::UnknownTool | RuleId::UndeclaredServerTool => {
                self.hides_tools
            }
            RuleId::ConflictingParameters => self.hides_tools && says_without_tools(finding),
            RuleId::ArgumentsSchemaMismatch if !self.misspelt.is_empty() => finding
                .said()
                .and_then(|said| said.tool_name.as_ref())
                .is_some_and(|tool| self.misspelt.contains(tool)),
            _ => false,
        };
        if follows {
            return true;
        }
        if PAIRING.contains(&finding.rule) {
            // Its partner is there, but it was not read.
            let is_unread = |id: &str| self.unread_ids.contains(id);
            // Of a call that a program made, the id of the program is a label.
            let mut labels = finding.label_nodes().filter_map(|node| self.cx.document.value(node).as_str());
            return finding.tool_call_id.as_ref().is_some_and(|id| is_unread(id))
                || finding.rule == RuleId::OrphanServerResult && labels.any(|id| is_unread(&id));
        }
        if self.renamed.contains(&finding.place.node) {
            // It is judged under its new name.
            return true;
        }
        if found.foreign.is_empty() || !follows_from_foreign(finding) {
            return false;
        }
        let next = self.foreign.partition_point(|object| object.start <= node);
        next > 0 && self.foreign[next - 1].contains(&node)
    }
}

/// Whether a finding says that there are no tools.
fn says_without_tools(finding: &Draft) -> bool {
    let cases = finding.said().map_or(&[][..], |said| &said.cases);
    let of_tools = [
        "choice-without-tools",
        "no-call-without-tools",
        "deferred-without-search",
        "search-without-deferred",
    ];
    cases.iter().any(|case| of_tools.contains(case))
}

/// The rules that miss the other half of a pair.
const PAIRING: [RuleId; 4] = [
    RuleId::UnansweredToolCall,
    RuleId::OrphanToolResult,
    RuleId::UnansweredServerCall,
    RuleId::OrphanServerResult,
];

/// The longest text that may be an id.
const LONGEST_ID: usize = 128;

/// The most values of an object that are looked at for ids.
const MOST_VALUES: usize = 512;

/// The longest text that is read as the JSON of an object.
const LONGEST_QUOTED: usize = 1 << 16;

/// The ids in objects that have the wrong shape, and so are not read as the calls or results that they are.
fn unread_ids(cx: &Context<'_, '_>, elements: &[NodeId]) -> HashSet<String> {
    let is_pair = |body: &Body<'_>| matches!(body, Body::Call(_) | Body::Result(_));
    let parts = cx.transcript.parts.iter().filter(|part| is_pair(&part.body));
    let mut read: Vec<usize> = parts.map(|part| part.place.node.index()).collect();
    read.sort_unstable();
    let mut ids = HashSet::default();
    for element in elements.iter().filter(|element| element.index() != cx.transcript.place.node.index()) {
        let value = cx.document.value(*element);
        let next = read.partition_point(|node| *node < element.index());
        if read.get(next).is_none_or(|node| *node >= element.index() + value.count()) {
            collect_ids(value, &mut ids, false);
        }
    }
    ids
}

/// Adds the short texts in a value, and in JSON that is quoted in it.
fn collect_ids(value: Value<'_, '_>, ids: &mut HashSet<String>, is_quoted: bool) {
    let mut open = vec![value];
    for _ in 0..MOST_VALUES {
        let Some(value) = open.pop() else { break };
        open.extend(value.children().take(MOST_VALUES));
        let Some(text) = value.as_json_str() else { continue };
        if text.raw().len() <= LONGEST_ID {
            ids.insert(text.decode().into_owned());
        }
        if !is_quoted && text.raw().len() <= LONGEST_QUOTED && matches!(text.raw().first(), Some(b'{' | b'['))
        {
            let text = text.decode();
            collect_ids(Document::read(text.as_bytes()).root(), ids, true);
        }
    }
}

/// Whether a finding is about what an object that is written for another API only seems to lack.
fn follows_from_foreign(finding: &Draft) -> bool {
    finding.rule != RuleId::ForeignShape && (finding.rule == RuleId::UnreadContent || finding.is_on_wire)
}
