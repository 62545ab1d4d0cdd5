//! Files of the Message Batches API of Anthropic: requests, together or one per line, and results.

use toolcheck_json::Value;

use super::{Container, batch};
use crate::needs::Needs;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: "anthropic-batch", name: "Anthropic batch", needs: Needs::Nothing, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    batch::first(bytes, |entry| entry.get_any(&["params", "result"]).is_some_and(Value::is_object))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    batch::read(&CONTAINER, bytes, limits, |entry| {
        if let Some(params) = entry.get("params") {
            return Some(batch::Part::Request("params", params));
        }
        let message = entry.get_in(&["result", "message"]);
        message.map(|message| batch::Part::Response("result.message", message))
    })
}
