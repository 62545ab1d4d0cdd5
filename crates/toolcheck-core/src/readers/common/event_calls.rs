//! The calls of a session whose messages are events, and which of those without a result have lost it.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use crate::ir::{Arguments, Body, Part, UnpairedReason};

#[derive(Default)]
pub(super) struct OpenCall<'s> {
    pub(super) part: usize,
    /// Its arguments, in the pieces that were sent.
    pub(super) pieces: Vec<(Cow<'s, str>, Arguments<'s>)>,
    pub(super) has_result: bool,
    /// Whether that is only a part of it.
    pub(super) is_preliminary: bool,
    pub(super) is_cancelled: bool,
    /// Whether a piece of it was refused, so that nothing is known of its arguments.
    pub(super) is_refused: bool,
    /// Whether what was said goes on after it, where it is told whole.
    pub(super) is_passed: bool,
    pub(super) results: Vec<usize>,
}

type Calls<'s> = HashMap<Cow<'s, str>, OpenCall<'s>>;

/// A log may begin in the middle, with results of calls that it does not have. But one that comes after a call without a
/// result belongs to none.
pub(super) fn settle_early(parts: &mut [Part<'_>], calls: &Calls<'_>) {
    let waits = |part: usize| matches!(&parts[part].body, Body::Call(call) if call.unpaired.is_none());
    let open = calls.values().filter(|called| !called.has_result && waits(called.part));
    let Some(first) = open.map(|called| called.part).min() else { return };
    for part in &mut parts[first..] {
        if let Body::Result(result) = &mut part.body {
            result.unpaired.take_if(|why| *why == UnpairedReason::Elsewhere);
        }
    }
}

/// The calls without a result, as the numbers of their parts, of tools that the server has answered otherwise, where the model
/// went on after a result before the next of these ends.
pub(super) fn lost_by_server(parts: &[Part<'_>], calls: &Calls<'_>, ends: &[usize]) -> HashSet<usize> {
    let name = |part: usize| Some(&*parts[part].call()?.name.as_ref()?.text);
    let answered = calls.values().filter(|called| !called.results.is_empty());
    let of_server: HashSet<&str> = answered.filter_map(|called| name(called.part)).collect();
    let is_result = |part: &usize| matches!(parts[*part].body, Body::Result(_));
    let (results, others): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(is_result);
    let goes_on = |part: usize| {
        let end = ends.get(ends.partition_point(|end| *end <= part)).copied().unwrap_or(parts.len());
        let result = results.get(results.partition_point(|result| *result < part));
        let last = others[..others.partition_point(|other| *other < end)].last();
        result.zip(last).is_some_and(|(result, last)| result < last)
    };
    let lost = calls.values().filter(|called| !called.has_result).map(|called| called.part);
    lost.filter(|part| name(*part).is_some_and(|name| of_server.contains(name)) && goes_on(*part)).collect()
}
