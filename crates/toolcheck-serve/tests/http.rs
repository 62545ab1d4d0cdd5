//! What is a request at all, and who may send one. All over sockets of the loopback interface.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::{gzip, post, raw, send, send_raw, send_to, steer};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use toolcheck_core::formats;
use toolcheck_serve::{MockProvider, Proxy, Turn, Upstream, path};

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
fn what_every_request_has_is_missed_in_the_words_of_the_api() {
    let mock = quiet();
    let say = |id: &str, body: Json| {
        let path = path(formats::find(id).unwrap(), "m", false);
        let (status, _, answer) = post(&mock, &path, &body.to_string());
        (status, answer)
    };
    let user = json!([{"role": "user", "content": "Moin."}]);
    for (id, body, words) in [
        ("openai-chat", json!({"messages": user}), "you must provide a model parameter"),
        ("openai-chat", json!({"model": "m"}), "Missing required parameter: 'messages'."),
        ("openai-responses", json!({"input": "Moin."}), "Missing required parameter: 'model'."),
        ("openai-responses", json!({"model": "m"}), "Missing required parameter: 'input'."),
        ("anthropic", json!({"max_tokens": 9, "messages": user}), "model: Field required"),
        ("anthropic", json!({"model": "m", "max_tokens": 9}), "messages: Field required"),
        ("gemini", json!({"generationConfig": {}}), "contents is not specified"),
    ] {
        let (status, answer) = say(id, body);
        assert!(status == 400 && answer.contains(words), "{id}: {status} {answer}");
    }
    // What is stored at the API need not be sent, and neither what the path says.
    for (id, body) in [
        ("openai-responses", json!({"prompt": {"id": "pmpt_1"}})),
        ("openai-responses", json!({"model": "m", "previous_response_id": "resp_1"})),
        ("anthropic", json!({"anthropic_version": "vertex-2023-10-16", "max_tokens": 9, "messages": user})),
    ] {
        assert_eq!(say(id, body).0, 200, "{id}");
    }
    let deployed = "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21";
    assert_eq!(post(&mock, deployed, &json!({"messages": user}).to_string()).0, 200);
}

#[test]
fn the_last_of_two_keys_is_the_one_that_an_api_reads() {
    let mock = quiet();
    let user = r#""messages": [{"role": "user", "content": "x"}]"#;
    let orphan = r#""messages": [{"role": "tool", "tool_call_id": "x", "content": "x"}]"#;
    let ask = |first: &str, last: &str| {
        post(&mock, "/v1/chat/completions", &format!("{{\"model\": \"m\", {first}, {last}}}")).0
    };
    assert_eq!((ask(user, orphan), ask(orphan, user)), (400, 200));
    // The record has both, so that the linter can tell.
    let run = mock.finish();
    assert_eq!(run.exchanges[1].json_line().matches("\"messages\"").count(), 2);
    assert!(run.lint().findings.iter().any(|finding| finding.rule == "duplicate-key"));
}

#[test]
fn the_encoding_that_a_header_names_is_decoded() {
    let mock = MockProvider::builder().max_body(4096).check_on_drop(false).start().unwrap();
    let path = "/v1/chat/completions";
    let ask = |encoding: &str, body: &[u8]| {
        let header = format!("content-encoding: {encoding}\r\n");
        send_raw(&mock.url(), &raw(path, &header, body)).0
    };
    assert_eq!(ask("gzip", &gzip(CHAT.as_bytes())), 200);
    assert_eq!(ask("gzip", &gzip(ORPHAN.as_bytes())), 400);
    assert_eq!(ask("identity", CHAT.as_bytes()), 200);
    // `{"a": 1}` in Brotli, which lacks a model.
    let brotli = [0x8b, 0x03, 0x80, 0x7b, 0x22, 0x61, 0x22, 0x3a, 0x20, 0x31, 0x7d, 0x03];
    assert_eq!(ask("br", &brotli), 400);
    assert_eq!(ask("gzip", CHAT.as_bytes()), 400);
    assert_eq!(ask("compress", CHAT.as_bytes()), 415);
    // 100,000 blanks in Brotli.
    let bomb = [0x5b, 0x9f, 0x86, 0x81, 0x5f, 0x02, 0x24, 0x1e, 0x0b, 0x04, 0xb2, 0xfc, 0x02, 0x00];
    assert_eq!(ask("br", &bomb), 413);
    let run = mock.finish();
    assert_eq!(run.exchanges[0].request["messages"][0]["content"], "Moin.");
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
fn another_api_than_the_one_that_is_wanted_is_not_there() {
    let mock = MockProvider::builder().target("anthropic").unwrap().check_on_drop(false).start().unwrap();
    let (status, _, body) = post(&mock, "/v1/chat/completions", CHAT);
    let body: Json = serde_json::from_str(&body).unwrap();
    let message = body["error"]["message"].as_str().unwrap();
    assert_eq!(status, 404);
    assert!(message.contains("this mock is anthropic only") && message.contains("openai-chat"), "{message}");
    let (_, _, report) = steer(&mock, "report", "");
    let report: Json = serde_json::from_str(&report).unwrap();
    assert_eq!(report["unexpected"], json!(["POST /v1/chat/completions"]));
    let run = mock.finish();
    assert!(run.exchanges.is_empty());
    let failed = std::panic::catch_unwind(|| run.assert_conformant()).unwrap_err();
    let message = failed.downcast_ref::<String>().unwrap();
    assert!(message.contains("not expected: POST /v1/chat/completions"), "{message}");
    // Both are wanted here.
    let both = MockProvider::builder().target("anthropic").unwrap().target("vllm").unwrap().start().unwrap();
    assert_eq!(post(&both, "/v1/chat/completions", CHAT).0, 200);
    assert_eq!(post(&both, "/v1/messages", SMALLEST[0].1).0, 200);
    both.finish().assert_conformant();
}

#[test]
fn a_refusal_is_let_through_if_its_rule_is_allowed() {
    let allowing = |rule: &str| MockProvider::builder().allow(rule);
    assert_eq!(
        allowing("orphan-tool-results").unwrap_err().to_string(),
        "there is no rule `orphan-tool-results`; did you mean `orphan-tool-result`?"
    );
    let mock = allowing("orphan-tool-result").unwrap().start().unwrap();
    let (status, head, _) = post(&mock, "/v1/chat/completions", ORPHAN);
    assert_eq!(status, 200);
    assert!(head.contains("x-toolcheck-allowed: orphan-tool-result"), "{head}");
    let run = mock.finish();
    assert_eq!(run.exchanges[0].allowed[0].rule, "orphan-tool-result");
    assert_eq!(run.report()["allowed"][0]["rule"], "orphan-tool-result");
    assert!(run.exchanges[0].json_line().contains(",\"allowed\":[\"orphan-tool-result\"]"));
    run.assert_conformant();
    // Another fault is still refused, and what is not JSON always.
    let mock = allowing("malformed-json").unwrap().check_on_drop(false).start().unwrap();
    assert_eq!(post(&mock, "/v1/chat/completions", ORPHAN).0, 400);
    assert_eq!(post(&mock, "/v1/chat/completions", "{").0, 400);
}

#[test]
fn pages_and_other_hosts_see_nothing() {
    let mock = MockProvider::builder().allow_host("mock.test").check_on_drop(false).start().unwrap();
    let path = "/v1/chat/completions";
    let ask = |host: &str, headers: &str| {
        let length = CHAT.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{CHAT}"
        );
        send_raw(&mock.url(), head.as_bytes()).0
    };
    assert_eq!((ask("localhost:1", ""), ask("mock.test:80", ""), ask("evil.example", "")), (200, 200, 421));
    assert_eq!(ask("localhost", "origin: http://evil.example\r\ncontent-type: text/plain\r\n"), 403);
    assert_eq!(ask("localhost", "origin: http://localhost:5173\r\n"), 200);
    let control = mock.control_url().replace(&mock.url(), "");
    let see = |path: &str, headers: &str| send(&mock, "GET", path, headers, "").0;
    assert_eq!(see(&format!("{control}/report"), ""), 200);
    assert_eq!(see(&format!("{control}/report"), "origin: http://localhost:5173\r\n"), 403);
    assert_eq!(see(&format!("{control}/report"), "sec-fetch-site: cross-site\r\n"), 403);
    for guessed in ["/_toolcheck/report", "/_toolcheck/", "/_toolcheck/0/report", "/_toolcheck//report"] {
        assert_eq!(see(guessed, ""), 404, "{guessed}");
    }
    assert_eq!(send(&mock, "POST", "/_toolcheck/reset", "", "").0, 404);
    assert_eq!(mock.finish().exchanges.len(), 3);
}

#[test]
fn a_browser_hears_which_pages_may_ask_and_read() {
    let app = "https://app.example";
    let mock = MockProvider::builder().allow_origin(app).check_on_drop(false).start().unwrap();
    let control = mock.control_url().replace(&mock.url(), "");
    let report = format!("{control}/report");
    let asks = "access-control-request-method: POST\r\naccess-control-request-headers: authorization,x-stainless-os\r\n";
    let chat = "/v1/chat/completions";
    for (path, origin, status) in [
        (chat, app, 204),
        (chat, "http://localhost:5173", 204),
        (chat, "http://evil.example", 403),
        (chat, "null", 403),
        (&*report, app, 204),
        (&*report, "http://localhost:5173", 403),
        ("/_toolcheck/0/report", app, 404),
        ("/_toolcheck/0/report", "http://evil.example", 403),
    ] {
        let (found, head, _) = send(&mock, "OPTIONS", path, &format!("origin: {origin}\r\n{asks}"), "");
        assert_eq!(found, status, "{path} {origin}: {head}");
        let is_allowed = status == 204;
        assert_eq!(head.contains("access-control-"), is_allowed, "{path} {origin}: {head}");
        if is_allowed {
            let origin = format!("access-control-allow-origin: {origin}\r\n");
            let wanted = [
                &*origin,
                "vary: origin\r\n",
                "access-control-allow-methods: GET, POST\r\n",
                "access-control-allow-headers: authorization,x-stainless-os\r\n",
            ];
            assert!(wanted.iter().all(|wanted| head.contains(wanted)), "{head}");
        }
        // The page that may ask may also read, whether it is refused or not; another one may not.
        let (method, bodies) = if path == chat { ("POST", [CHAT, ORPHAN]) } else { ("GET", ["", ""]) };
        for body in bodies {
            let (_, head, _) = send(&mock, method, path, &format!("origin: {origin}\r\n"), body);
            let allows = head.contains(&format!("access-control-allow-origin: {origin}"));
            assert_eq!(allows, is_allowed, "{path} {origin}: {head}");
        }
    }
    // Nothing changes for programs, and two origins are none.
    let (status, head, _) = send(&mock, "OPTIONS", chat, asks, "");
    assert!(status == 404 && !head.contains("access-control-"), "{head}");
    let two = format!("origin: {app}\r\norigin: http://localhost\r\n");
    assert!(!send(&mock, "POST", chat, &two, CHAT).1.contains("access-control-"));
    assert!(!post(&mock, chat, CHAT).1.contains("access-control-"));
    let seen = mock.finish();
    assert_eq!(seen.not_found, ["OPTIONS /v1/chat/completions"]);
}

#[test]
fn what_no_server_does_is_refused() {
    let mock = quiet();
    let proxy = Proxy::builder(Upstream::parse(&mock.url()).unwrap()).start().unwrap();
    for url in [mock.url(), proxy.url()] {
        let ask = |method: &str, header: &str| send_to(&url, method, "/v1/chat/completions", header, CHAT).0;
        assert_eq!(ask("POST", "expect: foo\r\n"), 417);
        assert_eq!(ask("POST", "expect: 100-continue, foo\r\n"), 417);
        assert_eq!(ask("TRACE", ""), 405);
        // hyper answers 100 first.
        let waits = raw("/v1/chat/completions", "expect: 100-Continue\r\n", CHAT.as_bytes());
        let (_, said) = send_raw(&url, &waits);
        assert!(said.contains("HTTP/1.1 200 OK"), "{said}");
    }
    assert_eq!(mock.finish().exchanges.len(), 2);
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
fn a_proxy_passes_nothing_on_that_a_page_sends_or_that_leads_elsewhere() {
    let api =
        MockProvider::builder().allow_origin("https://app.example").check_on_drop(false).start().unwrap();
    let base = Upstream::parse(&format!("{}/base", api.url())).unwrap();
    let proxy = Proxy::builder(base).allow_origin("https://app.example").start().unwrap();
    let ask = |head: &str| {
        let length = CHAT.len();
        send_raw(
            &proxy.url(),
            format!("{head}content-length: {length}\r\nconnection: close\r\n\r\n{CHAT}").as_bytes(),
        )
    };
    let to =
        |path: &str, headers: &str| ask(&format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}")).0;
    let path = "/v1/chat/completions";
    assert_eq!(to(path, ""), 200);
    assert_eq!(to(path, "origin: https://app.example\r\n"), 200);
    assert_eq!(to(path, "origin: http://localhost:5173\r\n"), 403);
    assert_eq!(to(path, "sec-fetch-site: cross-site\r\n"), 403);
    for out in ["/../v1/chat/completions", "/a/%2e%2E/v1/chat/completions", "/..%2fv1/chat/completions"] {
        assert_eq!(to(out, ""), 400, "{out}");
    }
    assert_eq!(ask("POST /v1/chat/completions HTTP/1.1\r\nhost: evil.example\r\n").0, 421);
    assert_eq!(ask("POST http://api.example/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n").0, 421);
    let alone = |head: &str| send_raw(&proxy.url(), format!("{head}connection: close\r\n\r\n").as_bytes());
    let (status, said) = alone("CONNECT api.example:443 HTTP/1.1\r\nhost: api.example:443\r\n");
    assert!(status == 405 && said.contains("base URL"), "{said}");
    let (status, said) = alone("OPTIONS * HTTP/1.1\r\nhost: localhost\r\n");
    assert!(status == 204 && said.contains("allow: "), "{said}");
    assert_eq!(proxy.finish().requests, 2);
    assert_eq!(api.finish().exchanges.len(), 2);
}

#[test]
fn a_proxy_checks_what_is_encoded_and_passes_it_on_as_it_is() {
    let api = MockProvider::builder().check_on_drop(false).start().unwrap();
    let proxy = Proxy::builder(Upstream::parse(&api.url()).unwrap()).start().unwrap();
    let header = "content-encoding: gzip\r\n";
    let packed = gzip(ORPHAN.as_bytes());
    assert_eq!(send_raw(&proxy.url(), &raw("/v1/chat/completions", header, &packed)).0, 400);
    // What cannot be read is reported, because nothing of it was checked.
    let other = "content-encoding: compress\r\n";
    assert_eq!(send_raw(&proxy.url(), &raw("/v1/chat/completions", other, b"?")).0, 415);
    assert_eq!(send_to(&proxy.url(), "POST", "/v1/chat/completions", "", "null").0, 400);
    let passed = proxy.finish();
    assert_eq!((passed.requests, passed.refused), (3, 3));
    assert_eq!(api.finish().exchanges.len(), 3);
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

#[test]
fn the_client_of_another_api_says_which_one_it_talks_to() {
    let turn = || Turn::text("Moin.");
    let mock = MockProvider::builder().turn(turn()).check_on_drop(false).start().unwrap();
    let agent = "user-agent: mistral-client-python/3.7.0\r\n";
    let odd = json!({"model": "m", "messages": [{"role": "user", "content": "x"}], "parallel_tool_call": 1})
        .to_string();
    let (status, _, body) = send(&mock, "POST", "/v1/chat/completions", agent, &odd);
    assert_eq!(status, 422, "{body}");
    assert_eq!(post(&mock, "/v1/chat/completions", CHAT).0, 200);
    let formats: Vec<&str> = mock.finish().exchanges.iter().map(|exchange| exchange.format).collect();
    assert_eq!(formats, ["mistral", "openai-chat"]);
}

#[test]
fn answers_have_ids_in_the_form_of_their_api() {
    let mock = quiet();
    for (id, key, prefix, length) in [
        ("openai-chat", "id", "chatcmpl-", 38),
        ("openai-responses", "id", "resp_", 53),
        ("anthropic", "id", "msg_01", 28),
        ("gemini", "responseId", "0", 23),
    ] {
        let body = SMALLEST.iter().find(|(own, _)| *own == id).unwrap().1;
        let (_, _, answer) = post(&mock, &path(formats::find(id).unwrap(), "m", false), body);
        let answer: Json = serde_json::from_str(&answer).unwrap();
        let found = answer[key].as_str().unwrap();
        assert!(found.starts_with(prefix) && found.len() == length, "{found}");
    }
}
