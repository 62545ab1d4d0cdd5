//! From the tables of a file to what they mean.

use std::ops::Range;

use glob::Pattern;
use serde_json::Value as Json;
use toolcheck_core::{Level, target};

use super::file::{AllowTable, File, FilesTable, OversizedTable, PolicyTable, ToolsTable};
use super::names::{At, FormatId, KindName, RuleId, TargetText};
use super::{Config, FilesConfig, Origin, PathGlobs, ReadAs, Selection, TargetName};
use crate::allow::Allow;
use crate::excerpt::shown;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::schemas::{Schema, Unusable};
use crate::settings::{CommandLimit, ToolNames, Unit};

/// Something that is wrong at some bytes of the file.
pub(super) struct Fault(pub(super) Range<usize>, pub(super) String);

/// Where the values stand.
pub(super) struct Place<'p> {
    pub(super) origin: Origin<'p>,
    pub(super) text: &'p str,
}

impl File {
    /// What comes of another configuration where this one is added.
    pub(super) fn over(self, base: Config, place: &Place<'_>) -> Result<Config, Fault> {
        let mut config = base;
        let selection = selection(&self.select, &self.extend_select, &self.ignore)?;
        config.selection = selection.over(config.selection);
        let read_as = place.read_as(self.format, self.target, self.kind, self.tools)?;
        config.read_as = read_as.over(config.read_as);
        let settings = &mut config.settings;
        for (rule, level) in &self.levels {
            settings.levels.insert(rule.meaning()?.id, level.meaning()?);
        }
        if let Some(protocols) = &self.text_protocols {
            settings.text_protocols = Some(protocols.iter().map(At::meaning).collect::<Result<_, _>>()?);
        }
        self.rules.completion_after_failure.apply(&mut settings.completion_tools)?;
        self.rules.shell_file_write.apply(&mut settings.shell_tools)?;
        if let Some(times) = self.rules.repeated_failing_call.times {
            if *times.get() < 2 {
                return Err(times.fault("a call that fails once is not repeated: 2 is the least"));
            }
            settings.failures_in_a_row = times.into_inner();
        }
        self.rules.oversized_command.apply(&mut settings.command_limits)?;
        let mut policies: Vec<Policy> = Vec::new();
        for policy in self.policy {
            let (at, policy) = policy.into_inner().resolve()?;
            if policy.id.trim().is_empty() {
                return Err(Fault(at, "the policy's id is empty: findings bear it".to_owned()));
            }
            if policies.iter().any(|known| known.id == policy.id) {
                return Err(Fault(at, format!("there are two policies `{}`", policy.id)));
            }
            policies.push(policy);
        }
        // One that is written anew takes the place of the one that is extended.
        settings.policies.retain(|known| policies.iter().all(|policy| policy.id != known.id));
        settings.policies.append(&mut policies);
        if let Some(include) = &self.include {
            config.include = Some(place.globs(include)?);
        }
        if !self.exclude.is_empty() {
            config.exclude.push(place.globs(&self.exclude)?);
        }
        for files in self.files {
            config.files.push(files.resolve(place)?);
        }
        for allow in self.allow {
            config.allows.push(resolve_allow(allow, place)?);
        }
        Ok(config)
    }
}

impl Place<'_> {
    fn globs(&self, patterns: &[At<String>]) -> Result<PathGlobs, Fault> {
        let texts = patterns.iter().map(|pattern| pattern.get().as_str());
        PathGlobs::new(self.origin.globs_from, texts)
            .map_err(|(number, message)| patterns[number].fault(message))
    }

    fn read_as(
        &self,
        format: Option<At<FormatId>>,
        target: Option<At<TargetText>>,
        kind: Option<At<KindName>>,
        tools: Option<At<String>>,
    ) -> Result<ReadAs, Fault> {
        let target = target.map(|target| {
            let text = &target.get().0;
            match target::named(text) {
                Some(known) => Ok(TargetName::Known(known)),
                None if text.ends_with(".toml") => Ok(TargetName::File(self.origin.folder.join(text))),
                None => Err(target.unknown()),
            }
        });
        Ok(ReadAs {
            format: format.map(|format| format.meaning()).transpose()?,
            target: target.transpose()?,
            kind: kind.map(|kind| kind.meaning()).transpose()?,
            tools: tools.map(|tools| self.origin.folder.join(tools.get())),
        })
    }
}

impl FilesTable {
    fn resolve(self, place: &Place<'_>) -> Result<FilesConfig, Fault> {
        Ok(FilesConfig {
            paths: place.globs(&self.paths)?,
            selection: selection(&self.select, &self.extend_select, &self.ignore)?,
            read_as: place.read_as(self.format, self.target, self.kind, self.tools)?,
        })
    }
}

fn resolve_allow(allow: At<AllowTable>, place: &Place<'_>) -> Result<Allow, Fault> {
    let at = place.position(&allow.span());
    let allow = allow.into_inner();
    let reason = allow.reason.get().split_whitespace().collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        return Err(allow.reason.fault("the reason is empty: it is for whoever reads this next year"));
    }
    let pointer = allow.pointer.map(|pointer| {
        let text = pointer.get();
        if !text.starts_with('/') {
            return Err(pointer.fault(format!("`{text}` is no JSON Pointer, which begins with `/`")));
        }
        Pattern::new(text).map_err(|error| pointer.fault(format!("`{text}` is no glob: {error}")))
    });
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
    fn apply(self, tools: &mut ToolNames) -> Result<(), Fault> {
        if let Some(names) = &self.tools {
            *tools = tools_of(names)?;
        }
        tools.extend(tools_of(&self.extend_tools)?);
        Ok(())
    }
}

impl OversizedTable {
    fn apply(self, limits: &mut Vec<CommandLimit>) -> Result<(), Fault> {
        if let Some(systems) = &self.systems {
            *limits = systems.iter().map(At::meaning).collect::<Result<_, _>>()?;
        }
        if let Some(most) = self.most_characters {
            limits.push(CommandLimit { system: None, most, unit: Unit::Characters });
        }
        Ok(())
    }
}

impl PolicyTable {
    fn resolve(self) -> Result<(Range<usize>, Policy), Fault> {
        let at = self.schema.span();
        let schema = match self.schema.into_inner() {
            // What is easier to write as JSON may be.
            Json::String(text) => serde_json::from_str(&text)
                .map_err(|error| Fault(at.clone(), format!("the schema is no JSON: {error}")))?,
            schema => schema,
        };
        let schema = Schema::of(schema).map_err(|why| {
            let why = match why {
                Unusable::Unreadable => "is no JSON".to_owned(),
                Unusable::NoSchema(pointer) if pointer.is_empty() => "is no JSON Schema".to_owned(),
                Unusable::NoSchema(pointer) => format!("is no JSON Schema at `{pointer}`"),
                Unusable::Pattern(pointer) => format!("holds no regular expression at `{pointer}`"),
                Unusable::DeadReference => "refers to a part of it that is not there".to_owned(),
                Unusable::Foreign => {
                    "refers to another document, or holds a regular expression that can't be used here"
                        .to_owned()
                }
                Unusable::Endless => "branches without end".to_owned(),
            };
            Fault(at, format!("the schema {why}"))
        })?;
        let level = self.level.map_or(Ok(Level::Error), |level| level.meaning())?;
        let at = self.id.span();
        // A message is one line that hides nothing, however it is written: every output prints it.
        let line = |message: String| shown(&message.split_whitespace().collect::<Vec<_>>().join(" "));
        let message = self.message.map(line);
        let tools = tools_of(&self.tools)?;
        Ok((at, Policy::new(self.id.into_inner(), tools, schema, message, level)))
    }
}

fn selection(
    select: &[At<RuleId>],
    extend_select: &[At<RuleId>],
    ignore: &[At<RuleId>],
) -> Result<Selection, Fault> {
    let rules = |ids: &[At<RuleId>]| ids.iter().map(At::meaning).collect::<Result<Vec<&'static Rule>, _>>();
    Ok(Selection { select: rules(select)?, extend_select: rules(extend_select)?, ignore: rules(ignore)? })
}

fn tools_of(names: &[At<String>]) -> Result<ToolNames, Fault> {
    let mut tools = ToolNames::default();
    for name in names {
        let own = ToolNames::new([name.get().as_str()]);
        tools.extend(own.map_err(|message| name.fault(message))?);
    }
    Ok(tools)
}
