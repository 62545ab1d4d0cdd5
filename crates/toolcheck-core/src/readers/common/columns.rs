//! Where the user says that the conversations of a file are.

use toolcheck_json::Value;

/// Where the conversations of a data set are, for what can't be detected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The keys of the messages; the first one that a row has.
    pub messages: Vec<String>,
    /// The keys of the tools, which come before the usual ones.
    pub tools: Vec<String>,
    /// The keys of the system text, which come before the usual ones.
    pub system: Vec<String>,
}

impl Columns {
    pub(crate) fn messages_of<'d, 's>(&self, row: Value<'d, 's>) -> Option<Value<'d, 's>> {
        let filled = |value: &Value<'_, '_>| {
            value.is_array() || value.is_object() || value.as_json_str().is_some_and(|text| !text.is_empty())
        };
        self.messages.iter().filter_map(|key| row.get(key)).find(filled)
    }

    /// Whether a record, or the first row in it, has a column with messages.
    pub fn fit(&self, record: Value<'_, '_>) -> bool {
        let rows = record.elements().take(1).chain([record]);
        rows.into_iter().any(|row| self.messages_of(row).is_some())
    }
}
