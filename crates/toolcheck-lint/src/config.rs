//! The configuration: which rules run, what they are set to, and the user's own policies.
//!
//! ```
//! use toolcheck_lint::Config;
//!
//! let config = Config::parse("[rules.repeated-failing-call]\ntimes = 5\n").expect("it is a configuration");
//! assert_eq!(config.settings.failures_in_a_row, 5);
//! let error = Config::parse("ingore = []\n").expect_err("there is no such key");
//! assert_eq!((error.line, error.column), (1, 1));
//! assert!(error.message.contains("did you mean `ignore`?"));
//! ```

use std::fmt;

use serde::Deserialize;
use serde_json::Value as Json;
use toml::Spanned;
use toolcheck_core::Level;
use toolcheck_json::locate;

use crate::excerpt::shown;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::rules;
use crate::schemas::{Schema, Unusable};
use crate::settings::{CommandLimit, SYSTEMS, Settings, ToolNames, Unit};
use crate::suggest::did_you_mean;

/// What a configuration file says.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Which rules run.
    pub selection: Selection,
    /// What they are set to.
    pub settings: Settings,
}

/// Which rules run.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// These and no others; where it is empty, all that are not off unless selected.
    pub select: Vec<&'static Rule>,
    /// These too.
    pub extend_select: Vec<&'static Rule>,
    /// But not these.
    pub ignore: Vec<&'static Rule>,
}

impl Selection {
    /// The rules that run.
    #[must_use]
    pub fn rules(&self) -> Vec<&'static Rule> {
        let is_among = |list: &[&Rule], rule: &Rule| list.iter().any(|other| other.id == rule.id);
        let is_chosen = |rule: &Rule| {
            let is_selected =
                if self.select.is_empty() { !rule.is_optional } else { is_among(&self.select, rule) };
            (is_selected || is_among(&self.extend_select, rule)) && !is_among(&self.ignore, rule)
        };
        rules::ALL.iter().copied().filter(|rule| is_chosen(rule)).collect()
    }
}

/// What is wrong with a configuration, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, in characters.
    pub column: u64,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ConfigError {}

/// A configuration file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct File {
    select: Vec<Spanned<String>>,
    extend_select: Vec<Spanned<String>>,
    ignore: Vec<Spanned<String>>,
    rules: RulesTable,
    policy: Vec<Spanned<PolicyTable>>,
}

/// The tables of rules that can be set.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct RulesTable {
    completion_after_failure: ToolsTable,
    repeated_failing_call: RepeatedTable,
    shell_file_write: ToolsTable,
    oversized_command: OversizedTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct ToolsTable {
    /// These tools in the place of those that are built in.
    tools: Option<Vec<Spanned<String>>>,
    /// These tools too.
    extend_tools: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct RepeatedTable {
    times: Option<Spanned<usize>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct OversizedTable {
    /// The systems whose limits count.
    systems: Option<Vec<Spanned<String>>>,
    /// A limit of the user's own.
    most_characters: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyTable {
    id: Spanned<String>,
    tools: Vec<Spanned<String>>,
    schema: Spanned<Json>,
    message: Option<String>,
    level: Option<Spanned<String>>,
}

/// Something that is wrong at some bytes of the file.
struct Fault(std::ops::Range<usize>, String);

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its place: broken TOML, an unknown key, rule or system, or a policy whose
    /// schema is none.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        // Some editors begin a file with a mark, which is no part of it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read = toml::from_str::<File>(text).map_err(|error| {
            let message = error.message().trim();
            let similar = similar_to_unknown(message).unwrap_or_default();
            Fault(error.span().unwrap_or(0..0), format!("{message}{similar}"))
        });
        read.and_then(File::resolve).map_err(|Fault(span, message)| {
            let at = locate(text.as_bytes(), &[span.start])[0];
            ConfigError { line: at.line, column: at.column, message }
        })
    }
}

/// What an error about an unknown name suggests: it names the unknown one first, and then those that there are.
fn similar_to_unknown(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown ")?;
    let mut names = rest.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    Some(did_you_mean(unknown, names))
}

impl File {
    fn resolve(self) -> Result<Config, Fault> {
        let selection = Selection {
            select: rules_of(&self.select)?,
            extend_select: rules_of(&self.extend_select)?,
            ignore: rules_of(&self.ignore)?,
        };
        let mut settings = Settings::default();
        self.rules.completion_after_failure.apply(&mut settings.completion_tools)?;
        self.rules.shell_file_write.apply(&mut settings.shell_tools)?;
        if let Some(times) = self.rules.repeated_failing_call.times {
            if *times.get_ref() < 2 {
                return Err(Fault(
                    times.span(),
                    "a call that fails once is not repeated: 2 is the least".to_owned(),
                ));
            }
            settings.failures_in_a_row = times.into_inner();
        }
        self.rules.oversized_command.apply(&mut settings.command_limits)?;
        for policy in self.policy {
            let policy = policy.into_inner().resolve()?;
            if settings.policies.iter().any(|known| known.id == policy.1.id) {
                return Err(Fault(policy.0, format!("there are two policies `{}`", policy.1.id)));
            }
            settings.policies.push(policy.1);
        }
        Ok(Config { selection, settings })
    }
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
        let named = |system: &CommandLimit| system.system.unwrap_or_default().to_lowercase();
        if let Some(systems) = &self.systems {
            limits.clear();
            for name in systems {
                let known = SYSTEMS.iter().find(|system| named(system) == name.get_ref().to_lowercase());
                limits.push(known.cloned().ok_or_else(|| {
                    let names: Vec<String> = SYSTEMS.iter().map(named).collect();
                    let similar = did_you_mean(name.get_ref(), names.iter().map(String::as_str));
                    let message =
                        format!("there is no system `{}`, but {}{similar}", name.get_ref(), names.join(", "));
                    Fault(name.span(), message)
                })?);
            }
        }
        if let Some(most) = self.most_characters {
            limits.push(CommandLimit { system: None, most, unit: Unit::Characters });
        }
        Ok(())
    }
}

impl PolicyTable {
    fn resolve(self) -> Result<(std::ops::Range<usize>, Policy), Fault> {
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
        let level = match self.level {
            None => Level::Error,
            Some(level) => level.get_ref().parse().map_err(|message| Fault(level.span(), message))?,
        };
        let at = self.id.span();
        // A message is one line that hides nothing, however it is written: every output prints it.
        let line = |message: String| shown(&message.split_whitespace().collect::<Vec<_>>().join(" "));
        let message = self.message.map(line);
        let tools = tools_of(&self.tools)?;
        Ok((at, Policy::new(self.id.into_inner(), tools, schema, message, level)))
    }
}

fn rules_of(ids: &[Spanned<String>]) -> Result<Vec<&'static Rule>, Fault> {
    let rule = |id: &Spanned<String>| {
        let rule = rules::find(id.get_ref());
        rule.ok_or_else(|| {
            let similar = did_you_mean(id.get_ref(), rules::ALL.iter().map(|rule| rule.id));
            Fault(id.span(), format!("there is no rule `{}`{similar}", id.get_ref()))
        })
    };
    ids.iter().map(rule).collect()
}

fn tools_of(names: &[Spanned<String>]) -> Result<ToolNames, Fault> {
    let mut tools = ToolNames::default();
    for name in names {
        let own = ToolNames::new([name.get_ref().as_str()]);
        tools.extend(own.map_err(|message| Fault(name.span(), message))?);
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        Config::parse(text).expect_err("it is no configuration").to_string()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_what_was_meant() {
        let cases = [
            ("select = [\"blank-txt\"]", "1:11: there is no rule `blank-txt`; did you mean `blank-text`?"),
            ("\n  polcy = 1", "2:3: unknown field `polcy`"),
            ("[rules.shell-file-writ]", "1:8: unknown field `shell-file-writ`"),
            ("[[policy]]\nid = \"a\"\ntools = []\nschema.type = \"objekt\"", "4:"),
            ("[[policy]]\nid = \"a\"\ntools = [\"[\"]\nschema = {}", "3:10: `[` is no glob"),
            ("[[policy]]\nid = \"a\"\ntools = []", "1:1: missing field `schema`"),
            ("[[policy]]\nid = \"a\"\ntools = []\nschema = '{'", "4:10: the schema is no JSON"),
            ("[[policy]]\nid = \"a\"\ntools = []\nschema = {}\nlevel = \"fatal\"", "5:9: `fatal` is neither"),
            ("[rules.oversized-command]\nsystems = [\"window\"]", "2:12: there is no system `window`"),
            ("[rules.repeated-failing-call]\ntimes = 1", "2:9: a call that fails once"),
            ("select = [", "1:"),
        ];
        for (text, beginning) in cases {
            let fault = fault(text);
            assert!(fault.starts_with(beginning), "{text}\n{fault}");
        }
        assert!(fault("ingore = []").ends_with("did you mean `ignore`?"));
        assert!(fault("[rules.oversized-command]\nsystems = [\"window\"]").ends_with("`windows`?"));
        let twice = "[[policy]]\nid = \"a\"\ntools = []\nschema = {}\n".repeat(2);
        assert_eq!(fault(&twice), "6:6: there are two policies `a`");
    }

    #[test]
    fn settings_take_the_place_of_those_that_are_built_in_or_join_them() {
        let config = Config::parse(
            "[rules.completion-after-failure]\ntools = [\"done\"]\n\
             [rules.shell-file-write]\nextend-tools = [\"run_*\"]\n\
             [rules.oversized-command]\nsystems = [\"Linux\"]\nmost-characters = 1000\n",
        );
        let settings = config.expect("it is a configuration").settings;
        assert!(
            settings.completion_tools.hold("done") && !settings.completion_tools.hold("attempt_completion")
        );
        assert!(settings.shell_tools.hold("run_it") && settings.shell_tools.hold("bash"));
        let limits: Vec<_> = settings.command_limits.iter().map(|limit| limit.most).collect();
        assert_eq!(limits, [131_071, 1000]);
    }

    #[test]
    fn what_runs() {
        let ids = |text: &str| {
            let selection = Config::parse(text).expect("it is a configuration").selection;
            selection.rules().iter().map(|rule| rule.id).collect::<Vec<_>>()
        };
        assert!(!ids("").contains(&"shell-file-write"));
        assert_eq!(ids("extend-select = [\"shell-file-write\"]").len(), ids("").len() + 1);
        assert_eq!(
            ids("select = [\"blank-text\", \"empty-content\"]\nignore = [\"blank-text\"]"),
            ["empty-content"]
        );
    }
}
