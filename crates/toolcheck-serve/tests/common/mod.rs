//! A client of a few lines.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]
#![allow(dead_code, reason = "not every test uses all of it")]

use std::io::{Read, Write};
use std::net::TcpStream;

use toolcheck_serve::MockProvider;

/// Posts a body, and returns the status, the headers and the body as they came.
pub(crate) fn post(provider: &MockProvider, path: &str, body: &str) -> (u16, String, String) {
    send(provider, "POST", path, "", body)
}

/// Sends a request with more headers.
pub(crate) fn send(
    provider: &MockProvider,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String, String) {
    send_to(&provider.url(), method, path, headers, body)
}

/// The same to any server.
pub(crate) fn send_to(
    url: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> (u16, String, String) {
    let address = url.replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let response = String::from_utf8_lossy(&response).into_owned();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let status = head[9..12].parse().unwrap();
    (status, head.to_owned(), body.to_owned())
}
