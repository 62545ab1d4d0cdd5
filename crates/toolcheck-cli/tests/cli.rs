//! The program as users run it.

use std::process::{Command, Stdio};

use crate::common::{folder, root, run, run_with_input, seen, toolcheck};

/// The last line of an outline is a command that prints the same findings.
#[test]
fn the_command_at_the_end_of_an_outline_works() {
    let folder = folder("it's here");
    let path = folder.join("a b.json");
    std::fs::copy(root().join("fixtures/seeds/litellm-before.json"), &path).unwrap();
    let shown = run(&["show", path.to_str().unwrap(), "--target", "bedrock", "--format", "openai-chat"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let more = text.lines().last().unwrap().strip_prefix("more: toolcheck ").unwrap();
    let line = format!("'{}' {more} --output-format concise", env!("CARGO_BIN_EXE_toolcheck"));
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("split-assistant-turn") && output.stderr.is_empty(), "{line}: {text}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let mut child = toolcheck()
        .args(["lint", "fixtures/targets", "--output-format", "full"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!err.contains("panicked") && !err.contains("ipe"), "{err}");
}

#[test]
fn any_bytes_give_an_exit_status() {
    let inputs: [&[u8]; 8] =
        [b"", b"\xff\xfe\x00", b"\x00\x00", b"{", b"[[[[", b"\"\\ud800", b"null\nnull", b"{\"messages\": 7}"];
    for input in inputs {
        for output in toolcheck_report::outputs::ALL {
            let output = run_with_input(&["lint", "-", "--output-format", output.id], input);
            assert!(matches!(output.status.code(), Some(0..=2)), "{input:?}: {}", seen(&output));
            assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{input:?}");
        }
    }
}
