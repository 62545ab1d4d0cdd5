//! Pipes: those that the user names are read, and nothing waits for one without a writer.

use crate::common::{self, folder, toolcheck_in, unanswered, write};

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

/// What a search or a glob comes across is not waited for, and a line says that it was skipped.
#[test]
fn a_pipe_that_is_found_is_skipped() {
    let folder = folder("found-pipes");
    write(&folder, "in/a.json", unanswered("toolu_1"));
    common::mkfifo(&folder.join("in/pipe.json"));
    common::mkfifo(&folder.join("in/pipe.yaml"));
    std::os::unix::fs::symlink("/dev/zero", folder.join("in/zero.json")).unwrap();
    std::os::unix::fs::symlink("pipe.json", folder.join("in/link.json")).unwrap();
    std::os::unix::fs::symlink(".", folder.join("in/self")).unwrap();
    let seen = |path: &str, more: &[&str]| {
        let arguments = ["lint", "--isolated", "--output-format", "concise", path];
        common::seen_soon(toolcheck_in(&folder).args(arguments).args(more))
    };
    for path in ["in/*.json", "**/*.json", "*/*.json", "in"] {
        let found = seen(path, &["--verbose"]);
        assert!(found.starts_with("status: 1") && found.contains("toolu_1"), "{path}: {found}");
        assert!(found.contains("skipped: in/pipe.json: it is a pipe, not a file"), "{path}: {found}");
        // Links are not followed in a search.
        let has_links = path != "in";
        let zero = "skipped: in/zero.json: it is a device, not a file";
        assert_eq!(found.contains(zero), has_links, "{path}: {found}");
        let short = seen(path, &[]);
        let count = if has_links { "skipped 3 files" } else { "skipped 1 file " };
        assert!(short.contains(count), "{path}: {short}");
    }
    let alone = seen("in/pipe*", &[]);
    assert!(alone.starts_with("status: 2") && alone.contains("nothing was checked"), "{alone}");
}

/// `<(...)` in a shell is a pipe whose name leads to none.
#[test]
fn the_output_of_a_command_is_linted() {
    let folder = folder("process-substitution");
    write(&folder, "a.json", unanswered("toolu_1"));
    let program = env!("CARGO_BIN_EXE_toolcheck");
    let line = format!(
        "{program} lint --isolated --output-format concise <(sleep 0.2; cat a.json) /dev/stdin < a.json; \
         cat a.json | {program} lint --isolated --output-format concise /dev/stdin"
    );
    let mut bash = std::process::Command::new("bash");
    // Not every system has it.
    if bash.args(["-c", "true"]).status().is_ok_and(|status| status.success()) {
        let seen =
            common::seen_soon(std::process::Command::new("bash").args(["-c", &line]).current_dir(&folder));
        assert_eq!(seen.matches("toolu_1").count(), 3, "{seen}");
    }
}
