//! What a build without some features says of a file that needs them: it is not read, and that is no secret.
//!
//! `cargo test --package toolcheck-open --no-default-features --test not_built` tests a build without any of them.

use toolcheck_open::{ALL, Limits, Opened, open};

fn opened(bytes: &[u8]) -> Opened {
    open(bytes, Limits::default()).expect("it is known by its start")
}

fn lacking(bytes: &[u8]) -> Option<&'static str> {
    let opened = opened(bytes);
    if let Some(lacking) = opened.not_built {
        assert!(lacking.advice.contains("feature"), "{}", lacking.advice);
    }
    opened.not_built.map(|lacking| lacking.what)
}

const REQUEST: &str = r#"{"messages": [{"role": "user", "content": "a"}]}"#;

#[test]
fn yaml_needs_its_feature() {
    let yaml = format!("interactions:\n- request:\n    body: '{REQUEST}'\n    uri: /\nversion: 1\n");
    let json = serde_json::json!({"interactions": [{"request": {"body": REQUEST, "uri": "/"}}]}).to_string();
    let is_built = cfg!(feature = "yaml");
    assert_eq!(lacking(yaml.as_bytes()), (!is_built).then_some("YAML"));
    assert_eq!(opened(yaml.as_bytes()).exchanges, usize::from(is_built));
    // The same recording as JSON needs nothing.
    assert_eq!((lacking(json.as_bytes()), opened(json.as_bytes()).exchanges), (None, 1));
}

#[test]
fn events_of_opentelemetry_need_their_feature() {
    let event = r#"{"eventName": "gen_ai.user.message", "body": {"content": "a"}}"#;
    let is_built = cfg!(feature = "otel");
    let what = lacking(event.as_bytes());
    assert_eq!(what, (!is_built).then_some("messages as events of OpenTelemetry"));
    assert_eq!(opened(event.as_bytes()).exchanges, usize::from(is_built));
}

#[test]
fn an_archive_needs_its_feature() {
    let mut zip = b"PK\x03\x04".to_vec();
    zip.resize(30, 0);
    zip.extend(b"header.json");
    if cfg!(feature = "zip") {
        // It is cut off.
        assert!(open(&zip, Limits::default()).is_none());
    } else {
        assert_eq!(lacking(&zip), Some("ZIP archives"));
    }
}

#[test]
fn a_compressed_body_needs_its_feature() {
    // `{}` in Zstandard.
    let body = "KLUv/QBoEQAAe30=";
    let entry = serde_json::json!({
        "request": {"url": "/", "postData": {"text": REQUEST}},
        "response": {"status": 200, "content": {"text": body, "encoding": "base64"}},
    });
    let har = serde_json::json!({"log": {"entries": [entry]}}).to_string();
    let is_built = cfg!(feature = "compress");
    assert_eq!(lacking(har.as_bytes()), (!is_built).then_some("compressed bodies"));
    // The request is read nevertheless.
    let opened = opened(har.as_bytes());
    assert_eq!((opened.exchanges, opened.left_out.len()), (1, usize::from(!is_built)));
}

#[test]
fn a_kind_says_whether_it_is_built() {
    let is_built = |id| ALL.iter().find(|container| container.id == id).map(|container| container.is_built());
    assert_eq!(is_built("vcr"), Some(cfg!(feature = "yaml")));
    assert_eq!(is_built("inspect-eval"), Some(cfg!(feature = "zip")));
    assert_eq!(is_built("har"), Some(true));
}
