//! The files that a glob matches.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use glob::{Pattern, PatternError};
use ignore::WalkBuilder;
use toolcheck_core::text::reason;

use super::message_of;
use crate::paths::{printable, real};

/// The paths that a glob matches, sorted, and the messages about folders that can't be read.
#[derive(Debug, Default)]
pub(super) struct Matches {
    pub(super) paths: Vec<PathBuf>,
    pub(super) errors: Vec<String>,
}

pub(super) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The part of a glob before its first wildcard, which names one folder.
pub(super) fn base(pattern: &str) -> &Path {
    let mut base = Path::new("");
    for folder in Path::new(pattern).ancestors().collect::<Vec<_>>().into_iter().rev() {
        if folder.to_str().is_some_and(is_glob) {
            break;
        }
        base = folder;
    }
    base
}

/// Finds what a glob matches, one part of it after the other. As in a shell, a part such as `*` also matches a link to
/// a folder, but `**` follows no links. Each folder is searched once for each part, so that links that lead back to
/// each other don't matter. Fails if the pattern is invalid.
pub(super) fn matches(pattern: &str) -> Result<Matches, PatternError> {
    Pattern::new(pattern)?;
    let mut found = Matches { paths: vec![PathBuf::new()], errors: Vec::new() };
    let mut parts = Path::new(pattern).components().peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let name = match part {
            Component::Normal(name) => name.to_str().unwrap_or_default(),
            _ => "",
        };
        let before = std::mem::take(&mut found.paths);
        if name == "**" {
            found.descend(&before, is_last);
        } else if is_glob(name) {
            let name = Pattern::new(name)?;
            found.list(&before, |entry| name.matches(entry));
        } else {
            found.paths = before.into_iter().map(|folder| folder.join(part)).collect();
        }
        let mut seen = HashSet::new();
        // The end may be any file, and before it there must be a folder.
        found.paths.retain(|path| {
            if is_last {
                path.symlink_metadata().is_ok()
            } else {
                here(path).is_dir() && seen.insert(real(path))
            }
        });
    }
    found.paths.sort();
    Ok(found)
}

impl Matches {
    /// Adds the folders themselves and all below them; files too, if the glob ends here.
    fn descend(&mut self, folders: &[PathBuf], is_last: bool) {
        for folder in folders {
            let mut walk = WalkBuilder::new(here(folder));
            walk.standard_filters(false).follow_links(false).sort_by_file_name(Ord::cmp);
            for entry in walk.build() {
                match entry {
                    Ok(entry)
                        if is_last
                            || entry.file_type().is_some_and(|kind| kind.is_dir())
                            || entry.depth() == 0 =>
                    {
                        let below = entry.path().strip_prefix(here(folder)).unwrap_or(entry.path());
                        self.paths.push(folder.join(below));
                    }
                    Ok(_) => {}
                    Err(error) => self.errors.push(message_of(&error)),
                }
            }
        }
    }

    fn list(&mut self, folders: &[PathBuf], is_match: impl Fn(&str) -> bool) {
        for folder in folders {
            let names = fs::read_dir(here(folder)).and_then(|entries| {
                let names = entries.map(|entry| Ok(entry?.file_name()));
                names.collect::<io::Result<BTreeSet<_>>>()
            });
            match names {
                Ok(names) => {
                    // A name that is not UTF-8 is matched as it is printed.
                    let names = names.iter().filter(|name| is_match(&name.to_string_lossy()));
                    self.paths.extend(names.map(|name| folder.join(name)));
                }
                Err(error) => self.errors.push(format!("{}: {}", printable(folder), reason(&error))),
            }
        }
    }
}

/// The folder to search: the empty path is the current directory, which is left out of names.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}
