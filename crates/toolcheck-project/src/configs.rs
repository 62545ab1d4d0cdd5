//! The configuration of a file: the closest one in or above its folder, or the one that the user named.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fmt, io};

use toolcheck_config::{Config, ConfigFile, Home, Origin};
use toolcheck_core::text::reason;
use toolcheck_files::{Owner, Trusted};

use crate::error::{Error, SettingsFault};
use crate::options::ConfigOptions;
use crate::paths::{current_dir, real, relative};

/// The names of configuration files; if a folder has several, the first one is used.
pub const NAMES: [(&str, Home); 4] = [
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
    /// The configuration for all files, if configurations are not searched for.
    fixed: Option<Arc<LoadedConfig>>,
    found: Mutex<FoundConfigs>,
}

#[derive(Debug, Default)]
struct FoundConfigs {
    /// The configuration that applies to a directory; `None` if it can't be used.
    by_directory: HashMap<PathBuf, Option<Arc<LoadedConfig>>>,
    errors: Vec<Error>,
    /// The files that were read, also those without a toolcheck table.
    read: Vec<PathBuf>,
    /// The configurations that do not hold because they belong to another user.
    foreign: Vec<ForeignConfig>,
    trusted: OnceLock<Trusted>,
}

/// A configuration that was found, but belongs to another user: anybody may put one into a folder that many share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignConfig {
    /// The file.
    pub path: PathBuf,
    /// Its owner.
    pub owner: Owner,
}

impl fmt::Display for ForeignConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = relative(&self.path);
        write!(
            f,
            "{name} is not used, because it belongs to another user (uid {}); to use it: --config {name}",
            self.owner
        )
    }
}

impl Configs {
    /// The configurations of a run. Fails if the named configuration can't be used.
    pub fn new(options: &ConfigOptions) -> Result<Self, Error> {
        let mut found = FoundConfigs::default();
        let fixed = match options {
            ConfigOptions::Closest => None,
            ConfigOptions::Isolated => Some(Arc::default()),
            ConfigOptions::File(path) => {
                // A named configuration may be anywhere, so its patterns are relative to the current directory.
                let mut loading = Loading { open: Vec::new(), read: &mut found.read };
                let loaded = load(path, home_of(path), Some(&current_dir()), &mut loading)
                    .map_err(|error| error.after("cannot use the configuration "))?;
                let missing = || Error::new(format!("{} has no toolcheck table", relative(path)));
                Some(Arc::new(loaded.ok_or_else(missing)?))
            }
        };
        Ok(Self { fixed, found: Mutex::new(found) })
    }

    /// The configuration that applies to a file, given by a path with a canonical folder; `None` if the configuration
    /// can't be used, which is one of the [`Configs::errors`].
    pub fn of(&self, file: &Path) -> Option<Arc<LoadedConfig>> {
        match &self.fixed {
            Some(fixed) => Some(Arc::clone(fixed)),
            None => self.found().of_directory(file.parent().unwrap_or(file)),
        }
    }

    /// The errors in the configurations that were found so far.
    pub fn errors(&self) -> Vec<Error> {
        self.found().errors.clone()
    }

    /// The configurations that were found so far and do not hold, because they belong to another user.
    pub fn foreign(&self) -> Vec<ForeignConfig> {
        self.found().foreign.clone()
    }

    pub(crate) fn files_read(&self) -> Vec<PathBuf> {
        self.found().read.clone()
    }

    fn found(&self) -> MutexGuard<'_, FoundConfigs> {
        // The map is consistent even if a thread panicked while it added to it.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FoundConfigs {
    fn of_directory(&mut self, directory: &Path) -> Option<Arc<LoadedConfig>> {
        if let Some(known) = self.by_directory.get(directory) {
            return known.clone();
        }
        let own = NAMES.iter().find_map(|(name, home)| {
            let path = directory.join(name);
            let mut loading = Loading { open: Vec::new(), read: &mut self.read };
            let loaded = load(&path, *home, None, &mut loading).transpose()?;
            match self.trusted.get_or_init(Trusted::new).stranger(&path) {
                Some(owner) => {
                    self.foreign.push(ForeignConfig { path, owner });
                    None
                }
                None => Some(loaded),
            }
        });
        let config = match own {
            Some(Ok(loaded)) => Some(Arc::new(loaded)),
            Some(Err(error)) => {
                self.errors.push(error);
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

struct Loading<'l> {
    /// The files that extend each other so far, to detect one that extends itself.
    open: Vec<PathBuf>,
    read: &'l mut Vec<PathBuf>,
}

/// Reads a configuration and those that it extends; `None` if there is no such file, or if it has no toolcheck table.
fn load(
    path: &Path,
    home: Home,
    globs_from: Option<&Path>,
    loading: &mut Loading<'_>,
) -> Result<Option<LoadedConfig>, Error> {
    let name = relative(path);
    let is_first = loading.open.is_empty();
    // Only a file that the user has named may be a pipe.
    let read =
        if is_first && globs_from.is_some() { toolcheck_files::read_named } else { toolcheck_files::read };
    let text = read(path).and_then(toolcheck_files::text);
    if text.is_ok() || path.symlink_metadata().is_ok() {
        loading.read.push(path.to_owned());
    }
    let text = match text {
        Ok(text) => text,
        // A directory that can't be accessed has no configuration either.
        Err(_) if globs_from.is_none() && is_first && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData && home != Home::Own => return Ok(None),
        Err(error) => return Err(Error::of_file(path, &name, &reason(&error))),
    };
    load_text(path, (&text, home), globs_from, loading)
}

/// The same for the text of a file.
fn load_text(
    path: &Path,
    (text, home): (&str, Home),
    globs_from: Option<&Path>,
    loading: &mut Loading<'_>,
) -> Result<Option<LoadedConfig>, Error> {
    let name = relative(path);
    let wrong = |error: toolcheck_config::Error| Error::in_file(path, &name, &error);
    let Some(file) = ConfigFile::read(text, home).map_err(wrong)? else { return Ok(None) };
    let folder = real(path.parent().unwrap_or(path));
    let base = match file.extends() {
        None => LoadedConfig::default(),
        Some(other) => {
            let other = real(&folder.join(other));
            loading.open.push(real(path));
            let fault = |message: String| wrong(file.error_of_extends(message));
            if loading.open.contains(&other) {
                return Err(fault(format!("{} extends itself", relative(&other))));
            }
            if loading.open.len() >= MAX_EXTENDED {
                return Err(fault(format!("more than {MAX_EXTENDED} configurations extend each other")));
            }
            let base = load(&other, home_of(&other), globs_from, loading);
            let base = base.map_err(|error| fault(error.on_one_line()).with_faults_of(error))?;
            base.ok_or_else(|| fault(format!("{} has no toolcheck table", relative(&other))))?
        }
    };
    let origin = Origin { name: &name, folder: &folder, globs_from: globs_from.unwrap_or(&folder) };
    let config = file.over(base.config, origin).map_err(wrong)?;
    let sources = std::iter::once(path.to_owned()).chain(base.sources).collect();
    Ok(Some(LoadedConfig { config, sources }))
}

/// The maximum number of configurations in a chain of `extend`.
const MAX_EXTENDED: usize = 20;

fn home_of(path: &Path) -> Home {
    let name = path.file_name().unwrap_or_default();
    NAMES.iter().find(|(known, _)| name == *known).map_or(Home::Own, |(_, home)| *home)
}

/// What is wrong in a configuration that is not saved yet; `None` if no configuration has this name.
pub(crate) fn faults_in(path: &Path, text: &str) -> Option<Vec<SettingsFault>> {
    let (_, home) = NAMES.iter().find(|(name, _)| path.file_name().is_some_and(|own| own == *name))?;
    let mut loading = Loading { open: Vec::new(), read: &mut Vec::new() };
    let error = load_text(path, (text, *home), None, &mut loading).err();
    let faults = error.iter().flat_map(Error::faults);
    Some(faults.filter(|fault| fault.path == path).cloned().collect())
}

/// A configuration as its text has it, and its folder; `None` if it can't be read.
pub(crate) fn as_written(path: &Path, text: &str) -> Option<(ConfigFile, PathBuf)> {
    let file = ConfigFile::read(text, home_of(path)).ok()??;
    Some((file, real(path.parent().unwrap_or(path))))
}
