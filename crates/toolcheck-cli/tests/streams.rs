//! Streams that are closed or full: no panic, and never another verdict.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cases::words;
use crate::common::{CLEAN, folder, toolcheck_in, unanswered, write};

fn closed_pipe() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

/// A stream on a full disk; `None` on systems without one.
fn full() -> Option<File> {
    OpenOptions::new().write(true).open("/dev/full").ok()
}

fn files(name: &str) -> PathBuf {
    let folder = folder(name);
    write(&folder, "broken.json", unanswered("toolu_1"));
    write(&folder, "clean.json", CLEAN);
    write(&folder, "case/a.json", unanswered("toolu_1"));
    folder
}

/// Command lines, each with its exit status.
fn commands() -> impl Iterator<Item = (Vec<String>, i32)> {
    let lines = include_str!("commands/streams.txt").lines().map(|line| line.split_once(' ').unwrap());
    let is_built =
        |line: &str| cfg!(feature = "serve") || !line.starts_with("conform ") && !line.starts_with("serve ");
    lines.filter(move |(_, line)| is_built(line)).map(|(status, line)| (words(line), status.parse().unwrap()))
}

#[test]
fn a_closed_standard_output_is_no_other_status() {
    let folder = files("streams-closed-out");
    for (arguments, status) in commands() {
        let output = toolcheck_in(&folder).args(&arguments).stdout(closed_pipe()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(messages.is_empty(), status != 2, "{arguments:?}: {messages}");
        assert!(!messages.contains("standard output"), "{arguments:?}: {messages}");
    }
}

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = files("streams-full-out");
    for (arguments, status) in commands() {
        let Some(full) = full() else { return };
        let output = toolcheck_in(&folder).args(&arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let messages = String::from_utf8(output.stderr).unwrap();
        let is_told =
            messages.contains("error: cannot write to standard output: no space left on the device");
        // Nothing is printed when the command line or the only input is not valid.
        assert!(is_told || status == 2, "{arguments:?}: {messages}");
        assert!(!messages.contains("os error"), "{arguments:?}: {messages}");
    }
}

#[test]
fn an_unwritable_standard_error_is_no_other_status() {
    let folder = files("streams-error");
    for (arguments, status) in commands() {
        let run = |command: &mut Command| command.args(&arguments).output().unwrap();
        let output = run(toolcheck_in(&folder).stderr(closed_pipe()));
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        let Some(full) = full() else { continue };
        let same = run(toolcheck_in(&folder).stderr(full));
        assert_eq!((same.status.code(), same.stdout), (Some(status), output.stdout), "{arguments:?}");
        let output = run(toolcheck_in(&folder).stderr(closed_pipe()).stdout(closed_pipe()));
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    }
}

/// The exit status that a shell sees in `$?`.
fn in_shell(folder: &Path, script: &str) -> i32 {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(folder).env("T", env!("CARGO_BIN_EXE_toolcheck"));
    shell.output().unwrap().status.code().unwrap()
}

#[test]
fn shells() {
    let folder = files("streams-shell");
    for (arguments, status) in commands() {
        let quoted: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
        let run = format!("\"$T\" {}", quoted.join(" "));
        for closed in [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"] {
            assert_eq!(in_shell(&folder, &format!("{run} {closed}")), status, "{run} {closed}");
        }
        let script = format!("{{ {run} 2>/dev/null; echo $? > status; }} | true; read s < status; exit $s");
        assert_eq!(in_shell(&folder, &script), status, "{run}");
    }
}

#[test]
fn a_long_report_may_be_read_in_part() {
    let folder = folder("streams-head");
    let lines: String = (0..2000).map(|number| unanswered(&format!("toolu_{number}")) + "\n").collect();
    write(&folder, "a.jsonl", lines);
    let script = "{ \"$T\" lint a.jsonl --max-findings 0 2>error; echo $? > status; } | head -n 1 >/dev/null; read s < status; exit $s";
    assert_eq!(in_shell(&folder, script), 1);
    assert_eq!(std::fs::read_to_string(folder.join("error")).unwrap(), "");
}

#[test]
fn everything_else_is_written() {
    for is_full in [false, true] {
        let folder = files("streams-others");
        let lint = |arguments: &[&str]| {
            let mut command = toolcheck_in(&folder);
            command.args(["lint", "broken.json"]).args(arguments);
            match full() {
                Some(full) if is_full => command.stdout(full),
                _ => command.stdout(closed_pipe()),
            };
            command.output().unwrap().status.code()
        };
        let is_full = is_full && full().is_some();
        let status = |status| Some(if is_full { 2 } else { status });
        assert_eq!(lint(&["--output-format", "full,sarif=a.sarif"]), status(1));
        assert!(std::fs::read_to_string(folder.join("a.sarif")).unwrap().contains("unanswered-tool-call"));
        assert_eq!(lint(&["--baseline", "b.json", "--write-baseline"]), status(0));
        let baseline = std::fs::read_to_string(folder.join("b.json")).unwrap();
        assert!(baseline.contains("unanswered-tool-call"), "{baseline}");
        assert_eq!(lint(&["--baseline", "b.json"]), status(0));
        write(&folder, "broken.json", CLEAN);
        assert_eq!(lint(&["--baseline", "b.json"]), status(1), "stale entries");
        assert_eq!(lint(&["--baseline", "b.json", "--prune-baseline"]), status(0));
        assert!(!std::fs::read_to_string(folder.join("b.json")).unwrap().contains("unanswered"));
    }
}

#[test]
fn outputs_on_a_full_disk() {
    if full().is_none() {
        return;
    }
    let folder = files("streams-full-file");
    for arguments in [
        ["lint", "broken.json", "--output-format", "concise,json=/dev/full"],
        ["test", "case", "--output-format", "text,json=/dev/full"],
    ] {
        let output = toolcheck_in(&folder).args(arguments).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{messages}");
        assert_eq!(messages, "error: cannot write /dev/full: no space left on the device\n");
        assert!(!output.stdout.is_empty());
    }
}
