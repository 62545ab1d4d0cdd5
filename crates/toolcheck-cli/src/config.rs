//! Which configuration holds for a file: the closest `toolcheck.toml` upward from it, or the one that was named.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, anyhow};
use toolcheck_lint::Config;

/// The file's name.
const NAME: &str = "toolcheck.toml";

/// The configurations of a run, each read once.
#[derive(Debug)]
pub(crate) struct Configs {
    /// The one that holds for every file, where none is looked for.
    fixed: Option<Rc<Config>>,
    /// By directory: what holds in it, or that what holds there could not be read.
    found: HashMap<PathBuf, Option<Rc<Config>>>,
    /// What the troubles of the configurations were.
    pub(crate) troubles: Vec<String>,
}

impl Configs {
    /// Those of a run that names one, or wants none at all.
    pub(crate) fn new(named: Option<&Path>, is_isolated: bool) -> Result<Self> {
        let fixed = match named {
            Some(path) => {
                let text = fs::read_to_string(path)
                    .with_context(|| format!("cannot read the configuration {}", path.display()))?;
                Some(Rc::new(Config::parse(&text).map_err(|error| anyhow!("{}:{error}", path.display()))?))
            }
            None if is_isolated => Some(Rc::default()),
            None => None,
        };
        Ok(Self { fixed, found: HashMap::new(), troubles: Vec::new() })
    }

    /// The configuration for a file; `None` where it can't be read, which is told once.
    pub(crate) fn of(&mut self, file: &Path) -> Option<Rc<Config>> {
        if let Some(fixed) = &self.fixed {
            return Some(Rc::clone(fixed));
        }
        // What is above the working directory counts too, and `..` is what the file system says it is.
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let directory = file.parent().unwrap_or(&file);
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        self.of_directory(&directory)
    }

    fn of_directory(&mut self, directory: &Path) -> Option<Rc<Config>> {
        if let Some(known) = self.found.get(directory) {
            return known.clone();
        }
        let path = directory.join(NAME);
        let config = match fs::read_to_string(&path) {
            Ok(text) => match Config::parse(&text) {
                Ok(config) => Some(Rc::new(config)),
                Err(error) => {
                    self.troubles.push(format!("{}:{error}", shown(&path)));
                    None
                }
            },
            // A directory that nobody may look into has none either.
            Err(_) if path.symlink_metadata().is_err() => match directory.parent() {
                Some(above) => self.of_directory(above),
                None => Some(Rc::default()),
            },
            Err(error) => {
                self.troubles.push(format!("{}: {error}", shown(&path)));
                None
            }
        };
        self.found.insert(directory.to_owned(), config.clone());
        config
    }
}

/// The path as it is reached from the working directory.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).display().to_string()
}
