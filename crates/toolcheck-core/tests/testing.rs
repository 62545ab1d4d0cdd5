//! What the tests of several crates share: the files of the repository, and those of the crate that includes this file.
#![allow(dead_code, reason = "not every crate needs all of it")]

use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn fixtures() -> PathBuf {
    root().join("fixtures")
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

/// The ids that a folder of the crate has files of this kind for.
pub(crate) fn ids_in(folder: &str, extension: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|own| own == extension));
    let mut ids: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().replace('_', "-")).collect();
    ids.retain(|id| id != "mod");
    ids.sort();
    ids
}
