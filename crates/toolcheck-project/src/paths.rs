//! Canonical paths, and paths in messages.

use std::path::{Path, PathBuf};

use toolcheck_core::text::shown;

/// The canonical path of the current directory.
pub(crate) fn current_dir() -> PathBuf {
    real(Path::new("."))
}

/// The canonical path, without `..` and links. If the file does not exist, only its folder is canonical.
#[must_use]
pub fn real(path: &Path) -> PathBuf {
    // The empty path means the current directory.
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

/// The path in a message, relative to the current directory if it is inside it.
#[must_use]
pub fn relative(path: &Path) -> String {
    match path.strip_prefix(current_dir()) {
        // The current directory itself.
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        below => printable(below.unwrap_or(path)),
    }
}
