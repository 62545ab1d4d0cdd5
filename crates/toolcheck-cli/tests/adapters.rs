//! `toolcheck conform --adapter` and `--gateway`, and `toolcheck proxy`, as programs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use crate::common::{folder, seen, seen_in, toolcheck_in, words, write};
use serde_json::Value as Json;

fn conform(folder: &std::path::Path, adapter: &str, more: &[&str]) -> String {
    let arguments = [
        &words("conform --from openai-chat --to openai-chat --cases 3 --timeout 5")[..],
        &["--adapter", adapter],
    ]
    .concat();
    seen_in(folder, &[&arguments[..], more].concat())
}

/// An adapter in the shell that changes nothing, and prints more than its answers.
fn copying() -> String {
    // The keys of a line are in order: `body`, `from`, `id`, `kind`, `to`.
    r#"while IFS= read -r line; do rest=${line#*\"body\":}; printf 'thinking\n{"body": %s}\n' "${rest%%,\"from\":*}"; done"#
        .to_owned()
}

#[test]
fn an_adapter_that_copies_has_no_faults() {
    let folder = folder("adapters-copy");
    let seen = conform(&folder, &copying(), &[]);
    assert!(seen.starts_with("status: 0\n"), "{seen}");
    assert!(seen.contains(" pass; 0 smallest conversations"), "{seen}");
}

#[test]
fn what_an_adapter_does_wrong_comes_down_to_the_smallest_conversation() {
    let folder = folder("adapters-faults");
    let losing = copying()
        .replace("printf", "rest=$(printf '%s' \"$rest\" | sed 's/low at six/low at ten/g'); printf");
    let request = ["--kind", "request", "--only", "one-call,plain"];
    let seen = conform(&folder, &losing, &request);
    insta::assert_snapshot!("adapter-fault", seen);
    let seen = conform(&folder, &losing, &[&request[..], &["--output-format", "markdown"]].concat());
    insta::assert_snapshot!("adapter-markdown", seen);
    let seen = conform(
        &folder,
        &losing,
        &[&request[..], &["--output-format", "json", "--record", "bodies"]].concat(),
    );
    let json = seen.split("--- stdout\n").nth(1).unwrap().split("--- stderr").next().unwrap();
    let report: Json = serde_json::from_str(json).unwrap();
    assert_eq!(report["found"][0]["class"], "result-changed");
    assert_eq!(report["found"][0]["smallest"], true);
    let name = report["found"][0]["file"].as_str().unwrap();
    let before = std::fs::read_to_string(folder.join("bodies").join(name)).unwrap();
    assert_eq!(serde_json::from_str::<Json>(&before).unwrap(), report["found"][0]["before"]);
    let after = folder.join("bodies").join(name.replace("before", "after"));
    assert!(std::fs::read_to_string(after).unwrap().contains("low at ten"));
    write(
        &folder,
        "known.toml",
        "[[known]]\ncheck = \"result-changed\"\nreason = \"tides are rounded\"\n[[known]]\nscenario = \"plain\"\nreason = \"of old\"\n",
    );
    let seen = conform(&folder, &losing, &[&request[..], &["--known", "known.toml"]].concat());
    assert!(seen.starts_with("status: 1\n") && seen.contains("(known: tides are rounded)"), "{seen}");
    assert!(seen.contains("stale plain any check: of old"), "{seen}");
}

#[test]
fn an_adapter_that_skips_refuses_or_ends_is_told_apart() {
    let folder = folder("adapters-ends");
    let only = ["--kind", "request", "--only", "plain"];
    let each = |answer: &str| format!("while read line; do echo '{answer}'; done");
    insta::assert_snapshot!("adapter-skips", conform(&folder, &each(r#"{"skip": "not now"}"#), &only));
    insta::assert_snapshot!("adapter-refuses", conform(&folder, &each(r#"{"error": "no\u001b"}"#), &only));
    insta::assert_snapshot!("adapter-ends", conform(&folder, "true", &only));
    insta::assert_snapshot!("adapter-unreadable", conform(&folder, &each(r#"{"body": {}}"#), &only));
    insta::assert_snapshot!("adapter-no-such", conform(&folder, "true", &["--only", "plane"]));
    insta::assert_snapshot!("adapter-lists", conform(&folder, "true", &["--list"]));
    insta::assert_snapshot!("adapter-no-formats", seen_in(&folder, &["conform", "--adapter", "true"]));
}

fn port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

struct Running(Child, String);

impl Running {
    /// Starts a proxy, and reads its address.
    fn proxy(folder: &std::path::Path, arguments: &[&str]) -> Self {
        let mut command = toolcheck_in(folder);
        command.arg("proxy").args(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready: Json = serde_json::from_str(&line).unwrap();
        Self(child, ready["url"].as_str().unwrap().to_owned())
    }

    /// Closes its input, and waits.
    fn end(mut self) -> String {
        drop(self.0.stdin.take());
        seen(&self.0.wait_with_output().unwrap())
    }
}

#[test]
fn a_gateway_that_passes_all_on_has_no_faults() {
    let folder = folder("gateway-passes");
    let port = port();
    let proxy = Running::proxy(&folder, &["--upstream", &format!("http://127.0.0.1:{port}")]);
    for format in ["anthropic", "gemini", "bedrock-converse", "ollama"] {
        let arguments = [
            &words("conform --cases 3")[..],
            &["--gateway", &proxy.1, "--upstream-port", &port, "--from", format, "--to", format],
        ]
        .concat();
        let seen = seen_in(&folder, &arguments);
        assert!(seen.starts_with("status: 0\n"), "{format}: {seen}");
        assert!(seen.contains(" pass; 0 smallest conversations"), "{format}: {seen}");
        assert!(seen.contains(&format!("the gateway's upstream is http://127.0.0.1:{port}")), "{seen}");
    }
    proxy.end();
}

#[test]
fn a_gateway_that_does_not_answer_broke_and_one_with_tls_is_refused() {
    let folder = folder("gateway-none");
    // It takes each connection, and closes it.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gateway = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let arguments =
        ["conform", "--gateway", &gateway, "--from", "anthropic", "--to", "gemini", "--only", "plain"];
    let seen = seen_in(&folder, &arguments);
    assert!(seen.starts_with("status: 1\n") && seen.contains("fail request broke: "), "{seen}");
    let arguments = ["conform", "--gateway", "https://example.com", "--from", "anthropic", "--to", "gemini"];
    insta::assert_snapshot!("gateway-tls", seen_in(&folder, &arguments));
}

fn post(url: &str, path: &str, body: &str) -> String {
    let address = url.replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nx-api-key: sk-secret\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn the_proxy_refuses_records_and_says_why() {
    let folder = folder("proxy");
    let upstream = format!("http://127.0.0.1:{}", port());
    let proxy = Running::proxy(
        &folder,
        &["--upstream", &upstream, "--refuse", "--against", "cohere", "--record", "exchanges.jsonl"],
    );
    let result = r#"{"messages": [{"role": "user", "content": "Hi."}, {"role": "tool", "tool_call_id": "a", "content": "b"}], "model": "m"}"#;
    let response = post(&proxy.1, "/v1/chat/completions", result);
    assert!(response.starts_with("HTTP/1.1 400"), "{response}");
    // Nobody answers it, and twice the same is told once.
    for _ in 0..2 {
        assert!(post(&proxy.1, "/v1/embeddings", "{}").starts_with("HTTP/1.1 502"));
    }
    let seen = proxy.end();
    assert!(seen.starts_with("status: 1\n"), "{seen}");
    assert_eq!(seen.matches("note: POST /v1/embeddings: passed on unchecked").count(), 1, "{seen}");
    assert!(seen.contains("; 2 requests to other paths not checked"), "{seen}");
    assert!(seen.contains("refused: /v1/chat/completions 400: orphan-tool-result at /messages/1"), "{seen}");
    assert!(seen.contains("refused by cohere: "), "{seen}");
    assert!(seen.contains("1 request, 1 refused, 1 by cohere"), "{seen}");
    let record = std::fs::read_to_string(folder.join("exchanges.jsonl")).unwrap();
    assert_eq!(record.lines().count(), 1);
    assert!(!record.contains("sk-secret"), "{record}");
    let seen = seen_in(&folder, &["lint", "exchanges.jsonl"]);
    assert!(seen.contains("orphan-tool-result"), "{seen}");
    insta::assert_snapshot!(
        "proxy-tls",
        seen_in(&folder, &["proxy", "--upstream", "https://api.example.com"])
    );
}

#[test]
fn a_gateway_that_is_down_is_said_once() {
    let folder = folder("gateway-down");
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let seen =
        seen_in(&folder, &["conform", "--gateway", &url, "--from", "openai-chat", "--to", "anthropic"]);
    let lines: Vec<&str> = seen.lines().filter(|line| line.contains(&url)).collect();
    assert!(seen.starts_with("status: 2") && lines.len() == 1, "{seen}");
    assert!(lines[0].contains("cannot reach the gateway at"), "{seen}");
    assert!(!seen.contains("fail"), "{seen}");
}
