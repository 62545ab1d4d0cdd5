//! Paths as the file system names them, and as messages show them.

use std::path::{Path, PathBuf};

use toolcheck_core::text::shown;

/// The working directory, as the file system names it.
pub(crate) fn here() -> PathBuf {
    real(Path::new("."))
}

/// The path as the file system names it, without `..` and links; if there is no such file, its folder is named like that.
#[must_use]
pub fn real(path: &Path) -> PathBuf {
    // Below the empty path is what is in the working directory.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().unwrap_or_else(|_| {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        match (whole.parent().map(Path::canonicalize), whole.file_name()) {
            (Some(Ok(folder)), Some(name)) => folder.join(name),
            _ => whole,
        }
    })
}

/// The path in a message: on one line, with control characters made visible.
#[must_use]
pub fn printable(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// The path in a message, relative to the working directory if it is below it.
#[must_use]
pub fn relative(path: &Path) -> String {
    match path.strip_prefix(here()) {
        // The working directory itself.
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        below => printable(below.unwrap_or(path)),
    }
}
