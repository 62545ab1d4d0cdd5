//! Recordings of HTTP traffic, from the command line to every output.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{folder, report, text, toolcheck_in, write};

fn corpus(name: &str) -> String {
    text(&format!("fixtures/{name}"))
}

/// A folder with these files of the corpus.
fn with(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = folder(name);
    for (file, case) in files {
        write(&folder, file, corpus(case));
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    toolcheck_in(folder).args(arguments).output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn each_kind_of_recording_is_listed() {
    let (listed, _) = texts(&run(&folder("recording-formats"), &["formats"]));
    assert!(toolcheck_open::ALL.iter().all(|container| listed.contains(container.id)), "{listed}");
}

#[test]
fn what_is_not_built_in_is_named() {
    if toolcheck_open::find("parquet").unwrap().is_built() {
        return;
    }
    let folder = with("recording-not-built", &[("a.har", "har/browser.har")]);
    // Larger than a document may be: it need not be read to be named.
    let mut table = b"PAR1".to_vec();
    table.resize(300_000, 0xff);
    std::fs::write(folder.join("rows.parquet"), &table).unwrap();
    let output = run(&folder, &["lint", "rows.parquet", "--max-document", "200000"]);
    let (text, errors) = texts(&output);
    assert_eq!((output.status.code(), &*errors), (Some(1), ""));
    for part in
        ["this build of toolcheck can't read Parquet", "nothing in here was checked", "duckdb", "1 error"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let (listed, _) = texts(&run(&folder, &["formats"]));
    assert!(listed.contains("Parquet file (not in this build)"), "{listed}");
    // In a folder such files are left out, as are others that are not read.
    let (shown, _) = texts(&run(&folder, &["lint", "--show-files"]));
    assert_eq!(shown.trim(), "a.har");
}

#[test]
fn tables_in_a_folder_are_not_left_out_in_silence() {
    let folder = with("recording-tables", &[("a.har", "har/browser.har")]);
    std::fs::write(folder.join("rows.arrow"), b"ARROW1\0\0\xff\xff\xff\xff").unwrap();
    std::fs::write(folder.join("stream.arrow"), b"\xff\xff\xff\xff\x10\x01\0\0").unwrap();
    std::fs::write(folder.join("sessions.db"), b"SQLite format 3\0\x10\0").unwrap();
    std::fs::write(folder.join("thumbs.db"), b"something else").unwrap();
    let note = "note: 3 files in Parquet, Arrow or SQLite were not read (--verbose lists them)\n";
    let (_, notes) = texts(&run(&folder, &["lint", "."]));
    assert!(notes.contains(note) && !notes.contains("without a transcript"), "{notes}");
    let (_, notes) = texts(&run(&folder, &["lint", ".", "--verbose"]));
    let skipped = "skipped: rows.arrow: this is an Arrow file, which this build of toolcheck can't read\n";
    assert!(notes.contains(skipped), "{notes}");
    assert_eq!(report(&folder, &["."])["skipped"].as_array().unwrap().len(), 3);
    let (text, _) = texts(&run(&folder, &["lint", "stream.arrow"]));
    assert!(text.contains("not a request, but an Arrow file") && text.contains("load_dataset"), "{text}");

    std::fs::remove_file(folder.join("a.har")).unwrap();
    let output = run(&folder, &["lint", "."]);
    let (_, errors) = texts(&output);
    let nothing = "`.` has no .json, .jsonl, .ndjson, .traj or .af file and no recording; 3 files in Parquet, Arrow or SQLite were not read\n";
    assert!(output.status.code() == Some(2) && errors.contains(nothing), "{errors}");
    write(&folder, "toolcheck.toml", "include = [\"*.txt\"]\n");
    let (_, notes) = texts(&run(&folder, &["lint", "."]));
    assert!(!notes.contains("Arrow"), "{notes}");
}
