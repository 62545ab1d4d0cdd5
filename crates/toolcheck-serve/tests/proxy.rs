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

#[test]
fn a_request_that_is_too_large_is_not_passed_on_and_counted() {
    let api = MockProvider::builder().check_on_drop(false).start().unwrap();
    let (proxy, seen) = watched(Proxy::builder(upstream(&api.url())).max_body(1000));
    let (status, _, body) = send_to(&proxy.url(), "POST", "/v1/messages", "", &" ".repeat(4 << 20));
    assert_eq!(status, 413);
    assert!(body.contains("not passed on: its body has more than 1000 bytes (`--max-body`)"), "{body}");
    let passed = proxy.finish();
    assert_eq!((passed.requests, passed.refused, passed.unanswered), (1, 0, 1));
    assert!(seen.lock().unwrap()[0].refused.is_none());
    assert_eq!(api.finish().requests(), 0);
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
