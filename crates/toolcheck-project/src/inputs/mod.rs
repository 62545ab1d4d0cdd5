//! The files to lint: paths, directories, globs, lists of files and the standard input.

mod bytes;
mod globs;
mod ignored;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use ignore::WalkBuilder;
use toolcheck_config::PathGlobs;
use toolcheck_core::text::{Counted, reason, shown};
use toolcheck_lint::SkippedFile;
use toolcheck_open::Container;

use crate::configs::{Configs, LoadedConfig};
use crate::error::Error;
use crate::options::{FileOptions, Limits};
use crate::paths::{current_dir, name_of, os_string, printable, real, relative};

use globs::is_glob;
use ignored::IgnoreFiles;

pub use bytes::Text;
pub(crate) use bytes::{Buffer, Piece};

/// The extensions of the files that are searched for in a directory.
const EXTENSIONS: [&str; 5] = ["json", "jsonl", "ndjson", "traj", "af"];
/// The extensions of files that may be recordings of requests. Most YAML is something else, so their starts are looked
/// at.
const OPENED_EXTENSIONS: [&str; 7] = ["yaml", "yml", "har", "httprr", "sse", "log", "eval"];
/// The extensions that compressed files have in addition.
const COMPRESSED_EXTENSIONS: [&str; 2] = ["gz", "zst"];

/// The extensions of files that may hold transcripts, but are not searched for.
const TABLE_EXTENSIONS: [&str; 6] = ["parquet", "arrow", "feather", "db", "sqlite", "sqlite3"];

/// Why a file is not changed that a glob found through a link.
const LINKED: &str =
    "not changed, because a glob found it through a link: name it to change what it links to";
/// Why a compressed file is not changed.
const COMPRESSED: &str = "a compressed file is not changed: pipe it through `toolcheck fix -`";
/// Why a file of more than [`toolcheck_files::MAX_BYTES`] is not changed.
const LARGE: &str = "a file of more than 64 MiB is not changed: pipe it through `toolcheck fix -`";

/// An input of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name in the report; see [`toolcheck_core::text::name_of`] for one that is not UTF-8.
    pub name: String,
    /// Its path, with a canonical folder.
    pub real: PathBuf,
    /// Where it is read from.
    pub source: Source,
    /// Whether the user named it, so that it must be a transcript. A file found in a directory may be something else.
    pub is_named: bool,
    /// Whether a glob came to it through a link, to a file that the user may not know of.
    pub is_linked: bool,
}

/// Where an input is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Input {
    /// An input for a file, or for the standard input if the path is `-`.
    pub fn file(path: &Path) -> Self {
        let (path, source) = if path == Path::new("-") {
            (Path::new("<stdin>"), Source::Stdin)
        } else {
            (path, Source::File(path.to_owned()))
        };
        Self { real: real(path), name: name_of(path), source, is_named: true, is_linked: false }
    }

    /// Reads the whole text, decompressed. Fails if the input can't be read.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        Ok(self.read_to_fix()?.0)
    }

    /// Reads the whole text, decompressed, with why it is not changed: a clause; `None` if it may be. Fails if the
    /// input can't be read.
    pub fn read_to_fix(&self) -> Result<(Vec<u8>, Option<&'static str>), Error> {
        let read = || {
            let mut text = Text::open(self, Limits::default(), &|_| {})?;
            Ok((text.rest()?, self.why_unchanged(&text)))
        };
        read().map_err(|error: io::Error| Error::caused(format!("cannot read {}", shown(&self.name)), &error))
    }

    /// Why a fix does not change it, whatever is in its text.
    pub(crate) fn why_unchanged(&self, text: &Text<'_>) -> Option<&'static str> {
        match self.source {
            Source::Stdin => None,
            _ if self.is_linked => Some(LINKED),
            Source::File(_) if text.is_compressed() => Some(COMPRESSED),
            Source::File(_) => (self.size() > toolcheck_files::MAX_BYTES).then_some(LARGE),
        }
    }

    /// The size in bytes, or 0 if it is not known.
    pub fn size(&self) -> u64 {
        match &self.source {
            Source::Stdin => 0,
            Source::File(path) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
        }
    }
}

/// The inputs of a run.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The inputs, each once.
    pub inputs: Vec<Input>,
    /// Errors about paths that can't be used.
    pub errors: Vec<Error>,
    /// What a glob or a search came across that is no file, such as a pipe.
    pub skipped: Vec<SkippedFile>,
    /// The number of these that are Parquet files, Arrow files or SQLite databases.
    pub unread_tables: usize,
    /// The folders that were searched completely.
    pub searched: Vec<PathBuf>,
    /// The files that list ignored files in those folders.
    pub(crate) ignore_files: Vec<PathBuf>,
    /// The files and folders that are excluded, each with what excludes it.
    pub(crate) excluded: Vec<(PathBuf, String)>,
    /// The files of the run itself that a search came across, which it does not take for inputs.
    pub(crate) own_files: Vec<PathBuf>,
}

impl Inputs {
    /// Finds the inputs of a run. Files in a directory that are in `own_files` are skipped. Fails if an option can't be
    /// used.
    pub fn find(
        options: &FileOptions,
        configs: &Arc<Configs>,
        own_files: HashSet<PathBuf>,
    ) -> Result<Self, Error> {
        let excluded = PathGlobs::new(&current_dir(), options.exclude.iter().map(String::as_str));
        let excluded = excluded.map_err(|error| Error::caused("--exclude", &error))?;
        let mut collector = Collector {
            options,
            configs,
            excluded: Arc::new(excluded),
            own_files,
            seen: HashSet::new(),
            found: Self::default(),
        };
        for path in &options.paths {
            collector.add_argument(path);
        }
        if let Some(list) = &options.files_from {
            if list.as_os_str() == "-" && options.paths.iter().any(|path| path.as_os_str() == "-") {
                return Err(Error::new("standard input can't be both a transcript and the list of files"));
            }
            for path in read_list(list)? {
                collector.add_listed(&path);
            }
        } else if options.paths.is_empty() {
            collector.add_argument(Path::new("."));
        }
        Ok(collector.found)
    }
}

struct Collector<'c> {
    options: &'c FileOptions,
    configs: &'c Arc<Configs>,
    excluded: Arc<PathGlobs>,
    own_files: HashSet<PathBuf>,
    seen: HashSet<PathBuf>,
    found: Inputs,
}

impl Collector<'_> {
    fn add_argument(&mut self, argument: &Path) {
        let text = argument.to_str();
        if text == Some("-") {
            let name = self.options.stdin_name.clone();
            let real = real(Path::new(&name));
            let is_named = !self.options.skip_unrecognised;
            self.add(Input { name, real, source: Source::Stdin, is_named, is_linked: false });
            return;
        }
        let Some(pattern) = text.filter(|text| is_glob(text) && !argument.exists()) else {
            self.add_path(argument);
            return;
        };
        let matches = match globs::matches(pattern) {
            Ok(matches) => matches,
            Err(error) => {
                let why = format!("{} (character {})", error.msg, error.pos + 1);
                self.add_error(format!("`{}` is not a valid glob: {why}", shown(pattern)));
                return;
            }
        };
        if matches.paths.is_empty() && matches.errors.is_empty() {
            self.add_error(format!("no file matches `{}`", shown(pattern)));
        }
        let base = globs::base(pattern);
        let above = real(base);
        for path in &matches.paths {
            if path.is_file() {
                let is_linked = real(path) != below(&above, base, path);
                self.add_file(path, is_linked);
            } else {
                self.skip_special(path);
            }
        }
        matches.errors.into_iter().for_each(|error| self.add_error(error));
    }

    /// Adds a path from a list. Unlike one on the command line, nobody has made a pipe for it, and its writer may never come.
    fn add_listed(&mut self, path: &Path) {
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        match toolcheck_files::check(path) {
            Err(error) if is_special => self.add_error(format!("{}: {}", printable(path), reason(&error))),
            _ => self.add_path(path),
        }
    }

    fn add_path(&mut self, path: &Path) {
        if path.is_dir() {
            self.add_directory(path);
        } else {
            self.add_file(path, false);
        }
    }

    /// Adds a file that the user named, or that a glob matched, perhaps through a link.
    fn add_file(&mut self, path: &Path, is_linked: bool) {
        let real = real(path);
        if self.excludes_named(&real) {
            return;
        }
        let name = name_of(path);
        let source = Source::File(path.to_owned());
        self.add(Input { name, real, source, is_named: !self.options.skip_unrecognised, is_linked });
    }

    /// Skips what was found and is no file, such as a pipe, whose writer may never come. A folder is searched by itself.
    fn skip_special(&mut self, path: &Path) {
        let error = toolcheck_files::check(path).err();
        if let Some(error) = error.filter(|error| error.kind() == io::ErrorKind::InvalidInput) {
            self.found.skipped.push(SkippedFile::new(name_of(path), reason(&error)));
        }
    }

    /// Adds the transcript files in a directory, sorted by name. Links are not followed, so there are no loops.
    fn add_directory(&mut self, directory: &Path) {
        let root = real(directory);
        if self.excludes_named(&root) {
            return;
        }
        let mut walk = WalkBuilder::new(directory);
        walk.standard_filters(!self.options.no_ignore)
            .hidden(!self.options.hidden)
            .follow_links(false)
            .sort_by_file_name(Ord::cmp);
        let ignore_files = IgnoreFiles::default();
        let has_ignore_files = !self.options.no_ignore;
        if has_ignore_files && !ignore_files.check_all(&root) {
            ignore_files.take().1.into_iter().for_each(|error| self.add_error(error));
            return;
        }
        let (configs, excluded) = (Arc::clone(self.configs), Arc::clone(&self.excluded));
        let of_walk = ignore_files.clone();
        let (above, top) = (root.clone(), directory.to_owned());
        let left_out = Arc::new(Mutex::new(Vec::new()));
        let of_entries = Arc::clone(&left_out);
        walk.filter_entry(move |entry| {
            let path = below(&above, &top, entry.path());
            // The directory itself was named by the user.
            let by = if entry.depth() == 0 { None } else { why_excluded(&path, &excluded, &configs) };
            let is_wanted = by.is_none();
            if let Some(by) = by {
                // Each call adds to the list, or a thread has panicked before it did.
                of_entries.lock().unwrap_or_else(PoisonError::into_inner).push((path.clone(), by));
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            is_wanted && !(has_ignore_files && is_folder && !of_walk.check(&path))
        });
        self.found.searched.push(root.clone());
        let (mut has_files, errors) = (false, self.found.errors.len());
        let tables = self.found.unread_tables;
        for entry in walk.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.add_error(message_of(&error));
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                let is_link = entry.path_is_symlink();
                if !is_link && EXTENSIONS.contains(&&*extension(entry.path())) {
                    self.skip_special(entry.path());
                }
                continue;
            }
            let real = below(&root, directory, entry.path());
            // If the configuration can't be read, that is reported later, and the file is not silently skipped.
            let is_wanted = self.configs.of(&real).is_none_or(|loaded| is_included(&loaded, &real));
            if is_wanted && self.own_files.contains(&real) {
                self.found.own_files.push(entry.into_path());
            } else if is_wanted {
                has_files = true;
                let path = entry.into_path();
                let name = name_of(shown_below(directory, &path));
                let source = Source::File(path);
                self.add(Input { name, real, source, is_named: false, is_linked: false });
            } else {
                self.skip_table(directory, entry.path(), &real);
            }
        }
        self.found
            .excluded
            .extend(std::mem::take(&mut *left_out.lock().unwrap_or_else(PoisonError::into_inner)));
        let (files, messages) = ignore_files.take();
        self.found.ignore_files.extend(files);
        messages.into_iter().for_each(|error| self.add_error(error));
        if !has_files && self.found.errors.len() == errors {
            self.add_error(nothing_in(directory, self.found.unread_tables - tables));
        }
    }

    /// Skips a file that may hold transcripts but is not read, unless the configuration says what is included.
    fn skip_table(&mut self, directory: &Path, path: &Path, real: &Path) {
        if !TABLE_EXTENSIONS.contains(&&*extension(path))
            || self.configs.of(real).is_none_or(|loaded| loaded.config.include.is_some())
        {
            return;
        }
        if let Some(reason) = bytes::why_no_input(path) {
            self.found.unread_tables += 1;
            self.found.skipped.push(SkippedFile::new(name_of(shown_below(directory, path)), reason));
        }
    }

    fn excludes_named(&mut self, real: &Path) -> bool {
        let by = self.options.force_exclude.then(|| {
            let by_option = self.excluded.covers(real).then(|| BY_OPTION.to_owned());
            by_option.or_else(|| {
                let loaded = self.configs.of(real)?;
                loaded.config.excludes_around(real).then(|| by_config(&loaded))
            })
        });
        let by = by.flatten();
        let is_excluded = by.is_some();
        self.found.excluded.extend(by.map(|by| (real.to_owned(), by)));
        is_excluded
    }

    fn add(&mut self, input: Input) {
        let key = match &input.source {
            Source::Stdin => PathBuf::from("-"),
            Source::File(_) => input.real.clone(),
        };
        if self.seen.insert(key) {
            self.found.inputs.push(input);
        } else if !input.is_linked {
            // It is named by itself too.
            let known = self.found.inputs.iter_mut().filter(|known| known.is_linked);
            known.filter(|known| known.real == input.real).for_each(|known| *known = input.clone());
        }
    }

    fn add_error(&mut self, message: String) {
        self.found.errors.push(Error::new(message));
    }
}

/// The error if there is nothing to lint in a folder, which has so many files that may hold transcripts but are not read.
fn nothing_in(directory: &Path, tables: usize) -> String {
    let tables = if tables > 0 { format!("; {}", about_tables(tables)) } else { String::new() };
    let directory = printable(directory);
    format!("`{directory}` has no .json, .jsonl, .ndjson, .traj or .af file and no recording{tables}")
}

/// What there is to say of files that [`Inputs::unread_tables`] counts.
pub fn about_tables(count: usize) -> String {
    let (files, were) = (Counted(count, "file"), if count == 1 { "was" } else { "were" });
    format!("{files} in Parquet, Arrow or SQLite {were} not read")
}

/// What excludes a path that the command line does.
const BY_OPTION: &str = "excluded by --exclude";

fn by_config(loaded: &LoadedConfig) -> String {
    let source = loaded.sources.first().map_or_else(String::new, |path| relative(path));
    format!("excluded by {source}")
}

/// What excludes an entry of a walk by its own name.
fn why_excluded(path: &Path, excluded: &PathGlobs, configs: &Configs) -> Option<String> {
    if excluded.is_exactly(path) {
        return Some(BY_OPTION.to_owned());
    }
    let loaded = configs.of(path)?;
    loaded.config.excludes(path).then(|| by_config(&loaded))
}

/// The path of an entry of a walk as it is shown: in the current directory without `./`.
fn shown_below<'p>(directory: &Path, path: &'p Path) -> &'p Path {
    if directory == Path::new(".") { path.strip_prefix(".").unwrap_or(path) } else { path }
}

/// The canonical path of an entry in a walk that follows no links.
fn below(root: &Path, top: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(top).map_or_else(|_| path.to_owned(), |below| root.join(below))
}

/// Whether a file found in a directory is linted.
fn is_included(loaded: &LoadedConfig, path: &Path) -> bool {
    match &loaded.config.include {
        Some(include) => include.covers(path),
        None => {
            let outer = extension(path);
            let is_compressed = COMPRESSED_EXTENSIONS.contains(&&*outer);
            let extension = if is_compressed { extension(&path.with_extension("")) } else { outer };
            EXTENSIONS.contains(&&*extension)
                || extension == "parquet" && toolcheck_open::find("parquet").is_some_and(Container::is_built)
                || OPENED_EXTENSIONS.contains(&&*extension) && bytes::may_be_opened(path)
        }
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|name| name.to_str()).unwrap_or_default().to_owned()
}

/// The message of an error in a walk, with the path first.
fn message_of(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithDepth { err, .. } => message_of(err),
        ignore::Error::WithPath { path, err } => format!("{}: {}", printable(path), message_of(err)),
        ignore::Error::Io(error) => shown(&reason(error)),
        other => shown(&reason(other)),
    }
}

/// The paths in a list: one per line, or NUL-separated if it contains a NUL.
fn read_list(list: &Path) -> Result<Vec<PathBuf>, Error> {
    let bytes = if list.as_os_str() == "-" {
        let read = toolcheck_files::read_limited(io::stdin().lock());
        read.map_err(|error| Error::caused("cannot read the list of files", &error))?
    } else {
        let name = printable(list);
        toolcheck_files::read_named(list)
            .map_err(|error| Error::caused(format!("cannot read the list of files {name}"), &error))?
    };
    let separator = if bytes.contains(&0) { 0 } else { b'\n' };
    let paths = bytes.split(|byte| *byte == separator);
    let paths =
        paths.map(|path| if separator == 0 { path } else { path.strip_suffix(b"\r").unwrap_or(path) });
    Ok(paths.filter(|path| !path.is_empty()).map(|path| PathBuf::from(os_string(path.to_vec()))).collect())
}
