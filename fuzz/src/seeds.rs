//! The seeds for fuzzing, made from other files of the project: `cargo xtask fuzz-corpus` writes them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toolcheck_core::targets;

/// The maximum size of a seed: larger ones slow fuzzing down without covering more code.
const LARGEST: u64 = 40 << 10;

/// The first byte of an input that is used unchanged; others generate a log of exchanges, or a baseline.
pub const UNCHANGED: u8 = b'!';

/// Makes the seeds of a target from the project's directory, in the same order on every machine.
type Make = fn(&Path) -> io::Result<Vec<Vec<u8>>>;

/// The fuzz targets, with the functions that make their seeds.
pub static ALL: [(&str, Make); 15] = [
    ("json", cases),
    ("lint", lint),
    ("exchanges", exchanges),
    ("explain", explain),
    ("config", config),
    ("schemas", schemas),
    ("target", own_targets),
    ("baseline", baselines),
    ("expectation", expectations),
    ("tools", tools),
    ("archive", archives),
    ("containers", containers),
    ("fix", fix),
    ("diff", diff),
    ("body", bodies),
];

fn cases(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let is_case = |name: &str| {
        [".json", ".jsonl", ".ndjson"].iter().any(|end| name.ends_with(end))
            && !name.ends_with(".expect.json")
    };
    files(&root.join("fixtures"), is_case)
}

/// The recordings of the corpus, after the byte that chooses how they are opened: by their content, or as one kind.
fn containers(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for (number, container) in toolcheck_open::ALL.iter().enumerate() {
        let folder = root.join("fixtures").join(container.id);
        // The corpus has no tables: not every program reads them.
        if matches!(container.id, "parquet" | "sqlite") {
            continue;
        }
        for file in files(&folder, |name| !name.ends_with(".expect.json"))? {
            let kinds = [toolcheck_open::ALL.len(), number];
            seeds.extend(kinds.map(|kind| [&[kind as u8][..], &file].concat()));
        }
    }
    Ok(seeds)
}

fn lint(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    Ok(cases(root)?.into_iter().enumerate().map(with_choices).collect())
}

/// The cases of the corpus, after the bytes that choose the target and what fixes may do.
fn fix(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let with_choices = |(number, case): (usize, Vec<u8>)| {
        let choices = [0, number % 53, number % 4 * 64].map(|choice| choice as u8);
        [&choices[..], &case].concat()
    };
    Ok(cases(root)?.into_iter().enumerate().map(with_choices).collect())
}

/// The cases of the corpus and bodies that are no request, after the bytes that choose the API and the encoding.
fn bodies(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let with_choices =
        |(number, case): (usize, Vec<u8>)| [&[number as u8 % 8, number as u8 % 7][..], &case].concat();
    Ok(cases(root)?.into_iter().chain(written("no-requests")).enumerate().map(with_choices).collect())
}

/// The cases of the corpus, each with the next one, which often is its fixed version, or with one in another format.
fn diff(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let cases = cases(root)?;
    let pairs = cases.iter().enumerate().map(|(number, case)| {
        let other = if number % 3 == 0 { number * 7 } else { number + 1 };
        let choices = [64, 64, number % 24].map(|choice| choice as u8);
        [&choices[..], case, &[0], &cases[other % cases.len()]].concat()
    });
    Ok(pairs.collect())
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
    let refusals = targets::all().flat_map(targets::Target::refusals).filter(|refusal| !refusal.is_inherited);
    let texts = refusals.filter_map(|refusal| refusal.text.as_deref());
    let texts = texts.map(|text| text.replace("{index}", "3").replace(['{', '}'], ""));
    let envelope =
        |text: String| format!("Error code: 400 - {{'error': {{'message': \"{text}\", 'type': 'x'}}}}");
    let seeds = texts.enumerate().map(|(number, text)| if number % 5 == 0 { envelope(text) } else { text });
    Ok(seeds.map(String::into_bytes).collect())
}

/// Configurations and policies, after the byte that chooses their kind.
fn config(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let of = |kind: u8, texts: Vec<Vec<u8>>| texts.into_iter().map(move |text| [&[kind][..], &text].concat());
    let is_toml = |name: &str| name.ends_with(".toml");
    let mut seeds: Vec<Vec<u8>> = of(0, files(&root.join("fixtures/policies"), is_toml)?).collect();
    seeds.extend(of(0, examples(root, "docs/configuration.md")?));
    seeds.extend(of(1, written("schemas")));
    seeds.extend(of(2, written("projects")));
    Ok(seeds)
}

fn examples(root: &Path, page: &str) -> io::Result<Vec<Vec<u8>>> {
    let page = fs::read_to_string(root.join(page))?;
    let examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    Ok(examples.map(|example| example.as_bytes().to_vec()).collect())
}

/// Schemas with arguments: small ones, and each with the arguments of the others.
fn schemas(_root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let (schemas, arguments) = (written("checked"), written("arguments"));
    let with_each = |schema: &Vec<u8>| {
        arguments.iter().map(|other| [schema, &[0][..], other].concat()).collect::<Vec<_>>()
    };
    Ok(schemas.iter().flat_map(with_each).collect())
}

/// The targets in the documentation and the built-in ones, some of which are no valid own ones, after the byte that
/// chooses the transcript.
fn own_targets(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = examples(root, "docs/own-target.md")?;
    seeds.extend(written("own-targets"));
    seeds.extend(files(&root.join("crates/toolcheck-core/targets"), |name| name.ends_with(".toml"))?);
    let numbered = seeds.into_iter().enumerate();
    Ok(numbered.map(|(number, text)| [&[number as u8 % 4][..], &text].concat()).collect())
}

/// Baselines, and cases to make some from.
fn baselines(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let written = written("baselines").into_iter().map(|text| [&[UNCHANGED], &*text].concat());
    Ok(written.chain(cases(root)?).collect())
}

/// The expectations of the corpus, each with its case, or, so that there is something to bless, with the next one's.
fn expectations(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let folder = root.join("fixtures");
    // In the order of their paths, an expectation is before its case.
    let of_case =
        |name: &str| name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".ndjson");
    let files = files(&folder, of_case)?;
    let is_expectation = |text: &&[u8]| text.windows(11).any(|bytes| bytes == b"\"findings\":");
    let texts: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let pairs = texts.windows(4).enumerate().filter(|(_, texts)| is_expectation(&texts[0]));
    let pairs = pairs.map(|(number, texts)| (texts[0], texts[if number % 4 < 2 { 1 } else { 3 }]));
    Ok(pairs.map(|(expectation, case)| [expectation, &[0], case].concat()).collect())
}

/// Files with tools: requests of the corpus, and lists.
fn tools(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = cases(root)?;
    let declares = |case: &[u8]| {
        ["\"tools\": [", "\"functions\": ["]
            .iter()
            .any(|key| case.windows(key.len()).any(|bytes| bytes == key.as_bytes()))
    };
    seeds.retain(|case| declares(case));
    seeds.extend(written("tools"));
    Ok(seeds)
}

/// Cases to compress, after the bytes that choose how, and how they are read; and compressed data.
fn archives(root: &Path) -> io::Result<Vec<Vec<u8>>> {
    let cases = cases(root)?.into_iter().enumerate();
    let seeds = cases.map(|(number, case)| {
        // Mostly with the largest limits.
        let limits = if number % 3 == 0 { number / 3 % 25 } else { 24 };
        [&[number as u8 % 7, limits as u8, number as u8][..], &case].concat()
    });
    let compressed = written("compressed").into_iter().map(|bytes| [&[0, 24, 3][..], &bytes].concat());
    Ok(seeds.chain(compressed).collect())
}

/// The seeds of a kind in `seeds.json`, in which each character stands for one byte.
pub fn written(kind: &str) -> Vec<Vec<u8>> {
    let mut all: BTreeMap<String, Vec<String>> =
        serde_json::from_str(include_str!("../seeds.json")).expect("it is JSON");
    let bytes = |text: String| text.chars().map(|one| one as u8).collect();
    all.remove(kind).into_iter().flatten().map(bytes).collect()
}

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
