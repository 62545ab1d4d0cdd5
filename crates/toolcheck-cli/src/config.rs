//! Which configuration holds for a file: the closest one upward from it, or the one that was named.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, anyhow};
use toolcheck_config::{Config, ConfigError};
use toolcheck_config::{ConfigFile, Home, Origin};

use crate::args::ConfigArgs;
use crate::screen::named;

/// The names of configurations; where a folder has several, what stands first counts.
const NAMES: [(&str, Home); 4] = [
    ("toolcheck.toml", Home::Own),
    (".toolcheck.toml", Home::Own),
    ("pyproject.toml", Home::Pyproject),
    ("Cargo.toml", Home::Cargo),
];

/// A configuration, and the files that it comes from: its own first, and then those that it extends.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) sources: Vec<PathBuf>,
}

/// The configurations of a run, each read once.
#[derive(Debug)]
pub(crate) struct Configs {
    /// The one that holds for every file, where none is looked for.
    fixed: Option<Arc<Loaded>>,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    /// By directory: what holds in it, or that what holds there could not be read.
    by_directory: HashMap<PathBuf, Option<Arc<Loaded>>>,
    /// What the troubles of the configurations were.
    troubles: Vec<String>,
}

impl Configs {
    /// Those of a run that names one, or wants none at all.
    pub(crate) fn new(args: &ConfigArgs) -> Result<Self> {
        let fixed = match &args.config {
            Some(path) => {
                // One that is named may stand anywhere, so its patterns count from where it is used.
                let loaded = load(path, home_of(path), Some(&here()), &mut Vec::new())
                    .map_err(|trouble| anyhow!("cannot use the configuration {trouble}"))?;
                let missing = || anyhow!("{} has no toolcheck table", shown(path));
                Some(Arc::new(loaded.ok_or_else(missing)?))
            }
            None if args.isolated => Some(Arc::default()),
            None => None,
        };
        Ok(Self { fixed, found: Mutex::default() })
    }

    /// The configuration for a file, whose folder is named as the file system names it; `None` where it can't be read,
    /// which is told once.
    pub(crate) fn of(&self, file: &Path) -> Option<Arc<Loaded>> {
        match &self.fixed {
            Some(fixed) => Some(Arc::clone(fixed)),
            None => {
                // A map is whole whatever happened to who filled it.
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.of_directory(file.parent().unwrap_or(file))
            }
        }
    }

    /// What the troubles of the configurations were.
    pub(crate) fn troubles(&self) -> Vec<String> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).troubles.clone()
    }
}

impl Found {
    fn of_directory(&mut self, directory: &Path) -> Option<Arc<Loaded>> {
        if let Some(known) = self.by_directory.get(directory) {
            return known.clone();
        }
        let own = NAMES.iter().find_map(|(name, home)| {
            let path = directory.join(name);
            load(&path, *home, None, &mut Vec::new()).transpose()
        });
        let config = match own {
            Some(Ok(loaded)) => Some(Arc::new(loaded)),
            Some(Err(trouble)) => {
                self.troubles.push(trouble);
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

/// Reads a configuration and those that it extends; `None` where there is no such file, or no table of toolcheck's in
/// it. `open` are those that are being read, so that none extends itself.
fn load(
    path: &Path,
    home: Home,
    globs_from: Option<&Path>,
    open: &mut Vec<PathBuf>,
) -> Result<Option<Loaded>, String> {
    let name = shown(path);
    let text = match read_text(path) {
        Ok(text) => text,
        // A directory that nobody may look into has none either.
        Err(_) if globs_from.is_none() && open.is_empty() && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData && home != Home::Own => return Ok(None),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    // Each on a line of its own, as all errors are.
    let told = |error: ConfigError| {
        let errors: Vec<String> = error.all().map(|error| format!("{name}:{error}")).collect();
        errors.join(ANOTHER)
    };
    let Some(file) = ConfigFile::read(&text, home).map_err(told)? else { return Ok(None) };
    let folder = real(path.parent().unwrap_or(path));
    let base = match file.extends() {
        None => Loaded::default(),
        Some(other) => {
            let other = real(&folder.join(other));
            open.push(real(path));
            let fault = |message: String| told(file.error_of_extends(message));
            if open.contains(&other) {
                return Err(fault(format!("{} extends itself", shown(&other))));
            }
            if open.len() >= MOST_EXTENDED {
                return Err(fault(format!("more than {MOST_EXTENDED} configurations extend each other")));
            }
            let base = load(&other, home_of(&other), globs_from, open);
            let base = base.map_err(|trouble| fault(trouble.replace(ANOTHER, "; ")))?;
            base.ok_or_else(|| fault(format!("{} has no toolcheck table", shown(&other))))?
        }
    };
    let origin = Origin { name: &name, folder: &folder, globs_from: globs_from.unwrap_or(&folder) };
    let config = file.over(base.config, origin).map_err(told)?;
    let sources = std::iter::once(path.to_owned()).chain(base.sources).collect();
    Ok(Some(Loaded { config, sources }))
}

/// What separates the errors of one file.
pub(crate) const ANOTHER: &str = "\nerror: ";

/// How many bytes a file may have that a configuration is or names: it may name `/dev/zero`.
const MOST_BYTES: u64 = 1 << 26;

/// The bytes of such a file.
pub(crate) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("it has more than {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The text of such a file.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// How many configurations may extend each other in a row.
const MOST_EXTENDED: usize = 20;

/// What a file is by its name.
fn home_of(path: &Path) -> Home {
    let name = path.file_name().unwrap_or_default();
    NAMES.iter().find(|(known, _)| name == *known).map_or(Home::Own, |(_, home)| *home)
}

/// The working directory, as the file system names it.
pub(crate) fn here() -> PathBuf {
    real(Path::new("."))
}

/// A path as the file system names it, with `..` and links as they are; where there is no such file yet, the folder is
/// named like that.
pub(crate) fn real(path: &Path) -> PathBuf {
    // Below the empty path stands what stands in the working directory.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().unwrap_or_else(|_| {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        match (whole.parent().map(Path::canonicalize), whole.file_name()) {
            (Some(Ok(folder)), Some(name)) => folder.join(name),
            _ => whole,
        }
    })
}

/// The path as it is reached from the working directory, for messages.
pub(crate) fn shown(path: &Path) -> String {
    match path.strip_prefix(here()) {
        // The working directory itself.
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        below => named(below.unwrap_or(path)),
    }
}
