//! The baseline's file: read before a run, and written after it if requested.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::{fmt, fs};

use toolcheck_config::Baseline;
use toolcheck_config::baseline::{BaselineEntry, FileBaseline};
use toolcheck_core::text::{Counted, shown};
use toolcheck_lint::{FileReport, Rule};

use crate::error::Error;
use crate::options::{BaselineOptions, BaselineUpdate};
use crate::paths::{name_of, path_of, printable, real};

#[derive(Debug)]
pub(crate) struct RunBaseline {
    options: BaselineOptions,
    /// The folder of its file. Paths in it are relative to this folder, not to the current directory.
    folder: PathBuf,
    baseline: Baseline,
    /// The text that was read; `None` if there was no file.
    text: Option<String>,
    /// The entries that matched no finding, by file.
    stale: Vec<(String, Vec<BaselineEntry>)>,
}

/// Entries of a baseline that no longer match a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleEntries {
    /// The baseline's file.
    pub baseline: PathBuf,
    /// The file with the findings, relative to the baseline's folder.
    pub path: String,
    /// The rules of the entries, once for each; empty if the file no longer exists.
    pub rules: Vec<String>,
}

impl fmt::Display for StaleEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, path) = (printable(&self.baseline), shown(&self.path));
        if self.rules.is_empty() {
            return write!(f, "{name} lists {path}, which no longer exists");
        }
        let count = Counted(self.rules.len(), "finding");
        let occurs = if self.rules.len() == 1 { "occurs" } else { "occur" };
        let rules: Vec<String> = self.rules.iter().map(|rule| shown(rule)).collect();
        write!(f, "{count} in {name} no longer {occurs} in {path}: {}", rules.join(", "))
    }
}

/// A change to a baseline's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineChange {
    /// The file.
    pub path: PathBuf,
    /// The number of findings that it lists now.
    pub len: usize,
    /// The number of stale entries that were removed; `None` if all findings of the run were recorded.
    pub removed: Option<usize>,
}

impl fmt::Display for BaselineChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, findings) = (printable(&self.path), Counted(self.len, "finding"));
        match self.removed {
            None => write!(f, "{name} now lists {findings}"),
            Some(1) => write!(f, "removed 1 entry from {name}, which now lists {findings}"),
            Some(removed) => write!(f, "removed {removed} entries from {name}, which now lists {findings}"),
        }
    }
}

impl RunBaseline {
    pub(crate) fn read(options: BaselineOptions) -> Result<Self, Error> {
        let path = options.path.as_path();
        let name = printable(path);
        let text = match toolcheck_files::read(path).and_then(toolcheck_files::text) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if options.update != BaselineUpdate::Write {
                    let message =
                        format!("the baseline {name} does not exist\n\n--write-baseline creates it");
                    return Err(Error::new(message));
                }
                None
            }
            Err(error) => return Err(Error::caused(format!("cannot read the baseline {name}"), &error)),
        };
        let baseline =
            text.as_deref().map(Baseline::parse).transpose().map_err(|error| {
                Error::new(format!("invalid baseline: {name}:{}", shown(&error.to_string())))
            })?;
        let baseline = baseline.unwrap_or_default();
        let folder = real(path).parent().map(Path::to_owned).unwrap_or_default();
        Ok(Self { options, folder, baseline, text, stale: Vec::new() })
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.options.path
    }

    pub(crate) fn is_updated(&self) -> bool {
        self.options.update != BaselineUpdate::Nothing
    }

    /// The known findings of a file, while it is linted.
    pub(crate) fn session(&self, path: &Path) -> FileSession<'_> {
        let known = self.baseline.of(&path_from(&self.folder, path));
        FileSession { known, found: (self.options.update == BaselineUpdate::Write).then(Vec::new) }
    }

    pub(crate) fn add(&mut self, path: &Path, rules: &[&'static Rule], entries: Vec<BaselineEntry>) {
        let path = path_from(&self.folder, path);
        if self.options.update == BaselineUpdate::Write {
            self.baseline.renew(&path, rules, entries);
        } else if !entries.is_empty() {
            self.stale.push((path, entries));
        }
    }

    /// The entries that match no finding, unless they are removed. Those of a file that no longer exists are stale even
    /// if it was not an input, because it can't be linted again.
    pub(crate) fn stale(&self) -> Vec<StaleEntries> {
        if self.options.update != BaselineUpdate::Nothing {
            return Vec::new();
        }
        let entries = |path: String, rules| StaleEntries { baseline: self.options.path.clone(), path, rules };
        let stale = self.stale.iter().map(|(path, stale)| {
            entries(path.clone(), stale.iter().map(|entry| entry.rule.clone()).collect())
        });
        stale.chain(self.missing_files().into_iter().map(|path| entries(path, Vec::new()))).collect()
    }

    /// Writes the file if it should be updated, and returns the change.
    pub(crate) fn save(&mut self) -> Result<Option<BaselineChange>, Error> {
        if self.options.update == BaselineUpdate::Nothing {
            return Ok(None);
        }
        let mut removed = 0;
        for (path, stale) in self.stale.drain(..) {
            self.baseline.drop(&path, &stale);
            removed += stale.len();
        }
        for path in self.missing_files() {
            removed += self.baseline.forget(&path);
        }
        let path = self.options.path.clone();
        let seen = self.text.as_deref().map(str::as_bytes);
        let text = self.baseline.to_text();
        toolcheck_files::replace(&path, seen, text.as_bytes()).map_err(|error| {
            Error::caused(format!("cannot write the baseline {}", printable(&path)), &error)
        })?;
        self.text = Some(text);
        let is_written = self.options.update == BaselineUpdate::Write;
        let removed = (!is_written).then_some(removed);
        Ok(Some(BaselineChange { path, len: self.baseline.len(), removed }))
    }

    fn missing_files(&self) -> Vec<String> {
        let is_missing = |path: &&str| fs::symlink_metadata(self.folder.join(path_of(path))).is_err();
        self.baseline.paths().filter(is_missing).map(str::to_owned).collect()
    }
}

pub(crate) struct FileSession<'b> {
    known: FileBaseline<'b>,
    /// The findings, if they should be recorded.
    found: Option<Vec<BaselineEntry>>,
}

impl FileSession<'_> {
    /// Takes the known findings out of a part of the file's report, or all findings if they should be recorded.
    pub(crate) fn apply(&mut self, part: &mut FileReport) {
        match &mut self.found {
            Some(found) => found.append(&mut self.known.take(part)),
            None => self.known.apply(part),
        }
    }

    pub(crate) fn end(self, rules: &[&'static Rule]) -> Vec<BaselineEntry> {
        self.found.unwrap_or_else(|| self.known.stale(rules))
    }
}

fn path_from(folder: &Path, path: &Path) -> String {
    let (mut from, mut to) = (folder.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| "..".to_owned());
    let down = to
        .filter(|part| !matches!(part, Component::RootDir))
        .map(|part| name_of(Path::new(part.as_os_str())));
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder() {
        let from = |folder: &str, path: &str| path_from(Path::new(folder), Path::new(path));
        assert_eq!(from("/a", "/a/b/c.json"), "b/c.json");
        assert_eq!(from("/a/ci", "/a/b/c.json"), "../b/c.json");
        assert_eq!(from("/", "/a.json"), "a.json");
        assert_eq!(from("/a/b", "/c.json"), "../../c.json");
    }
}
