//! Many files, archives, and all that is read beside transcripts.

use std::io::Write as _;

use super::lines::unanswered;
use super::{File, Run, Shape, beside, call, calling, list, messages};

pub fn all() -> Vec<Shape> {
    let mut all = files();
    all.extend(baselines());
    all.extend(settings());
    all
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
        Shape::of_files("a list of files", |size| {
            let names = list(size, "", "\n", "\n", |_| "input.json".to_owned());
            vec![File::new("list.txt", names), File::new("input.json", unanswered("c"))]
        }),
        Shape::of_files("a list of files that are missing", |size| {
            let names = list(size, "", "\n", "\n", |number| format!("missing-{number}.json"));
            vec![File::new("list.txt", names), File::new("input.json", unanswered("c"))]
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
        Shape::of_files("a baseline to write", |size| {
            let lines = list(size, "", "\n", "\n", |number| unanswered(&format!("c{number}")));
            vec![File::new("input.jsonl", lines)]
        })
        .run(Run::WriteBaseline),
        Shape::of_files("a baseline to write for one document", |size| {
            vec![File::new(
                "input.json",
                messages(size, |number| calling(&call(&format!("c{number}"), "f", "{}"))),
            )]
        })
        .run(Run::WriteBaseline),
        Shape::of_files("allowed findings", |size| {
            let allows = list(size / 2, "", "\n", "\n", |number| {
                format!("[[allow]]\nrule = \"unanswered-tool-call\"\ntool = \"t{number}\"\nreason = \"r\"")
            });
            let calls = messages(size / 2, |number| calling(&call(&format!("c{number}"), "f", "{}")));
            vec![File::new("toolcheck.toml", allows), File::new("input.json", calls)]
        }),
        Shape::of_files("expectations", |size| {
            let expected = list(size / 2, "{\"findings\": [\n", ",\n", "\n]}\n", |number| {
                format!(
                    "{{\"rule\": \"unanswered-tool-call\", \"pointer\": \"/messages/{number}/tool_calls/0\"}}"
                )
            });
            let calls = messages(size / 2, |number| calling(&call(&format!("c{number}"), "f", "{}")));
            vec![File::new("input.json", calls), File::new("input.expect.json", expected)]
        })
        .run(Run::Test),
    ]
}

/// Configurations and targets.
fn settings() -> Vec<Shape> {
    let with = |name: &'static str, make: fn(usize) -> String| {
        Shape::of_files(name, move |size| {
            vec![File::new("toolcheck.toml", make(size)), File::new("input.json", unanswered("c"))]
        })
    };
    let target = |name: &'static str, make: fn(usize) -> String| {
        Shape::of_files(name, move |size| {
            let head = "id = \"own\"\nname = \"Own\"\nextends = \"openai-chat\"\n";
            vec![
                File::new("target.toml", format!("{head}{}", make(size))),
                File::new("input.json", unanswered("c")),
            ]
        })
    };
    vec![
        with("a configuration with many excludes", |size| {
            list(size, "exclude = [", ",", "]\n", |number| format!("\"folder/{number}/**\""))
        }),
        with("a configuration with one long pattern", |size| {
            format!("exclude = [\"{}\"]\n", "**/a*".repeat(size / 5))
        }),
        with("a configuration with many tables of files", |size| {
            list(size, "", "\n", "\n", |number| {
                format!("[[files]]\npaths = [\"{number}\"]\nkind = \"session\"")
            })
        }),
        with("a configuration with unknown keys", |size| {
            list(size, "", "\n", "\n", |number| format!("key{number} = 1"))
        }),
        with("a configuration with unknown rules", |size| {
            list(size, "ignore = [", ",", "]\n", |number| format!("\"rule{number}\""))
        }),
        with("a configuration that is not TOML", |size| "= = =\n".repeat(size / 6)).holds(160),
        with("a configuration with tables in each other", |size| {
            format!("a = {}1{}\n", "{b=".repeat(size / 4), "}".repeat(size / 4))
        }),
        with("a configuration with a long comment", |size| format!("# {}\n", "comment ".repeat(size / 8))),
        with("a configuration with many invalid values", |size| {
            list(size, "", "\n", "\n", |_| {
                "[[allow]]\nrule = \"x\"\npointer = \"a\"\nreason = \"\"".to_owned()
            })
        }),
        target("a target with many refusals", |size| {
            list(size, "", "\n", "\n", |number| {
                format!(
                    "[[refusal]]\nrule = \"unanswered-tool-call\"\nstatus = 400\ntext = \"no result for {{id}} {number}\"\nevidence = \"specified\"\nsources = [\"https://example.com\"]\nseen = \"2026\""
                )
            })
        }),
        target("a target with many facts", |size| {
            list(size, "", "\n", "\n", |number| {
                format!(
                    "[[shape.fact]]\nobject = \"message.user\"\nfields = [\"k{number}\"]\nfault = \"unknown\"\nabsent = true\nevidence = \"reported\"\nsources = [\"https://example.com\"]\nseen = \"2026\""
                )
            })
        }),
        target("a target with unknown objects", |size| {
            list(size, "", "\n", "\n", |number| {
                format!("[shape.objects.x{number}]\nfields.a = {{types = [\"string\"]}}")
            })
        }),
        Shape::of_files("tools that are none", |size| {
            vec![
                File::new("tools.json", list(size, "[", ",", "]", |number| number.to_string())),
                File::new("input.json", unanswered("c")),
            ]
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
