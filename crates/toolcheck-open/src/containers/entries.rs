//! Files of JSON or JSON Lines whose entries hold bodies.

use toolcheck_json::origins::Mapped;
use toolcheck_json::{Document, Layout, Records, Value};

use crate::exchanges::Maker;

pub(super) struct Entry {
    name: String,
    /// The byte at which its record starts.
    pub(super) start: usize,
}

impl Entry {
    pub(super) fn label(&self, inner: &str) -> String {
        format!("{}.{inner}", self.name).trim_start_matches('.').to_owned()
    }
}

/// Calls `see` with each entry of a file. A line that is not JSON is kept as it is, so that it is reported. `list_of` is
/// the list of entries in a document, or the only entry.
pub(super) fn each(
    bytes: &[u8],
    maker: &mut Maker,
    list_of: impl for<'d, 's> Fn(Value<'d, 's>) -> Value<'d, 's>,
    mut see: impl FnMut(&mut Maker, &Entry, Value<'_, '_>),
) {
    let records = Records::new(bytes);
    let is_lines = records.layout() == Layout::Lines;
    let mut number = 0;
    for record in records {
        let document = Document::read(record.bytes);
        let root = document.root();
        if document.faults().iter().any(|fault| !fault.kind.is_in_text()) {
            maker.add_record(format!("[{number}]"), &Mapped::same(record.bytes, record.start));
            number += 1;
            continue;
        }
        let list = list_of(root);
        let entries: Vec<Value<'_, '_>> =
            if list.is_array() { list.elements().collect() } else { vec![list] };
        for entry in entries {
            let name = match (root.is_array() || is_lines, list.is_array()) {
                (true, _) => format!("[{number}]"),
                (false, true) => format!("{}[{number}]", list.key_text().unwrap_or_default()),
                (false, false) => String::new(),
            };
            number += 1;
            see(maker, &Entry { name, start: record.start }, entry);
        }
    }
}
