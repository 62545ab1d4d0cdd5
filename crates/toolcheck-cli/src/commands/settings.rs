//! `lint --show-settings`: the settings of a file, and where they come from.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use toolcheck_core::text::shown;
use toolcheck_project::{Project, relative};
use toolcheck_report::outputs::write_json_text;

/// Writes the settings of the first file, in the form of a configuration.
pub(crate) fn show(project: &mut Project, out: &mut dyn Write) -> Result<()> {
    let Some(input) = project.inputs().first().cloned() else { return Ok(()) };
    let Some(file) = project.settings(&input) else { return Ok(()) };
    let settings = &file.config.config.settings;
    writeln!(out, "# settings for {}", shown(&input.name))?;
    let sources: Vec<String> = file.config.sources.iter().map(|path| relative(path)).collect();
    let sources = if sources.is_empty() { "none".to_owned() } else { sources.join(", which extends ") };
    writeln!(out, "# configuration: {}", shown(&sources))?;
    match file.format {
        Some(format) => writeln!(out, "format = {}", json!(format.id()))?,
        None => writeln!(out, "# format: detected from the content")?,
    }
    match &file.target {
        Some(target) => writeln!(out, "target = {}", visible(&json!(target.id))?)?,
        None => writeln!(out, "# target: the format's own provider")?,
    }
    writeln!(out, "kind = {}", json!(file.kind.as_str()))?;
    if !file.tools.is_empty() {
        writeln!(out, "# tools from the tools file: {}", file.tools.len())?;
    }
    let rules = file.rules.iter().map(|rule| format!("    {},\n", json!(rule.id)));
    writeln!(out, "select = [\n{}]", rules.collect::<String>())?;
    match &settings.text_protocols {
        Some(protocols) => {
            let ids: Vec<&str> = protocols.iter().map(|protocol| protocol.id).collect();
            writeln!(out, "text-protocols = {}", json!(ids))?;
        }
        None => writeln!(out, "# text-protocols: detected from each transcript")?,
    }
    if !settings.levels.is_empty() {
        writeln!(out, "\n[levels]")?;
        let mut levels: Vec<_> = settings.levels.iter().collect();
        levels.sort();
        for (rule, level) in levels {
            writeln!(out, "{rule} = {}", json!(level.as_str()))?;
        }
    }
    let columns = &settings.columns;
    let columns = [("messages", &columns.messages), ("tools", &columns.tools), ("system", &columns.system)];
    if columns.iter().any(|(_, keys)| !keys.is_empty()) {
        writeln!(out, "\n[columns]")?;
        for (name, keys) in columns.iter().filter(|(_, keys)| !keys.is_empty()) {
            writeln!(out, "{name} = {}", visible(&json!(keys))?)?;
        }
    }
    let mut table = "";
    for option in file.config.config.rule_options() {
        if option.rule != table {
            writeln!(out, "\n[rules.{}]", option.rule)?;
            table = option.rule;
        }
        write!(out, "{} = ", option.key)?;
        write_json_text(&option.value, out)?;
    }
    for policy in &settings.policies {
        writeln!(out, "\n# policy {}", visible(&json!(policy.id))?)?;
    }
    for allow in &file.config.config.allows {
        writeln!(out, "\n# allowed, {}: {}", allow.rule.id, shown(&allow.reason))?;
    }
    Ok(())
}

/// A value as JSON, with hidden characters escaped.
fn visible(value: &Value) -> Result<String> {
    let mut written = Vec::new();
    write_json_text(&value.to_string(), &mut written)?;
    Ok(String::from_utf8_lossy(&written).trim_end().to_owned())
}
