//! The provider's own calls and results, which appear in the history as pairs.

use foldhash::HashMap;
use toolcheck_core::ir::{Body, Call, Contents, Executor, Message, Part, Role, ToolResult, Transcript};

/// A call or result whose other half is missing.
pub(crate) struct Half<'t, 's, T> {
    pub(crate) message_number: usize,
    pub(crate) message: &'t Message<'s>,
    pub(crate) part: &'t Part<'s>,
    pub(crate) is: &'t T,
}

/// The calls without a result, and the results without a call.
///
/// Halves are paired by id, and the remaining ones of a turn by position: a pair whose ids were rewritten on one
/// side is still a pair. If both ids are of one kind, the result is returned: that they differ is one problem.
pub(crate) fn halves<'t, 's>(
    transcript: &'t Transcript<'s>,
) -> (Vec<Half<'t, 's, Call<'s>>>, Vec<Half<'t, 's, ToolResult<'s>>>) {
    if !transcript.contents().intersects(Contents::SERVER_CALLS.and(Contents::SERVER_RESULTS)) {
        return Default::default();
    }
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    // Where the user says more than a result, which ends the turn before.
    let mut words = Vec::new();
    for (message_number, (message, parts)) in transcript.messages_with_parts().enumerate() {
        let says = |part: &Part<'_>| matches!(part.body, Body::Text(_) | Body::Media);
        if message.role == Role::User && parts.iter().any(says) {
            words.push(message_number);
        }
        for part in parts {
            match &part.body {
                Body::Call(is) if is.executor == Executor::Server => {
                    calls.push(Some(Half { message_number, message, part, is }));
                }
                Body::Result(is) if is.executor == Executor::Server => {
                    results.push(Half { message_number, message, part, is });
                }
                _ => {}
            }
        }
    }
    let mut by_id: HashMap<&str, usize> = HashMap::default();
    for (number, call) in calls.iter().enumerate() {
        if let Some(id) = call.as_ref().and_then(|call| call.is.id.as_ref()) {
            by_id.insert(&id.text, number);
        }
    }
    results.retain(|result| {
        let call = result.is.call_id.as_ref().and_then(|id| by_id.remove(&*id.text));
        call.and_then(|number| calls[number].take()).is_none()
    });
    let mut calls: Vec<_> = calls.into_iter().flatten().collect();
    let turn_of = |message_number| words.partition_point(|word| *word <= message_number);
    let mut open = results.iter().peekable();
    let mut paired = Vec::new();
    calls.retain(|call| {
        while open.next_if(|result| result.message_number < call.message_number).is_some() {
            paired.push(false);
        }
        let turn = turn_of(call.message_number);
        let result = open.next_if(|result| turn_of(result.message_number) == turn);
        if let Some(result) = result {
            let ids = call.is.id.as_ref().zip(result.is.call_id.as_ref());
            paired.push(ids.is_none_or(|(call, result)| kind(&call.text) != kind(&result.text)));
        }
        result.is_none()
    });
    drop(open);
    let mut paired = paired.into_iter().chain(std::iter::repeat(false));
    results.retain(|_| !paired.next().unwrap_or(false));
    (calls, results)
}

/// What an id begins with, which says what it is of.
fn kind(id: &str) -> Option<&str> {
    id.rsplit_once('_').map(|(kind, _)| kind)
}
