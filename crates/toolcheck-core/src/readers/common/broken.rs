//! Records of a log that are not whole, because the program crashed or two of them wrote at once. What such a record may
//! have held is missing for a reason that is reported, and nothing else is said of it.

use foldhash::HashSet;
use toolcheck_json::{Document, Value};

use super::Reading;
use crate::ir::{Body, Message, Role, Transcript, UnpairedReason};

/// Whether a record of a log is no JSON, as where a line was cut off: agents pass over it.
pub fn is_broken(record: Value<'_, '_>) -> bool {
    let span = record.span();
    let faults = record.document().faults();
    // They are sorted. Where a record is cut off, the fault is at its end.
    let first = faults.partition_point(|fault| fault.span.start < span.start);
    let within = faults[first..].iter().take_while(|fault| fault.span.start <= span.end);
    within.into_iter().any(|fault| !fault.kind.is_in_text())
}

/// Says of the calls and results whose other side may have been in a broken record that it is not in the file.
pub(crate) fn settle(reading: &mut Reading<'_>, records: &[Value<'_, '_>], document: &Document<'_>) {
    // A single record is a file of its own. Most logs are whole.
    if records.len() < 2 || document.faults().is_empty() {
        return;
    }
    let broken: Vec<(u32, u32)> = records
        .iter()
        .filter(|record| is_broken(**record))
        .map(|record| (record.span().start, record.span().end))
        .collect();
    if broken.is_empty() {
        return;
    }
    for conversation in &mut reading.conversations {
        settle_around(&mut conversation.transcript, &broken);
        // What had to come before an event may have been in the first of them.
        let misplaced = &mut conversation.transcript.details.misplaced_events;
        misplaced.retain(|event| event.place.span.start < broken[0].0);
    }
}

fn settle_around(transcript: &mut Transcript<'_>, broken: &[(u32, u32)]) {
    let count = transcript.messages.len();
    let mut is_near = vec![false; count];
    // Where a way back or on has been before, it would go on as it did then.
    let (mut been_back, mut been_on) = (vec![false; count], vec![false; count]);
    let mut next = 0;
    for &(start, end) in broken {
        while transcript.messages.get(next).is_some_and(|message| message.place.span.start < start) {
            next += 1;
        }
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
            is_near[number] |= is_of_model || number + 1 == next && goes_on();
            has_calls |= is_of_model;
        }
        // The record's own parts, which may have lost their ids, and the next results.
        let mut has_answers = false;
        for (number, message) in transcript.messages.iter().enumerate().skip(next) {
            let is_own = message.place.span.start < end;
            let is_of_model = message.role == Role::Assistant;
            let answers = has_results(transcript, message);
            let is_end = is_of_model && has_answers || !is_of_model && !answers;
            if !is_own && (is_end || std::mem::replace(&mut been_on[number], true)) {
                break;
            }
            is_near[number] |= is_own || answers;
            has_answers |= answers && !is_own;
        }
    }
    settle_near(transcript, &is_near, broken);
}

fn has_results(transcript: &Transcript<'_>, message: &Message<'_>) -> bool {
    transcript.parts_of(message).iter().any(|part| matches!(part.body, Body::Result(_)))
}

/// Settles what has no other side in these messages and in the broken records.
fn settle_near(transcript: &mut Transcript<'_>, is_near: &[bool], broken: &[(u32, u32)]) {
    let is_in_broken = |start: u32| {
        let next = broken.partition_point(|(_, end)| *end <= start);
        broken.get(next).is_some_and(|(first, _)| *first <= start)
    };
    let (mut called, mut answered) = (HashSet::default(), HashSet::default());
    for part in &transcript.parts {
        match &part.body {
            Body::Call(call) => called.extend(call.id.as_ref().map(|id| id.text.to_string())),
            // An agent that passes over the record does not see it.
            Body::Result(_) if is_in_broken(part.place.span.start) => {}
            Body::Result(result) => answered.extend(result.call_id.as_ref().map(|id| id.text.to_string())),
            _ => {}
        }
    }
    for (message, is_near) in transcript.messages.iter().zip(is_near) {
        for part in &mut transcript.parts[message.parts.start as usize..message.parts.end as usize] {
            let is_own = is_in_broken(part.place.span.start);
            if !is_near && !is_own {
                continue;
            }
            let why = if is_own { UnpairedReason::Elsewhere } else { UnpairedReason::Broken };
            match &mut part.body {
                Body::Call(call) if !call.id.as_ref().is_some_and(|id| answered.contains(&*id.text)) => {
                    call.unpaired.get_or_insert(why);
                }
                Body::Result(result)
                    if !result.call_id.as_ref().is_some_and(|id| called.contains(&*id.text)) =>
                {
                    result.unpaired.get_or_insert(why);
                }
                _ => {}
            }
        }
    }
}
