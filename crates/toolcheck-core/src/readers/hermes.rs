//! Hermes data sets: turns as in ShareGPT, with the calls between `<tool_call>` tags in the text of the model.

use toolcheck_json::Value;

use super::{Reader, own_shape, search, sharegpt, tagged, turns};

pub(super) static READER: Reader =
    Reader::dataset("hermes", "Hermes data set", sniff, |records| search::read_as(&READER, records));

fn sniff(records: &[Value<'_, '_>]) -> u8 {
    let is_own = |list: Value<'_, '_>| turns::has_from(list) && tagged::has_tags(list);
    own_shape(records, |record| sharegpt::any_list(record, is_own))
}
