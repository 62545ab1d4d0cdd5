//! The settings of files, and where they come from.

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use serde_json::{Value, json};
use toolcheck_config::Config;
use toolcheck_core::Level;
use toolcheck_core::text::{Counted, shown};
use toolcheck_lint::Rule;
use toolcheck_project::{LoadedConfig, Project, relative};
use toolcheck_report::outputs::write_json_text;

use crate::screen;

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
            table = option.rule.as_str();
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

/// Says which configurations hold for how many files, and what they leave out of the report.
pub(crate) fn note_configs(configs: &[(Arc<LoadedConfig>, usize)]) {
    for (loaded, files) in configs {
        let sources: Vec<String> = loaded.sources.iter().map(|path| relative(path)).collect();
        let left_out = left_out(&loaded.config);
        let left_out =
            if left_out.is_empty() { "leaves nothing out".to_owned() } else { left_out.join("; ") };
        let sources = sources.join(", which extends ");
        screen::message("configuration", &format!("{sources}, for {}: {left_out}", Counted(*files, "file")));
    }
}

/// What a configuration leaves out of the report.
fn left_out(config: &Config) -> Vec<String> {
    let ids = |rules: &[&Rule]| rules.iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>().join(", ");
    let mut left_out = Vec::new();
    let selections = std::iter::once((&config.selection, ""));
    let of_files = config.files.iter().map(|files| (&files.selection, " in some files"));
    for (selection, part) in selections.chain(of_files) {
        if !selection.select.is_empty() {
            left_out.push(format!("checks only {}{part}", ids(&selection.select)));
        }
        if !selection.ignore.is_empty() {
            left_out.push(format!("ignores {}{part}", ids(&selection.ignore)));
        }
    }
    let levels = &config.settings.levels;
    let mut warned: Vec<&str> =
        levels.iter().filter(|(_, level)| **level == Level::Warning).map(|(rule, _)| rule.as_str()).collect();
    if !warned.is_empty() {
        warned.sort_unstable();
        left_out.push(format!("only warns about {}", warned.join(", ")));
    }
    let mut allowed: Vec<&str> = config.allows.iter().map(|allow| allow.rule.id.as_str()).collect();
    if !allowed.is_empty() {
        allowed.sort_unstable();
        allowed.dedup();
        left_out.push(format!("allows some findings of {}", allowed.join(", ")));
    }
    if !config.exclude.is_empty() {
        left_out.push("excludes files".to_owned());
    }
    left_out
}

/// A value as JSON, with hidden characters escaped.
fn visible(value: &Value) -> Result<String> {
    let mut written = Vec::new();
    write_json_text(&value.to_string(), &mut written)?;
    Ok(String::from_utf8_lossy(&written).trim_end().to_owned())
}
