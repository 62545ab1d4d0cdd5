//! Files that a run writes: none may be a file that it reads.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use toolcheck_files::Identity;

use crate::error::Error;
use crate::paths::printable;

#[derive(Debug, Default)]
pub(crate) struct FilesRead(HashMap<Identity, &'static str>);

impl FilesRead {
    /// Adds a file. Pipes and devices are not files whose content could be lost.
    pub(crate) fn add(&mut self, path: &Path, what: &'static str) {
        if path.is_file() {
            self.0.entry(Identity::of(path)).or_insert(what);
        }
    }

    /// Checks that each file to be written is neither read nor written twice. Fails if one is, also by another name or
    /// through a link.
    pub(crate) fn check(&self, written: &[PathBuf]) -> Result<(), Error> {
        let mut used = HashSet::new();
        for path in written {
            let (name, identity) = (printable(path), Identity::of(path));
            if let Some(what) = self.0.get(&identity) {
                return Err(Error::new(format!("{name} is {what}, so no output can be written to it")));
            }
            if !used.insert(identity) {
                return Err(Error::new(format!("two outputs can't be written to the same file: {name}")));
            }
        }
        Ok(())
    }
}
