use toolcheck_core::fix::Fix;
use toolcheck_core::ir::{Body, Executor, Message, Part, Role};

use super::unknown_role::as_user;
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MisplacedMessage in Order, since "0.1.0", silent on wire, check,
    values MESSAGE, ROLE
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    early_items(cx, out);
    neighbours(cx, out);
    sections(cx, out);
}

/// Items that must come last and don't.
fn early_items(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for place in &cx.transcript.details.early_items {
        out.report(*place, "an item that must come last is followed by others")
            .caption("this item")
            .help("move it to the end, or remove it")
            .case("not-last");
    }
}

/// Messages that may not follow the one before them.
fn neighbours(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    // Most conversations have no such neighbours.
    let is_rare = |pair: &[Message<'_>]| {
        matches!(
            (pair[0].role, pair[1].role),
            (_, Role::System)
                | (Role::Tool, Role::User)
                | (Role::Assistant, Role::Assistant)
                | (Role::User, Role::User)
        )
    };
    if !cx.transcript.messages.windows(2).any(is_rare) {
        return;
    }
    let messages: Vec<_> = cx.transcript.messages_with_parts().collect();
    for (number, pair) in messages.windows(2).enumerate() {
        let ((before, parts_before), (message, parts)) = (pair[0], pair[1]);
        let is_split = |what: fn(&Body<'_>) -> bool| {
            !cx.reports_hidden && parts_before.iter().chain(parts).any(|part| what(&part.body))
        };
        let (case, what) = match (before.role, message.role) {
            _ if before.is_directive || message.is_directive => continue,
            (Role::Assistant | Role::Tool, Role::System) => {
                ("system", "a system message is in the middle of the conversation")
            }
            (Role::User, Role::System) => {
                ("system-after-user", "a system message comes after a user message")
            }
            (Role::Tool, Role::User) => {
                ("user-after-tool", "a user message comes right after a tool message")
            }
            // Calls or results that are split over messages are reported by other rules, but an API's error may be about them.
            (Role::Assistant, Role::Assistant) if is_split(|body| matches!(body, Body::Call(_))) => continue,
            (Role::User, Role::User) if is_split(|body| matches!(body, Body::Result(_))) => continue,
            (Role::Assistant, Role::Assistant) | (Role::User, Role::User) => {
                ("repeated-role", "two messages in a row have the same role")
            }
            _ => continue,
        };
        if !may_count(cx, case) {
            continue;
        }
        let finding = out.report(message.place, what);
        finding
            .caption("this message")
            .label(before.place, "follows this message")
            .help("merge messages of the same role, and put system messages first")
            .case(case)
            .at(cx, (number + 1, message));
        if cx.pairing.knows_index(number) {
            finding.value("before", before.index);
        }
        // Those that follow it would be the next ones in the wrong place.
        let is_system = |message: &&Message<'_>| message.role == Role::System && !message.is_directive;
        let run = messages[number + 1..].iter().map(|(message, _)| *message).take_while(is_system);
        finding.fix(all_as_user(cx, run));
        if let (Some(role), Some(previous)) = (&message.role_name, &before.role_name) {
            finding.value("role", &role.text).value("previous-role", &previous.text);
        }
    }
}

/// Whether a finding of a case may be reported: many conversations have some that no target minds.
fn may_count(cx: &Context<'_, '_>, case: &str) -> bool {
    cx.policy.is_some() || cx.has_verdict(&RULE, &[case])
}

/// System messages as those of the user.
fn all_as_user<'m, 's: 'm>(
    cx: &Context<'_, 's>,
    messages: impl Iterator<Item = &'m Message<'s>>,
) -> Option<Fix> {
    messages.map(|message| as_user(cx, message)).reduce(|all, more| all?.and(more?)).flatten()
}

/// The case of a system message between a call and its result.
pub(super) const BEFORE_RESULTS: &str = "system-before-results";

/// System messages in the middle, for targets that accept them at some positions. Several in a row count as one, and
/// those that only set parameters don't count.
fn sections(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    if !cx.transcript.messages.iter().any(|message| message.role == Role::System) {
        return;
    }
    let messages: Vec<_> = cx
        .transcript
        .messages_with_parts()
        .enumerate()
        .filter(|(_, (message, _))| !message.is_directive)
        .collect();
    let mut at = 0;
    while at < messages.len() {
        let is_system = |index: &usize| messages[*index].1.0.role == Role::System;
        if !is_system(&at) {
            at += 1;
            continue;
        }
        let end = (at..messages.len()).find(|index| !is_system(index)).unwrap_or(messages.len());
        let (first, last) = (at, end - 1);
        at = end;
        let before = first.checked_sub(1).map(|index| messages[index].1);
        let after = messages.get(end).map(|(_, next)| *next);
        let (number, case, what, help, other) = match (before, after) {
            (None, _) => (
                first,
                "system-first",
                "a system message comes first",
                "move it to the field of the request that holds the system prompt",
                None,
            ),
            (Some((before, parts)), after)
                if before.role == Role::Assistant
                    && !matches!(&parts.last().map(|part| &part.body), Some(Body::Result(result))
                        if result.executor == Executor::Server) =>
            {
                let case = match after {
                    Some((_, parts)) if has_results(parts) => BEFORE_RESULTS,
                    _ => "system-after-assistant",
                };
                (
                    first,
                    case,
                    "a system message comes after an assistant message",
                    "move it directly after a user message, before the model speaks again",
                    Some((before, "follows this message")),
                )
            }
            (_, Some((after, _))) if after.role == Role::User => (
                last,
                "system-before-user",
                "a system message comes before a user message",
                "move it directly after a user message, before the model speaks again",
                Some((after, "precedes this message")),
            ),
            _ => continue,
        };
        if !may_count(cx, case) {
            continue;
        }
        let (number, (message, _)) = messages[number];
        let finding = out.report(message.place, what);
        finding.caption("this message").help(help).case(case).at(cx, (number, message));
        let run = messages[first..=last].iter().map(|(_, (message, _))| *message);
        finding.fix(all_as_user(cx, run));
        if let Some((other, label)) = other {
            finding.label(other.place, label);
        }
    }
}

fn has_results(parts: &[Part<'_>]) -> bool {
    let is_own =
        |body: &Body<'_>| matches!(body, Body::Result(result) if result.executor == Executor::Client);
    parts.iter().any(|part| is_own(&part.body))
}
