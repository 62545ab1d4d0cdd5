//! What the program writes: whole or not at all, and never over what it reads.

use std::fs;
use std::path::Path;

use crate::common::{self, CLEAN, folder, seen, seen_in, toolcheck_in, unanswered, write};

fn leftovers(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".toolcheck-")).collect()
}

/// A request with this many calls without a result.
fn many(count: usize) -> String {
    let mut messages = vec![serde_json::json!({"role": "user", "content": "tides"})];
    for number in 0..count {
        let function = serde_json::json!({"name": "tide", "arguments": "{}"});
        let call =
            serde_json::json!({"id": format!("call_{number}"), "type": "function", "function": function});
        messages.push(serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(serde_json::json!({"role": "user", "content": "and now?"}));
    }
    serde_json::json!({"model": "gpt-4o", "messages": messages}).to_string()
}

const WRITE: [&str; 5] = ["lint", "--isolated", "--baseline", "baseline.json", "--write-baseline"];

#[cfg(unix)]
#[test]
fn an_output_does_not_replace_the_standard_input() {
    let folder = folder("one-output");
    write(&folder, "a.json", CLEAN);
    let mut command = toolcheck_in(&folder);
    command.args(["lint", "-", "--output-format", "json=a.json"]);
    let output = command.stdin(fs::File::open(folder.join("a.json")).unwrap()).output().unwrap();
    assert!(seen(&output).contains("a.json is an input"), "{}", seen(&output));
}

#[cfg(unix)]
#[test]
fn outputs_may_be_devices_and_descriptors() {
    let folder = folder("devices");
    write(&folder, "a.json", unanswered("toolu_1"));
    let lint = |output: &str| seen_in(&folder, &["lint", "a.json", "--output-format", output]);
    assert!(lint("concise=/dev/null").starts_with("status: 1"));
    assert!(lint("concise=/dev/stdout").contains("toolu_1"));
    // A redirected stream is written to, and not replaced.
    let out = fs::File::create(folder.join("out.txt")).unwrap();
    let mut command = toolcheck_in(&folder);
    command.args(["lint", "a.json", "--output-format", "concise=/dev/stdout"]).stdout(out);
    assert_eq!(command.status().unwrap().code(), Some(1));
    assert!(fs::read_to_string(folder.join("out.txt")).unwrap().contains("toolu_1"));
    if Path::new("/dev/full").exists() {
        let seen = lint("concise,json=/dev/full");
        assert!(seen.starts_with("status: 2") && seen.contains("cannot write /dev/full"), "{seen}");
        assert!(seen.contains("toolu_1"), "{seen}");
    }
    assert_eq!(leftovers(&folder), [""; 0]);
}

/// Runs the program where no file can grow beyond a kilobyte, which is like a full disk.
#[cfg(unix)]
fn seen_on_full_disk(folder: &Path, arguments: &[&str]) -> String {
    let program = toolcheck_in(folder).get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    command.current_dir(folder).env_remove("CI").env_remove("TF_BUILD");
    command.args(["-c", "ulimit -f 1; exec \"$@\"", "sh"]).arg(program).args(arguments);
    seen(&command.output().unwrap())
}

#[cfg(unix)]
#[test]
fn a_full_disk_destroys_nothing() {
    let folder = folder("full-disk");
    write(&folder, "small.json", many(1));
    write(&folder, "large.json", many(100));
    let first = seen_in(&folder, &[&WRITE[..], &["small.json"]].concat());
    assert!(first.starts_with("status: 0"), "{first}");
    write(&folder, "report.json", "old");
    write(&folder, "corpus/ferry.json", many(100));
    write(
        &folder,
        "corpus/ferry.expect.json",
        "{\n  \"source\": \"invented\",\n  \"description\": \"A ferry.\",\n  \"findings\": []\n}\n",
    );
    write(&folder, "toolcheck.toml", "ignore = []\n");
    let cases: [(&[&str], &str, i32); 4] = [
        (&[&WRITE[..], &["large.json", "--max-findings", "0"]].concat(), "baseline.json", 2),
        (
            &["lint", "--isolated", "large.json", "--output-format", "concise,json=report.json"],
            "report.json",
            2,
        ),
        (&["test", "corpus", "--bless"], "corpus/ferry.expect.json", 2),
        (&["init", "--force"], "toolcheck.toml", 2),
    ];
    for (arguments, path, status) in cases {
        let before = fs::read(folder.join(path)).unwrap();
        let seen = seen_on_full_disk(&folder, arguments);
        assert!(seen.starts_with(&format!("status: {status}")), "{seen}");
        assert!(seen.contains(path) && seen.contains("File too large"), "{seen}");
        assert_eq!(fs::read(folder.join(path)).unwrap(), before, "{path}");
        assert_eq!(leftovers(folder.join(path).parent().unwrap()), [""; 0], "{path}");
    }
    // Without the limit they are written.
    for (arguments, path, _) in cases {
        let before = fs::read(folder.join(path)).unwrap();
        seen_in(&folder, arguments);
        assert_ne!(fs::read(folder.join(path)).unwrap(), before, "{path}");
    }
}

/// The first writer is held between reading and writing by a pipe among its inputs.
#[cfg(unix)]
#[test]
fn a_baseline_of_another_writer_is_not_lost() {
    use std::process::Stdio;

    let folder = folder("two-writers");
    write(&folder, "a.json", unanswered("toolu_a"));
    common::mkfifo(&folder.join("pipe.json"));
    for start in [None, Some("baseline.json")] {
        if start.is_none() {
            let _ = fs::remove_file(folder.join("baseline.json"));
        }
        let mut first = toolcheck_in(&folder);
        first.args(WRITE).arg("pipe.json").stdout(Stdio::piped()).stderr(Stdio::piped());
        let first = first.spawn().unwrap();
        // Opening the pipe waits until the program reads it, which is after it has read the baseline.
        let mut pipe = fs::File::options().write(true).open(folder.join("pipe.json")).unwrap();
        write(&folder, "a.json", unanswered(if start.is_none() { "toolu_a" } else { "toolu_b" }));
        let second = seen_in(&folder, &[&WRITE[..], &["a.json"]].concat());
        assert!(second.starts_with("status: 0"), "{second}");
        let written = fs::read(folder.join("baseline.json")).unwrap();
        std::io::Write::write_all(&mut pipe, unanswered("toolu_pipe").as_bytes()).unwrap();
        drop(pipe);
        let first = seen(&first.wait_with_output().unwrap());
        assert!(first.starts_with("status: 2"), "{first}");
        let message = "cannot write the baseline baseline.json: another program has changed it since it was read: run again";
        assert!(first.contains(message), "{first}");
        assert_eq!(fs::read(folder.join("baseline.json")).unwrap(), written);
    }
    assert_eq!(leftovers(&folder), [""; 0]);
}

/// A signal in the middle of a write: the program is stopped there, so that it is the middle.
#[cfg(unix)]
#[test]
fn a_signal_leaves_the_old_file_or_the_new_one() {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Stdio};

    let folder = folder("signals");
    write(&folder, "large.json", many(3000));
    let report = |name: &str| format!("json={name}");
    let lint = |output: &str| {
        let mut command = toolcheck_in(&folder);
        command.args(["lint", "--isolated", "large.json", "--max-findings", "0", "--output-format", output]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert_eq!(lint(&report("new.json")).status().unwrap().code(), Some(1));
    let new = fs::read(folder.join("new.json")).unwrap();
    let mut ended = 0;
    for (signal, number) in [("INT", 2), ("TERM", 15)].repeat(4) {
        write(&folder, "out.json", "old");
        let mut child = lint(&report("out.json")).spawn().unwrap();
        let send = |signal: &str, id: u32| {
            // It may have ended already.
            let _ = Command::new("kill")
                .args([format!("-{signal}"), id.to_string()])
                .stderr(Stdio::null())
                .status();
        };
        while child.try_wait().unwrap().is_none() && leftovers(&folder).is_empty() {}
        send("STOP", child.id());
        send(signal, child.id());
        send("CONT", child.id());
        let status = child.wait().unwrap();
        assert_eq!(leftovers(&folder), [""; 0], "{status:?}");
        let found = fs::read(folder.join("out.json")).unwrap();
        assert!(found == b"old" || found == new, "{} bytes", found.len());
        if status.signal() == Some(number) {
            ended += usize::from(found == b"old");
        } else {
            assert_eq!((status.code(), &found), (Some(1), &new), "{status:?}");
        }
    }
    assert!(ended > 0, "no signal came in the middle");
}

/// As a user who may write to a file, but not to its folder.
#[cfg(unix)]
#[test]
fn a_folder_that_is_protected_keeps_its_files() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;

    const NOBODY: u32 = 65534;
    let folder = folder("protected");
    write(&folder, "a.json", unanswered("toolu_1"));
    write(&folder, "ci/baseline.json", "{\"version\": 1, \"files\": {}}");
    // Root may write anywhere, so it runs the program as somebody else.
    let is_root = chown(folder.join("ci/baseline.json"), Some(NOBODY), Some(NOBODY)).is_ok();
    fs::set_permissions(folder.join("ci"), fs::Permissions::from_mode(0o555)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = toolcheck_in(&folder);
        command.args(arguments);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output()
    };
    // The build may be in a folder that is closed to others.
    if run(&["--version"]).is_ok_and(|output| output.status.success()) {
        let arguments =
            ["lint", "--isolated", "a.json", "--baseline", "ci/baseline.json", "--write-baseline"];
        let seen = seen(&run(&arguments).unwrap());
        assert!(seen.starts_with("status: 2"), "{seen}");
        assert!(seen.contains("cannot write the baseline ci/baseline.json: permission denied"), "{seen}");
        assert_eq!(fs::read(folder.join("ci/baseline.json")).unwrap(), b"{\"version\": 1, \"files\": {}}");
    }
    fs::set_permissions(folder.join("ci"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(leftovers(&folder.join("ci")), [""; 0]);
}
