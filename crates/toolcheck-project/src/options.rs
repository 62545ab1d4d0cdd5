//! What a caller may choose.

use std::path::PathBuf;

/// The files to lint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// Files, directories and globs; `-` is the standard input. The current directory if this and `files_from` are empty.
    pub paths: Vec<PathBuf>,
    /// A file that lists more of them, one per line or NUL-separated; `-` is the standard input.
    pub files_from: Option<PathBuf>,
    /// Patterns of files and folders that are excluded, in the syntax of `.gitignore`.
    pub exclude: Vec<String>,
    /// Whether exclusions apply to the files in `paths` and `files_from` too.
    pub force_exclude: bool,
    /// Whether `.gitignore` and `.ignore` files are disregarded.
    pub no_ignore: bool,
    /// Whether hidden files and folders are included.
    pub hidden: bool,
    /// Whether files that are not transcripts are skipped even if they are in `paths` or `files_from`.
    pub skip_unrecognised: bool,
    /// The most bytes that a compressed file may become.
    pub max_unpacked: u64,
    /// The name of the standard input in the report.
    pub stdin_name: String,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            files_from: None,
            exclude: Vec::new(),
            force_exclude: false,
            no_ignore: false,
            hidden: false,
            skip_unrecognised: false,
            max_unpacked: 4 << 30,
            stdin_name: "<stdin>".to_owned(),
        }
    }
}

/// The configuration that applies to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConfigOptions {
    /// The closest one in the file's folder or above it.
    #[default]
    Closest,
    /// This one, for all files.
    File(PathBuf),
    /// None.
    Isolated,
}

/// The baseline of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineOptions {
    /// The file.
    pub path: PathBuf,
    /// What happens to it.
    pub update: BaselineUpdate,
}

/// What happens to a baseline after a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BaselineUpdate {
    /// Nothing: its entries hide findings, and those that match none are reported.
    #[default]
    Nothing,
    /// All findings of the run are recorded.
    Write,
    /// Entries that match no finding are removed.
    Prune,
}

/// How files are linted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LintOptions {
    /// Whether the text of files with findings is kept in the report, as excerpts and fingerprints need it.
    pub keep_source: bool,
    /// The most findings of a file that are kept; the others are counted.
    pub max_findings: usize,
}

impl Default for LintOptions {
    fn default() -> Self {
        Self { keep_source: true, max_findings: usize::MAX }
    }
}
