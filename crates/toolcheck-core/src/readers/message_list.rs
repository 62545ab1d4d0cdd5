//! Lists of messages anywhere in a document: data sets, results of benchmarks, logs of gateways.
//!
//! This reader comes last, for what neither another reader nor a format knows at its usual place. Each list is a
//! conversation, read with the wire format that its messages show.

use toolcheck_json::Value;

use super::{Reader, search};
use crate::ir::{Transcript, Unread, UnreadKind};
use crate::unsupported;

// It is never chosen for a whole file, so that nothing shows one.
pub(super) static READER: Reader =
    Reader::dataset("message-list", "Lists of messages", |_| 0, |records| search::read_as(&READER, records))
        .of_chat()
        .repeating_if(&[
            "\"mlflow.span",
            "\"span_id\"",
            "\"step_number\"",
            "\"trace_id\"",
            "\"traceId\"",
            "\"traceID\"",
        ]);

/// Whether the lists of messages in a document are looked for: it is not a request with a mistake, and nothing that is
/// known to be something else.
pub(super) fn may_read(root: Value<'_, '_>) -> bool {
    unsupported::find(root).or_else(|| unsupported::conversation(root)).is_none()
        && (!unsupported::is_meant_as_request(root) || unsupported::is_row_with_text(root))
}

/// Which of the calls of a transcript are unread because they stand in a text.
pub(super) fn has_calls_in_text(transcript: &Transcript<'_>, root: Value<'_, '_>) -> bool {
    let is_text = |unread: &Unread<'_>| {
        unread.what == UnreadKind::Calls && root.document().value(unread.place.node).as_json_str().is_some()
    };
    transcript.unread.iter().any(is_text)
}
