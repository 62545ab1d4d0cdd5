//! `lint --show-settings`: what holds for a file, and where it comes from.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use toolcheck_core::text::shown;
use toolcheck_lint::settings::ToolNames;
use toolcheck_project::{Project, relative};
use toolcheck_report::outputs::write_json;

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
        Some(format) => writeln!(out, "format = {}", json!(format.id))?,
        None => writeln!(out, "# format: detected from the content")?,
    }
    match &file.target {
        Some(target) => writeln!(out, "target = {}", told(&json!(target.id))?)?,
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
    let tools = |tools: &ToolNames| told(&json!(tools.globs().collect::<Vec<_>>()));
    writeln!(out, "\n[rules.completion-after-failure]\ntools = {}", tools(&settings.completion_tools)?)?;
    writeln!(out, "\n[rules.repeated-failing-call]\ntimes = {}", settings.failures_in_a_row)?;
    writeln!(out, "\n[rules.shell-file-write]\ntools = {}", tools(&settings.shell_tools)?)?;
    let systems = settings.command_limits.iter().filter_map(|limit| limit.system).map(str::to_lowercase);
    writeln!(out, "\n[rules.oversized-command]\nsystems = {}", json!(systems.collect::<Vec<_>>()))?;
    for limit in settings.command_limits.iter().filter(|limit| limit.system.is_none()) {
        writeln!(out, "most-characters = {}", limit.most)?;
    }
    for policy in &settings.policies {
        writeln!(out, "\n# policy {}", told(&json!(policy.id))?)?;
    }
    for allow in &file.config.config.allows {
        writeln!(out, "\n# allowed, {}: {}", allow.rule.id, shown(&allow.reason))?;
    }
    Ok(())
}

/// A value as JSON, in which nothing hides.
fn told(value: &Value) -> Result<String> {
    let mut written = Vec::new();
    write_json(&value.to_string(), &mut written)?;
    Ok(String::from_utf8_lossy(&written).trim_end().to_owned())
}
