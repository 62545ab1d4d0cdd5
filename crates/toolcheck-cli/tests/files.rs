//! The files that a run reads, and how it reads them.

use std::io::Write as _;
use std::path::Path;

use crate::common::{self, CLEAN, folder, gzip, seen, seen_in, toolcheck_in, unanswered, write};

/// The files that a run would lint.
fn files(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let arguments = ["lint", "--show-files"].iter().chain(arguments);
    let output = toolcheck_in(folder).args(arguments).output().unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(|name| name.replace('\\', "/")).collect()
}

fn zstd(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn compressed_files_are_decompressed() {
    let folder = folder("compressed");
    let (one, two) = (format!("{}\n", unanswered("toolu_1")), format!("{}\n", unanswered("toolu_2")));
    write(&folder, "a.jsonl.gz", gzip(&one));
    write(&folder, "b.jsonl.zst", zstd(&one));
    // Consecutive frames are one text, and skippable frames contain nothing.
    write(&folder, "c.jsonl.gz", [gzip(&one), gzip(&two)].concat());
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    write(&folder, "d.jsonl.zst", [&zstd(&one)[..], &skippable, &zstd(&two)].concat());
    // Compression is recognised by the bytes, not by the name.
    write(&folder, "e.json", gzip(&one));
    // Broken data is reported, and does not hide findings in other files.
    let packed = gzip(&one);
    write(&folder, "f.json.gz", &packed[..packed.len() - 9]);
    let packed = zstd(&one);
    write(&folder, "g.json.zst", &packed[..packed.len() - 9]);
    let mut wrong = gzip(&one);
    let middle = wrong.len() / 2;
    wrong[middle] ^= 0x55;
    write(&folder, "h.json.gz", wrong);
    insta::assert_snapshot!(seen_in(&folder, &["lint", "--output-format", "concise"]));
}

#[test]
fn what_compressed_data_says_before_its_end_is_linted() {
    let folder = folder("compressed-ends");
    let packed = gzip(format!("{}\n{CLEAN}\n", unanswered("toolu_1")));
    // Zeros pad the data, as on a tape; anything else does not belong to it.
    write(&folder, "zeros.jsonl.gz", [&packed[..], &[0; 600]].concat());
    write(&folder, "others.jsonl.gz", [&packed[..], b"others!"].concat());
    write(&folder, "cut.jsonl.gz", &packed[..packed.len() - 5]);
    let lint = |name: &str| seen_in(&folder, &["lint", "--output-format", "concise", name]);
    let (zeros, others, cut) = (lint("zeros.jsonl.gz"), lint("others.jsonl.gz"), lint("cut.jsonl.gz"));
    for seen in [&zeros, &others, &cut] {
        assert!(seen.contains("jsonl.gz:1:") && seen.contains("unanswered-tool-call"), "{seen}");
    }
    assert!(zeros.starts_with("status: 1") && !zeros.contains("gzip data"), "{zeros}");
    let why = "its gzip data can't be decompressed: other bytes follow it";
    assert!(others.starts_with("status: 2") && others.contains(why), "{others}");
    assert!(cut.starts_with("status: 2") && cut.contains("its gzip data is cut off"), "{cut}");
}

/// Rows of instructions and answers are not conversations.
#[test]
fn a_dataset_is_not_a_request() {
    let folder = folder("dataset");
    let example = r#"{"instruction": "name the tides", "output": "neap and spring"}"#;
    write(&folder, "examples.jsonl", format!("{example}\n{example}\n"));
    write(&folder, "fine.json", CLEAN);
    let seen = seen_in(&folder, &["lint", "--output-format", "concise"]);
    assert!(
        seen.starts_with("status: 0") && seen.contains("note: skipped 1 file without a transcript"),
        "{seen}"
    );
    // If it is named, that is reported once, regardless of its length.
    write(&folder, "examples.jsonl", format!("{example}\n").repeat(2000));
    let seen = seen_in(&folder, &["lint", "examples.jsonl", "--output-format", "concise"]);
    assert!(seen.starts_with("status: 1") && seen.contains("1 error, 0 warnings"), "{seen}");
}

#[cfg(unix)]
#[test]
fn cyclic_links_and_names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("links");
    write(&folder, "a/b.json", CLEAN);
    std::os::unix::fs::symlink("..", folder.join("a/loop")).unwrap();
    std::os::unix::fs::symlink("b.json", folder.join("a/c.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("a/d.json")).unwrap();
    assert_eq!(files(&folder, &[]), ["a/b.json"]);
    // A link that is named is followed, and the same file is read once.
    assert_eq!(files(&folder, &["a/c.json", "a/b.json"]), ["a/c.json"]);
    assert!(seen_in(&folder, &["lint", "a/d.json"]).starts_with("status: 2"));
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\x1b[31m.json");
    std::fs::write(folder.join(odd), unanswered("toolu_1")).unwrap();
    let output = toolcheck_in(&folder).args(["lint", "--output-format", "concise"]).output().unwrap();
    let seen = seen(&output);
    assert!(seen.contains("unanswered-tool-call") && !seen.contains('\x1b'), "{seen}");
    let output = toolcheck_in(&folder).arg("lint").arg(odd).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!output.stdout.contains(&0x1b));
}

#[test]
fn another_encoding_is_reported_once() {
    let folder = folder("encodings");
    let text = format!("{}\n{}\n", unanswered("toolu_1"), unanswered("toolu_2"));
    let utf16: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    write(&folder, "a.jsonl", utf16);
    insta::assert_snapshot!(seen_in(&folder, &["lint", "a.jsonl"]));
    assert!(seen_in(&folder, &["lint", "a.jsonl", "--ignore", "invalid-utf8"]).starts_with("status: 0"));
}

#[test]
fn bytes_that_are_not_text_hide_no_findings() {
    let folder = folder("no-text");
    // A log that was truncated while it was written starts with null bytes, an unfinished one ends with them.
    let nulls = "\0".repeat(5000);
    write(&folder, "begin.jsonl", format!("{nulls}{CLEAN}\n{}\n{CLEAN}\n", unanswered("toolu_1")));
    write(&folder, "end.jsonl", format!("{}\n{CLEAN}\n{nulls}", unanswered("toolu_2")));
    // These two characters separate lines in some programs, but not in JSON.
    let separated = unanswered("toolu_3").replacen("\"}", "\u{2028}\u{2029}\"}", 1);
    write(&folder, "separators.json", &separated);
    write(&folder, "crlf.jsonl", format!("{CLEAN}\r\n{}\r\n", unanswered("toolu_4")));
    let output = toolcheck_in(&folder).args(["lint", "--output-format", "json"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let found = |file: &str, rule: &str| -> Vec<(u64, String)> {
        let of_file = findings.iter().filter(|finding| finding["path"] == file && finding["rule"] == rule);
        let place = |finding: &serde_json::Value| {
            (
                finding["line"].as_u64().unwrap(),
                finding["tool_call_id"].as_str().unwrap_or_default().to_owned(),
            )
        };
        of_file.map(place).collect()
    };
    let call = |line, id: &str| vec![(line, id.to_owned())];
    assert_eq!(found("begin.jsonl", "unanswered-tool-call"), call(2, "toolu_1"), "{report:#}");
    assert_eq!(found("end.jsonl", "unanswered-tool-call"), call(1, "toolu_2"));
    assert_eq!(found("separators.json", "unanswered-tool-call"), call(1, "toolu_3"));
    assert_eq!(found("crlf.jsonl", "unanswered-tool-call"), call(2, "toolu_4"));
    assert_eq!(report["summary"]["transcripts"], 8, "lines after null bytes are read");
    assert_eq!(found("begin.jsonl", "malformed-json"), call(1, ""));
    assert_eq!(found("end.jsonl", "malformed-json"), call(3, ""));
    assert_eq!(findings.len(), 6, "{report:#}");
}

/// Special files are reported or skipped, and the others are read.
#[cfg(unix)]
#[test]
fn devices_pipes_and_unreadable_files() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder("no-files");
    write(&folder, "fine.json", unanswered("toolu_1"));
    write(&folder, "secret.json", CLEAN);
    std::fs::create_dir(folder.join("folder.json")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.json")).status().unwrap();
    assert!(made.success());
    std::fs::set_permissions(folder.join("secret.json"), std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read it anyway.
    let can_read = std::fs::read(folder.join("secret.json")).is_ok();
    // A pipe found in a search is not opened.
    let searched = seen_in(&folder, &["lint", "--output-format", "concise"]);
    assert!(searched.contains("fine.json:1:") && !searched.contains("pipe.json"), "{searched}");
    assert!(searched.starts_with(if can_read { "status: 1" } else { "status: 2" }), "{searched}");
    assert_eq!(searched.contains("secret.json"), !can_read, "{searched}");
    // A pipe that is named is read to its end.
    let path = folder.join("pipe.json");
    let writer = std::thread::spawn(move || std::fs::write(path, unanswered("toolu_2")).unwrap());
    let named = seen_in(&folder, &["lint", "pipe.json", "/dev/null", "--output-format", "concise"]);
    writer.join().unwrap();
    assert!(named.contains("toolu_2") && named.contains("/dev/null"), "{named}");
}

/// What is not a file, and what has no end, as everything that the program reads except for transcripts.
#[cfg(unix)]
#[test]
fn settings_are_read_only_from_files() {
    use std::os::unix::fs::symlink;

    let folder = folder("no-settings");
    write(&folder, "a.json", CLEAN);
    let in_folder =
        ["toolcheck.toml", ".toolcheck.toml", "pyproject.toml", "Cargo.toml", ".ignore", ".gitignore"];
    let mut cases: Vec<(String, Vec<&str>)> = Vec::new();
    let special = |name: &str, kind: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match kind {
            "a pipe" => common::mkfifo(&path),
            "larger than 64 MiB" => std::fs::File::create(&path).unwrap().set_len((64 << 20) + 1).unwrap(),
            _ => symlink("/dev/zero", path).unwrap(),
        }
    };
    let kinds = ["a pipe", "a device", "larger than 64 MiB"];
    let mut seen_kinds = 0;
    for (number, kind) in kinds.iter().enumerate() {
        for name in in_folder {
            let folder = format!("{number}{name}");
            special(&format!("{folder}/{name}"), kind);
            write(&self::folder_of(&folder, "no-settings"), "below/a.json", CLEAN);
            // In the folder, above it, and below it.
            cases.push((folder.clone(), vec!["lint"]));
            cases.push((format!("{folder}/below"), vec!["lint"]));
            if name.ends_with("ignore") {
                let above = format!("above-{folder}");
                special(&format!("{above}/below/{name}"), kind);
                write(&self::folder_of(&above, "no-settings"), "a.json", CLEAN);
                cases.push((above, vec!["lint"]));
            }
        }
        let extending = format!("{number}-extend");
        special(&format!("{extending}/base.toml"), kind);
        write(&folder, &format!("{extending}/toolcheck.toml"), "extend = \"base.toml\"\n");
        write(&folder, &format!("{extending}/a.json"), CLEAN);
        cases.push((extending, vec!["lint"]));
        for key in ["target", "tools"] {
            let naming = format!("{number}-{key}");
            special(&format!("{naming}/x.toml"), kind);
            write(&folder, &format!("{naming}/toolcheck.toml"), format!("{key} = \"x.toml\"\n"));
            write(&folder, &format!("{naming}/a.json"), CLEAN);
            cases.push((naming, vec!["lint"]));
        }
        let special_in = format!("{number}-corpus");
        special(&format!("{special_in}/a.json"), kind);
        cases.push((special_in, vec!["test", "."]));
        let special_in = format!("{number}-same");
        special(&format!("{special_in}/same/ferry/anthropic.json"), kind);
        cases.push((special_in, vec!["test", "."]));
        let beside = format!("{number}-expectation");
        write(&folder, &format!("{beside}/a.json"), CLEAN);
        special(&format!("{beside}/a.expect.json"), kind);
        cases.push((beside, vec!["test", "."]));
        special(&format!("{number}.special"), kind);
        let name = ["0.special", "1.special", "2.special"][number];
        cases.push((String::new(), vec!["lint", "a.json", "--baseline", name]));
        // A pipe may be named on the command line: `--files-from <(...)`.
        if *kind != "a pipe" {
            for option in ["--files-from", "--tools", "--config"] {
                cases.push((String::new(), vec!["lint", "a.json", option, name]));
            }
            std::fs::rename(folder.join(name), folder.join(format!("{name}.toml"))).unwrap();
            let name = ["", "1.special.toml", "2.special.toml"][number];
            cases.push((String::new(), vec!["lint", "a.json", "--target", name]));
            symlink(name, folder.join(format!("{number}.special"))).unwrap();
        }
        for (at, arguments) in std::mem::take(&mut cases) {
            let seen = common::seen_soon(toolcheck_in(&folder.join(&at)).args(&arguments));
            assert!(
                seen.starts_with("status: 2") && seen.contains(&format!("it is {kind}")),
                "{at} {arguments:?}: {seen}"
            );
            seen_kinds += 1;
        }
    }
    assert!(seen_kinds > 50, "{seen_kinds} cases");
    // The `.git` of a worktree is a file, which leads to other files.
    for (number, kind) in kinds.iter().enumerate() {
        for (name, special_file) in
            [("git", ".git"), ("commondir", "own/commondir"), ("exclude", "common/info/exclude")]
        {
            let worktree = format!("{number}-worktree-{name}");
            let at = folder.join(&worktree);
            write(&folder, &format!("{worktree}/a.json"), CLEAN);
            write(&folder, &format!("{worktree}/.git"), format!("gitdir: {}\n", at.join("own").display()));
            write(&folder, &format!("{worktree}/own/commondir"), "../common\n");
            let _ = std::fs::remove_file(at.join(special_file));
            special(&format!("{worktree}/{special_file}"), kind);
            let seen = common::seen_soon(toolcheck_in(&at).args(["lint", "--isolated"]));
            // A `.git` that is not a file is nothing to the walker.
            let is_read = special_file != ".git" || *kind == "larger than 64 MiB";
            assert!(seen.starts_with(if is_read { "status: 2" } else { "status: 0" }), "{worktree}: {seen}");
            assert_eq!(seen.contains("so its folder is not searched"), is_read, "{worktree}: {seen}");
        }
    }
    // A folder whose list of ignored files can't be read hides no other.
    let folder = self::folder("one-broken-list");
    write(&folder, "fine/a.json", unanswered("toolu_1"));
    write(&folder, "broken/b.json", CLEAN);
    common::mkfifo(&folder.join("broken/.ignore"));
    let seen = common::seen_soon(toolcheck_in(&folder).args(["lint", "--output-format", "concise"]));
    assert!(seen.starts_with("status: 2") && seen.contains("toolu_1"), "{seen}");
    assert!(
        seen.contains("error: broken/.ignore: it is a pipe, not a file, so its folder is not searched"),
        "{seen}"
    );
    let seen =
        common::seen_soon(toolcheck_in(&folder).args(["lint", "--no-ignore", "--output-format", "concise"]));
    assert!(seen.starts_with("status: 1") && seen.contains("in 2 transcripts"), "{seen}");
}

#[cfg(unix)]
fn folder_of(name: &str, test: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(test).join(name)
}

#[cfg(unix)]
#[test]
fn standard_input_is_bounded_where_it_is_no_transcript() {
    let folder = folder("bounded-input");
    write(&folder, "a.json", CLEAN);
    for arguments in [&["lint", "--files-from", "-"][..], &["explain", "--error", "-"]] {
        let mut command = toolcheck_in(&folder);
        command.args(arguments).stdin(std::fs::File::open("/dev/zero").unwrap());
        let seen = common::seen(&command.output().unwrap());
        assert!(seen.starts_with("status: 2") && seen.contains("it is larger than 64 MiB"), "{seen}");
    }
    // A transcript may be read from a path to it.
    let mut command = toolcheck_in(&folder);
    command.args(["lint", "/dev/stdin"]).stdin(std::fs::File::open(folder.join("a.json")).unwrap());
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}

/// A log is appended to and truncated while it is read.
#[test]
fn a_changing_file_does_not_affect_others() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let folder = folder("changing");
    let some_lines = format!("{CLEAN}\n").repeat(20_000);
    write(&folder, "changing.jsonl", &some_lines);
    write(&folder, "still.json", unanswered("toolu_1"));
    let mut log = std::fs::OpenOptions::new().append(true).open(folder.join("changing.jsonl")).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // In the middle of a line, as after a full disk or a log rotation.
                log.set_len(some_lines.len() as u64 / 2 + 17).unwrap();
                log.write_all(&some_lines.as_bytes()[..some_lines.len() / 2]).unwrap();
            }
        });
        let lint = |_| {
            let output = toolcheck_in(&folder).args(["lint", "--output-format", "json"]).output().unwrap();
            let report = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap_or_default();
            let findings = report["findings"].as_array().cloned().unwrap_or_default();
            let still = findings.iter().filter(|finding| finding["path"] == "still.json").count();
            (output.status.code(), still, String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let seen: Vec<_> = (0..5).map(lint).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(seen.iter().all(|seen| *seen == (Some(1), 1, String::new())), "{seen:?}");
    });
}

#[test]
fn nothing_and_next_to_nothing_is_no_file_of_any_format() {
    let folder = folder("next-to-nothing");
    let listed = toolcheck_in(&folder).args(["formats", "--output-format", "json"]).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let mut formats = Vec::new();
    let mut open = vec![&listed];
    while let Some(value) = open.pop() {
        formats.extend(value["id"].as_str());
        open.extend(value.as_array().into_iter().flatten());
        open.extend(value.as_object().into_iter().flat_map(|members| members.values()));
    }
    assert!(formats.len() > 30, "{formats:?}");
    for (name, text) in [("empty.json", ""), ("blank.jsonl", " \n\n"), ("cut.json", "{"), ("a.yaml", "-")] {
        write(&folder, name, text);
        for format in &formats {
            let seen = seen_in(&folder, &["lint", name, "--format", format]);
            let is_known = seen.starts_with("status: 1") || seen.starts_with("status: 2");
            assert!(is_known && !seen.contains("panicked"), "{name} as {format}: {seen}");
        }
    }
}
