//! Pipes: those that the user names are read, and nothing waits for one without a writer.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod common;

use common::{folder, toolcheck_in, unanswered, write};

/// Pipes that the user names are read: `<(...)` in a shell is one.
#[test]
fn pipes_on_the_command_line_are_read() {
    let folder = folder("named-pipes");
    write(&folder, "a.json", unanswered("toolu_1"));
    let texts = [
        ("--files-from", "a.json\n"),
        ("--config", "ignore = [\"unanswered-tool-call\"]\n"),
        ("--tools", r#"[{"name": "tide", "input_schema": {"type": "object"}}]"#),
        ("--target", "id = \"own\"\nname = \"Own\"\nextends = \"anthropic\"\n"),
    ];
    for (option, text) in texts {
        let pipe = folder.join(option);
        common::mkfifo(&pipe);
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, text).unwrap()
        });
        let mut command = toolcheck_in(&folder);
        command.args(["lint", "--output-format", "concise", option]).arg(&pipe);
        if option != "--files-from" {
            command.arg("a.json");
        }
        let seen = common::seen_soon(&mut command);
        writer.join().unwrap();
        let is_ignored = option == "--config";
        assert!(seen.starts_with(if is_ignored { "status: 0" } else { "status: 1" }), "{option}: {seen}");
        assert_eq!(seen.contains("toolu_1"), !is_ignored, "{option}: {seen}");
    }
}

/// Nothing waits for a writer that never comes: neither for that of the list nor for that of a path in it.
#[test]
fn a_list_does_not_wait_for_pipes() {
    let folder = folder("listed-pipes");
    write(&folder, "a.json", unanswered("toolu_1"));
    write(&folder, "list.txt", "pipe\na.json\n");
    common::mkfifo(&folder.join("pipe"));
    let seen = |list: &str| {
        let arguments = ["lint", "--output-format", "concise", "--files-from", list];
        common::seen_soon(toolcheck_in(&folder).args(arguments))
    };
    let listed = seen("list.txt");
    assert!(
        listed.starts_with("status: 2") && listed.contains("error: pipe: it is a pipe, not a file"),
        "{listed}"
    );
    // The other files are linted nevertheless.
    assert!(listed.contains("toolu_1"), "{listed}");
    let list = seen("pipe");
    assert!(list.starts_with("status: 2") && list.contains("it is a pipe that nothing writes to"), "{list}");
    // A writer that is slow, or that comes late, is waited for.
    let writer = std::thread::spawn({
        let pipe = folder.join("pipe");
        move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            let mut pipe = std::fs::File::options().write(true).open(pipe).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(300));
            std::io::Write::write_all(&mut pipe, b"a.json\n").unwrap();
        }
    });
    let late = seen("pipe");
    writer.join().unwrap();
    assert!(late.starts_with("status: 1") && late.contains("toolu_1"), "{late}");
}
