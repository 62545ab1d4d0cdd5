//! What only a table makes of a conversation: a column has one type, so that its rows have JSON in strings, and keys without
//! a value.

use toolcheck_core::targets::shape::ShapeFault;
use toolcheck_json::Document;

/// Whether a value has the wrong type only because a table keeps it like that: `null` for a key that need not be there, or
/// the right type as JSON in a string.
pub(super) fn keeps(document: &Document<'_>, fault: &ShapeFault<'_>) -> bool {
    let value = document.value(fault.node());
    if value.is_null() {
        return fault.may_be_missing();
    }
    let Some(text) = value.as_str().filter(|text| text.trim_start().starts_with(['[', '{'])) else {
        return false;
    };
    let written = Document::read(text.as_bytes());
    written.faults().is_empty() && fault.expects(written.root())
}
