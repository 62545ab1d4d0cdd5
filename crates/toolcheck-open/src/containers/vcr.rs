//! Cassettes of VCR.py, and of VCR, betamax and Mastra (`mastra-ai/mastra`, `packages/core/__recordings__`), which have the
//! same parts; in those of pytest-llm-vcr, a request and its response are one object. LangChain keeps those of VCR.py with the requests
//! and the responses in two lists, and a file of PHP-VCR is the list.

use toolcheck_json::Value;

use super::{Container, HEAD, START, head_has, is_json, json_starts, lines, outer_keys};
use crate::cassette::{Layout, open_cassette};
use crate::needs::Needs;
use crate::{Limits, Opened};

pub(super) static CONTAINER: Container =
    Container { id: "vcr", name: "VCR cassette", needs: Needs::Yaml, sniff, read };

const LISTS: [&str; 3] = ["interactions", "http_interactions", "recordings"];

fn sniff(bytes: &[u8]) -> bool {
    if is_json(bytes) {
        let has_list = |root: Value<'_, '_>| root.get_any(&LISTS[..2]).is_some_and(Value::is_array);
        // The key alone says little.
        let has_requests = |root: Value<'_, '_>| {
            let first = root.get(LISTS[2]).and_then(|list| list.elements().next());
            first.is_some_and(|first| {
                first.get("request").is_some_and(|own| own.get_any(&["url", "uri"]).is_some())
            })
        };
        return json_starts(bytes, "interactions\"", has_list)
            || head_has(&bytes[..bytes.len().min(START)], b"\"recordings\"")
                && json_starts(bytes, "\"recordings\"", has_requests);
    }
    is_list(bytes)
        || is_in_two_lists(bytes)
        || outer_keys(bytes).any(|key| LISTS.iter().any(|list| list.as_bytes() == key))
            && ([&b"request:"[..], b"request_body:", b"interactions: []", b"interactions: {}"]
                .iter()
                .any(|mark| head_has(bytes, mark)))
}

/// Whether a file starts as the cassettes do that have a list of requests and one of responses: many files have a key
/// like this, but not these keys in alphabetical order.
fn is_in_two_lists(bytes: &[u8]) -> bool {
    let mut lines = lines(&bytes[..bytes.len().min(HEAD)]);
    lines.next().is_some_and(|line| line.trim_ascii_end() == b"requests:")
        && lines.next().is_some_and(|line| line.starts_with(b"- body:"))
        // The first body may be longer than the start.
        && (head_has(bytes, b"headers:")
            || bytes.len() > HEAD && lines.all(|line| line.is_empty() || line.starts_with(b"    ")))
}

/// Whether a file is a list of interactions, as PHP-VCR writes them (`src/VCR/Storage/Yaml.php` of php-vcr/php-vcr).
fn is_list(bytes: &[u8]) -> bool {
    let mut lines =
        lines(&bytes[..bytes.len().min(HEAD)]).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let inside = lines.next().and_then(|line| line.strip_prefix(b"-")).map(<[u8]>::trim_ascii);
    // The first key may be in the line of the dash.
    let first = if inside == Some(b"") { lines.next() } else { inside };
    first == Some(b"request:") && lines.next().is_some_and(|line| line.starts_with(b"method:"))
}

fn read(bytes: &[u8], limits: Limits) -> Option<Opened> {
    let layout = if is_list(bytes) {
        Layout::Interactions(&[""])
    } else if is_in_two_lists(bytes) {
        Layout::TwoLists { requests: "requests", responses: "responses" }
    } else {
        Layout::Interactions(&LISTS)
    };
    open_cassette(&CONTAINER, layout, bytes, limits)
}

#[cfg(test)]
mod tests {
    /// System texts and images are as long.
    #[test]
    fn the_first_body_may_be_longer_than_the_start_of_a_file() {
        let id = |text: &str| crate::sniff(text.as_bytes()).map(|container| container.id);
        let long = "    aGVsbG8gaGVsbG8gaGVsbG8=\n".repeat(3_000);
        assert!(long.len() > super::HEAD);
        let cassette = format!("requests:\n- body: !!binary |\n{long}  headers: {{}}\n  method: POST\n");
        assert_eq!(id(&cassette), Some("vcr"));
        assert_eq!(id(&format!("requests:\n- body: a\n- cpu: 1\n{long}")), None);
    }
}
