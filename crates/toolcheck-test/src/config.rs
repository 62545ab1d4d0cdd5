//! The configuration of a test or a case.

use toolcheck_config::{Config, ConfigFile, Error, Home};

/// Reads the text of a `toolcheck.toml` that extends no other: a test must not depend on other files.
pub(crate) fn read(text: &str) -> Result<Config, Error> {
    let config = Config::parse(text)?;
    match ConfigFile::read(text, Home::Own)? {
        Some(file) if file.extends().is_some() => Err(file.error_of_extends(
            "`extend` is not supported in the configuration of a test or a case".to_owned(),
        )),
        _ => Ok(config),
    }
}
