//! The rules about shell commands in a build without the shell parser.
#![cfg(not(feature = "shell"))]
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use toolcheck_lint::{Options, lint, rules};

#[test]
fn commands_that_are_not_checked_are_reported_once() {
    let call = |id: &str, command: &str| {
        format!(
            r#"{{"id": "{id}", "type": "function", "function": {{"name": "bash", "arguments": "{{\"command\": \"{command}\"}}"}}}}"#
        )
    };
    let request = |calls: &[String]| {
        format!(
            r#"{{"messages": [{{"role": "user", "content": "go"}}, {{"role": "assistant", "content": null, "tool_calls": [{}]}}]}}"#,
            calls.join(", ")
        )
    };
    let options = Options::new().rules([rules::find("shell-file-write").unwrap()]);
    let found = |calls: &[String]| {
        let file = lint("request.json", request(calls).as_bytes(), &options);
        file.findings.iter().map(|found| found.message.to_string()).collect::<Vec<_>>()
    };
    assert!(found(&[call("a", "make check")]).is_empty());
    assert_eq!(
        found(&[call("a", "echo x > f"), call("b", "echo y > g")]),
        ["the command of tool call `a` was not checked: this build has no shell parser"]
    );
}
