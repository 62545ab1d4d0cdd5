//! What is a request at all, and what many of them cost. All over sockets of the loopback interface.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::{gzip, post, raw, send_raw};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_core::formats;
use toolcheck_serve::{MockProvider, path};

fn quiet() -> MockProvider {
    MockProvider::builder().check_on_drop(false).start().unwrap()
}

/// A request that every target refuses, and the path of each format with the smallest request that it takes.
const ORPHAN: &str = r#"{"model": "m", "messages": [{"role": "tool", "tool_call_id": "x", "content": "x"}]}"#;
const CHAT: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "Moin."}]}"#;
const SMALLEST: [(&str, &str); 8] = [
    ("anthropic", r#"{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Moin."}]}"#),
    ("bedrock-converse", r#"{"messages": [{"role": "user", "content": [{"text": "Moin."}]}]}"#),
    ("cohere", CHAT),
    ("gemini", r#"{"contents": [{"role": "user", "parts": [{"text": "Moin."}]}]}"#),
    ("mistral", CHAT),
    ("ollama", CHAT),
    ("openai-chat", CHAT),
    ("openai-responses", r#"{"model": "m", "input": "Moin."}"#),
];

/// A request with a key that is nested so deeply.
fn nested(depth: usize) -> Vec<u8> {
    let deep = format!("{{\"a\": {}{},", "[".repeat(depth), "]".repeat(depth));
    CHAT.replacen('{', &deep, 1).into_bytes()
}

fn no_requests() -> Vec<(&'static str, Vec<u8>)> {
    let utf16: Vec<u8> = CHAT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let har = json!({"log": {"version": "1.2", "entries": [{
        "request": {"method": "POST", "url": "https://api.openai.com/v1/chat/completions",
            "postData": {"mimeType": "application/json", "text": ORPHAN}},
        "response": {"status": 200, "content": {"text": "{}"}}}]}});
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("nothing", text("")),
        ("null", text("null")),
        ("a number", text("1")),
        ("a string", text("\"\"")),
        ("a list", text("[]")),
        ("a list of messages", text(r#"[{"role": "user", "content": "Moin."}]"#)),
        ("an empty object", text("{}")),
        ("gzip without a header", gzip(CHAT.as_bytes())),
        ("UTF-16", utf16),
        ("a byte order mark", text(&format!("\u{feff}{CHAT}"))),
        ("YAML", text("model: m\nmessages:\n- role: user\n  content: x\n")),
        ("JSON Lines", text(&format!("{CHAT}\n{CHAT}"))),
        ("a stream", text("data: {\"choices\":[]}\n\n")),
        ("an archive of HTTP", text(&har.to_string())),
        ("an exchange", text(&json!({"request": {"model": "m"}, "response": {}}).to_string())),
        ("spans", text("{\"resourceSpans\":[]}")),
        ("Parquet", text("PAR1xxxxPAR1")),
        (
            "a cassette",
            text(
                "interactions:\n- request:\n    body: '{}'\n    uri: https://api.openai.com/\n  response: {}\n",
            ),
        ),
        ("not UTF-8", [&CHAT.as_bytes()[..50], b"\xff", &CHAT.as_bytes()[50..]].concat()),
        ("NaN", text(&CHAT.replacen('{', "{\"temperature\": NaN,", 1))),
        ("a comment", text(&format!("/* x */{CHAT}"))),
        ("more behind it", text(&format!("{CHAT} x"))),
        ("Python", text("{'model': 'm', 'messages': []}")),
        ("a dump", text(r#"{"lc":1,"type":"constructor","id":["langchain"],"kwargs":{"content":"x"}}"#)),
        ("deep", nested(20_000)),
        ("very deep", text(&"[".repeat(1_000_000))),
    ]
}

#[test]
fn what_is_no_request_is_never_answered_whatever_the_api() {
    let mock = quiet();
    let mut wrong = Vec::new();
    for (id, smallest) in SMALLEST {
        let path = path(formats::find(id).unwrap(), "m", false);
        let fine = send_raw(&mock.url(), &raw(&path, "", smallest.as_bytes()));
        assert_eq!(fine.0, 200, "{id}: {}", fine.1);
        for (name, body) in no_requests() {
            let (status, answer) = send_raw(&mock.url(), &raw(&path, "", &body));
            // Each API has a status of its own for what is missing.
            if !matches!(status, 400 | 413 | 422) || !answer.contains("x-toolcheck-rule: ") {
                wrong.push(format!("{id}, {name}: {status}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What a parser that counts less takes.
    assert_eq!(send_raw(&mock.url(), &raw("/v1/chat/completions", "", &nested(999))).0, 200);
    let run = mock.finish();
    assert_eq!(run.refused().count(), SMALLEST.len() * no_requests().len());
}

#[test]
fn a_request_in_brotli_is_decoded_up_to_a_bound() {
    let mock = MockProvider::builder().max_body(4096).check_on_drop(false).start().unwrap();
    let ask = |body: &[u8]| {
        let request = raw("/v1/chat/completions", "content-encoding: br\r\n", body);
        send_raw(&mock.url(), &request).0
    };
    // `{"a": 1}`, which lacks a model.
    assert_eq!(ask(&[0x8b, 0x03, 0x80, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x20, 0x31, 0x7d, 0x03]), 400);
    // 100,000 blanks.
    let bomb = [0x5b, 0x9f, 0x86, 0x81, 0x5f, 0x02, 0x24, 0x1e, 0x0b, 0x04, 0xb2, 0xfc, 0x02, 0x00];
    assert_eq!(ask(&bomb), 413);
}

#[test]
fn a_request_that_is_too_large_is_refused_and_counted_and_its_client_gets_the_answer() {
    let mock = MockProvider::builder().max_body(1000).check_on_drop(false).start().unwrap();
    let (status, answer) = send_raw(&mock.url(), &raw("/v1/messages", "", &[b' '; 4 << 20]));
    assert_eq!(status, 413, "{answer}");
    assert!(answer.contains("x-toolcheck-rule: unrecognised-format"), "{answer}");
    let run = mock.finish();
    let refused: Vec<&str> = run.refused().map(|refused| &*refused.message).collect();
    assert_eq!(refused, ["the body has more than 1000 bytes (`--max-body`), so nothing was checked"]);
}

fn path_of(id: &str) -> String {
    path(formats::find(id).unwrap(), "m", false)
}

/// Bytes that may be a request, or nearly, and the path that they are sent to.
fn bodies() -> impl Strategy<Value = (Vec<u8>, String)> {
    let texts: Vec<Vec<u8>> = no_requests()
        .into_iter()
        .map(|(_, body)| body)
        .chain(SMALLEST.map(|(_, body)| body.as_bytes().to_vec()))
        .filter(|body| body.len() < 2000)
        .collect();
    let damaged = (prop::sample::select(texts), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut body, at, byte)| {
            if !body.is_empty() {
                let at = at.index(body.len());
                body[at] = byte;
            }
            body
        },
    );
    let anything = prop_oneof![
        damaged,
        prop::collection::vec(any::<u8>(), 0..80),
        "\\PC{0,60}".prop_map(String::into_bytes)
    ];
    let anywhere = (anything, prop::sample::select(SMALLEST.map(|(id, _)| id).to_vec()));
    // A request to its own API, with one byte more.
    let more = (prop::sample::select(SMALLEST.to_vec()), "[ \n\t}x]?", "[ \n\t{x]?");
    prop_oneof![
        anywhere.prop_map(|(body, id)| (body, path_of(id))),
        more.prop_map(|((id, body), before, after)| (
            format!("{before}{body}{after}").into_bytes(),
            path_of(id)
        )),
    ]
}

#[test]
fn what_a_plain_parser_rejects_is_never_answered() {
    let mock = quiet();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    let answered = std::cell::Cell::new(0);
    runner
        .run(&bodies(), |(body, path)| {
            let (status, _) = send_raw(&mock.url(), &raw(&path, "", &body));
            let is_object = serde_json::from_slice::<Json>(&body).is_ok_and(|value| value.is_object());
            if status == 200 {
                answered.set(answered.get() + 1);
                prop_assert!(is_object, "{path}: {:?}", String::from_utf8_lossy(&body));
            }
            prop_assert!(matches!(status, 200 | 400 | 413 | 422), "{path}: {status}");
            Ok(())
        })
        .unwrap();
    assert!(answered.get() > 5, "{} were answered", answered.get());
}

#[test]
fn a_large_request_does_not_hold_up_a_small_one() {
    let mock = quiet();
    // A second of work, at least where the tests run.
    let call = r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}"#;
    let body = format!("{{\"model\": \"m\", \"messages\": [{}]}}", vec![call; 60_000].join(","));
    let url = mock.url();
    let started = Instant::now();
    let large = std::thread::spawn(move || {
        let (status, _) = send_raw(&url, &raw("/v1/chat/completions", "", body.as_bytes()));
        (status, started.elapsed())
    });
    let mut slowest = Duration::ZERO;
    let mut answered = 0;
    while !large.is_finished() {
        let asked = Instant::now();
        assert_eq!(post(&mock, "/v1/chat/completions", CHAT).0, 200);
        slowest = slowest.max(asked.elapsed());
        answered += 1;
    }
    let (status, took) = large.join().unwrap();
    assert_eq!(status, 400);
    // They went on all the time: no one of them took as long as the large one.
    assert!(answered > 3 && slowest < took / 2, "{answered} in {took:?}, the slowest in {slowest:?}");
}

#[test]
fn exchanges_are_kept_up_to_a_bound_and_the_rest_is_counted() {
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let watched = std::sync::Arc::clone(&seen);
    let builder = MockProvider::builder().max_kept(10_000).check_on_drop(false).on_exchange(move |_| {
        watched.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    let mock = builder.start().unwrap();
    for _ in 0..40 {
        post(&mock, "/v1/chat/completions", CHAT);
    }
    post(&mock, "/v1/chat/completions", ORPHAN);
    let run = mock.finish();
    let kept = run.exchanges.len();
    assert!(kept > 3 && kept < 40, "{kept}");
    assert_eq!((run.not_kept, run.requests()), (41 - kept, 41));
    assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 41, "who records sees all");
    // A refusal counts, though its exchange is not kept.
    assert_eq!(run.refused().count(), 1);
    assert_eq!(run.report()["not_kept"], 41 - kept);
    let failed = std::panic::catch_unwind(|| run.assert_conformant()).unwrap_err();
    assert!(failed.downcast_ref::<String>().unwrap().contains("not checked"));
}

#[test]
fn half_a_request_keeps_nobody_from_stopping() {
    let mock = quiet();
    let mut stream = std::net::TcpStream::connect(mock.url().replace("http://", "")).unwrap();
    stream
        .write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
        .unwrap();
    let asked = Instant::now();
    assert!(mock.finish().exchanges.is_empty());
    assert!(asked.elapsed() < Duration::from_secs(5));
}
