//! Which files are meant: paths, directories, globs and the standard input.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How files of transcripts end. A directory is searched for them.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// One input of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// The standard input.
    Stdin,
    /// A file that was named, or that a glob matched.
    Named(PathBuf),
    /// A file that was found in a directory: it may be something else than a transcript.
    Found(PathBuf),
}

/// The inputs that the arguments name, each once, and what is wrong with the arguments.
pub(crate) fn collect(arguments: &[String]) -> (Vec<Input>, Vec<String>) {
    let (mut inputs, mut troubles) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    let mut add = |input: Input| {
        let key = match &input {
            Input::Stdin => PathBuf::from("-"),
            Input::Named(path) | Input::Found(path) => path.clone(),
        };
        if seen.insert(key) {
            inputs.push(input);
        }
    };
    for argument in arguments {
        let path = Path::new(argument);
        if argument == "-" {
            add(Input::Stdin);
        } else if path.is_dir() {
            let before = troubles.len();
            let mut found = Vec::new();
            walk(path, &mut found, &mut troubles);
            if found.is_empty() && troubles.len() == before {
                troubles.push(format!("no .json, .jsonl or .ndjson file in {argument}"));
            }
            found.into_iter().map(Input::Found).for_each(&mut add);
        } else if path.exists() || !is_glob(argument) {
            add(Input::Named(path.to_owned()));
        } else {
            match glob::glob(argument) {
                Ok(matches) => {
                    let mut any = false;
                    for entry in matches {
                        any = true;
                        match entry {
                            Ok(path) if path.is_file() => add(Input::Named(path)),
                            Ok(_) => {}
                            Err(error) => troubles.push(error.to_string()),
                        }
                    }
                    if !any {
                        troubles.push(format!("no file matches {argument}"));
                    }
                }
                Err(error) => troubles.push(format!("{argument} is no glob: {error}")),
            }
        }
    }
    (inputs, troubles)
}

fn is_glob(argument: &str) -> bool {
    argument.contains(['*', '?', '['])
}

/// The transcripts' files under a directory, by name. Hidden entries and links are left out, so there are no loops.
fn walk(directory: &Path, found: &mut Vec<PathBuf>, troubles: &mut Vec<String>) {
    let mut open = vec![directory.to_owned()];
    let first = found.len();
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                troubles.push(format!("{}: {error}", directory.display()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let ending = path.extension().and_then(|ending| ending.to_str());
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
                found.push(path);
            }
        }
    }
    found[first..].sort();
}

/// Reads an input.
pub(crate) fn read(input: &Input) -> io::Result<Vec<u8>> {
    match input {
        Input::Stdin => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            Ok(bytes)
        }
        Input::Named(path) | Input::Found(path) => fs::read(path),
    }
}
