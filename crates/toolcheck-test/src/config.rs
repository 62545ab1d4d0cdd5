//! A configuration that a test or a case brings along.

use toolcheck_config::{Config, ConfigFile, Error, Home};

/// Reads the text of a `toolcheck.toml` that stands alone: what holds must not depend on other files.
pub(crate) fn read(text: &str) -> Result<Config, Error> {
    let config = Config::parse(text)?;
    match ConfigFile::read(text, Home::Own)? {
        Some(file) if file.extends().is_some() => {
            Err(file.error_of_extends("it extends another configuration, which is not read here".to_owned()))
        }
        _ => Ok(config),
    }
}
