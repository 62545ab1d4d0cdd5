//! Responses that are streamed: the events in a text, and the calls that their pieces make.

use std::ops::Range;

use serde_json::{Value as Json, json};
use toolcheck_core::formats;
use toolcheck_core::response::{self, broken_in, values_in};
use toolcheck_json::Document;

fn data(text: &str) -> Vec<String> {
    let show =
        |lines: Vec<Range<usize>>| lines.into_iter().map(|line| &text[line]).collect::<Vec<_>>().join("\n");
    values_in(text).into_iter().map(show).collect()
}

#[test]
fn events_that_begin_as_objects_and_are_none_are_broken() {
    for (text, broken) in [
        ("data: {\"a\": 1}\n\ndata: [DONE]\n\ndata: ping\n\n", None),
        ("data: {\"a\": 1}\n\ndata: {\"b\"\n\ndata: {\"c\": 2}\n\ndata: {\"d", Some((22..26, 2))),
        ("data: {\ndata: \"a\": 1}\n\n", None),
        ("data: {\ndata: \"a\": 1\n\n", Some((6..7, 1))),
        ("{\"a\": 1}\n{\"b\n{\"c\": 2}\n", Some((9..12, 1))),
        ("{\"a\": 1}\n{\"b\": 2}\n", None),
    ] {
        assert_eq!(broken_in(text), broken, "{text}");
    }
}

#[test]
fn event_streams_are_read_as_the_standard_says() {
    assert_eq!(data("event: a\ndata: [1]\n\ndata:[2]\r\n\r\n: comment\rdata: [3]"), ["[1]", "[2]", "[3]"]);
    assert_eq!(data("data: {\ndata: }\n\n"), ["{\n}"]);
    assert_eq!(data("id: 7\nretry: 3\n\n"), [""; 0]);
    assert_eq!(data(""), [""; 0]);
}

/// A piece of a call, with its number if it has one.
fn piece(number: Option<u64>, id: Option<&str>, arguments: &str) -> Json {
    let mut call = json!({"function": {"arguments": arguments}});
    number.iter().for_each(|number| call["index"] = json!(number));
    id.iter().for_each(|id| call["id"] = json!(id));
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
}

/// The ids and arguments of the calls of the only choice.
fn calls(events: &[Json]) -> Vec<(Option<String>, String)> {
    let text = serde_json::to_string(events).unwrap();
    let document = Document::read(text.as_bytes());
    let format = formats::find("openai-chat").unwrap();
    let (mut choices, _) = response::read(format, document.root()).unwrap();
    assert_eq!(choices.len(), 1);
    choices.remove(0).calls.into_iter().map(|call| (call.id, call.arguments)).collect()
}

#[test]
fn pieces_belong_to_the_last_call_with_their_number() {
    let calls = calls(&[
        piece(Some(0), Some("a"), "1"),
        piece(Some(7), Some("b"), "2"),
        piece(Some(0), None, "3"),
        // Some servers give all calls the same number.
        piece(Some(0), Some("c"), "4"),
        piece(Some(0), None, "5"),
        piece(Some(3), Some("d"), "7"),
    ]);
    let found: Vec<_> = calls.iter().map(|(id, text)| (id.as_deref().unwrap_or_default(), &**text)).collect();
    assert_eq!(found, [("a", "13"), ("b", "2"), ("c", "45"), ("d", "7")]);
}

#[test]
fn each_of_very_many_calls_is_found_by_its_number() {
    // Each piece would walk over all calls before it, if they were not found by their numbers: 10^10 steps.
    let count = 100_000;
    let events: Vec<Json> =
        ["{", "}"].iter().flat_map(|text| (0..count).map(|number| piece(Some(number), None, text))).collect();
    let calls = calls(&events);
    assert_eq!(calls.len() as u64, count);
    assert!(calls.iter().all(|(_, arguments)| arguments == "{}"));
}
