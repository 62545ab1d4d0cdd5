//! Small files that become large, files that are larger than what is held in memory, and texts in other encodings: an error
//! names the file, and the other files are linted.

use std::io::Write as _;

use crate::common::{CLEAN, folder, seen_in, unanswered, write};

/// Frames of Zstandard data that repeat one byte: four bytes of data for 128 KiB each.
fn zstd_of(byte: u8, blocks: usize, window: u8) -> Vec<u8> {
    let mut data = vec![0x28, 0xb5, 0x2f, 0xfd, 0, window];
    for block in 0..blocks {
        let is_last = usize::from(block + 1 == blocks);
        // A block of this size that repeats a byte (RFC 8878, 3.1.1.2).
        let header = (128 << 10) << 3 | 1 << 1 | is_last;
        data.extend(&header.to_le_bytes()[..3]);
        data.push(byte);
    }
    data
}

/// A window of 128 KiB.
const SMALL: u8 = 7 << 3;

fn gzip_of(byte: u8, length: usize) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let piece = vec![byte; 1 << 20];
    for _ in 0..length / piece.len() {
        packer.write_all(&piece).unwrap();
    }
    packer.finish().unwrap()
}

/// What is printed of a folder with a file of its own, a clean file and one with a finding.
fn with_others(name: &str, file: &str, content: &[u8], arguments: &[&str]) -> String {
    let folder = folder(name);
    write(&folder, file, content);
    write(&folder, "a.json", CLEAN);
    write(&folder, "z.json", unanswered("toolu_z"));
    let seen = seen_in(&folder, &[&["lint", "--output-format", "concise"], arguments].concat());
    assert!(seen.starts_with("status: 2"), "{seen}");
    assert!(seen.contains("z.json:1:") && seen.contains("toolu_z"), "{seen}");
    seen
}

#[test]
fn brackets_end_at_the_depth_that_is_read() {
    let folder = folder("bombs-deep");
    write(&folder, "deep.json", "[".repeat(8 << 20));
    let seen = seen_in(&folder, &["lint", "deep.json", "--output-format", "concise"]);
    assert!(seen.starts_with("status: 1"), "{seen}");
    assert!(
        seen.contains("deep.json:1:10001: error malformed-json") && seen.contains("nested more than"),
        "{seen}"
    );
}

#[test]
fn a_document_is_not_held_beyond_its_limit() {
    let large =
        format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"{}\"}}]}}", "a".repeat(500_000));
    let message = "a document, a line or an agent's log is read at once, and is larger than 400000 bytes: raise the limit with --max-document";
    let limit = ["--max-document", "400000"];
    let seen = with_others("bombs-document", "large.json", large.as_bytes(), &limit);
    assert!(seen.contains(&format!("large.json: {message}")), "{seen}");
    let exact = large.len().to_string();
    let folder = folder("bombs-exact");
    write(&folder, "large.json", &large);
    let seen = seen_in(&folder, &["lint", "--max-document", &exact]);
    assert!(seen.starts_with("status: 0"), "{seen}");
}

#[test]
fn a_line_that_is_too_long_is_passed_and_named() {
    let large = format!("{{\"messages\": \"{}\"}}\n", "a".repeat(500_000));
    let limit = ["--max-document", "400000", "--max-findings", "100"];
    let before = format!("{}\n", unanswered("toolu_first")).repeat(20);
    let after = format!("{}\n", unanswered("toolu_last"));
    let clean = format!("{CLEAN}\n").repeat(3000);
    for (name, text, which, last) in [
        ("one", format!("{before}{large}{after}"), "line 21 is", 22),
        ("two", format!("{before}{large}{clean}{large}{after}"), "line 21 and 1 more are", 3023),
        ("end", format!("{before}{}", large.trim_end()), "line 21 is", 20),
    ] {
        let seen = with_others(&format!("bombs-line-{name}"), "lines.jsonl", text.as_bytes(), &limit);
        let message = format!(
            "lines.jsonl: {which} larger than 400000 bytes and not read: raise the limit with --max-document"
        );
        assert!(seen.contains(&message) && seen.contains("toolu_first"), "{seen}");
        // What comes after it is linted, at its own place.
        assert!(seen.contains(&format!("\nlines.jsonl:{last}:")), "{seen}");
    }
}

#[test]
fn zstd_data_with_a_large_window_is_refused() {
    let huge = zstd_of(b' ', 1, 21 << 3);
    let seen = with_others("bombs-window", "w.jsonl.zst", &huge, &[]);
    assert!(
        seen.contains(
            "w.jsonl.zst: its zstd data can't be decompressed: it needs a window of 2147483648 bytes"
        ),
        "{seen}"
    );
    // In a later frame too.
    let later = [zstd_of(b' ', 1, SMALL), huge].concat();
    let seen = with_others("bombs-later-window", "w.jsonl.zst", &later, &[]);
    assert!(seen.contains("it needs a window of 2147483648 bytes"), "{seen}");
}

#[test]
fn data_that_becomes_ten_thousand_times_as_large_is_refused() {
    // 512 MiB of 16 KB.
    let lines = zstd_of(b'\n', 4096, SMALL);
    assert!(lines.len() < 17_000);
    let seen = with_others("bombs-ratio", "r.jsonl.zst", &lines, &[]);
    assert!(seen.contains("r.jsonl.zst: its zstd data becomes more than 10000 times as large"), "{seen}");
    let seen = with_others("bombs-brackets", "b.json.zst", &zstd_of(b'[', 8192, SMALL), &[]);
    assert!(seen.contains("b.json.zst: "), "{seen}");
    let seen = with_others("bombs-gzip", "b.json.gz", &gzip_of(b'[', 300 << 20), &[]);
    assert!(
        seen.contains("b.json.gz: a document, a line or an agent's log is read at once, and is larger than 268435456 bytes"),
        "{seen}"
    );
}

/// `pzstd` writes a frame that is to be skipped before each frame, with the length of that (RFC 8878, 3.1.2).
#[test]
fn zstd_data_that_begins_with_a_skipped_frame_is_read() {
    let folder = folder("skipped-frame");
    let line = unanswered("toolu_z").replace('\n', "") + "\n";
    let size = (line.len() as u32) << 3 | 1;
    // One block that is stored as it is.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, SMALL], &size.to_le_bytes()[..3], line.as_bytes()].concat();
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0], &(frame.len() as u32).to_le_bytes()[..]].concat();
    write(&folder, "z.jsonl.zst", [skipped, frame].concat());
    let seen = seen_in(&folder, &["lint", "--output-format", "concise"]);
    assert!(seen.contains("error unanswered-tool-call"), "{seen}");
}

/// PowerShell writes what is redirected in UTF-16.
#[test]
fn a_transcript_in_another_encoding_is_an_error_in_a_folder_too() {
    let folder = folder("other-encodings");
    let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    let little = |text: &str| units(text).into_iter().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let marked = format!("\u{feff}{}", unanswered("toolu_1"));
    let wide =
        |text: &str| text.chars().flat_map(|letter| u32::from(letter).to_be_bytes()).collect::<Vec<_>>();
    write(&folder, "a.json", little(&marked));
    write(&folder, "b.json", units(CLEAN).into_iter().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    write(&folder, "c.json", wide(&marked));
    write(&folder, "d.json", wide(CLEAN));
    write(&folder, "package.json", little("{\"name\": \"x\"}"));
    let seen = seen_in(&folder, &["lint", "--output-format", "concise"]);
    for (file, encoding) in [("a", "UTF-16"), ("b", "UTF-16"), ("c", "UTF-32"), ("d", "UTF-32")] {
        let finding = format!("{file}.json:1:1: error invalid-utf8 the text is {encoding}, not UTF-8");
        assert!(seen.contains(&finding), "{seen}");
    }
    assert!(seen.contains("4 errors") && seen.contains("skipped 1 file"), "{seen}");
}
