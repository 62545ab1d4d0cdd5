//! What a program that writes a log puts in the place of what is nested too deep for it: `[Truncated depth]`, in the case that
//! it likes. It says nothing of what was there, so nothing is said of it.

use toolcheck_json::{Document, Value, contains};

use crate::ir::Transcript;

/// What begins such a text.
const MARKS: [&[u8]; 3] = [b"\"[truncated", b"\"[Truncated", b"\"[TRUNCATED"];

/// Whether a value is such a text.
fn is_shortened(value: Value<'_, '_>) -> bool {
    MARKS.iter().any(|mark| value.raw().starts_with(mark)) && value.raw().ends_with(b"]\"")
}

/// Whether there is such a text in a value.
pub(super) fn has_shortened(value: Value<'_, '_>) -> bool {
    MARKS.iter().any(|mark| contains(value.raw(), mark))
}

/// Takes the schemas of which something was left out from the tools, and says how many there were. A value of another type is
/// no mistake if it is such a text.
pub(super) fn take_out(transcript: &mut Transcript<'_>, document: &Document<'_>) -> usize {
    let mut count = 0;
    for tool in transcript.request.tools.list.iter_mut().flatten() {
        for schema in [&mut tool.schema, &mut tool.result_schema] {
            if schema.take_if(|schema| has_shortened(document.value(schema.node))).is_some() {
                tool.wants_object = false;
                count += 1;
            }
        }
    }
    let details = &mut transcript.details;
    let is_one = |node| is_shortened(document.value(node));
    details.wrong_values.retain(|wrong| !is_one(wrong.place.node));
    details.arguments_of_other_type.retain(|place| !is_one(place.node));
    transcript.unread.retain(|unread| !is_one(unread.place.node));
    count
}
