//! Clients of `toolcheck conform` that misbehave: nothing hangs, and nothing is left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{folder, seen_in, toolcheck_in, words};

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
fn a_signal_ends_the_mock_as_the_end_of_its_input_does() {
    for signal in ["INT", "TERM"] {
        let mut command = toolcheck_in(&folder(&format!("clients-mock-{signal}")));
        command.args(["serve", "--target", "anthropic", "--keep-running"]).stdin(Stdio::null());
        let mut mock = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(mock.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&ready).unwrap();
        let host = ready["url"].as_str().unwrap().strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let head =
            format!("POST /v1/messages HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: 2");
        stream.write_all(format!("{head}\r\n\r\n{{}}").as_bytes()).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        let id = mock.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        let output = mock.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.ends_with("note: 1 request, 1 refused\n"), "{told}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn the_client_ends_with_a_program_that_is_killed() {
    for (number, option) in [(98771, "--client"), (98772, "--client-per-run")] {
        let folder = folder(&format!("clients-kill-{number}"));
        // It reads nothing, so that the end of its standard input does not end it; and it has started something.
        let client = format!("trap '' TERM HUP INT; sleep {number} & exec sleep 3600");
        let mut command = toolcheck_in(&folder);
        command.args(ONE).args([option, &client]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut program = command.spawn().unwrap();
        assert!(becomes(true, number) || !Path::new("/proc/self/cmdline").exists());
        // SIGKILL.
        program.kill().unwrap();
        program.wait().unwrap();
        assert!(becomes(false, number), "{option}");
    }
}

/// What has made itself a session of its own, and has lost its parent, as a daemon does.
#[cfg(target_os = "linux")]
#[test]
fn what_has_a_session_of_its_own_is_gone_at_the_end_too() {
    let folder = folder("clients-session");
    let client =
        r#"(setsid sleep 98782 &) ; while read task; do echo '{"outcome": "skip", "text": "no"}'; done"#;
    assert!(seen(&folder, client, &[]).0.starts_with("status: 0"));
    assert!(!is_asleep(98782), "at the end");
    // Its own child too, and what is started again after a time-out.
    let client = r#"(setsid sh -c 'setsid sleep 98783 & sleep 98784' &) ; sleep 3600"#;
    let (text, _) = seen(&folder, client, &["--timeout", "1"]);
    assert!(text.contains("no answer in 1 s"), "{text}");
    assert!(!is_asleep(98783) && !is_asleep(98784), "after a time-out");
    let client = "(setsid sleep 98785 &) ; sleep 0.2; echo All done.";
    let text = seen_in(&folder, &[&ONE[..], &["--client-per-run", client]].concat());
    assert!(text.starts_with("status: "), "{text}");
    assert!(!is_asleep(98785), "after a run");
    for (number, signal) in [(98786, "INT"), (98787, "TERM"), (98788, "KILL")] {
        let mut command = toolcheck_in(&folder);
        let client = format!("(setsid sleep {number} &) ; sleep 3600");
        command.args(ONE).args(["--client", &client]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut program = command.spawn().unwrap();
        assert!(becomes(true, number));
        let id = program.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        program.wait().unwrap();
        // After SIGKILL, something else does it.
        assert!(if signal == "KILL" { becomes(false, number) } else { !is_asleep(number) }, "{signal}");
    }
}

/// The table of processes is not filled with those that have lost their parents.
#[cfg(target_os = "linux")]
#[test]
fn what_has_ended_without_a_parent_does_not_stay() {
    let folder = folder("clients-orphans");
    // In its second run, which is streamed, it says how many children its parent has that have ended.
    let client = r#"while read task; do
        ended=$(cat /proc/[0-9]*/stat 2>/dev/null | grep -c "Z $PPID ")
        for each in 1 2 3; do (setsid true &); done
        sleep 0.3
        echo "{\"outcome\": \"skip\", \"text\": \"ended: $ended\"}"
    done"#;
    let arguments = [
        &words("conform --only single-call --format anthropic --output-format json")[..],
        &["--client", client],
    ]
    .concat();
    let text = seen_in(&folder, &arguments);
    let all: Vec<&str> = text.split("\"reason\": \"ended: ").skip(1).map(|rest| &rest[..1]).collect();
    assert!(all.len() == 2 && all.iter().all(|ended| *ended == "0"), "{text}");
}

#[test]
fn a_run_that_is_killed_leaves_the_report_so_far() {
    let folder = folder("clients-so-far");
    // Between two answers is more time than 20 times what it takes to write the report, on a busy machine too.
    let client = r#"while read task; do echo '{"outcome": "skip", "text": "no"}'; sleep 8; case $task in *parallel*) sleep 3600;; esac; done"#;
    let mut command = toolcheck_in(&folder);
    command.args(words("conform --only single-call,parallel-calls --format anthropic,gemini --stream whole"));
    command.args(["--client", client, "--output-format", "json", "--output-file", "report.json"]);
    let mut program = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let so_far = || -> Option<serde_json::Value> {
        serde_json::from_slice(&std::fs::read(folder.join("report.json")).ok()?).ok()
    };
    let counts =
        |report: &serde_json::Value| (report["runs"].as_array().unwrap().len(), report["runs_left"].clone());
    let until = Instant::now() + Duration::from_secs(120);
    while so_far().is_none_or(|report| counts(&report).0 < 2) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    program.kill().unwrap();
    program.wait().unwrap();
    let (runs, left) = counts(&so_far().unwrap());
    assert!(runs >= 2 && left == 4 - runs, "{runs} {left}");
    // It is merged like others.
    let merged = seen_in(&folder, &["matrix", "report.json", "--output-format", "markdown"]);
    assert!(merged.starts_with("status: 0") && merged.contains("still to come"), "{merged}");
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
fn what_a_client_per_run_prints_is_kept_up_to_a_bound() {
    let folder = folder("clients-long");
    let arguments = ["--client-per-run", "yes | head -c 30000000", "--output-format", "json"];
    assert!(seen_in(&folder, &[&ONE[..], &arguments].concat()).len() < 3_000_000);
}
