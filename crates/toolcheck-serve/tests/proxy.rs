//! The proxy over HTTP, with an API behind it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{gzip, post, send_to};
use serde_json::{Value as Json, json};
use toolcheck_core::conversation::{Assistant, Call, Conversation, Turn as Said};
use toolcheck_core::formats;
use toolcheck_serve::{Exchange, MockProvider, Proxy, ProxyBuilder, Upstream, path};

fn upstream(url: &str) -> Upstream {
    Upstream::parse(url).unwrap()
}

fn watched(builder: ProxyBuilder) -> (Proxy, Arc<Mutex<Vec<Exchange>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let proxy =
        builder.on_exchange(move |exchange| kept.lock().unwrap().push(exchange.clone())).start().unwrap();
    (proxy, seen)
}

/// A conversation whose last call has no result.
fn unanswered() -> String {
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 64,
        "messages": [
            {"role": "user", "content": "When is low tide?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "tides", "input": {}}]},
            {"role": "user", "content": "Well?"}
        ],
        "tools": [{"name": "tides", "input_schema": {"type": "object"}}]
    })
    .to_string()
}

#[test]
fn what_passes_is_what_the_api_answers_in_every_format_streamed_or_not() {
    let call = Call::new("call00001", "tides", serde_json::Map::new());
    let conversation = Conversation::new(vec![
        Said::User("When is low tide?".to_owned()),
        Said::Assistant(Assistant::new("").with_calls(vec![call.clone()])),
        Said::Results(vec![call.output("low at six")]),
    ]);
    for format in formats::ALL {
        let api = MockProvider::builder().target(format.id).unwrap().check_on_drop(false).start().unwrap();
        let behind = upstream(&api.url());
        let (proxy, seen) =
            watched(Proxy::builder(behind).target(toolcheck_core::targets::find(format.id).unwrap()));
        for is_streamed in [false, true] {
            let mut body = format.write_request(&conversation).body;
            let path = path(format, "a-model", is_streamed);
            if !path.contains("a-model") {
                body["model"] = json!("a-model");
                body["stream"] = json!(is_streamed);
            }
            let body = body.to_string();
            let direct = post(&api, &path, &body);
            let passed = send_to(&proxy.url(), "POST", &path, "", &body);
            let text = |answer: &(u16, String, String)| (answer.0, answer.2.clone());
            assert_eq!(text(&passed), text(&direct), "{} {is_streamed}", format.id);
            assert_eq!(direct.0, 200, "{}: {}", format.id, direct.2);
        }
        let passed = proxy.finish();
        assert_eq!((passed.requests, passed.refused), (2, 0), "{}", format.id);
        // The record of the proxy is that of the API: each exchange came once directly and once through the proxy.
        let own: Vec<Json> =
            seen.lock().unwrap().iter().map(|exchange| exchange.response.clone().into_json()).collect();
        let exchanges = api.finish().exchanges;
        let theirs: Vec<Json> = exchanges
            .iter()
            .skip(1)
            .step_by(2)
            .map(|exchange| exchange.response.clone().into_json())
            .collect();
        assert_eq!(own, theirs, "{}", format.id);
    }
}

#[test]
fn what_the_api_refuses_is_told_and_with_refuse_not_passed_on() {
    // An API that takes this.
    let api = MockProvider::builder().allow("unanswered-tool-call").unwrap().check_on_drop(false);
    let api = api.start().unwrap();
    for refuses in [false, true] {
        let (proxy, seen) = watched(Proxy::builder(upstream(&api.url())).refuse(refuses));
        let (status, head, body) =
            send_to(&proxy.url(), "POST", "/v1/messages", "x-api-key: sk-secret\r\n", &unanswered());
        assert_eq!(status, if refuses { 400 } else { 200 }, "{body}");
        assert_eq!(head.contains("x-toolcheck-rule: unanswered-tool-call"), refuses, "{head}");
        let passed = proxy.finish();
        assert_eq!((passed.requests, passed.refused), (1, 1));
        let seen = seen.lock().unwrap();
        assert_eq!(seen[0].refused.as_ref().unwrap().rule, "unanswered-tool-call");
        assert_eq!(seen[0].status, status);
        assert!(!format!("{seen:?}{}", seen[0].json_line()).contains("sk-secret"));
    }
    assert_eq!(api.finish().exchanges.len(), 1);
}

#[test]
fn another_api_is_asked_what_it_would_refuse() {
    let request = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes?"},
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go on."}]
    });
    let api = MockProvider::builder().check_on_drop(false).start().unwrap();
    let against = toolcheck_core::targets::find("cohere").unwrap();
    let (proxy, seen) = watched(Proxy::builder(upstream(&api.url())).refuse(true).against(against));
    let (status, ..) = send_to(&proxy.url(), "POST", "/v1/chat/completions", "", &request.to_string());
    assert_eq!(status, 200);
    let passed = proxy.finish();
    assert_eq!((passed.requests, passed.refused, passed.refused_against), (1, 0, 1));
    assert_eq!(seen.lock().unwrap()[0].against.as_ref().unwrap().rule, "misplaced-message");
}

/// Reads a request, and returns its head and the connection.
fn taken(listener: &TcpListener) -> (String, TcpStream) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length =
        head.split("content-length: ").nth(1).map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, stream)
}

#[test]
fn a_stream_passes_piece_by_piece_with_the_headers_of_the_client() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/base", listener.local_addr().unwrap());
    let (read, was_read) = channel::<()>();
    let api = std::thread::spawn(move || {
        let (head, mut stream) = taken(&listener);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: 7\r\nconnection: close\r\n\r\ndata: {\"one\": 1}\n\n")
            .unwrap();
        // Only when the client has the first event does the second one follow.
        was_read.recv_timeout(Duration::from_secs(20)).unwrap();
        stream.write_all(b"data: {\"two\": 2}\n\n").unwrap();
        head
    });
    let (proxy, seen) = watched(Proxy::builder(upstream(&url)));
    let mut client = TcpStream::connect(proxy.url().replace("http://", "")).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let body = json!({"messages": [{"role": "user", "content": "Hi."}], "stream": true}).to_string();
    let length = body.len();
    write!(
        client,
        "POST /v1/chat/completions?a=b HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk-secret\r\nx-hop: 1\r\n\
         connection: close, x-hop\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut text = Vec::new();
    let mut piece = [0; 1024];
    while !String::from_utf8_lossy(&text).contains("\"one\"") {
        let count = client.read(&mut piece).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..count]);
    }
    read.send(()).unwrap();
    client.read_to_end(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("x-request-id: 7") && text.contains("\"two\""), "{text}");
    let head = api.join().unwrap();
    assert!(head.starts_with("post /base/v1/chat/completions?a=b http/1.1"), "{head}");
    assert!(head.contains("authorization: bearer sk-secret"), "{head}");
    assert!(!head.contains("x-hop") && head.contains("accept-encoding: identity"), "{head}");
    drop(proxy);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].response, json!([{"one": 1}, {"two": 2}]));
    assert!(!seen[0].json_line().contains("secret"));
}

/// An error may repeat the key, wherever it came from.
#[test]
fn a_key_that_a_response_repeats_is_not_recorded() {
    let key = "sk-planted-0123456789abcdef==";
    let said = format!("{{\"error\": {{\"message\": \"Incorrect API key provided: {key}\"}}}}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = format!("HTTP/1.1 401 No\r\nset-cookie: a={key}\r\nconnection: close\r\n\r\n{said}");
    let api = std::thread::spawn(move || {
        (0..4).for_each(|_| {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
    });
    let (proxy, seen) = watched(Proxy::builder(upstream(&url)));
    for name in ["authorization: Bearer ", "x-api-key: ", "cookie: a=b; session=", ""] {
        let header = if name.is_empty() { String::new() } else { format!("{name}{key}\r\n") };
        let path = format!("/v1/chat/completions?key={}", if name.is_empty() { key } else { "" });
        let body = json!({"messages": []}).to_string();
        assert!(send_to(&proxy.url(), "POST", &path, &header, &body).2.contains(key), "{name}");
    }
    api.join().unwrap();
    drop(proxy);
    let lines: String = seen.lock().unwrap().iter().map(Exchange::json_line).collect();
    assert!(!lines.contains("planted") && lines.matches("provided: [key]").count() == 4, "{lines}");
}

#[test]
fn other_requests_pass_and_are_not_recorded_and_what_does_not_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let api = std::thread::spawn(move || {
        let (head, mut stream) = taken(&listener);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]").unwrap();
        head
    });
    let (proxy, seen) = watched(Proxy::builder(upstream(&url)).max_body(50));
    let (status, _, body) = send_to(&proxy.url(), "GET", "/v1/models", "", "");
    assert_eq!((status, &*body), (200, "[]"));
    assert!(api.join().unwrap().starts_with("get /v1/models"));
    let (status, ..) = send_to(&proxy.url(), "POST", "/v1/messages", "", &"x".repeat(51));
    assert_eq!(status, 413);
    assert!(seen.lock().unwrap().is_empty());
    // Nobody listens there any more.
    let (status, _, body) = send_to(&proxy.url(), "POST", "/v1/messages", "", "{\"messages\": []}");
    assert_eq!(status, 502);
    assert!(body.contains(&url) && body.contains("does not answer"), "{body}");
    assert_eq!(seen.lock().unwrap()[0].status, 502);
    assert_eq!(proxy.finish().requests, 1);
}

fn answers_all(count: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heads = move || {
        let answer = |_| {
            let (head, mut stream) = taken(&listener);
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").unwrap();
            head.lines().next().unwrap().to_owned()
        };
        (0..count).map(answer).collect()
    };
    (url, std::thread::spawn(heads))
}

#[test]
fn no_spelling_of_a_path_or_method_passes_unchecked() {
    let asked = [
        ("POST", "/v1/%6Dessages"),
        ("POST", "/v1/%256Dessages"),
        ("POST", "/v1/messages;x"),
        ("POST", "/V1/Messages"),
        ("POST", "/v1//messages"),
        ("POST", "/v1%2Fmessages"),
        ("post", "/v1/messages"),
        ("PUT", "/v1/messages"),
        ("PATCH", "/v1/messages"),
        ("GET", "/v1/messages"),
    ];
    // The API is not asked.
    let (proxy, seen) = watched(Proxy::builder(upstream("http://127.0.0.1:9")).refuse(true));
    for (method, path) in asked {
        let (status, head, _) = send_to(&proxy.url(), method, path, "", &unanswered());
        assert_eq!(status, 400, "{method} {path}: {head}");
        assert!(head.contains("x-toolcheck-rule: unanswered-tool-call"), "{method} {path}: {head}");
    }
    let passed = proxy.finish();
    assert_eq!((passed.requests, passed.refused, passed.unchecked), (asked.len(), asked.len(), 0));
    // The record has the path as it came.
    let paths: Vec<String> = seen.lock().unwrap().iter().map(|exchange| exchange.path.clone()).collect();
    assert_eq!(paths, asked.map(|(_, path)| path));
}

#[test]
fn what_is_passed_on_unchecked_is_told() {
    let asked = [
        ("POST", "/v1/embeddings", "{}"),
        ("POST", "/v1/chat/completions%20", "{}"),
        ("POST", "/v1/embeddings", "{}"),
        ("PUT", "/v1/files", "x"),
        // Without a body there is nothing to check.
        ("GET", "/v1/models", ""),
        ("DELETE", "/v1/responses/resp_1", ""),
        ("GET", "/v1/chat/completions", ""),
    ];
    let (url, api) = answers_all(asked.len());
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let builder = Proxy::builder(upstream(&url)).refuse(true);
    let (proxy, seen) = watched(builder.on_unchecked(move |path| kept.lock().unwrap().push(path.to_owned())));
    for (method, path, body) in asked {
        assert_eq!(send_to(&proxy.url(), method, path, "", body).0, 200, "{method} {path}");
    }
    // It gets each as it was sent.
    let lines = asked.map(|(method, path, _)| format!("{method} {path} HTTP/1.1").to_lowercase());
    assert_eq!(api.join().unwrap(), lines);
    let passed = proxy.finish();
    assert_eq!((passed.requests, passed.refused, passed.unchecked), (0, 0, 4));
    let paths = ["POST /v1/embeddings", "POST /v1/chat/completions%20", "PUT /v1/files"];
    assert_eq!(passed.unchecked_paths, paths);
    assert_eq!(*told.lock().unwrap(), paths);
    assert!(seen.lock().unwrap().is_empty());
}

/// A connection on which a client has asked for a conversation.
fn asked(proxy: &Proxy) -> TcpStream {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]}).to_string();
    let mut client = TcpStream::connect(proxy.url().replace("http://", "")).unwrap();
    let length = body.len();
    write!(client, "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
    client
}

#[test]
fn a_response_that_broke_off_is_recorded_as_cut() {
    let event = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    for (answer, response, is_cut) in [
        (format!("{event}transfer-encoding: chunked\r\n\r\n9\r\ndata: no\n\r\n"), json!([]), true),
        (
            format!("{event}transfer-encoding: chunked\r\n\r\na\r\ndata: {{}}\n\n\r\n0\r\n\r\n"),
            json!([{}]),
            false,
        ),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"a\":".to_owned(), json!("{\"a\":"), true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".to_owned(), json!({}), false),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-time: 3\r\n\r\n"
                .to_owned(),
            json!({}),
            false,
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let api = std::thread::spawn({
            let answer = answer.clone();
            move || taken(&listener).1.write_all(answer.as_bytes()).unwrap()
        });
        let (proxy, seen) = watched(Proxy::builder(upstream(&url)));
        let mut client = asked(&proxy);
        // What is cut off may reach a client as a reset.
        let _ = client.read_to_end(&mut Vec::new());
        api.join().unwrap();
        drop(proxy);
        let seen = seen.lock().unwrap();
        assert_eq!((seen[0].response.clone().into_json(), seen[0].is_cut), (response, is_cut), "{answer}");
        assert_eq!(seen[0].json_line().contains(",\"cut\":true"), is_cut, "{}", seen[0].json_line());
    }
}

#[test]
fn a_request_that_the_client_gives_up_is_recorded() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (proxy, seen) = watched(Proxy::builder(upstream(&url)));
    let client = asked(&proxy);
    let api = taken(&listener);
    drop(client);
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while seen.lock().unwrap().is_empty() && std::time::Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(api);
    let seen = seen.lock().unwrap();
    let line: Json = serde_json::from_str(&seen[0].json_line()).unwrap();
    assert_eq!((&line["response"], &line["cut"], line.get("status")), (&Json::Null, &json!(true), None));
    assert_eq!(line["request"]["model"], "m");
}

/// Some servers compress what they were asked not to compress. What can't be read is not recorded as what it is not.
#[test]
fn a_compressed_response_is_recorded_as_what_it_says() {
    let packed = gzip(br#"{"id": "r"}"#);
    let unknown = json!({"error": {"message":
        "toolcheck proxy: the content encoding `lzma` is not read, so nothing was checked"}});
    for (encoding, response) in [("gzip", json!({"id": "r"})), ("lzma", unknown)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
            packed.len()
        );
        let answer = [head.as_bytes(), &packed].concat();
        let api = std::thread::spawn(move || taken(&listener).1.write_all(&answer).unwrap());
        let (proxy, seen) = watched(Proxy::builder(upstream(&url)));
        let mut client = asked(&proxy);
        let mut passed = Vec::new();
        client.read_to_end(&mut passed).unwrap();
        assert!(passed.ends_with(&packed), "{encoding}: it is passed on as it is");
        api.join().unwrap();
        drop(proxy);
        assert_eq!(seen.lock().unwrap()[0].response.clone().into_json(), response);
    }
}
