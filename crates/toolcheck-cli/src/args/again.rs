//! The options of a run, for another command that is to read the same.

use std::path::PathBuf;

use toolcheck_core::text::name_of;
use toolcheck_lint::Rule;

use super::{ConfigArgs, ReadingArgs, SelectionArgs};

/// The options that read files in the same way once more, each after a space.
pub(crate) fn again(reading: &ReadingArgs, selection: &SelectionArgs, config: &ConfigArgs) -> String {
    let path = |path: &PathBuf| name_of(path.as_os_str().as_encoded_bytes());
    let ids = |rules: &[&'static Rule]| {
        let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
        (!ids.is_empty()).then(|| ids.join(","))
    };
    let values = [
        ("--format", reading.format.map(|format| format.id().to_owned())),
        ("--conversation", reading.conversation.clone()),
        ("--target", reading.target.clone()),
        ("--kind", reading.kind.map(|kind| kind.to_string())),
        ("--tools", reading.tools.as_ref().map(path)),
        ("--template", reading.template.as_ref().map(path)),
        ("--at", reading.at.clone()),
        ("--select", ids(&selection.select)),
        ("--extend-select", ids(&selection.extend_select)),
        ("--ignore", ids(&selection.ignore)),
        ("--config", config.config.as_ref().map(path)),
    ];
    let mut options: String =
        values.into_iter().filter_map(|(flag, value)| Some(format!(" {flag} {}", quoted(&value?)))).collect();
    let flags = [("--next", reading.next), ("--isolated", config.isolated)];
    options.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| format!(" {flag}")));
    options
}

/// A word, quoted for a shell if needed.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:=@+,".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.contains('\0') {
        // It is printed with `\xff` for a byte that is not UTF-8, which shells understand in these quotes.
        return format!("$'{}'", word.replace('\\', "\\\\").replace('\'', "\\'"));
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
