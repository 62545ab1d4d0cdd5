//! Servers that cases start, what is sent to them, and APIs behind a proxy.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use serde_json::Value as Json;

use super::Printed;

/// Headers that most responses have, or that differ from time to time.
const NOT_SHOWN: [&str; 5] = [
    "connection: close",
    "content-length: ",
    "content-type: application/json",
    "date: ",
    "transfer-encoding: chunked",
];

/// A server that runs, and that prints its addresses when it is ready.
pub(super) struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    err: JoinHandle<String>,
}

impl Server {
    /// Starts a server, and returns what it printed and its addresses: of its control and of itself.
    pub(super) fn start(command: &mut Command) -> (Self, String, [Option<String>; 2]) {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut err = child.stderr.take().unwrap();
        let err = spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).unwrap();
            text
        });
        let mut ready = String::new();
        out.read_line(&mut ready).unwrap();
        let json = serde_json::from_str(&ready).unwrap_or(Json::Null);
        let addresses = ["control", "url"].map(|name| json[name].as_str().map(str::to_owned));
        (Self { child, out, err }, ready, addresses)
    }

    /// Closes its input, and returns what it printed since it was ready.
    pub(super) fn stop(mut self) -> Printed {
        drop(self.child.stdin.take());
        let mut printed = Printed::default();
        self.out.read_to_string(&mut printed.out).unwrap();
        printed.status = self.child.wait().unwrap().code().unwrap();
        printed.err = self.err.join().unwrap();
        printed
    }
}

/// Sends a request in which lines end as HTTP wants it up to the first empty one, and shows what comes back: the status
/// and the headers as lines of the standard error, and the body. The request asks for no second one.
pub(super) fn send(url: &str, request: &[u8]) -> Printed {
    let (head, body) = request.split_at(head_of(request));
    let mut head = String::from_utf8(head.trim_ascii_end().to_vec()).unwrap();
    if !body.is_empty() && !["content-length", "transfer-encoding"].iter().any(|name| head.contains(name)) {
        head.push_str(&format!("\ncontent-length: {}", body.len()));
    }
    head.push_str("\nconnection: close\n\n");
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A server that refuses early may close before it has read all.
    let _ = stream.write_all(&[head.replace('\n', "\r\n").as_bytes(), body].concat());
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    shown(&response)
}

/// How long a head is with the empty line that ends it.
fn head_of(bytes: &[u8]) -> usize {
    bytes.windows(2).position(|two| two == b"\n\n").map_or(bytes.len(), |at| at + 2)
}

/// Sends a request with a body to an address.
pub(super) fn ask(method: &str, url: &str, headers: &[&str], body: &[u8]) -> Printed {
    let at = url["http://".len()..].find('/').map_or(url.len(), |at| at + "http://".len());
    let (server, path) = url.split_at(at);
    let mut head = format!("{method} {path} HTTP/1.1\n");
    if !headers.iter().any(|header| header.starts_with("host: ")) {
        head.push_str(&format!("host: {}\n", &server["http://".len()..]));
    }
    headers.iter().for_each(|header| head.push_str(&format!("{header}\n")));
    head.push_str(&format!("content-length: {}\n\n", body.len()));
    send(server, &[head.as_bytes(), body].concat())
}

fn shown(mut response: &[u8]) -> Printed {
    let mut printed = Printed::default();
    let mut is_chunked = false;
    while let Some(at) = response.windows(4).position(|four| four == b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&response[..at]);
        let head = head.strip_prefix("HTTP/1.1 ").unwrap();
        for line in head.split("\r\n").filter(|line| !NOT_SHOWN.iter().any(|name| line.starts_with(name))) {
            printed.err.push_str(&format!("{line}\n"));
        }
        is_chunked = head.contains("transfer-encoding: chunked");
        response = &response[at + 4..];
        if !head.starts_with("100") {
            break;
        }
    }
    let body = if is_chunked { whole(response) } else { (response.to_vec(), true) };
    if !body.1 {
        printed.err.push_str("(broken off)\n");
    }
    printed.out = String::from_utf8_lossy(&body.0).into_owned();
    if !printed.out.is_empty() && !printed.out.ends_with('\n') {
        printed.out.push('\n');
    }
    printed
}

/// A body that came in chunks, and whether the last one came.
fn whole(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        if length == 0 {
            return (body, true);
        }
        let end = (line + 2 + length).min(rest.len());
        body.extend(&rest[line + 2..end]);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    (body, false)
}

/// An API that says the same to each request until it gets one that is `STOP`. It returns the requests as they came.
pub(super) fn upstream(answer: &[u8]) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let end = head_of(answer);
    let head = String::from_utf8(answer[..end].to_vec()).unwrap().replace('\n', "\r\n");
    let answer = [head.as_bytes(), &answer[end..]].concat();
    let requests = move || {
        let mut said = String::new();
        loop {
            let (mut stream, _) = listener.accept().unwrap();
            let request = request(&mut stream);
            if request.starts_with("STOP") {
                return said;
            }
            said.push_str(&request);
            // A client may be gone before it has read all.
            let _ = stream.write_all(&answer);
        }
    };
    (url, spawn(requests))
}

/// Ends an API, and shows what it got.
pub(super) fn received(url: &str, api: JoinHandle<String>) -> Printed {
    send(url, b"STOP");
    Printed::out(api.join().unwrap())
}

fn request(stream: &mut TcpStream) -> String {
    let mut stream = BufReader::new(stream);
    let (mut said, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(own) = line.to_lowercase().strip_prefix("content-length: ") {
            length = own.parse().unwrap();
        }
        if !["host: ", "content-length: "].iter().any(|name| line.to_lowercase().starts_with(name)) {
            said.push_str(&format!("{line}\n"));
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    said.push_str(&String::from_utf8_lossy(&body));
    if length > 0 && !said.ends_with('\n') {
        said.push('\n');
    }
    said
}
