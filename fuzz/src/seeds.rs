//! The seeds for fuzzing, made from other files of the project: `cargo xtask fuzz-corpus` writes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toolcheck_core::target;

/// The maximum size of a seed: larger ones slow fuzzing down without covering more code.
const LARGEST: u64 = 40 << 10;

/// The first byte of a log of exchanges that is used unchanged; other inputs generate one.
pub const UNCHANGED: u8 = b'!';

/// Makes the seeds of a target from the project's directory, in the same order on every machine.
type Make = fn(&Path) -> io::Result<Vec<Vec<u8>>>;

/// The fuzz targets, with the functions that make their seeds.
pub static ALL: [(&str, Make); 5] =
    [("json", cases), ("lint", lint), ("exchanges", exchanges), ("explain", explain), ("config", config)];

/// The cases of the corpus.
fn cases(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let is_case = |name: &str| {
        [".json", ".jsonl", ".ndjson"].iter().any(|end| name.ends_with(end))
            && !name.ends_with(".expect.json")
    };
    files(&root.join("fixtures"), is_case)
}

fn lint(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    Ok(cases(root)?.into_iter().enumerate().map(with_choices).collect())
}

/// Prepends to a case the bytes that choose its format (detected for most of them), its target and its kind.
fn with_choices((number, case): (usize, Vec<u8>)) -> Vec<u8> {
    let format = if number % 4 == 0 { number / 4 % 16 } else { 0 };
    let choices = [format, number % 53, number / 53 % 3].map(|choice| choice as u8);
    [&choices[..], &case].concat()
}

/// The logs of the corpus, and inputs that generate conversations, some of them with changes.
fn exchanges(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds: Vec<Vec<u8>> = cases(root)?;
    seeds.retain(|case| case.windows(9).any(|bytes| bytes == b"\"request\""));
    seeds.iter_mut().for_each(|case| case.insert(0, UNCHANGED));
    // Pseudo-random bytes, the same each time.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    for number in 0..64_u8 {
        let mut seed = vec![number % 8, number / 8 % 5];
        seed.extend((0..64).map(|_| byte()));
        seeds.push(seed);
    }
    Ok(seeds)
}

/// The error texts of the targets, some of them in an envelope.
fn explain(_root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let refusals = target::all().flat_map(|target| &target.refusals).filter(|refusal| !refusal.is_inherited);
    let texts = refusals.filter_map(|refusal| refusal.text.as_deref());
    let texts = texts.map(|text| text.replace("{index}", "3").replace(['{', '}'], ""));
    let envelope =
        |text: String| format!("Error code: 400 - {{'error': {{'message': \"{text}\", 'type': 'x'}}}}");
    let seeds = texts.enumerate().map(|(number, text)| if number % 5 == 0 { envelope(text) } else { text });
    Ok(seeds.map(String::into_bytes).collect())
}

/// Files that users write, after the byte that chooses their kind.
fn config(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let of = |kind: u8, texts: Vec<Vec<u8>>| texts.into_iter().map(move |text| [&[kind][..], &text].concat());
    let is_toml = |name: &str| name.ends_with(".toml");
    let owned = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    let mut seeds: Vec<Vec<u8>> = of(0, files(&root.join("fixtures/policies"), is_toml)?).collect();
    let page = fs::read_to_string(root.join("docs/configuration.md"))?;
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    seeds.extend(of(0, owned(&examples)));
    seeds.extend(of(1, owned(&SCHEMAS)));
    seeds.extend(of(2, files(&root.join("crates/toolcheck-core/targets"), is_toml)?));
    seeds.extend(of(3, owned(&[BASELINE])));
    seeds.extend(of(4, owned(&PROJECTS)));
    Ok(seeds)
}

const SCHEMAS: [&str; 4] = [
    "required = [\"path\"]\nproperties.path.pattern = '^(a+)+$'\n",
    "\"$ref\" = \"#/$defs/one\"\n[policy.schema.\"$defs\".one]\n\"$ref\" = \"#/$defs/two\"\n[policy.schema.\"$defs\".two]\ntype = \"object\"\n",
    "\"$ref\" = \"https://example.com/schema.json\"\n",
    "anyOf = [{type = \"object\", maxProperties = 1}, {const = 1.5}]\nnot.properties.days.items.multipleOf = 0.1\n",
];

const BASELINE: &str = r#"{"version": 1, "files": {"logs/a.json": [
  {"rule": "blank-text", "message": "blank", "fingerprint": "0123456789abcdef"}]}}"#;

const PROJECTS: [&str; 2] = [
    "[tool.toolcheck]\nselect = [\"duplicate-key\"]\n",
    "[package]\nname = \"a\"\n[package.metadata.toolcheck]\nignore = [\"blank-text\"]\n",
];

/// The small files in a folder and its subfolders whose names match, sorted by path.
fn files(folder: &Path, is_wanted: impl Fn(&str) -> bool + Copy) -> io::Result<Vec<Vec<u8>>> {
    let mut open = vec![folder.to_owned()];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if is_wanted(&entry.file_name().to_string_lossy()) && entry.metadata()?.len() <= LARGEST {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(fs::read).collect()
}
