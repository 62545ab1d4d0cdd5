//! Clients of `toolcheck conform` that misbehave: nothing hangs, and nothing is left behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{folder, seen_in, toolcheck_in};

const ONE: [&str; 7] = ["conform", "--only", "single-call", "--format", "anthropic", "--stream", "whole"];

/// A process that each test tells apart from those of the others by how long it sleeps.
fn is_asleep(seconds: u32) -> bool {
    let processes = std::fs::read_dir("/proc").map(|all| all.flatten().collect::<Vec<_>>());
    let wanted = format!("sleep\0{seconds}\0");
    processes.unwrap_or_default().iter().any(|process| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|command| command == wanted.as_bytes())
    })
}

/// Waits until the process is there, or is gone.
fn becomes(is_there: bool, seconds: u32) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while is_asleep(seconds) != is_there && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    is_asleep(seconds) == is_there
}

fn seen(folder: &Path, client: &str, more: &[&str]) -> (String, Duration) {
    let start = Instant::now();
    let seen = seen_in(folder, &[&ONE[..], &["--client", client], more].concat());
    (seen, start.elapsed())
}

#[test]
fn a_process_that_the_client_has_started_is_gone_at_the_end() {
    let folder = folder("clients-grandchild");
    let client = r#"sleep 98761 & while read task; do echo '{"outcome": "skip", "text": "no"}'; done"#;
    let (text, _) = seen(&folder, client, &[]);
    assert!(text.starts_with("status: 0"), "{text}");
    assert!(becomes(false, 98761));
}

#[test]
fn a_client_that_takes_too_long_is_gone_with_all_that_it_has_started() {
    let folder = folder("clients-timeout");
    let (text, took) = seen(&folder, "sleep 98762 & sleep 98763", &["--timeout", "1"]);
    assert!(text.contains("broke single-call [anthropic whole]: no answer in 1 s"), "{text}");
    assert!(becomes(false, 98762) && becomes(false, 98763));
    assert!(took < Duration::from_secs(30), "{took:?}");
    let arguments = [&ONE[..], &["--client-per-run", "sleep 98764 & sleep 98765", "--timeout", "1"]].concat();
    let text = seen_in(&folder, &arguments);
    assert!(text.contains("no answer in 1 s"), "{text}");
    assert!(becomes(false, 98764) && becomes(false, 98765));
}

#[test]
fn a_client_that_goes_on_when_its_input_closes_is_ended() {
    let folder = folder("clients-input");
    let client = r#"read task; echo '{"outcome": "skip", "text": "no"}'; trap '' TERM HUP INT; sleep 98766; sleep 98767"#;
    let (text, took) = seen(&folder, client, &[]);
    assert!(text.starts_with("status: 0"), "{text}");
    assert!(becomes(false, 98766) && !is_asleep(98767));
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_signal_ends_the_client_too() {
    for (number, signal) in [(98768, "INT"), (98769, "TERM")] {
        let folder = folder(&format!("clients-{signal}"));
        let client = format!("sleep {number} & sleep 3600");
        let mut command = toolcheck_in(&folder);
        command.args(ONE).args(["--client", &client]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut program = command.spawn().unwrap();
        assert!(becomes(true, number) || !Path::new("/proc/self/cmdline").exists());
        let id = program.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        program.wait().unwrap();
        assert!(becomes(false, number), "{signal}");
    }
}

#[test]
fn what_is_no_answer_is_passed_over_in_bounds() {
    let folder = folder("clients-output");
    let answer = r#"echo '{"outcome": "skip", "text": "no"}'"#;
    for noise in [
        "head -c 20000000 /dev/zero | tr '\\0' x; echo",
        "printf '{'; head -c 20000000 /dev/zero | tr '\\0' x; echo",
        r"printf '\377\376{\300\n{\377}\n'",
        "printf '{}\\n[]\\n{\"outcome\": 3}\\n'",
    ] {
        let (text, _) = seen(&folder, &format!("while read task; do {noise}; {answer}; done"), &[]);
        assert!(text.contains("skip single-call [anthropic whole]: no"), "{noise}: {text}");
    }
    for endless in ["yes", "yes '{\"outcome\": 1}'", "cat /dev/zero", "exec <&-; sleep 98770"] {
        let (text, took) = seen(&folder, endless, &["--timeout", "1"]);
        assert!(text.contains("broke single-call [anthropic whole]: "), "{endless}: {text}");
        assert!(took < Duration::from_secs(30), "{endless}: {took:?}");
    }
    assert!(becomes(false, 98770));
}

#[test]
fn a_client_per_run_is_told_by_its_environment() {
    let folder = folder("clients-environment");
    let run = |client: &str, more: &[&str]| {
        let arguments = [&ONE[..], &["--client-per-run", client], more].concat();
        seen_in(&folder, &arguments)
    };
    let told = run(
        r#"echo "$TOOLCHECK_SCENARIO $TOOLCHECK_FORMAT $TOOLCHECK_STREAM $TOOLCHECK_PROMPT ${TOOLCHECK_THEN-none} [$TOOLCHECK_NEEDS] $TOOLCHECK_THEN_TOOLS ${OPENAI_BASE_URL#$TOOLCHECK_BASE_URL} ${ANTHROPIC_BASE_URL#$TOOLCHECK_BASE_URL}. $OPENAI_API_KEY""#,
        &["--output-format", "json"],
    );
    assert!(
        told.contains("done: single-call anthropic false Please use your tools. none [] true /v1 . unused"),
        "{told}"
    );
    let failed = run("for i in 1 2 3 4 5; do echo line $i >&2; done; exit 3", &["--output-format", "json"]);
    assert!(failed.contains(r"error: line 3\nline 4\nline 5"), "{failed}");
    assert!(run("echo later >&2; exit 77", &[]).contains("skip single-call [anthropic whole]: later"));
    assert!(run("kill -9 $$", &[]).contains("broke single-call [anthropic whole]: a signal ended it"));
    assert!(run("yes | head -c 30000000", &["--output-format", "json"]).len() < 3_000_000);
    let both = seen_in(&folder, &["conform", "--client", "a", "--client-per-run", "b"]);
    assert!(both.starts_with("status: 2"), "{both}");
}
