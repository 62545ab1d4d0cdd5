//! The options of a run.

use std::path::PathBuf;

/// The files to lint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// Files, directories and globs; `-` is the standard input. If this and `files_from` are empty, the current
    /// directory.
    pub paths: Vec<PathBuf>,
    /// A file that lists more files, one per line or NUL-separated; `-` is the standard input.
    pub files_from: Option<PathBuf>,
    /// Patterns of files and folders that are excluded, in the syntax of `.gitignore`, but for `!`.
    pub exclude: Vec<String>,
    /// Whether exclusions apply to the files in `paths` and `files_from` too.
    pub force_exclude: bool,
    /// Whether `.gitignore` and `.ignore` files are disregarded.
    pub no_ignore: bool,
    /// Whether hidden files and folders are included.
    pub hidden: bool,
    /// Whether files that are not transcripts are skipped even if they are in `paths` or `files_from`.
    pub skip_unrecognised: bool,
    /// How much is read of a file.
    pub limits: Limits,
    /// The name of the standard input in the report.
    pub stdin_name: String,
}

/// How much is read of an input, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size after decompression.
    pub unpacked: u64,
    /// The maximum size of a document, or of a line of JSON Lines, which is held in memory as a whole.
    pub document: u64,
}

impl Default for Limits {
    /// 4 GiB after decompression, and 256 MiB for a document.
    fn default() -> Self {
        Self { unpacked: 4 << 30, document: 256 << 20 }
    }
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
            limits: Limits::default(),
            stdin_name: "<stdin>".to_owned(),
        }
    }
}

/// The choice of the configuration that applies to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConfigOptions {
    /// The closest one in the file's folder or above it.
    #[default]
    Closest,
    /// This one, for all files.
    File(PathBuf),
    /// No configuration.
    Isolated,
}

/// The baseline of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineOptions {
    /// The file.
    pub path: PathBuf,
    /// How the file is updated.
    pub update: BaselineUpdate,
}

/// How a baseline is updated after a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BaselineUpdate {
    /// It is not updated: its entries hide findings, and entries that match no finding are reported.
    #[default]
    Nothing,
    /// All findings of the run are recorded.
    Write,
    /// Entries that match no finding are removed.
    Prune,
}

/// How files are linted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintOptions {
    /// Whether the text of files with findings is kept in the report. Excerpts need it.
    pub keep_source: bool,
    /// Whether findings say how a fix fixes them, for outputs that show it.
    pub mark_fixes: bool,
    /// The maximum number of findings to keep per file; the others are counted.
    pub max_findings: usize,
    /// If this is set, findings are only counted, with some examples: [`FileReport::summary`](toolcheck_lint::FileReport).
    pub summary: Option<SummaryOptions>,
}

/// How findings are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryOptions {
    /// The most examples of each rule.
    pub samples: usize,
    /// The member of a row that names it, inside others with dots; its file and line, if there is none.
    pub key: Option<String>,
}

impl Default for LintOptions {
    fn default() -> Self {
        Self { keep_source: true, mark_fixes: true, max_findings: usize::MAX, summary: None }
    }
}
