//! Conversations that are kept in YAML, as snapshots of tests and prompts are: what the JSON of the same would be.
//!
//! Much YAML has lists of messages that are no transcripts, so only what shows calls or results is read.

use toolcheck_json::origins::Opened;

use super::{Container, HEAD, head_has, lines, outer_keys};
use crate::budget::Budget;
use crate::exchanges::Maker;
use crate::needs::{Needs, is_json};
use crate::tree::Tree;
use crate::{Limits, written};

pub(super) static CONTAINER: Container =
    Container { id: "yaml", name: "conversation in YAML", needs: Needs::Nothing, sniff, read };

/// The keys under which messages are kept, at the outermost level.
const LISTS: [&[u8]; 6] = [b"messages", b"contents", b"input", b"conversations", b"conversation", b"history"];

/// What a message with a call or a result has, one of each wire format.
const MARKS: [&[u8]; 8] = [
    b"tool_calls:",
    b"tool_call_id:",
    b"type: tool_use",
    b"type: tool_result",
    b"type: function_call",
    b"functionCall:",
    b"functionResponse:",
    b"toolUse:",
];

fn sniff(bytes: &[u8]) -> bool {
    if is_json(bytes) {
        return false;
    }
    let mut shown = lines(&bytes[..bytes.len().min(HEAD)]).filter(|line| {
        let line = line.trim_ascii_start();
        !line.is_empty() && !line.starts_with(b"#") && line != b"---"
    });
    let mut is_list = || shown.next().is_some_and(|first| first.starts_with(b"- role:"));
    (outer_keys(bytes).any(|key| LISTS.contains(&key)) || is_list())
        && MARKS.iter().any(|mark| head_has(bytes, mark))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let tree = Tree::read(bytes)?;
    let budget = Budget::of_file(bytes.len(), limits);
    let mut maker = Maker::new(bytes.len(), limits);
    for root in &tree.roots {
        match written::json(&tree, *root, &budget) {
            Ok(json) => maker.add_record(String::new(), &json),
            Err(reason) => maker.leave_out(reason),
        }
    }
    Some(maker.finish(&CONTAINER, tree.broken_at))
}
