//! A client of a few lines.

use std::io::{Read, Write};
use std::net::TcpStream;

use toolcheck_serve::MockProvider;

/// Posts a body, and returns the status, the headers and the body as they came.
pub(crate) fn post(provider: &MockProvider, path: &str, body: &str) -> (u16, String, String) {
    send_to(&provider.url(), "POST", path, "", body)
}

/// Sends bytes as they are, and returns the status and all of the response.
pub(crate) fn send_raw(url: &str, bytes: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(url.replace("http://", "")).unwrap();
    stream.write_all(bytes).unwrap();
    let mut response = Vec::new();
    // A server that refuses early may close before all is read.
    let _ = stream.read_to_end(&mut response);
    let response = String::from_utf8_lossy(&response).into_owned();
    (response.get(9..12).unwrap_or_default().parse().unwrap_or_default(), response)
}

pub(crate) fn raw(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Sends a request to any server, and returns the status, the headers and the body as they came.
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

/// Gzip data, made without a compressor.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    // One stored block (RFC 1951), which needs no compressor.
    let length = u16::try_from(bytes.len()).unwrap();
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(bytes);
    let crc = bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    });
    packed.extend((!crc).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    packed
}
