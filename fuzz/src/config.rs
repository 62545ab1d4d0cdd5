//! Configurations and policies.

use std::path::Path;

use toolcheck_config::{Config, ConfigFile, Error, Home, Overrides};
use toolcheck_lint::{Options, lint};

use super::take;

const POLICY: &str = "[[policy]]\nid = \"checked\"\ntools = [\"*\"]\n[policy.schema]\n";

const CALLS: &str = r#"{"messages": [{"role": "user", "content": "Tide, and then the file?"},
 {"role": "assistant", "content": null, "tool_calls": [
  {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{\"port\": \"Ebb\", \"days\": [1, 2.5, null]}"}},
  {"id": "call_1", "type": "function", "function": {"name": "write file", "arguments": "{\"path\": \"a\", \"nested\": {\"x\": \"\u00e9\"}}"}}]},
 {"role": "tool", "tool_call_id": "call_1", "content": "high"}, {"role": "user", "content": ""}]}"#;

/// The first byte chooses the kind of file.
pub fn run(mut data: &[u8]) {
    let kind = take(&mut data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    match kind % 3 {
        0 => check_config(text),
        1 => check_config(&format!("{POLICY}{text}")),
        _ => {
            for home in [Home::Pyproject, Home::Cargo] {
                if let Err(error) = ConfigFile::read(text, home) {
                    check_error(text, &error);
                }
            }
        }
    }
}

fn check_config(text: &str) {
    match Config::parse(text) {
        Ok(config) => {
            let (_, selection) = config.for_file(Path::new("logs/case.json"), &Overrides::default());
            let _ = config.excludes(Path::new("logs/case.json"));
            let options = Options::new().settings(config.settings.clone()).rules(selection.rules());
            let _ = lint("case.json", CALLS.as_bytes(), &options);
        }
        Err(error) => check_error(text, &error),
    }
}

/// Asserts that an error has a message and a place in the text.
pub(crate) fn check_error(text: &str, error: &Error) {
    assert!(!error.message().is_empty());
    let lines = text.split('\n').count();
    let at = error.position().expect("a file has places");
    assert!((1..=lines).contains(&(at.line as usize)) && at.column > 0, "{error:?}");
}
