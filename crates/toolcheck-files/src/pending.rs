//! The temporary files that are being written, so that a signal can remove them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use tempfile::{Builder, NamedTempFile};

static PENDING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn pending() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A thread that panicked has either added a path or not.
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file, which is removed unless it is renamed.
pub(crate) struct Pending {
    file: Option<NamedTempFile>,
    path: PathBuf,
}

impl Pending {
    /// Creates a temporary file with a random name. Its name has no ending of a transcript, and a dot hides it, so a
    /// file that a crash leaves behind is not linted.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let mut pending = pending();
        let mut builder = Builder::new();
        builder.prefix(".toolcheck-").suffix(".tmp");
        // Like every new file: what the umask allows. An error of `tempfile_in` would name the temporary file, which says
        // nothing to the user.
        let file = builder
            .make_in(folder, |path| fs::File::options().read(true).write(true).create_new(true).open(path))?;
        let path = file.path().to_owned();
        pending.insert(path.clone());
        Ok(Self { file: Some(file), path })
    }

    pub(crate) fn file(&self) -> io::Result<&fs::File> {
        let file = self.file.as_ref().map(NamedTempFile::as_file);
        file.ok_or_else(|| io::Error::other("the temporary file is gone"))
    }

    /// Renames the file. Replaces an existing one only if `replaces`.
    pub(crate) fn rename(mut self, path: &Path, replaces: bool) -> io::Result<()> {
        let file = self.file.take().ok_or_else(|| io::Error::other("the temporary file is gone"))?;
        let renamed = if replaces { file.persist(path) } else { file.persist_noclobber(path) };
        renamed.map(drop).map_err(|error| error.error)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Closes and removes it first.
        self.file = None;
        pending().remove(&self.path);
    }
}

/// While this exists, no temporary file is created.
#[must_use]
pub struct Unfinished {
    _lock: MutexGuard<'static, BTreeSet<PathBuf>>,
}

/// Removes the temporary files of writes that are not finished, for a program that is about to end. The files that
/// would have been replaced stay as they are.
pub fn remove_unfinished() -> Unfinished {
    let lock = pending();
    for path in lock.iter() {
        // It may have been renamed or removed already.
        let _ = fs::remove_file(path);
    }
    Unfinished { _lock: lock }
}
