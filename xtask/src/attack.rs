//! `cargo xtask attack [N]`: runs the program over N generated files, in batches, with all outputs.
//!
//! Most are damaged cases of the corpus; the others are structures that no one writes. The exit status must be 0, 1 or 2,
//! nothing may panic, and what is written as JSON must be JSON. The files are the same in each run.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value as Json;

use crate::fuzz_corpus::seeds;
use crate::{dist, root};

/// The number of files without an argument.
const USUAL: usize = 10_000;
/// The number of files of a batch.
const BATCH: usize = 100;
/// The outputs of a batch that go to files. Another one goes to the standard output.
const OUTPUTS: [&str; 9] =
    ["agent", "full", "github", "gitlab", "grouped", "json", "jsonl", "junit", "sarif"];

/// Attacks the program with as many files as the argument says.
pub(crate) fn run(number: Option<&str>) -> Result<()> {
    let number: usize = number.map_or(Ok(USUAL), str::parse).context("N is a number of files")?;
    let program = dist()?;
    let make = seeds::ALL.iter().find(|(name, _)| *name == "json").context("there are seeds")?.1;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let seeds = make(&root())?;
    let folder = root().join("target/attack");
    let mut statuses = [0_usize; 3];
    let (mut files, mut findings) = (0, 0);
    for batch in 0..number.div_ceil(BATCH) {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("in"))?;
        for file in 0..BATCH.min(number - files) {
            let bytes = generated(&seeds, &mut random);
            let extension = if random.below(3) == 0 { "jsonl" } else { "json" };
            fs::write(folder.join(format!("in/{file:03}.{extension}")), bytes)?;
        }
        let (status, found) = attack(&program, &folder, batch)
            .with_context(|| format!("batch {batch}, whose files are in {}", folder.display()))?;
        statuses[status] += 1;
        findings += found;
        files += BATCH.min(number - files);
        if batch % 50 == 49 {
            println!("{files} files, {findings} findings");
        }
    }
    let [clean, found, trouble] = statuses;
    println!(
        "{files} files in {} runs, {findings} findings; exit status 0: {clean}, 1: {found}, 2: {trouble}",
        clean + found + trouble
    );
    Ok(())
}

/// Runs the program over the files of a folder, and returns its exit status and the number of findings.
fn attack(program: &Path, folder: &Path, batch: usize) -> Result<(usize, usize)> {
    let outputs = OUTPUTS.map(|id| format!("{id}={id}.out")).join(",");
    let kind = ["request", "session", "dataset"][batch % 3];
    let target = if batch.is_multiple_of(5) { "bedrock" } else { "anthropic" };
    let mut command = Command::new(program);
    command.current_dir(folder).args(["lint", "in", "--isolated", "--verbose", "--excerpt", "--kind", kind]);
    command.args(["--output-format", &format!("{outputs},concise")]);
    // The format's own provider, most of the time.
    if batch % 4 == 3 {
        command.args(["--target", target]);
    }
    let output = command.output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let status = match output.status.code() {
        Some(status @ 0..=2) => status as usize,
        _ => bail!("{}: {errors}", output.status),
    };
    ensure!(!errors.contains("panicked"), "{errors}");
    let mut found = 0;
    for id in OUTPUTS {
        let text = fs::read(folder.join(format!("{id}.out")))?;
        let text = std::str::from_utf8(&text).with_context(|| format!("{id} is no text"))?;
        match id {
            "jsonl" => {
                for line in text.lines() {
                    serde_json::from_str::<Json>(line).with_context(|| format!("{id}: {line}"))?;
                    found += 1;
                }
            }
            "json" | "sarif" | "gitlab" => {
                serde_json::from_str::<Json>(text).with_context(|| id.to_owned())?;
            }
            _ => {}
        }
        let hidden = text.chars().find(|character| character.is_control() && *character != '\n');
        ensure!(hidden.is_none(), "{id} has a control character: {hidden:?}");
    }
    ensure!(!errors.contains('\u{1b}') && !output.stdout.contains(&0x1b), "a terminal sequence is printed");
    Ok((status, found))
}

/// Numbers that look random, and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit.max(1)
    }

    fn one_of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }
}

/// The bytes of a file.
fn generated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    match random.below(10) {
        0 => structure(random, 0).into_bytes(),
        1 => {
            let (one, other) = (random.one_of(seeds).clone(), random.one_of(seeds).clone());
            let between = *random.one_of::<&str>(&["\n", "", "\n\n", ",", "\u{1e}"]);
            [&one[..], between.as_bytes(), &other].concat()
        }
        2 => {
            // One case per line.
            let lines = (0..random.below(6) + 2).map(|_| {
                let case: Option<Json> = serde_json::from_slice(random.one_of::<Vec<u8>>(seeds)).ok();
                case.map_or_else(|| structure(random, 0), |case| case.to_string()) + "\n"
            });
            lines.collect::<String>().into_bytes()
        }
        3 | 4 => {
            let mut bytes = random.one_of(seeds).clone();
            bytes.truncate(random.below(bytes.len()));
            bytes
        }
        5 | 6 => {
            let Ok(mut case) = serde_json::from_slice::<Json>(random.one_of::<Vec<u8>>(seeds)) else {
                return structure(random, 0).into_bytes();
            };
            for _ in 0..random.below(4) + 1 {
                change(&mut case, random);
            }
            case.to_string().into_bytes()
        }
        _ => {
            let mut bytes = random.one_of(seeds).clone();
            for _ in 0..random.below(8) + 1 {
                damage(&mut bytes, random);
            }
            bytes
        }
    }
}

/// What breaks readers: numbers, signs, names that mean something to a terminal, a runner or a page.
const HOSTILE: [&str; 22] = [
    "\u{1b}[31m",
    "\u{1b}]0;x\u{7}",
    "\n::error::x",
    "##vso[task.x]y",
    "##[set-output name=a]b",
    "\r",
    "\u{0}",
    "\u{202e}",
    "\u{2028}",
    "\u{feff}",
    "\u{e0041}",
    "\u{ffff}",
    "<script>",
    "](javascript:x)",
    "`",
    "|",
    "&amp;",
    "]]>",
    "%0A",
    "\\",
    "\"",
    "\u{1f468}\u{200d}\u{1f469}",
];

/// Values that are seldom met where they are put.
fn value(random: &mut Random) -> Json {
    let numbers = ["1e400", "-0", "123456789012345678901234567890", "0.1", "-1", "4294967296"];
    match random.below(8) {
        0 => Json::Null,
        1 => Json::Bool(true),
        2 => serde_json::from_str(random.one_of::<&str>(&numbers)).unwrap_or(Json::Null),
        3 => Json::Array(Vec::new()),
        4 => serde_json::json!({}),
        5 => Json::String(String::new()),
        6 => Json::String((0..random.below(5) + 1).map(|_| *random.one_of(&HOSTILE)).collect()),
        _ => Json::String("long ".repeat(random.below(2000))),
    }
}

/// Changes one value somewhere in a document.
fn change(json: &mut Json, random: &mut Random) {
    let goes_deeper = random.below(8) > 0;
    match json {
        Json::Array(items) if goes_deeper && !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(8) {
                0 => items.push(items[at].clone()),
                1 => drop(items.remove(at)),
                2 => {
                    let other = random.below(items.len());
                    items.swap(at, other);
                }
                _ => change(&mut items[at], random),
            }
        }
        Json::Object(members) if goes_deeper && !members.is_empty() => {
            let at = random.below(members.len());
            let Some(key) = members.keys().nth(at).cloned() else { return };
            match random.below(8) {
                0 => drop(members.remove(&key)),
                1 => {
                    let moved = members.remove(&key).unwrap_or_default();
                    members.insert(key + random.one_of::<&str>(&HOSTILE), moved);
                }
                2 => {
                    drop(members.insert(
                        (*random.one_of(&["role", "type", "id", "content"])).to_owned(),
                        value(random),
                    ))
                }
                _ => members.get_mut(&key).into_iter().for_each(|inner| change(inner, random)),
            }
        }
        _ => *json = value(random),
    }
}

/// Damages bytes at one place.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let signs: [&[u8]; 14] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b",",
        b":",
        b"\\",
        b"\n",
        b"\xff",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"//",
        b"\0",
    ];
    let (one, other) = (random.below(bytes.len()), random.below(bytes.len()));
    let (from, to) = (one.min(other), one.max(other).min(one.min(other) + 200));
    match random.below(6) {
        0 => drop(bytes.drain(from..to)),
        1 => {
            let part = bytes[from..to].to_vec();
            drop(bytes.splice(other..other, part));
        }
        2 => bytes[from..to].iter_mut().step_by(31).for_each(|byte| *byte ^= 1 << (from % 8)),
        3 => {
            let sign = random.one_of(&signs).repeat(1 << random.below(8));
            drop(bytes.splice(from..from, sign));
        }
        4 => {
            let text = random.one_of(&HOSTILE).as_bytes().to_vec();
            drop(bytes.splice(from..from, text));
        }
        _ => bytes.insert(from, random.below(256) as u8),
    }
}

/// A document that is made of known keys in no known way.
fn structure(random: &mut Random, depth: usize) -> String {
    const KEYS: [&str; 24] = [
        "messages",
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "id",
        "function",
        "name",
        "arguments",
        "tools",
        "input",
        "contents",
        "parts",
        "functionCall",
        "toolUse",
        "tool_call_id",
        "request",
        "response",
        "model",
        "parameters",
        "properties",
        "items",
        "$ref",
    ];
    const WORDS: [&str; 12] = [
        "\"user\"",
        "\"assistant\"",
        "\"tool\"",
        "\"text\"",
        "\"tool_use\"",
        "\"function\"",
        "\"{}\"",
        "\"#\"",
        "1",
        "null",
        "\"function_call\"",
        "\"<tool_call>{\"",
    ];
    let count = random.below(6);
    match random.below(if depth > 12 { 2 } else { 9 }) {
        0 => (*random.one_of(&WORDS)).to_owned(),
        1 => value(random).to_string(),
        2 if depth == 0 => {
            let deep = 1 << random.below(15);
            format!(
                "{}{}",
                random.one_of(&["[", "{\"a\":", "[{\"content\":"]).repeat(deep),
                "]".repeat(random.below(deep))
            )
        }
        2..=4 => {
            let items: Vec<String> = (0..count).map(|_| structure(random, depth + 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            let members: Vec<String> = (0..count)
                .map(|_| format!("\"{}\":{}", random.one_of(&KEYS), structure(random, depth + 1)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}
