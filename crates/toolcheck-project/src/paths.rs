//! Canonical paths, and paths in messages.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toolcheck_core::text::{self, shown};

pub(crate) fn current_dir() -> PathBuf {
    real(Path::new("."))
}

/// The canonical path, without `..` and links. If the file does not exist, only its folder is canonical.
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

/// The name of a file in a report and in a baseline.
pub(crate) fn name_of(path: &Path) -> String {
    text::name_of(path.as_os_str().as_encoded_bytes())
}

pub(crate) fn path_of(name: &str) -> PathBuf {
    PathBuf::from(os_string(text::bytes_of(name)))
}

#[cfg(unix)]
pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// The path in a message: on one line, with control characters made visible.
pub fn printable(path: &Path) -> String {
    shown(&name_of(path))
}

/// The path in a message, relative to the current directory if it is inside it.
pub fn relative(path: &Path) -> String {
    match path.strip_prefix(current_dir()) {
        // The current directory itself.
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        below => printable(below.unwrap_or(path)),
    }
}
