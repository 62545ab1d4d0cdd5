//! The proxy in front of an API that speaks TLS.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use toolcheck_serve::{MockProvider, Proxy, Upstream};

use crate::common::{send_raw, send_to};

/// Certificates of the loopback interface that a made-up authority has signed. They are good for a hundred years.
const AUTHORITY: &[u8] = include_bytes!("data/ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("data/server.pem");
const KEY: &[u8] = include_bytes!("data/server.key");

/// Listens with TLS, and passes requests on to a server without; returns the address.
fn with_tls(url: String) -> String {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            // A client that does not trust the certificate ends here.
            let Some(request) = request(&mut stream) else { continue };
            let (_, response) = send_raw(&url, &request);
            let _ = stream.write_all(response.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    format!("https://{address}")
}

/// Reads a request as a whole, which asks for no second one.
fn request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        read.push(byte[0]);
    }
    let head = String::from_utf8(read.clone()).ok()?.to_lowercase();
    let length = head.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let closing = String::from_utf8(read).ok()?.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    Some([closing.into_bytes(), body].concat())
}

fn body() -> String {
    json!({"model": "gpt-5", "messages": [{"role": "user", "content": "Moin."}]}).to_string()
}

#[test]
fn an_api_behind_tls_is_passed_on_to() {
    let api = MockProvider::builder().target("openai-chat").unwrap().start().unwrap();
    let url = with_tls(api.url());
    let proxy = Proxy::builder(Upstream::trusting(&url, AUTHORITY).unwrap()).start().unwrap();
    let (status, _, answer) = send_to(&proxy.url(), "POST", "/v1/chat/completions", "", &body());
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("Done."), "{answer}");
    assert_eq!(proxy.finish().requests, 1);
    api.finish().assert_conformant();
}

#[test]
fn a_certificate_that_nobody_trusts_is_no_api() {
    let api = MockProvider::builder().start().unwrap();
    let url = with_tls(api.url());
    // A machine may have no certificates at all, which says the same.
    let Ok(behind) = Upstream::parse(&url) else { return };
    let proxy = Proxy::builder(behind).start().unwrap();
    let (status, _, answer) = send_to(&proxy.url(), "POST", "/v1/chat/completions", "", &body());
    assert_eq!(status, 502, "{answer}");
    assert!(answer.contains("certificate"), "{answer}");
    assert!(api.finish().exchanges.is_empty());
}

#[test]
fn what_is_trusted_must_be_certificates() {
    for wrong in [&b"nonsense"[..], KEY] {
        assert!(Upstream::trusting("https://127.0.0.1:1", wrong).is_err());
    }
}
