//! `toolcheck server` as a process: how it ends.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the server on these bodies, and on bytes that follow them.
fn served(bodies: &[&str], rest: &str) -> Output {
    let mut server = Command::new(env!("CARGO_BIN_EXE_toolcheck"))
        .arg("server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let frames = bodies.iter().map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    let input: String = frames.chain([rest.to_owned()]).collect();
    // It may end before it has read everything.
    let _ = server.stdin.take().expect("it is piped").write_all(input.as_bytes());
    server.wait_with_output().expect("the program ends")
}

const INITIALIZE: &str =
    r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}"#;
const SHUTDOWN: &str = r#"{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}"#;
const EXIT: &str = r#"{"jsonrpc": "2.0", "method": "exit"}"#;

#[test]
fn the_exit_status_is_that_of_the_protocol() {
    let status = |bodies: &[&str], rest: &str| served(bodies, rest).status.code();
    assert_eq!(status(&[INITIALIZE, SHUTDOWN, EXIT], ""), Some(0));
    assert_eq!(status(&[INITIALIZE, EXIT], ""), Some(1));
    assert_eq!(status(&[INITIALIZE], ""), Some(1), "the editor has died");
    assert_eq!(status(&[], ""), Some(1));
}

#[test]
fn a_stream_that_is_no_protocol_is_an_error() {
    let output = served(&[INITIALIZE], "GET / HTTP/1.1\n\n");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(message, "error: the connection to the editor: a header without a colon\n");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("definitionProvider"),
        "what came before is answered"
    );
}
