//! The configuration of a file: the closest one in or above its folder, or the one that was named.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolcheck_config::{Config, ConfigFile, Home, Origin, read_limited};

use crate::error::Error;
use crate::options::ConfigOptions;
use crate::paths::{here, real, relative};

/// The names of configurations; if a folder has several, the first one counts.
const NAMES: [(&str, Home); 4] = [
    ("toolcheck.toml", Home::Own),
    (".toolcheck.toml", Home::Own),
    ("pyproject.toml", Home::Pyproject),
    ("Cargo.toml", Home::Cargo),
];

/// A configuration, and the files that it comes from: its own first, and then those that it extends.
#[derive(Debug, Default)]
pub struct LoadedConfig {
    /// The configuration.
    pub config: Config,
    /// Its files.
    pub sources: Vec<PathBuf>,
}

/// The configurations of a run, each read once.
#[derive(Debug)]
pub struct Configs {
    /// The one that applies to every file, if none is searched for.
    fixed: Option<Arc<LoadedConfig>>,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    /// The configuration that applies to a directory, or that it could not be read.
    by_directory: HashMap<PathBuf, Option<Arc<LoadedConfig>>>,
    /// What is wrong with the configurations.
    errors: Vec<Error>,
}

impl Configs {
    /// The configurations of a run.
    ///
    /// # Errors
    ///
    /// A named configuration that cannot be used.
    pub fn new(options: &ConfigOptions) -> Result<Self, Error> {
        let fixed = match options {
            ConfigOptions::Closest => None,
            ConfigOptions::Isolated => Some(Arc::default()),
            ConfigOptions::File(path) => {
                // One that is named may be anywhere, so its patterns are relative to the working directory.
                let loaded = load(path, home_of(path), Some(&here()), &mut Vec::new())
                    .map_err(|message| Error::new(format!("cannot use the configuration {message}")))?;
                let missing = || Error::new(format!("{} has no toolcheck table", relative(path)));
                Some(Arc::new(loaded.ok_or_else(missing)?))
            }
        };
        Ok(Self { fixed, found: Mutex::default() })
    }

    /// The configuration that applies to a file, whose folder is named as the file system names it; `None` if it cannot be
    /// used, which is one of the [`Configs::errors`].
    #[must_use]
    pub fn of(&self, file: &Path) -> Option<Arc<LoadedConfig>> {
        match &self.fixed {
            Some(fixed) => Some(Arc::clone(fixed)),
            None => self.found().of_directory(file.parent().unwrap_or(file)),
        }
    }

    /// What is wrong with the configurations that were found so far.
    #[must_use]
    pub fn errors(&self) -> Vec<Error> {
        self.found().errors.clone()
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        // The map is complete even if a thread that added to it has panicked.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Found {
    fn of_directory(&mut self, directory: &Path) -> Option<Arc<LoadedConfig>> {
        if let Some(known) = self.by_directory.get(directory) {
            return known.clone();
        }
        let own = NAMES.iter().find_map(|(name, home)| {
            let path = directory.join(name);
            load(&path, *home, None, &mut Vec::new()).transpose()
        });
        let config = match own {
            Some(Ok(loaded)) => Some(Arc::new(loaded)),
            Some(Err(message)) => {
                self.errors.push(Error::new(message));
                None
            }
            None => match directory.parent() {
                Some(above) => self.of_directory(above),
                None => Some(Arc::default()),
            },
        };
        self.by_directory.insert(directory.to_owned(), config.clone());
        config
    }
}

/// Reads a configuration and those that it extends; `None` if there is no such file, or no table of toolcheck's in it.
/// `open` are those that are being read, so that none extends itself.
fn load(
    path: &Path,
    home: Home,
    globs_from: Option<&Path>,
    open: &mut Vec<PathBuf>,
) -> Result<Option<LoadedConfig>, String> {
    let name = relative(path);
    let text = match read_text(path) {
        Ok(text) => text,
        // A directory without access has none either.
        Err(_) if globs_from.is_none() && open.is_empty() && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData && home != Home::Own => return Ok(None),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    // Each on a line of its own, like all errors.
    let lines = |error: toolcheck_config::Error| {
        let errors: Vec<String> = error.all().map(|error| format!("{name}:{error}")).collect();
        errors.join(ANOTHER)
    };
    let Some(file) = ConfigFile::read(&text, home).map_err(lines)? else { return Ok(None) };
    let folder = real(path.parent().unwrap_or(path));
    let base = match file.extends() {
        None => LoadedConfig::default(),
        Some(other) => {
            let other = real(&folder.join(other));
            open.push(real(path));
            let fault = |message: String| lines(file.error_of_extends(message));
            if open.contains(&other) {
                return Err(fault(format!("{} extends itself", relative(&other))));
            }
            if open.len() >= MOST_EXTENDED {
                return Err(fault(format!("more than {MOST_EXTENDED} configurations extend each other")));
            }
            let base = load(&other, home_of(&other), globs_from, open);
            let base = base.map_err(|message| fault(message.replace(ANOTHER, "; ")))?;
            base.ok_or_else(|| fault(format!("{} has no toolcheck table", relative(&other))))?
        }
    };
    let origin = Origin { name: &name, folder: &folder, globs_from: globs_from.unwrap_or(&folder) };
    let config = file.over(base.config, origin).map_err(lines)?;
    let sources = std::iter::once(path.to_owned()).chain(base.sources).collect();
    Ok(Some(LoadedConfig { config, sources }))
}

/// What separates the errors of one file.
pub(crate) const ANOTHER: &str = "\nerror: ";

/// The bytes of a file that a configuration is or names.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(fs::File::open(path)?)
}

/// The text of such a file.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// The most configurations that may extend each other in a row.
const MOST_EXTENDED: usize = 20;

/// The kind of file, by its name.
fn home_of(path: &Path) -> Home {
    let name = path.file_name().unwrap_or_default();
    NAMES.iter().find(|(known, _)| name == *known).map_or(Home::Own, |(_, home)| *home)
}
