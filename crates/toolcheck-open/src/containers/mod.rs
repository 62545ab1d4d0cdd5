//! The kinds of files that are opened, one file each.
//!
//! Adding one takes a file and two lines here.

mod anthropic_batch;
mod batch;
mod entries;
mod go_vcr;
mod har;
mod httpmock;
mod httprr;
mod inspect_eval;
mod openai_batch;
mod otel_events;
mod parquet;
mod printed;
mod protocol_log;
mod request_log;
mod sqlite;
mod sse;
mod vcr;
mod wiremock;
mod yaml;

use toolcheck_json::{Document, Value};

use crate::container::Container;
use crate::needs::is_json;

/// All kinds, the more certain ones first.
pub static ALL: &[&Container] = &[
    &inspect_eval::CONTAINER,
    &parquet::CONTAINER,
    &sqlite::CONTAINER,
    &httprr::CONTAINER,
    &go_vcr::CONTAINER,
    &vcr::CONTAINER,
    &httpmock::CONTAINER,
    &har::CONTAINER,
    &protocol_log::CONTAINER,
    &wiremock::CONTAINER,
    &sse::CONTAINER,
    &openai_batch::CONTAINER,
    &anthropic_batch::CONTAINER,
    &otel_events::CONTAINER,
    &request_log::CONTAINER,
    &yaml::CONTAINER,
    &printed::CONTAINER,
];

/// The container with an id.
pub fn find(id: &str) -> Option<&'static Container> {
    ALL.iter().copied().find(|container| container.id == id)
}

/// The start of a file, in which its kind can be seen.
const HEAD: usize = 64 << 10;

/// Where the first records of a log are, in which a mark of all of them can be seen.
const START: usize = 8 << 10;

/// The lines of a text, without the bytes that end them.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr(b'\n', text);
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

fn first_line(text: &[u8]) -> Option<&[u8]> {
    lines(text).find(|line| !line.trim_ascii().is_empty())
}

/// The keys at the outermost level of YAML, as far as the start of the file shows them.
fn outer_keys(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    lines(head).filter_map(|line| {
        let length = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        (length > 0 && line.get(length) == Some(&b':')).then(|| &line[..length])
    })
}

fn head_has(bytes: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(&bytes[..bytes.len().min(HEAD)], text).is_some()
}

/// Whether the first value of a JSON file passes a test, as far as the start of the file shows. `key` is one that it has:
/// most files have none such, and need not be read.
fn json_starts(bytes: &[u8], key: &str, test: impl Fn(Value<'_, '_>) -> bool) -> bool {
    is_json(bytes) && head_has(bytes, key.as_bytes()) && {
        let document = Document::read(&bytes[..bytes.len().min(HEAD)]);
        test(document.root())
    }
}
