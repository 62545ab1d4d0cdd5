//! Many files, archives, and all that is read beside transcripts.

use std::io::Write as _;

use super::lines::unanswered;
use super::{File, Shape, beside, list, messages};

pub(crate) fn all() -> Vec<Shape> {
    files().into_iter().chain(baselines()).collect()
}

fn files() -> Vec<Shape> {
    vec![
        Shape::of_files("small files", |size| many(size, "json", |_| beside("x", "1"))).holds(200),
        Shape::of_files("small files with findings", |size| {
            many(size, "json", |number| unanswered(&number.to_string()))
        })
        .holds(200),
        Shape::of_files("small files that are broken", |size| {
            many(size, "json", |_| format!("{{\"messages\":[{}", " ".repeat(100)))
        })
        .holds(200),
        Shape::of_files("small files that are not transcripts", |size| {
            let mut files = many(size, "json", |number| format!("{{\"a\":{number}{}}}", " ".repeat(100)));
            files.push(File::new("input.json", beside("x", "1")));
            files
        })
        .holds(200),
        Shape::of_files("folders in folders", |size| {
            let path = |depth: usize| format!("{}a.json", "d/".repeat(depth % 40));
            (0..size / 300)
                .map(|number| File::new(format!("{}/{}", number / 40, path(number)), unanswered("c")))
                .collect()
        })
        .holds(200),
        Shape::of_files("an archive of records", |size| {
            vec![packed("input.jsonl.gz", &list(size, "", "\n", "\n", |_| beside("x", "1")))]
        }),
        Shape::of_files("an archive of records with findings", |size| {
            vec![packed(
                "input.jsonl.gz",
                &list(size, "", "\n", "\n", |number| unanswered(&format!("c{number}"))),
            )]
        }),
        Shape::of_files("an archive of one document", |size| {
            vec![packed(
                "input.json.gz",
                &messages(size, |_| "{\"role\":\"user\",\"content\":\"a\"}".to_owned()),
            )]
        }),
        Shape::of_files("an archive of many archives", |size| {
            let (mut bytes, mut read) = (Vec::new(), 0);
            while read < size {
                let member = packed("", &format!("{}\n", beside("x", "1")));
                read += member.read;
                bytes.extend(member.bytes);
            }
            vec![File { name: "input.jsonl.gz".to_owned(), bytes, read }]
        }),
        Shape::of_files("an archive that is cut off", |size| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            for number in 0..size / 220 {
                let line = unanswered(&format!("c{number}")) + "\n";
                packer.write_all(line.as_bytes()).expect("memory can be written");
                // So that what comes before the cut can be read.
                packer.flush().expect("memory can be written");
            }
            let mut bytes = packer.finish().expect("memory can be written");
            bytes.truncate(bytes.len() - 20);
            vec![File { name: "input.jsonl.gz".to_owned(), bytes, read: size }]
        }),
    ]
}

fn baselines() -> Vec<Shape> {
    let entry = |number: usize| {
        format!("{{\"rule\":\"unanswered-tool-call\",\"message\":\"m\",\"fingerprint\":\"{number:032x}\"}}")
    };
    let baseline = move |size: usize| {
        list(size, "{\"version\":1,\"files\":{\"input.jsonl\":[\n", ",\n", "\n]}}\n", entry)
    };
    vec![
        Shape::of_files("a baseline of findings that are gone", move |size| {
            vec![File::new("baseline.json", baseline(size)), File::new("input.jsonl", beside("x", "1"))]
        }),
        Shape::of_files("a baseline of one finding, again and again", move |size| {
            let entries =
                list(size, "{\"version\":1,\"files\":{\"input.jsonl\":[\n", ",\n", "\n]}}\n", |_| entry(0));
            vec![File::new("baseline.json", entries), File::new("input.jsonl", beside("x", "1"))]
        }),
        Shape::of_files("a baseline and as many other findings", move |size| {
            let lines = list(size / 2, "", "\n", "\n", |number| unanswered(&format!("c{number}")));
            vec![File::new("baseline.json", baseline(size / 2)), File::new("input.jsonl", lines)]
        }),
        Shape::of_files("a baseline of many files", move |size| {
            let text = list(size, "{\"version\":1,\"files\":{\n", ",\n", "\n}}\n", |number| {
                format!("\"f{number}.json\":[{}]", entry(number))
            });
            vec![File::new("baseline.json", text), File::new("input.jsonl", beside("x", "1"))]
        }),
    ]
}

/// Many files, with `size` bytes in total.
fn many(size: usize, extension: &str, content: impl Fn(usize) -> String) -> Vec<File> {
    let each = content(1000).len();
    (0..size / each)
        .map(|number| File::new(format!("{}/{number}.{extension}", number / 100), content(number)))
        .collect()
}

fn packed(name: &str, text: &str) -> File {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(text.as_bytes()).expect("memory can be written");
    File { name: name.to_owned(), bytes: packer.finish().expect("memory can be written"), read: text.len() }
}
