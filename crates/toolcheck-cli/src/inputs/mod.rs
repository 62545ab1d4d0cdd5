//! Which files are meant: paths, directories, globs, lists of files and the standard input.

mod bytes;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use ignore::WalkBuilder;
use toolcheck_config::PathGlobs;

use crate::args::FileArgs;
use crate::config::{Configs, Loaded, here, real};

pub(crate) use bytes::{Buffer, Text};

/// How files of transcripts end. A directory is searched for them.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];
/// How they end once more where they are compressed.
const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// One input of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    /// Its name in the report.
    pub(crate) name: String,
    /// Where it is, with the folder as the file system names it.
    pub(crate) real: PathBuf,
    /// What it is read from.
    pub(crate) source: Source,
    /// Whether the user means it to be a transcript. What a directory holds may be something else.
    pub(crate) is_named: bool,
}

/// What an input is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// The inputs of a run, each once, and what is wrong with the arguments.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) inputs: Vec<Input>,
    pub(crate) troubles: Vec<String>,
    /// The folders that were searched whole.
    pub(crate) searched: Vec<PathBuf>,
}

/// Finds the inputs that the arguments mean.
///
/// Of a directory those are left out that are in `own_files`, which the program writes itself.
pub(crate) fn collect(
    args: &FileArgs,
    configs: &Arc<Configs>,
    own_files: HashSet<PathBuf>,
) -> Result<Collected> {
    let here = here();
    let excluded = PathGlobs::new(&here, args.exclude.iter().map(String::as_str));
    let excluded = excluded.map_err(|(_, message)| anyhow!("--exclude: {message}"))?;
    let mut collector = Collector {
        args,
        configs,
        excluded: Arc::new(excluded),
        own_files,
        seen: HashSet::new(),
        collected: Collected::default(),
    };
    for path in &args.paths {
        collector.add_argument(path);
    }
    if let Some(list) = &args.files_from {
        if list.as_os_str() == "-" && args.paths.iter().any(|path| path.as_os_str() == "-") {
            return Err(anyhow!("standard input can't be both a transcript and the list of files"));
        }
        for path in read_list(list)? {
            collector.add_path(&path);
        }
    } else if args.paths.is_empty() {
        collector.add_argument(Path::new("."));
    }
    Ok(collector.collected)
}

struct Collector<'c> {
    args: &'c FileArgs,
    configs: &'c Arc<Configs>,
    excluded: Arc<PathGlobs>,
    own_files: HashSet<PathBuf>,
    seen: HashSet<PathBuf>,
    collected: Collected,
}

impl Collector<'_> {
    /// Adds what an argument of the command line means: a path or a glob.
    fn add_argument(&mut self, argument: &Path) {
        let text = argument.to_str();
        if text == Some("-") {
            let name = self.args.stdin_filename.clone();
            let real = real(Path::new(&name));
            self.add(Input { name, real, source: Source::Stdin, is_named: !self.args.skip_unrecognised });
            return;
        }
        let Some(pattern) = text.filter(|text| is_glob(text) && !argument.exists()) else {
            self.add_path(argument);
            return;
        };
        let matches = match glob::glob(pattern) {
            Ok(matches) => matches,
            Err(error) => {
                self.collected.troubles.push(format!("{pattern} is not a valid glob: {error}"));
                return;
            }
        };
        let mut any = false;
        for entry in matches {
            any = true;
            match entry {
                Ok(path) if path.is_file() => self.add_file(&path),
                Ok(_) => {}
                Err(error) => self.collected.troubles.push(error.to_string()),
            }
        }
        if !any {
            self.collected.troubles.push(format!("no file matches {pattern}"));
        }
    }

    fn add_path(&mut self, path: &Path) {
        if path.is_dir() {
            self.add_directory(path);
        } else {
            self.add_file(path);
        }
    }

    /// Adds a file that was named, or that a glob matched.
    fn add_file(&mut self, path: &Path) {
        let real = real(path);
        if self.args.force_exclude && self.is_excluded(&real) {
            return;
        }
        let name = path.display().to_string();
        let source = Source::File(path.to_owned());
        self.add(Input { name, real, source, is_named: !self.args.skip_unrecognised });
    }

    /// Adds the transcripts' files under a directory, by name. Links are left out, so there are no loops.
    fn add_directory(&mut self, directory: &Path) {
        let root = real(directory);
        if self.args.force_exclude && self.is_excluded(&root) {
            return;
        }
        let mut walk = WalkBuilder::new(directory);
        walk.standard_filters(!self.args.no_ignore)
            .hidden(!self.args.hidden)
            .follow_links(false)
            .sort_by_file_name(Ord::cmp);
        let (configs, excluded) = (Arc::clone(self.configs), Arc::clone(&self.excluded));
        let (above, top) = (root.clone(), directory.to_owned());
        walk.filter_entry(move |entry| {
            let path = below(&above, &top, entry.path());
            // What was named itself is meant.
            entry.depth() == 0
                || !excluded.name(&path)
                    && configs.of(&path).is_none_or(|loaded| !loaded.config.excludes(&path))
        });
        self.collected.searched.push(root.clone());
        let (mut any, troubles) = (false, self.collected.troubles.len());
        for entry in walk.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.collected.troubles.push(told(&error));
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let real = below(&root, directory, entry.path());
            // Where the configuration can't be read, that is told, and not that the file is skipped.
            let is_meant = self.configs.of(&real).is_none_or(|loaded| is_included(&loaded, &real));
            if is_meant && !self.own_files.contains(&real) {
                any = true;
                let path = entry.into_path();
                // `.` says nothing that one would not know.
                let shown = if directory == Path::new(".") { path.strip_prefix(".") } else { Ok(&*path) };
                let name = shown.unwrap_or(&path).display().to_string();
                self.add(Input { name, real, source: Source::File(path), is_named: false });
            }
        }
        if !any && self.collected.troubles.len() == troubles {
            let trouble = format!("no .json, .jsonl or .ndjson file in {}", directory.display());
            self.collected.troubles.push(trouble);
        }
    }

    fn is_excluded(&self, real: &Path) -> bool {
        self.excluded.hold(real)
            || self.configs.of(real).is_some_and(|loaded| loaded.config.excludes_around(real))
    }

    fn add(&mut self, input: Input) {
        let key = match &input.source {
            Source::Stdin => PathBuf::from("-"),
            Source::File(_) => input.real.clone(),
        };
        if self.seen.insert(key) {
            self.collected.inputs.push(input);
        }
    }
}

/// The real path of an entry of a walk, in which no link is followed.
fn below(root: &Path, top: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(top).map_or_else(|_| path.to_owned(), |below| root.join(below))
}

/// Whether a file of a directory is one of those that are linted.
fn is_included(loaded: &Loaded, path: &Path) -> bool {
    match &loaded.config.include {
        Some(include) => include.hold(path),
        None => {
            let ending = |path: &Path| path.extension().and_then(|ending| ending.to_str()).map(str::to_owned);
            let outer = ending(path).unwrap_or_default();
            let is_compressed = COMPRESSED.contains(&&*outer);
            let ending =
                if is_compressed { ending(&path.with_extension("")).unwrap_or_default() } else { outer };
            ENDINGS.contains(&&*ending)
        }
    }
}

/// What went wrong on a walk, with its path first.
fn told(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithDepth { err, .. } => told(err),
        ignore::Error::WithPath { path, err } => format!("{}: {}", path.display(), told(err)),
        other => other.to_string(),
    }
}

fn is_glob(argument: &str) -> bool {
    argument.contains(['*', '?', '['])
}

/// The paths of a list: one a line, or with NUL between them where there is any.
fn read_list(list: &Path) -> Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    if list.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut bytes).context("cannot read the list of files")?;
    } else {
        bytes =
            fs::read(list).with_context(|| format!("cannot read the list of files {}", list.display()))?;
    }
    let separator = if bytes.contains(&0) { 0 } else { b'\n' };
    let paths = bytes.split(|byte| *byte == separator);
    let paths =
        paths.map(|path| if separator == 0 { path } else { path.strip_suffix(b"\r").unwrap_or(path) });
    Ok(paths.filter(|path| !path.is_empty()).map(|path| PathBuf::from(os_string(path))).collect())
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
