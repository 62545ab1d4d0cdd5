//! Helpers for the tests.

use std::path::{Path, PathBuf};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// All files in a folder and below it, in the order of their paths.
pub(crate) fn files_below(folder: PathBuf) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![folder], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}
