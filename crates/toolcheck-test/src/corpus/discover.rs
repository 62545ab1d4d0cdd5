//! Finds the cases of a directory.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::Pattern;
use toolcheck_core::suggest::similar;
use toolcheck_core::text::{name_of, reason, shown};
use toolcheck_files::Identity;

use super::expectation::Expectation;

const ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "traj", "af"];
/// Those of case files in a folder that is named after a kind of file that holds requests, such as `vcr`.
const OPENED_ENDINGS: [&str; 8] = ["yaml", "yml", "har", "httprr", "sse", "txt", "log", "eval"];
const EXPECTATION: &str = ".expect.json";
/// The name of the folder whose subfolders contain one conversation each, in several formats.
const SAME: &str = "same";

/// The cases of a directory.
#[derive(Debug)]
pub struct Corpus {
    /// Its cases, by path.
    pub cases: Vec<Case>,
    /// Messages about folders that could not be read.
    pub troubles: Vec<String>,
}

/// A case of a corpus.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its path under the corpus' directory, with forward slashes.
    pub name: String,
    /// Its file, relative to the same directory as the corpus' path.
    pub path: PathBuf,
    /// Its canonical path: names of parent folders have a meaning, even if the corpus is `.`.
    pub(super) real: PathBuf,
    pub(super) role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    /// A case. If another case has the same expectation file, `shares_with` is that case.
    Case { shares_with: Option<String> },
    /// One of several files with the same conversation.
    Conversation,
    /// An expectation whose case was renamed or removed.
    Stale,
}

impl Corpus {
    /// Finds the cases of a directory. Hidden files and folders are skipped, and links to folders are not followed.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be read. If a folder in it cannot be read, `troubles` says so.
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
                    let name = below(&folder, &real);
                    troubles.push(format!(
                        "{}: {}",
                        shown(&name_of(name.as_os_str().as_encoded_bytes())),
                        reason(&error)
                    ));
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
                    // A link to a folder, which may form a cycle.
                } else if name.ends_with(EXPECTATION.as_bytes()) {
                    expectations.push(path);
                } else if path.extension().is_some_and(|ending| is_case(&path, ending)) {
                    files.push(path);
                }
            }
        }
        troubles.sort();
        let shown_in = if directory == Path::new(".") { Path::new("") } else { directory };
        let case = |path: PathBuf, role: Role| {
            let below = below(&path, &real);
            let names = below.components().map(|part| name_of(part.as_os_str().as_encoded_bytes()));
            let name = names.collect::<Vec<_>>().join("/");
            Case { name, path: shown_in.join(below), real: path, role }
        };
        files.sort();
        // The case of each expectation.
        let mut owners = HashMap::<PathBuf, String>::new();
        let mut cases = Vec::new();
        for path in files {
            let is_same = folder(&path).and_then(Path::parent).and_then(Path::file_name);
            if is_same == Some(OsStr::new(SAME)) {
                cases.push(case(path, Role::Conversation));
                continue;
            }
            let shares_with = owners.get(&expectation_of(&path)).cloned();
            let case = case(path, Role::Case { shares_with });
            owners.entry(expectation_of(&case.real)).or_insert_with(|| case.name.clone());
            cases.push(case);
        }
        let stale = expectations.into_iter().filter(|path| !owners.contains_key(path));
        cases.extend(stale.map(|path| case(path, Role::Stale)));
        cases.sort_by(|one, other| one.real.cmp(&other.real));
        Ok(Self { cases, troubles })
    }

    /// Whether a file is a case, an expectation, or a configuration that an expectation names, also by another name or
    /// through a link.
    pub fn holds(&self, file: &Path) -> bool {
        let file = Identity::of(file);
        let is_it = |path: &Path| Identity::of(path) == file;
        self.cases.iter().any(|case| {
            let beside = expectation_of(&case.real);
            let config = || {
                let text = toolcheck_files::read(&beside).and_then(toolcheck_files::text).ok()?;
                Some(case.real.with_file_name(Expectation::parse(&text).ok()?.config?))
            };
            is_it(&case.real) || is_it(&beside) || config().is_some_and(|path| is_it(&path))
        })
    }

    /// The cases that match one of the filters, or all cases without filters; and messages about invalid filters. A
    /// filter is a part of the case's name, or, with `*`, `?` or `[`, a glob that matches the whole name.
    pub fn select(&self, filters: &[String]) -> (Vec<&Case>, Vec<String>) {
        let mut troubles = Vec::new();
        let mut is_chosen = vec![filters.is_empty(); self.cases.len()];
        for filter in filters {
            let glob = match filter.contains(['*', '?', '[']).then(|| Pattern::new(filter)).transpose() {
                Ok(glob) => glob,
                Err(error) => {
                    troubles.push(format!("invalid glob `{}`: {error}", shown(filter)));
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
                troubles.push(format!("no case matches `{}`{}", shown(filter), shown(&similar.to_string())));
            }
        }
        let chosen = self.cases.iter().zip(is_chosen).filter(|(_, is_chosen)| *is_chosen);
        (chosen.map(|(case, _)| case).collect(), troubles)
    }
}

impl Case {
    pub(super) fn folder_name(&self) -> Option<&str> {
        folder(&self.real)?.file_name()?.to_str()
    }
}

fn is_case(path: &Path, ending: &OsStr) -> bool {
    let is_opened = || {
        let name = folder(path).and_then(Path::file_name).and_then(OsStr::to_str);
        name.is_some_and(|name| toolcheck_open::find(name).is_some())
    };
    let is_one_of = |endings: &[&str]| endings.iter().any(|known| ending == *known);
    is_one_of(&ENDINGS) || is_one_of(&OPENED_ENDINGS) && is_opened()
}

pub(super) fn expectation_of(case: &Path) -> PathBuf {
    case.with_extension(&EXPECTATION[1..])
}

pub(super) fn folder(path: &Path) -> Option<&Path> {
    path.parent()
}

fn below<'p>(path: &'p Path, directory: &Path) -> &'p Path {
    path.strip_prefix(directory).unwrap_or(path)
}
