//! Findings that only follow from what another one reports.

use foldhash::{HashMap, HashSet};
use toolcheck_core::{Level, RuleId, text};
use toolcheck_json::Span;

use crate::finding::Draft;
use crate::rule::Context;

/// What a finding shares with the one that it follows from.
#[derive(Clone, Copy)]
enum Shared {
    /// The cause is in what the finding is about. If the finding is worse, it stands for the cause.
    Place,
    /// The cause is in the same message.
    Message,
    /// It is at a value that is the name of the tool of the cause.
    Name,
    /// The request.
    Request,
}

/// What follows from what: a rule, the rules of its causes, and the case of these that it is, if it is one.
type Consequence = (RuleId, &'static [RuleId], Option<&'static str>, Shared);

static CONSEQUENCES: [Consequence; 5] = [
    (RuleId::ArgumentsSchemaMismatch, &[RuleId::WrongArgumentsType], None, Shared::Place),
    (
        RuleId::AlteredArguments,
        &[RuleId::WrongArgumentsType, RuleId::WrongType, RuleId::MissingField, RuleId::UnknownField],
        None,
        Shared::Place,
    ),
    // A call that is not read, or has no id of its own, is not found again.
    (
        RuleId::DroppedToolCall,
        &[
            RuleId::DuplicateToolCallId,
            RuleId::MalformedToolCallId,
            RuleId::MissingToolCallId,
            RuleId::SwappedResults,
            RuleId::UnknownContentType,
            RuleId::UnreadContent,
        ],
        None,
        Shared::Message,
    ),
    // A call repeats the name of its tool.
    (RuleId::InvalidValue, &[RuleId::InvalidToolName], None, Shared::Name),
    (RuleId::UnknownTool, &[RuleId::InvalidToolName], Some("empty-definition"), Shared::Request),
];

/// Removes the findings that follow from others, and returns them.
pub(super) fn settle(cx: &Context<'_, '_>, findings: &mut Vec<Draft>, first: usize) -> Vec<Draft> {
    let mut by_rule: HashMap<RuleId, Vec<usize>> = HashMap::default();
    for (number, finding) in findings.iter().enumerate().skip(first) {
        by_rule.entry(finding.rule).or_default().push(number);
    }
    let mut dropped = HashSet::default();
    if by_rule.len() > 1 {
        for (rule, causes, case, shared) in &CONSEQUENCES {
            let Some(following) = by_rule.get(rule) else { continue };
            let is_case = |number: &&usize| {
                case.is_none_or(|case| {
                    findings[**number].said().is_some_and(|said| said.cases.contains(&case))
                })
            };
            let causes = causes.iter().filter_map(|rule| by_rule.get(rule)).flatten().filter(is_case);
            let causes: Vec<(usize, &Draft)> = causes.map(|number| (*number, &findings[*number])).collect();
            if !causes.is_empty() {
                let following = following.iter().map(|number| (*number, &findings[*number]));
                drop_what_follows(cx, following, causes, *shared, &mut dropped);
            }
        }
    }
    let mut number = 0;
    let is_dropped = |_: &mut Draft| {
        number += 1;
        dropped.contains(&(number - 1))
    };
    if dropped.is_empty() { Vec::new() } else { findings.extract_if(.., is_dropped).collect() }
}

fn drop_what_follows<'f>(
    cx: &Context<'_, '_>,
    following: impl Iterator<Item = (usize, &'f Draft)>,
    mut causes: Vec<(usize, &Draft)>,
    shared: Shared,
    dropped: &mut HashSet<usize>,
) {
    if let Shared::Name = shared {
        let name = |cause: &Draft| Some((cause.said()?.tool_name.clone()?, cause.level));
        let names: HashMap<String, Level> = causes.iter().filter_map(|(_, cause)| name(cause)).collect();
        let is_told = |finding: &Draft| {
            let text = cx.document.value(finding.place.node).as_str();
            let told = text.and_then(|text| names.get(&text::kept(&text)).copied());
            told.is_some_and(|told| told >= finding.level)
        };
        dropped.extend(following.filter(|(_, finding)| is_told(finding)).map(|(number, _)| number));
        return;
    }
    causes.sort_by_key(|(_, cause)| cause.place.span.start);
    let around = |span: Span| match shared {
        Shared::Request => cx.transcript.place.span,
        Shared::Message => {
            let messages = &cx.transcript.messages;
            let next = messages.partition_point(|message| message.place.span.start <= span.start);
            next.checked_sub(1).map_or(span, |number| messages[number].place.span)
        }
        _ => span,
    };
    for (number, finding) in following {
        let around = around(finding.place.span);
        let start = causes.partition_point(|(_, cause)| cause.place.span.start < around.start);
        let is_in = |(_, cause): &&(usize, &Draft)| cause.place.span.end <= around.end;
        let Some((cause, told)) = causes.get(start).filter(is_in) else { continue };
        if told.level >= finding.level {
            dropped.insert(number);
        } else if let Shared::Place = shared {
            dropped.insert(*cause);
        }
    }
}
