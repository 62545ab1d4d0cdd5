//! Files of the Batch API of OpenAI: requests and results, one per line.

use toolcheck_core::endpoint::{self, Purpose};
use toolcheck_core::exchange;
use toolcheck_json::Value;

use super::{Container, batch};
use crate::needs::Needs;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: "openai-batch", name: "OpenAI batch", needs: Needs::Nothing, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    batch::first(bytes, |entry| {
        // Mistral names the path where a batch is made, and not in its lines.
        let is_request = || entry.get("body").is_some_and(exchange::is_request);
        entry.get_any(&["body", "response"]).is_some_and(Value::is_object)
            && (entry.get_any(&["url", "error"]).is_some() || is_request())
    })
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    batch::read(&CONTAINER, bytes, limits, |entry| {
        if let Some(body) = entry.get("body") {
            let url = entry.get_str("url");
            let is_other = url
                .as_deref()
                .is_some_and(|url| matches!(endpoint::purpose(url), Purpose::Other | Purpose::NotRead));
            // A request that lacks its messages is one too, if it is sent to be answered.
            let is_sent = url.is_some_and(|url| url.ends_with("/completions") || url.ends_with("/responses"));
            let is_request = !is_other && (is_sent || exchange::is_request(body));
            return Some(if is_request { batch::Part::Request("body", body) } else { batch::Part::Other });
        }
        let body = entry.get_in(&["response", "body"]);
        body.map(|body| batch::Part::Response("response.body", body))
    })
}
