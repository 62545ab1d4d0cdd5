//! Files of JSON or JSON Lines whose entries hold bodies.

use toolcheck_json::origins::Mapped;
use toolcheck_json::{Document, Layout, Record, Records, Value};

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
    let mut records: Vec<Record<'_>> = records.collect();
    let is_reversed = is_newest_first(records.iter().map(|line| time_of(Document::read(line.bytes).root())));
    if is_reversed {
        records.reverse();
    }
    let mut number = 0;
    for record in records {
        number = if is_reversed { record.index } else { number };
        let document = Document::read(record.bytes);
        let root = document.root();
        if document.faults().iter().any(|fault| !fault.kind.is_in_text()) {
            maker.add_record(format!("[{number}]"), &Mapped::same(record.bytes, record.start));
            number += 1;
            continue;
        }
        let list = list_of(root);
        let mut entries: Vec<(usize, Value<'_, '_>)> =
            (number..).zip(if list.is_array() { list.elements().collect() } else { vec![list] }).collect();
        number += entries.len();
        if is_newest_first(entries.iter().map(|(_, entry)| time_of(*entry))) {
            entries.reverse();
        }
        for (number, entry) in entries {
            let name = match (root.is_array() || is_lines, list.is_array()) {
                (true, _) => format!("[{number}]"),
                (false, true) => format!("{}[{number}]", list.key_text().unwrap_or_default()),
                (false, false) => String::new(),
            };
            see(maker, &Entry { name, start: record.start }, entry);
        }
    }
}

/// When a request was made, to compare: the number of digits before a point, and the text.
type Time = (usize, String);

pub(super) fn time_of(entry: Value<'_, '_>) -> Option<Time> {
    const TIMES: &str = "created_at request_created_at createdAt timestamp timestamp_ms timestampMs request_time time startTime \
        start_time started_at ts";
    let time = TIMES.split(' ').find_map(|key| entry.get(key))?;
    let text = String::from_utf8_lossy(time.raw()).into_owned();
    Some((text.bytes().take_while(u8::is_ascii_digit).count(), text))
}

/// Whether the first records of a log say that the newest comes first, as gateways show and export theirs.
pub(super) fn is_newest_first(times: impl Iterator<Item = Option<Time>>) -> bool {
    const LOOKED_AT: usize = 16;
    let times: Option<Vec<Time>> = times.take(LOOKED_AT).collect();
    times.is_some_and(|times| times.is_sorted_by(|one, next| one >= next) && times.first() > times.last())
}
