//! Converts the tables of a file to a configuration.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;
use toolcheck_core::text::shown;
use toolcheck_core::{Level, RuleId, targets};
use toolcheck_lint::policy::Policy;
use toolcheck_lint::settings::{CommandLimit, ToolNames, Unit};

use crate::allow::{Allow, PointerGlob};
use crate::file::{AllowTable, File, FilesTable, OversizedTable, PolicyTable, ToolsTable};
use crate::names::{At, FormatId, KindName, LevelName, Named, RuleName, TargetText};
use crate::{Config, FilesConfig, Origin, PathGlobs, ReadAs, Selection, TargetSource};

/// An error in the file: its span, and a message.
pub(super) struct FileFault(pub(super) Range<usize>, pub(super) String);

struct NamedFiles {
    tools: Option<At<String>>,
    template: Option<At<String>>,
}

pub(super) struct Place<'p> {
    pub(super) origin: Origin<'p>,
    pub(super) text: &'p str,
}

/// All errors in a configuration, so that they are reported at once.
#[derive(Default)]
pub(super) struct Faults(pub(super) Vec<FileFault>);

impl Faults {
    /// Returns the value, or records the fault and returns `None`.
    fn take<T>(&mut self, result: Result<T, FileFault>) -> Option<T> {
        result.map_err(|fault| self.0.push(fault)).ok()
    }

    fn meanings<N: Named>(&mut self, names: &[At<N>]) -> Vec<N::Meaning> {
        names.iter().filter_map(|name| self.take(name.meaning())).collect()
    }

    fn selection(
        &mut self,
        select: &[At<RuleName>],
        extend_select: &[At<RuleName>],
        ignore: &[At<RuleName>],
    ) -> Selection {
        Selection {
            select: self.meanings(select),
            extend_select: self.meanings(extend_select),
            ignore: self.meanings(ignore),
        }
    }
}

impl File {
    /// Applies this file on top of another configuration.
    pub(super) fn over(self, base: Config, place: &Place<'_>) -> Result<Config, Faults> {
        let mut config = base;
        let mut faults = Faults::default();
        let selection = faults.selection(&self.select, &self.extend_select, &self.ignore);
        config.selection = selection.over(config.selection);
        let files = NamedFiles { tools: self.tools, template: self.template };
        let read_as = place.read_as(self.format, self.target, self.kind, files, &mut faults);
        config.read_as = read_as.over(config.read_as);
        let settings = Arc::make_mut(&mut config.settings);
        for (rule, level) in &self.levels {
            let (rule, level) = (faults.take(rule.meaning()), faults.take(meaning_of_level(level)));
            if let (Some(rule), Some(level)) = (rule, level) {
                settings.levels.insert(rule.id, level);
            }
        }
        if let Some(protocols) = &self.text_protocols {
            settings.text_protocols = Some(faults.meanings(protocols));
        }
        let columns = &mut settings.columns;
        columns.messages = self.columns.messages.unwrap_or_else(|| std::mem::take(&mut columns.messages));
        columns.tools = self.columns.tools.unwrap_or_else(|| std::mem::take(&mut columns.tools));
        columns.system = self.columns.system.unwrap_or_else(|| std::mem::take(&mut columns.system));
        faults.take(self.rules.completion_after_failure.apply(&mut settings.completion_tools));
        faults.take(self.rules.shell_file_write.apply(&mut settings.shell_tools));
        if let Some(times) = self.rules.repeated_failing_call.times {
            if *times.get() < 2 {
                faults
                    .0
                    .push(times.fault("`times` must be at least 2: a call that fails once is not repeated"));
            }
            settings.failures_in_a_row = times.into_inner();
        }
        faults.take(self.rules.oversized_command.apply(&mut settings.command_limits));
        let mut policies: Vec<Policy> = Vec::new();
        for policy in self.policy {
            let Some((at, policy)) = faults.take(policy.into_inner().resolve()) else { continue };
            if policy.id.trim().is_empty() {
                faults.0.push(FileFault(at, "the id of a policy must not be empty".to_owned()));
            } else if policies.iter().any(|known| known.id == policy.id) {
                faults.0.push(FileFault(at, format!("duplicate policy `{}`", policy.id)));
            }
            policies.push(policy);
        }
        // A policy with the same id replaces that of the extended configuration.
        settings.policies.retain(|known| policies.iter().all(|policy| policy.id != known.id));
        settings.policies.append(&mut policies);
        if let Some(include) = &self.include {
            config.include = faults.take(place.globs(include));
        }
        if !self.exclude.is_empty() {
            config.exclude.extend(faults.take(place.globs(&self.exclude)));
        }
        for files in self.files {
            config.files.extend(files.resolve(place, &mut faults));
        }
        for allow in self.allow {
            config.allows.extend(faults.take(resolve_allow(allow, place)));
        }
        if faults.0.is_empty() { Ok(config) } else { Err(faults) }
    }
}

/// An option of a rule, as `--show-settings` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleOption {
    /// The id of the rule.
    pub rule: RuleId,
    /// The key in the rule's table.
    pub key: &'static str,
    /// The value, written so that it is both TOML and JSON.
    pub value: String,
}

impl Config {
    /// The options of rules that apply, in the order of the file's tables and in the form of their keys.
    pub fn rule_options(&self) -> Vec<RuleOption> {
        let settings = &*self.settings;
        let option = |rule, key, value: Json| RuleOption { rule, key, value: value.to_string() };
        let tools = |tools: &ToolNames| Json::from_iter(tools.globs());
        let systems = settings.command_limits.iter().filter_map(|limit| limit.system).map(str::to_lowercase);
        let own = settings.command_limits.iter().filter(|limit| limit.system.is_none());
        let mut options = vec![
            option(RuleId::CompletionAfterFailure, "tools", tools(&settings.completion_tools)),
            option(RuleId::RepeatedFailingCall, "times", settings.failures_in_a_row.into()),
            option(RuleId::ShellFileWrite, "tools", tools(&settings.shell_tools)),
            option(RuleId::OversizedCommand, "systems", Json::from_iter(systems)),
        ];
        options
            .extend(own.map(|limit| option(RuleId::OversizedCommand, "most-characters", limit.most.into())));
        options
    }
}

/// Finds a level, with a hint for users of linters that have a level for disabled rules.
fn meaning_of_level(level: &At<LevelName>) -> Result<Level, FileFault> {
    level.meaning().map_err(|FileFault(span, message)| {
        let is_off = ["off", "none", "allow", "ignore", "disable", "disabled", "silent"];
        let is_off = is_off.contains(&level.get().text());
        let hint = if is_off { "; to turn a rule off, add it to `ignore`" } else { "" };
        FileFault(span, format!("{message}{hint}"))
    })
}

impl Place<'_> {
    fn globs(&self, patterns: &[At<String>]) -> Result<PathGlobs, FileFault> {
        let texts = patterns.iter().map(|pattern| pattern.get().as_str());
        PathGlobs::compile(self.origin.globs_from, texts)
            .map_err(|(number, message)| patterns[number].fault(message))
    }

    fn read_as(
        &self,
        format: Option<At<FormatId>>,
        target: Option<At<TargetText>>,
        kind: Option<At<KindName>>,
        files: NamedFiles,
        faults: &mut Faults,
    ) -> ReadAs {
        let target = target.map(|target| {
            let text = &target.get().0;
            match targets::named(text) {
                Some(known) => Ok(known.into()),
                None if text.ends_with(".toml") => Ok(TargetSource::File(self.origin.folder.join(text))),
                None => Err(target.unknown()),
            }
        });
        ReadAs {
            format: format.and_then(|format| faults.take(format.meaning())),
            target: target.and_then(|target| faults.take(target)),
            kind: kind.and_then(|kind| faults.take(kind.meaning())),
            tools: files.tools.map(|tools| self.origin.folder.join(tools.get())),
            template: files.template.map(|template| self.origin.folder.join(template.get())),
            at: None,
        }
    }
}

impl FilesTable {
    fn resolve(self, place: &Place<'_>, faults: &mut Faults) -> Option<FilesConfig> {
        let paths = faults.take(place.globs(&self.paths));
        let selection = faults.selection(&self.select, &self.extend_select, &self.ignore);
        let files = NamedFiles { tools: self.tools, template: self.template };
        let read_as = place.read_as(self.format, self.target, self.kind, files, faults);
        Some(FilesConfig { paths: paths?, selection, read_as })
    }
}

fn resolve_allow(allow: At<AllowTable>, place: &Place<'_>) -> Result<Allow, FileFault> {
    let at = place.position(&allow.span());
    let allow = allow.into_inner();
    let reason = allow.reason.get().split_whitespace().collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        return Err(allow.reason.fault("the reason must not be empty"));
    }
    let pointer = allow
        .pointer
        .map(|pointer| PointerGlob::new(pointer.get()).map_err(|error| pointer.fault(error.to_string())));
    Ok(Allow {
        rule: allow.rule.meaning()?,
        paths: allow.path.map(|path| place.globs(&[path])).transpose()?,
        pointer: pointer.transpose()?,
        tools: allow.tool.map(|tool| tools_of(&[tool])).transpose()?,
        reason: shown(&reason),
        config: place.origin.name.to_owned(),
        position: at,
        folder: place.origin.globs_from.to_owned(),
    })
}

impl ToolsTable {
    fn apply(self, tools: &mut ToolNames) -> Result<(), FileFault> {
        if let Some(names) = &self.tools {
            *tools = tools_of(names)?;
        }
        tools.extend(tools_of(&self.extend_tools)?);
        Ok(())
    }
}

impl OversizedTable {
    fn apply(self, limits: &mut Vec<CommandLimit>) -> Result<(), FileFault> {
        if let Some(systems) = &self.systems {
            *limits = systems.iter().map(At::meaning).collect::<Result<_, _>>()?;
        }
        limits.extend(self.most_characters.map(|most| CommandLimit::own(most, Unit::Characters)));
        Ok(())
    }
}

impl PolicyTable {
    fn resolve(self) -> Result<(Range<usize>, Policy), FileFault> {
        let schema_at = self.schema.span();
        let schema = match self.schema.into_inner() {
            // A schema may also be written as JSON in a string.
            Json::String(text) => text,
            schema => schema.to_string(),
        };
        let level = self.level.map_or(Ok(Level::Error), |level| level.meaning())?;
        let at = self.id.span();
        // Every output prints the message, so it becomes one line without hidden characters.
        let line = |message: String| shown(&message.split_whitespace().collect::<Vec<_>>().join(" "));
        let message = self.message.map(line);
        let tools = tools_of(&self.tools)?;
        let policy = Policy::new(self.id.into_inner(), tools, &schema);
        let mut policy = policy.map_err(|error| FileFault(schema_at, error.to_string()))?;
        (policy.message, policy.level) = (message, level);
        Ok((at, policy))
    }
}

fn tools_of(names: &[At<String>]) -> Result<ToolNames, FileFault> {
    let mut tools = ToolNames::default();
    for name in names {
        let own = ToolNames::new([name.get().as_str()]);
        tools.extend(own.map_err(|error| name.fault(error.to_string()))?);
    }
    Ok(tools)
}
