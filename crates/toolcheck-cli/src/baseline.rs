//! The baseline's file: read before a run, and written after it where that is asked for.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use toolcheck_config::Baseline;
use toolcheck_config::baseline::{Entry, FileBaseline};
use toolcheck_lint::{FileReport, Rule};

use crate::args::BaselineArgs;
use crate::commands::counted;
use crate::config::real;

/// A run's baseline.
#[derive(Debug)]
pub(crate) struct RunBaseline<'a> {
    args: &'a BaselineArgs,
    path: &'a Path,
    /// The folder that it is in: paths count from there, so that it holds wherever the program is run.
    folder: PathBuf,
    baseline: Baseline,
    /// The entries that met nothing, by file.
    stale: Vec<(String, Vec<Entry>)>,
}

impl<'a> RunBaseline<'a> {
    /// That of a run which has one.
    pub(crate) fn new(args: &'a BaselineArgs) -> Result<Option<Self>> {
        let Some(path) = args.baseline.as_deref() else { return Ok(None) };
        let name = path.display();
        let baseline = match fs::read_to_string(path) {
            Ok(text) => {
                Baseline::parse(&text).map_err(|error| anyhow!("{name} is not a valid baseline: {error}"))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && args.write_baseline => {
                Baseline::default()
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(anyhow!("the baseline {name} does not exist\n\n--write-baseline creates it"));
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read the baseline {name}")),
        };
        let folder = real(path).parent().map(Path::to_owned).unwrap_or_default();
        Ok(Some(Self { args, path, folder, baseline, stale: Vec::new() }))
    }

    /// What is known of a file, while it is linted.
    pub(crate) fn session(&self, path: &Path) -> Session<'_> {
        let known = self.baseline.of(&path_from(&self.folder, path));
        Session { known, learnt: self.args.write_baseline.then(Vec::new) }
    }

    /// What a session came to.
    pub(crate) fn settle(&mut self, path: &Path, rules: &[&'static Rule], entries: Vec<Entry>) {
        let path = path_from(&self.folder, path);
        if self.args.write_baseline {
            self.baseline.renew(&path, rules, entries);
        } else if !entries.is_empty() {
            self.stale.push((path, entries));
        }
    }

    /// Writes the file where that is asked for. Gives what to note of it, and what is wrong: entries that are stale.
    ///
    /// What is known of a file that is gone is stale too, though nobody named it: it can't be linted any more.
    pub(crate) fn finish(mut self) -> Result<(Option<String>, Vec<String>)> {
        let name = self.path.display().to_string();
        let gone: Vec<String> = self
            .baseline
            .paths()
            .filter(|path| fs::symlink_metadata(self.folder.join(path)).is_err())
            .map(str::to_owned)
            .collect();
        let entries =
            |count: usize| if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
        if !self.args.write_baseline && !self.args.prune_baseline {
            let stale = self.stale.iter().map(|(path, entries)| {
                let rules: Vec<&str> = entries.iter().map(|entry| &*entry.rule).collect();
                let count = counted(entries.len(), "finding");
                let occurs = if entries.len() == 1 { "occurs" } else { "occur" };
                format!("{count} in {name} no longer {occurs} in {path}: {}", rules.join(", "))
            });
            let gone = gone.iter().map(|path| format!("{name} lists {path}, which no longer exists"));
            return Ok((None, stale.chain(gone).collect()));
        }
        let mut dropped = 0;
        for (path, stale) in &self.stale {
            self.baseline.drop(path, stale);
            dropped += stale.len();
        }
        for path in &gone {
            dropped += self.baseline.forget(path);
        }
        fs::write(self.path, self.baseline.to_text())
            .with_context(|| format!("cannot write the baseline {name}"))?;
        let count = self.baseline.len();
        Ok((
            Some(if self.args.write_baseline {
                format!("{name} now lists {}", counted(count, "finding"))
            } else {
                format!(
                    "removed {} from {name}, which now lists {}",
                    entries(dropped),
                    counted(count, "finding")
                )
            }),
            Vec::new(),
        ))
    }
}

/// One file and the baseline.
pub(crate) struct Session<'b> {
    known: FileBaseline<'b>,
    /// What was found, where the baseline is to learn it.
    learnt: Option<Vec<Entry>>,
}

impl Session<'_> {
    /// Takes the known findings out of a part of the file's report, or all of them where they are to be learnt.
    pub(crate) fn apply(&mut self, part: &mut FileReport) {
        match &mut self.learnt {
            Some(learnt) => learnt.append(&mut self.known.take(part)),
            None => self.known.apply(part),
        }
    }

    /// What was learnt, or what is stale.
    pub(crate) fn end(self, rules: &[&'static Rule]) -> Vec<Entry> {
        self.learnt.unwrap_or_else(|| self.known.stale(rules))
    }
}

/// A path as seen from a folder, with slashes.
fn path_from(folder: &Path, path: &Path) -> String {
    let (mut from, mut to) = (folder.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| "..".to_owned());
    let down = to
        .filter(|part| !matches!(part, Component::RootDir))
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_count_from_the_folder() {
        let from = |folder: &str, path: &str| path_from(Path::new(folder), Path::new(path));
        assert_eq!(from("/a", "/a/b/c.json"), "b/c.json");
        assert_eq!(from("/a/ci", "/a/b/c.json"), "../b/c.json");
        assert_eq!(from("/", "/a.json"), "a.json");
        assert_eq!(from("/a/b", "/c.json"), "../../c.json");
    }
}
