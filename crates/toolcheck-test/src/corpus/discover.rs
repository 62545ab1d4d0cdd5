//! Which cases a directory holds.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::Pattern;
use toolcheck_core::suggest::similar;
use toolcheck_core::text::shown;

/// How cases' files end.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];
/// How expectations' files end.
const EXPECTATION: &str = ".expect.json";
/// The folder whose folders hold one conversation each, in several formats.
const SAME: &str = "same";

/// The cases of a directory.
#[derive(Debug)]
pub struct Corpus {
    /// Its cases, by path.
    pub cases: Vec<Case>,
    /// What of the directory could not be read.
    pub troubles: Vec<String>,
}

/// A case of a corpus.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its path under the corpus' directory, with forward slashes.
    pub name: String,
    /// Its file, as it is reached from where the corpus' directory was named.
    pub path: PathBuf,
    /// The names of the folders above count, also where the corpus is `.`.
    pub(super) real: PathBuf,
    pub(super) what: What,
}

/// What a file of a corpus is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A case with its expectation beside it, which another case may have too.
    Case { shares_with: Option<String> },
    /// One of several writings of a conversation.
    Conversation,
    /// An expectation whose case was renamed or removed.
    Stale,
}

impl Corpus {
    /// Finds the cases of a directory. Hidden files and folders are none, and links to folders are not followed.
    ///
    /// # Errors
    ///
    /// Where the directory cannot be read. A folder in it that cannot be read is a trouble of the corpus.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let real = directory.canonicalize()?;
        let (mut files, mut expectations) = (Vec::new(), Vec::new());
        let mut troubles = Vec::new();
        let mut open = vec![real.clone()];
        while let Some(folder) = open.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if folder == real => return Err(error),
                Err(error) => {
                    troubles.push(format!("{}: {error}", shown(&below(&folder, &real).to_string_lossy())));
                    continue;
                }
            };
            for entry in entries.flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.as_encoded_bytes();
                let Ok(kind) = entry.file_type() else { continue };
                if name.starts_with(b".") {
                    continue;
                }
                if kind.is_dir() {
                    open.push(path);
                } else if path.is_dir() {
                    // A link to a folder, which may lead back to where it stands.
                } else if name.ends_with(EXPECTATION.as_bytes()) {
                    expectations.push(path);
                } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
                {
                    files.push(path);
                }
            }
        }
        troubles.sort();
        let shown_in = if directory == Path::new(".") { Path::new("") } else { directory };
        let case = |path: PathBuf, what: What| {
            let below = below(&path, &real);
            let names = below.components().map(|part| part.as_os_str().to_string_lossy());
            let name = names.collect::<Vec<_>>().join("/");
            Case { name, path: shown_in.join(below), real: path, what }
        };
        files.sort();
        // Whose an expectation is.
        let mut owners = HashMap::<PathBuf, String>::new();
        let mut cases = Vec::new();
        for path in files {
            let is_same = folder(&path).and_then(Path::parent).and_then(Path::file_name);
            if is_same == Some(OsStr::new(SAME)) {
                cases.push(case(path, What::Conversation));
                continue;
            }
            let shares_with = owners.get(&expectation_of(&path)).cloned();
            let case = case(path, What::Case { shares_with });
            owners.entry(expectation_of(&case.real)).or_insert_with(|| case.name.clone());
            cases.push(case);
        }
        let stale = expectations.into_iter().filter(|path| !owners.contains_key(path));
        cases.extend(stale.map(|path| case(path, What::Stale)));
        cases.sort_by(|one, other| one.real.cmp(&other.real));
        Ok(Self { cases, troubles })
    }

    /// Whether a file is a case or an expectation of it, by its one name ([`Path::canonicalize`]).
    #[must_use]
    pub fn holds(&self, file: &Path) -> bool {
        self.cases.iter().any(|case| case.real == file || expectation_of(&case.real) == file)
    }

    /// The cases that one of the filters is for, or all where there is no filter; and what is wrong with filters. A
    /// filter is a part of the case's name, or, with `*`, `?` or `[`, a glob for all of it.
    #[must_use]
    pub fn select(&self, filters: &[String]) -> (Vec<&Case>, Vec<String>) {
        let mut troubles = Vec::new();
        let mut is_chosen = vec![filters.is_empty(); self.cases.len()];
        for filter in filters {
            let glob = match filter.contains(['*', '?', '[']).then(|| Pattern::new(filter)).transpose() {
                Ok(glob) => glob,
                Err(error) => {
                    troubles.push(format!("`{}` is no glob: {error}", shown(filter)));
                    continue;
                }
            };
            let mut matches = 0;
            for (case, is_chosen) in self.cases.iter().zip(&mut is_chosen) {
                let name = &case.name;
                if glob.as_ref().map_or_else(|| name.contains(&**filter), |glob| glob.matches(name)) {
                    *is_chosen = true;
                    matches += 1;
                }
            }
            if matches == 0 {
                let names = self.cases.iter().flat_map(|case| {
                    let file = case.name.rsplit('/').next().unwrap_or_default();
                    [&*case.name, file, file.split('.').next().unwrap_or_default()]
                });
                let similar = similar(filter, names);
                troubles.push(format!(
                    "no case is named like `{}`{}",
                    shown(filter),
                    shown(&similar.to_string())
                ));
            }
        }
        let chosen = self.cases.iter().zip(is_chosen).filter(|(_, is_chosen)| *is_chosen);
        (chosen.map(|(case, _)| case).collect(), troubles)
    }
}

impl Case {
    /// The name of the folder that it stands in.
    pub(super) fn folder_name(&self) -> Option<&str> {
        folder(&self.real)?.file_name()?.to_str()
    }
}

/// The file that a case's expectation is in.
pub(super) fn expectation_of(case: &Path) -> PathBuf {
    case.with_extension(&EXPECTATION[1..])
}

pub(super) fn folder(path: &Path) -> Option<&Path> {
    path.parent()
}

fn below<'p>(path: &'p Path, directory: &Path) -> &'p Path {
    path.strip_prefix(directory).unwrap_or(path)
}
