//! Records of a log that are not whole, because the program crashed or two of them wrote at once. What such a record may
//! have held is missing for a reason that is reported, and nothing else is said of it.

use foldhash::{HashMap, HashSet};
use toolcheck_json::{Document, Span, Value};

use super::Reading;
use crate::ir::{Body, Call, Message, Role, ToolResult, Transcript, UnpairedReason};

/// Whether a record of a log is no JSON, as where a line was cut off: agents pass over it.
pub fn is_broken(record: Value<'_, '_>) -> bool {
    fault_of(record).is_some()
}

/// Where a record is no JSON.
fn fault_of(record: Value<'_, '_>) -> Option<u32> {
    let span = record.span();
    let faults = record.document().faults();
    // They are sorted. Where a record is cut off, the fault is at its end.
    let first = faults.partition_point(|fault| fault.span.start < span.start);
    let mut within = faults[first..].iter().take_while(|fault| fault.span.start <= span.end);
    within.find(|fault| !fault.kind.is_in_text()).map(|fault| fault.span.start)
}

/// A record that is not whole and may have held a message, and where its fault is.
type Broken = (Span, u32);

/// Says of the calls and results whose other side may have been in a broken record that it is not in the file.
pub(crate) fn settle(reading: &mut Reading<'_>, records: &[Value<'_, '_>], document: &Document<'_>) {
    // A single record is a file of its own. Most logs are whole.
    if records.len() < 2 || document.faults().is_empty() {
        return;
    }
    // What is an agent's own, such as `_usage` of Kimi CLI, is no message.
    let is_own = |record: &Value<'_, '_>| record.get_str("role").is_some_and(|role| role.starts_with('_'));
    let messages = records.iter().filter(|record| !is_own(record));
    let broken: Vec<Broken> = messages.filter_map(|one| Some((one.span(), fault_of(*one)?))).collect();
    if broken.is_empty() {
        return;
    }
    for conversation in &mut reading.conversations {
        settle_around(&mut conversation.transcript, &broken);
        // What had to come before an event may have been in the first of them.
        let misplaced = &mut conversation.transcript.details.misplaced_events;
        misplaced.retain(|event| event.place.span.start < broken[0].0.start);
    }
}

fn settle_around(transcript: &mut Transcript<'_>, broken: &[Broken]) {
    let count = transcript.messages.len();
    // The fault of the record that each message is near.
    let mut near = vec![None; count];
    // Where a way back or on has been before, it would go on as it did then.
    let (mut been_back, mut been_on) = (vec![false; count], vec![false; count]);
    let next_of = |at: u32| transcript.messages.partition_point(|message| message.place.span.start < at);
    let is_result = |span: Span| {
        let own = transcript.messages.get(next_of(span.start));
        own.is_some_and(|own| own.place.span.start < span.end && own.role == Role::Tool)
    };
    // What was surely a result is first what calls near it lack.
    let (results, others): (Vec<_>, Vec<_>) = broken.iter().partition(|(span, _)| is_result(*span));
    for &(span, fault) in results.into_iter().chain(others) {
        let (start, end) = (span.start, span.end);
        let next = next_of(start);
        // The calls that are open here: the last that the model made, before results or without any.
        let mut has_calls = false;
        for (number, message) in transcript.messages[..next].iter().enumerate().rev() {
            let is_of_model = message.role == Role::Assistant;
            let is_end = !is_of_model && (has_calls || !has_results(transcript, message));
            if is_end || std::mem::replace(&mut been_back[number], true) {
                break;
            }
            // Results before and after may be one message.
            let goes_on = || transcript.parts_of(message).iter().any(|part| part.place.span.start >= end);
            if is_of_model || number + 1 == next && goes_on() {
                near[number].get_or_insert(fault);
            }
            has_calls |= is_of_model;
        }
        // The record's own parts, which may have lost their ids, and the next results, unless it held no calls.
        let mut has_answers = false;
        let from = if is_result(span) { count } else { next };
        for (number, message) in transcript.messages.iter().enumerate().skip(from) {
            let is_own = message.place.span.start < end;
            let is_of_model = message.role == Role::Assistant;
            let answers = has_results(transcript, message);
            let is_end = is_of_model && has_answers || !is_of_model && !answers;
            if !is_own && (is_end || std::mem::replace(&mut been_on[number], true)) {
                break;
            }
            if is_own || answers {
                near[number].get_or_insert(fault);
            }
            has_answers |= answers && !is_own;
        }
    }
    settle_near(transcript, &near, broken);
}

fn has_results(transcript: &Transcript<'_>, message: &Message<'_>) -> bool {
    transcript.parts_of(message).iter().any(|part| matches!(part.body, Body::Result(_)))
}

/// The numbers of the parts that have their other side in the records that are whole.
fn paired(transcript: &Transcript<'_>, is_in_broken: impl Fn(u32) -> bool) -> HashSet<usize> {
    let (mut open, mut paired) = (HashMap::<&str, Vec<usize>>::default(), HashSet::default());
    for (number, part) in transcript.parts.iter().enumerate() {
        match &part.body {
            // An agent that passes over the record does not see it.
            _ if is_in_broken(part.place.span.start) => {}
            Body::Call(Call { id: Some(id), .. }) => open.entry(&*id.text).or_default().push(number),
            Body::Result(ToolResult { call_id: Some(id), .. }) => {
                if let Some(calls) = open.get_mut(&*id.text) {
                    paired.extend(calls.pop().into_iter().chain([number]));
                }
            }
            _ => {}
        }
    }
    paired
}

/// Settles what has no other side in these messages and in the broken records.
fn settle_near(transcript: &mut Transcript<'_>, near: &[Option<u32>], broken: &[Broken]) {
    let is_in_broken = |start: u32| {
        let next = broken.partition_point(|(span, _)| span.end <= start);
        broken.get(next).is_some_and(|(span, _)| span.start <= start)
    };
    let paired = paired(transcript, is_in_broken);
    for (message, near) in transcript.messages.iter_mut().zip(near) {
        let parts = &transcript.parts[message.parts.start as usize..message.parts.end as usize];
        let mut places = parts.iter().map(|part| part.place).chain([message.place]);
        message.is_directive |= places.all(|place| is_in_broken(place.span.start));
        for number in message.parts.start as usize..message.parts.end as usize {
            let part = &mut transcript.parts[number];
            let why = match near.map(UnpairedReason::Broken) {
                _ if is_in_broken(part.place.span.start) => UnpairedReason::Deleted,
                Some(why) if !paired.contains(&number) => why,
                _ => continue,
            };
            match &mut part.body {
                Body::Call(call) => _ = call.unpaired.get_or_insert(why),
                Body::Result(result) => _ = result.unpaired.get_or_insert(why),
                _ => {}
            }
        }
    }
}
