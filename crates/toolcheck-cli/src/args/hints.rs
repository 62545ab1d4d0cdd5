//! Hints for invalid command lines.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use toolcheck_core::text::{bounded, shown};

/// The names that other linters have for `lint`.
const LIKE_LINT: [&str; 8] = ["check", "run", "scan", "validate", "verify", "test-file", "analyze", "audit"];
/// Flags of other linters that change files.
const LIKE_FIX: [&str; 5] = ["--fix", "--write", "--apply", "--unsafe-fixes", "--autofix"];
/// Flags of other programs that show what would change.
const LIKE_DIFF: [&str; 3] = ["--dry-run", "--check", "--preview"];
/// Options of `fix` that other commands don't have.
const OF_FIX: [&str; 3] = ["--diff", "--plan", "--only"];
/// A flag of other linters that prints more.
const LIKE_VERBOSE: &str = "--debug";

/// Adds a tip to the error. Clap's own tip is kept if it names something similar.
pub(crate) fn with_hint(mut error: clap::Error) -> clap::Error {
    let text = |error: &clap::Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(&error, ContextKind::InvalidSubcommand).and_then(|name| hint_for_command(&name))
        }
        ErrorKind::UnknownArgument if error.get(ContextKind::SuggestedArg).is_none() => {
            text(&error, ContextKind::InvalidArg).map(|flag| hint_for_flag(&flag))
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedSubcommand);
        // This replaces "to pass '--fix' as a value, use '-- --fix'".
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// Escapes control characters in the arguments that the error quotes, so that a terminal does not interpret them.
pub(crate) fn printable(mut error: clap::Error) -> clap::Error {
    let is_hostile = |argument: OsString| {
        let argument = argument.to_string_lossy();
        shown(&argument) != argument
    };
    if !std::env::args_os().skip(1).any(is_hostile) {
        return error;
    }
    let plain = |text: &StyledStr| StyledStr::from(shown(&text.to_string()));
    let quoted: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| {
            let value = match value {
                ContextValue::String(text) => ContextValue::String(shown(text)),
                ContextValue::Strings(texts) => {
                    ContextValue::Strings(texts.iter().map(|text| shown(text)).collect())
                }
                ContextValue::StyledStrs(texts) => {
                    ContextValue::StyledStrs(texts.iter().map(plain).collect())
                }
                _ => return None,
            };
            Some((kind, value))
        })
        .collect();
    for (kind, value) in quoted {
        error.insert(kind, value);
    }
    error
}

fn hint_for_command(name: &str) -> Option<String> {
    let shown = bounded(name, 80);
    if LIKE_LINT.contains(&name) {
        return Some("the command that checks files is 'toolcheck lint'".to_owned());
    }
    let is_path = Path::new(name).exists() || name == "-" || name.contains(['/', '.', '*']);
    is_path.then(|| format!("to check a file, use 'toolcheck lint {shown}'"))
}

fn hint_for_flag(flag: &str) -> String {
    let name = flag.split('=').next().unwrap_or(flag);
    if LIKE_FIX.contains(&name) {
        "`toolcheck fix PATH` and `toolcheck lint --fix PATH` fix files".to_owned()
    } else if OF_FIX.contains(&name) {
        format!("{name} is an option of `toolcheck fix`")
    } else if LIKE_DIFF.contains(&name) {
        "`toolcheck fix --diff` shows what would change, and writes nothing".to_owned()
    } else if name == LIKE_VERBOSE {
        "--verbose lists skipped files; --show-files and --show-settings print what is linted, and how"
            .to_owned()
    } else {
        "'--help' lists the options".to_owned()
    }
}
