//! A configuration as it is written: the tables of the file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;
use toolcheck_json::{Position, locate};

use super::names::{At, FormatId, KindName, LevelName, ProtocolId, RuleId, SystemName, TargetText};
use super::values::{Fault, Faults, Place};
use super::{Config, ConfigError};
use crate::excerpt::bounded;
use crate::suggest::did_you_mean;

/// What a configuration file holds.
#[derive(Debug)]
pub struct ConfigFile {
    /// Its text, in which places are found.
    text: String,
    table: File,
}

/// The file that a configuration stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// A file of its own.
    Own,
    /// `[tool.toolcheck]` of a `pyproject.toml`.
    Pyproject,
    /// `[workspace.metadata.toolcheck]` or `[package.metadata.toolcheck]` of a `Cargo.toml`.
    Cargo,
}

/// Where a configuration comes from.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'o> {
    /// Its name, as it is shown.
    pub name: &'o str,
    /// The folder that the files which it names are looked for from.
    pub folder: &'o Path,
    /// The folder that its patterns count from.
    pub globs_from: &'o Path,
}

/// The configuration of toolcheck: which rules run on which files, what they are set to, what is allowed, and policies.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct File {
    /// Another configuration, which this one adds to and whose keys it may set anew: a path from this file's folder.
    pub(super) extend: Option<At<String>>,
    /// These rules and no others. Left out: all that are not off unless selected.
    pub(super) select: Vec<At<RuleId>>,
    /// These rules too.
    pub(super) extend_select: Vec<At<RuleId>>,
    /// But not these.
    pub(super) ignore: Vec<At<RuleId>>,
    /// How bad the findings of a rule are, in the place of what the target says.
    pub(super) levels: BTreeMap<At<RuleId>, At<LevelName>>,
    /// The format of all files. Left out: found out from their content.
    pub(super) format: Option<At<FormatId>>,
    /// The API that all files are for. Left out: the format's own provider.
    pub(super) target: Option<At<TargetText>>,
    /// What all files are for. Left out: `request`.
    pub(super) kind: Option<At<KindName>>,
    /// A file that declares tools for transcripts that do not: a path from this file's folder.
    pub(super) tools: Option<At<String>>,
    /// The protocols in which calls are written into plain text. Left out: those that a transcript shows to speak.
    pub(super) text_protocols: Option<Vec<At<ProtocolId>>>,
    /// The files of a folder that are linted, as patterns. Left out: `.json`, `.jsonl` and `.ndjson`, also compressed as
    /// `.gz` or `.zst`.
    pub(super) include: Option<Vec<At<String>>>,
    /// The files and folders that are left out, as patterns. Files that are named on the command line are linted all
    /// the same, unless `--force-exclude` is given.
    pub(super) exclude: Vec<At<String>>,
    /// What the rules are set to that can be set.
    pub(super) rules: RulesTable,
    /// What holds for some files only. Where several tables hold for a file, what stands later counts more.
    pub(super) files: Vec<FilesTable>,
    /// Findings that are not reported, each with the reason.
    pub(super) allow: Vec<At<AllowTable>>,
    /// Your own rules about what tools may be called with.
    pub(super) policy: Vec<At<PolicyTable>>,
}

/// The rules that can be set.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct RulesTable {
    /// The tools that close a task.
    pub(super) completion_after_failure: ToolsTable,
    /// How many failures of one call in a row are too many.
    pub(super) repeated_failing_call: RepeatedTable,
    /// The tools that run a command in a shell; they count for `oversized-command` too.
    pub(super) shell_file_write: ToolsTable,
    /// How long a command may be.
    pub(super) oversized_command: OversizedTable,
}

/// Tools, by name or as globs such as `fs_*`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ToolsTable {
    /// These in the place of those that are built in.
    pub(super) tools: Option<Vec<At<String>>>,
    /// These too.
    pub(super) extend_tools: Vec<At<String>>,
}

/// How many failures are too many.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct RepeatedTable {
    /// Failures in a row, 2 at least. Left out: 3.
    pub(super) times: Option<At<usize>>,
}

/// How long a command may be.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct OversizedTable {
    /// The systems whose limits count. Left out: all.
    pub(super) systems: Option<Vec<At<SystemName>>>,
    /// A limit of your own, in characters.
    pub(super) most_characters: Option<usize>,
}

/// What holds for some files only.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct FilesTable {
    /// The files, as patterns.
    pub(super) paths: Vec<At<String>>,
    /// Their format.
    pub(super) format: Option<At<FormatId>>,
    /// The API that they are for.
    pub(super) target: Option<At<TargetText>>,
    /// What they are for.
    pub(super) kind: Option<At<KindName>>,
    /// A file that declares tools for those that do not: a path from this file's folder.
    pub(super) tools: Option<At<String>>,
    /// These rules and no others.
    #[serde(default)]
    pub(super) select: Vec<At<RuleId>>,
    /// These rules too.
    #[serde(default)]
    pub(super) extend_select: Vec<At<RuleId>>,
    /// But not these.
    #[serde(default)]
    pub(super) ignore: Vec<At<RuleId>>,
}

/// Findings that are not reported.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct AllowTable {
    /// The rule.
    pub(super) rule: At<RuleId>,
    /// The files, as a pattern. Left out: all.
    pub(super) path: Option<At<String>>,
    /// The value or what is around it, as a JSON Pointer in which `*` is any one step and `**` any number of them. Left
    /// out: any.
    pub(super) pointer: Option<At<String>>,
    /// The tool, by name or as a glob. Left out: any.
    pub(super) tool: Option<At<String>>,
    /// Why they are no fault.
    pub(super) reason: At<String>,
}

/// A rule of your own: what the arguments of some tools have to be like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct PolicyTable {
    /// The policy's name, which findings bear.
    pub(super) id: At<String>,
    /// The tools that it is for, by name or as globs.
    pub(super) tools: Vec<At<String>>,
    /// What their arguments have to be like: a JSON Schema, as a table or as JSON in a string.
    pub(super) schema: At<Json>,
    /// What to tell whoever breaks it.
    pub(super) message: Option<String>,
    /// How bad it is to break it. Left out: `error`.
    pub(super) level: Option<At<LevelName>>,
}

/// A `pyproject.toml`, as far as it matters.
#[derive(Debug, Deserialize)]
struct Pyproject {
    tool: Option<Holder>,
}

/// A `Cargo.toml`, as far as it matters.
#[derive(Debug, Deserialize)]
struct Manifest {
    workspace: Option<Metadata>,
    package: Option<Metadata>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    metadata: Option<Holder>,
}

#[derive(Debug, Deserialize)]
struct Holder {
    toolcheck: Option<File>,
}

/// The JSON Schema of a file of its own.
#[cfg(feature = "schema")]
pub(super) fn schema() -> Json {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<File>();
    tidy(&mut schema);
    // What the types do not say: a policy's schema is one.
    let mut schema = schema.to_value();
    schema["$defs"]["PolicyTable"]["properties"]["schema"]["type"] =
        serde_json::json!(["object", "boolean", "string"]);
    schema
}

/// TOML has no null, so a key that may be left out is one of its type; and descriptions have no line ends.
#[cfg(feature = "schema")]
fn tidy(schema: &mut schemars::Schema) {
    schemars::transform::transform_subschemas(&mut tidy, schema);
    let Some(keys) = schema.as_object_mut() else { return };
    if keys.get("default").is_some_and(Json::is_null) {
        keys.remove("default");
    }
    if let Some(Json::String(description)) = keys.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Json::Array(types)) = keys.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            keys.insert("type".to_owned(), only);
        }
    }
    let either = keys.get("anyOf").and_then(Json::as_array).cloned().unwrap_or_default();
    if let [Json::Object(one), null] = &either[..]
        && *null == serde_json::json!({"type": "null"})
    {
        keys.remove("anyOf");
        keys.extend(one.clone());
    }
}

impl Config {
    /// Reads a configuration that stands alone.
    ///
    /// # Errors
    ///
    /// What is wrong, with its place: broken TOML, an unknown key, rule or system, or a policy whose
    /// schema is none.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let nowhere = Path::new("");
        let origin = Origin { name: "", folder: nowhere, globs_from: nowhere };
        let file = ConfigFile::read(text, Home::Own)?;
        file.map_or_else(|| Ok(Self::default()), |file| file.over(Self::default(), origin))
    }
}

impl ConfigFile {
    /// Reads the text of a file; `None` where it holds no table of toolcheck's.
    ///
    /// # Errors
    ///
    /// What is wrong with its form, with its place.
    pub fn read(text: &str, home: Home) -> Result<Option<Self>, ConfigError> {
        // Some editors begin a file with a mark, which is no part of it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut faults = Faults::default();
        // What was wrong so far is blanked out, so that all that comes behind it is found too.
        let mut left = Cow::Borrowed(text);
        let table = loop {
            match read_table(&left, home) {
                Ok(table) => break table,
                Err(error) => {
                    let message = error.message().trim();
                    let similar = similar_to_unknown(message).unwrap_or_default();
                    let span = error.span().unwrap_or(0..0);
                    let without = without_unknown(&left, message, &span);
                    faults.0.push(Fault(span, format!("{message}{similar}")));
                    match without {
                        Some(without) if faults.0.len() < MOST_UNKNOWN => left = Cow::Owned(without),
                        _ => break None,
                    }
                }
            }
        };
        if faults.0.is_empty() {
            return Ok(table.map(|table| Self { text: text.to_owned(), table }));
        }
        let nowhere = Path::new("");
        let origin = Origin { name: "", folder: nowhere, globs_from: nowhere };
        if let Some(Err(others)) = table.map(|table| table.over(Config::default(), &Place { origin, text })) {
            faults.0.extend(others.0);
        }
        Err(error_of(text, faults))
    }

    /// The configuration that this one extends, as it names it.
    #[must_use]
    pub fn extends(&self) -> Option<&str> {
        self.table.extend.as_ref().map(|path| path.get().as_str())
    }

    /// What is wrong with the configuration that this one extends, at the place that names it.
    #[must_use]
    pub fn error_of_extends(&self, message: String) -> ConfigError {
        let span = self.table.extend.as_ref().map_or(0..0, At::span);
        error_of(&self.text, Faults(vec![Fault(span, message)]))
    }

    /// What comes of the configuration that it extends, or of the default one.
    ///
    /// # Errors
    ///
    /// What in it means nothing, with its place.
    pub fn over(self, base: Config, origin: Origin<'_>) -> Result<Config, ConfigError> {
        let text = self.text;
        let place = Place { origin, text: &text };
        self.table.over(base, &place).map_err(|faults| error_of(&text, faults))
    }
}

impl Place<'_> {
    /// The line and column of a value.
    pub(super) fn position(&self, span: &Range<usize>) -> Position {
        position(self.text, span)
    }
}

fn position(text: &str, span: &Range<usize>) -> Position {
    locate(text.as_bytes(), &[span.start])[0]
}

/// The longest message: it may quote a key or value of any length.
const LONGEST_MESSAGE: usize = 600;

/// How many unknown keys are told: each is found by reading what is left.
const MOST_UNKNOWN: usize = 20;

/// The faults as they may be printed: a configuration is written by others too.
fn error_of(text: &str, faults: Faults) -> ConfigError {
    let mut faults = faults.0;
    faults.sort_by_key(|Fault(span, _)| span.start);
    let mut errors: Vec<ConfigError> = faults
        .into_iter()
        .map(|Fault(span, message)| {
            let at = position(text, &span);
            let message = bounded(&message, LONGEST_MESSAGE);
            ConfigError { line: at.line, column: at.column, message, others: Vec::new() }
        })
        .collect();
    let others = errors.split_off(errors.len().min(1));
    let first = errors.pop().unwrap_or_else(|| ConfigError {
        line: 1,
        column: 1,
        message: String::new(),
        others: Vec::new(),
    });
    ConfigError { others, ..first }
}

/// Reads the table of a file.
fn read_table(text: &str, home: Home) -> Result<Option<File>, toml::de::Error> {
    match home {
        Home::Own => toml::from_str(text).map(Some),
        // Most of them hold nothing for us, which is told without reading them.
        _ if !text.contains("toolcheck") => Ok(None),
        Home::Pyproject => toml::from_str::<Pyproject>(text).map(|file| file.tool?.toolcheck),
        Home::Cargo => toml::from_str::<Manifest>(text).map(|file| {
            let own = |table: Option<Metadata>| table?.metadata?.toolcheck;
            own(file.workspace).or_else(|| own(file.package))
        }),
    }
}

/// The text without the key that is unknown at `span` and without its value, with all else at its place; `None` where
/// the error is another one, or the key is that of a table of several lines.
fn without_unknown(text: &str, message: &str, span: &Range<usize>) -> Option<String> {
    if !message.starts_with("unknown field") {
        return None;
    }
    let document = toml::de::DeTable::parse(text).ok()?;
    let value = value_of(document.get_ref(), span)?;
    // A table with a header of its own has its keys behind it.
    let is_inside = text.get(span.end..value.start)?.trim_matches(['"', '\'', ' ', '\t']) == "=";
    let blank = |byte: u8| if byte == b'\n' { '\n' } else { ' ' };
    is_inside.then(|| {
        let blanked: String =
            text.as_bytes()[span.start..value.end].iter().map(|byte| blank(*byte)).collect();
        format!("{}{blanked}{}", &text[..span.start], &text[value.end..])
    })
}

/// Where the value of the key at `span` is.
fn value_of(table: &toml::de::DeTable<'_>, span: &Range<usize>) -> Option<Range<usize>> {
    fn inside(value: &toml::de::DeValue<'_>, span: &Range<usize>) -> Option<Range<usize>> {
        match value {
            toml::de::DeValue::Table(table) => value_of(table, span),
            toml::de::DeValue::Array(values) => values.iter().find_map(|value| inside(value.get_ref(), span)),
            _ => None,
        }
    }
    table.iter().find_map(|(key, value)| {
        if key.span() == *span { Some(value.span()) } else { inside(value.get_ref(), span) }
    })
}

/// What an error about an unknown name suggests: it names the unknown one first, and then those that there are.
fn similar_to_unknown(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown ")?;
    let mut names = rest.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    Some(did_you_mean(unknown, names))
}
