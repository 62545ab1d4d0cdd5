//! Files that list ignored files. The walker opens and reads them as they are, so they are checked before it comes to
//! their folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use toolcheck_core::text::reason;

use crate::paths::relative;

/// The names of such files in a folder.
const NAMES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The files that list ignored files in the folders of a walk.
#[derive(Debug, Clone, Default)]
pub(super) struct IgnoreFiles(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    files: Vec<PathBuf>,
    errors: Vec<String>,
}

impl IgnoreFiles {
    pub(super) fn check(&self, folder: &Path) -> bool {
        // Each call adds to the lists, or a thread has panicked before it did.
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let errors = seen.errors.len();
        let of_worktree = files_of_worktree(folder);
        for path in NAMES.iter().map(|name| folder.join(name)).chain(of_worktree) {
            match toolcheck_files::check(&path) {
                Ok(()) => seen.files.push(path),
                // The walker does without one that is not there or can't be read.
                Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::FileTooLarge) => {}
                Err(error) => {
                    let name = relative(&path);
                    seen.errors.push(format!("{name}: {}, so its folder is not searched", reason(&error)));
                }
            }
        }
        seen.errors.len() == errors
    }

    pub(super) fn check_all(&self, folder: &Path) -> bool {
        folder.ancestors().all(|folder| self.check(folder))
    }

    /// The files, and the messages about those that can't be read.
    pub(super) fn take(&self) -> (Vec<PathBuf>, Vec<String>) {
        let seen = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        (seen.files, seen.errors)
    }
}

/// The files that the walker reads to find the list of a worktree or a submodule, whose `.git` is a file that names a
/// folder, and that list.
fn files_of_worktree(folder: &Path) -> Vec<PathBuf> {
    let git = folder.join(".git");
    if !git.is_file() {
        return Vec::new();
    }
    let mut files = vec![git];
    let first_line = |path: &Path| {
        let bytes = toolcheck_files::read(path).ok()?;
        let line = bytes.split(|byte| *byte == b'\n').next()?;
        String::from_utf8(line.strip_suffix(b"\r").unwrap_or(line).to_vec()).ok()
    };
    let own = first_line(&files[0]).and_then(|line| line.strip_prefix("gitdir: ").map(PathBuf::from));
    let Some(own) = own else { return files };
    files.push(own.join("commondir"));
    let common = first_line(&files[1]);
    files.extend(common.map(|common| match common.starts_with('.') {
        true => own.join(common).join("info/exclude"),
        false => Path::new(&common).join("info/exclude"),
    }));
    files
}
