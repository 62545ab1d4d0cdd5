//! Where a path leads.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The maximum number of links to follow, as in Linux.
const MAX_LINKS: usize = 40;

/// The path of the file that a path leads to, through links. The file may not exist: a link may name what is to be
/// created.
pub(crate) fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
        // What an open descriptor leads to is not known by a name that could be replaced.
        if !is_link || is_descriptor(&path) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = folder(&path).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether a path stands for an open descriptor of a process, such as `/dev/stdout` after its links.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    cfg!(unix)
        && folder(path).canonicalize().is_ok_and(|folder| {
            folder == Path::new("/dev/fd") || folder.starts_with("/proc") && folder.ends_with("fd")
        })
}
