//! The tables of a configuration file, as written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;
use toolcheck_json::{Position, locate};

use crate::error::MAX_MESSAGE;
use crate::names::{At, FormatId, KindName, LevelName, ProtocolId, RuleName, SystemName, TargetText};
use crate::values::{Faults, FileFault, Place};
use crate::{Config, Error};
use toolcheck_core::suggest::in_place_of_list;
use toolcheck_core::text::bounded;

/// The contents of a configuration file.
#[derive(Debug)]
pub struct ConfigFile {
    /// The text, to compute lines and columns.
    text: String,
    table: File,
}

/// A file that a configuration names, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedFile<'n> {
    /// A target.
    Target(&'n str),
    /// Tool definitions.
    Tools(&'n str),
    /// A chat template.
    Template(&'n str),
}

/// The kind of file that contains a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Its name, as shown to the user.
    pub name: &'o str,
    /// The folder that paths in it are relative to.
    pub folder: &'o Path,
    /// The folder that its patterns are relative to.
    pub globs_from: &'o Path,
}

/// Configuration of toolcheck: which rules run on which files, their settings, allowed findings, and policies.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct File {
    /// Another configuration file that this one extends and whose settings it can override: a path relative to this
    /// file's folder.
    pub(super) extend: Option<At<String>>,
    /// Run only these rules. Default: all rules that are not opt-in.
    pub(super) select: Vec<At<RuleName>>,
    /// Also run these rules.
    pub(super) extend_select: Vec<At<RuleName>>,
    /// Do not run these rules.
    pub(super) ignore: Vec<At<RuleName>>,
    /// The level of each rule's findings, instead of the level that the target determines.
    pub(super) levels: BTreeMap<At<RuleName>, At<LevelName>>,
    /// The format of all files. Default: detected from their content.
    pub(super) format: Option<At<FormatId>>,
    /// The API that all files are checked against. Default: the provider that the format belongs to.
    pub(super) target: Option<At<TargetText>>,
    /// The kind of transcript in all files. Default: `request`.
    pub(super) kind: Option<At<KindName>>,
    /// A file with tool definitions for transcripts that declare no tools: a path relative to this file's folder.
    pub(super) tools: Option<At<String>>,
    /// The chat template of the model: `tokenizer_config.json`, a Jinja file, a GGUF file or a model's folder, relative to this file's folder.
    pub(super) template: Option<At<String>>,
    /// The protocols for tool calls in plain text. Default: those that a transcript is seen to use.
    pub(super) text_protocols: Option<Vec<At<ProtocolId>>>,
    /// Patterns of the files in a folder to lint. Default: recordings of requests, and `.json`, `.jsonl`, `.ndjson`,
    /// `.traj` and `.af`, also compressed as `.gz` or `.zst`.
    pub(super) include: Option<Vec<At<String>>>,
    /// Patterns of the files and folders to exclude. Files that are named on the command line are linted anyway, unless
    /// `--force-exclude` is given.
    pub(super) exclude: Vec<At<String>>,
    /// Where the conversations of data sets are, for what can't be detected.
    pub(super) columns: ColumnsTable,
    /// Settings of individual rules.
    pub(super) rules: RulesTable,
    /// Settings for some files only. If several tables match a file, later ones take precedence.
    pub(super) files: Vec<FilesTable>,
    /// Findings that are not reported, each with a reason.
    pub(super) allow: Vec<At<AllowTable>>,
    /// Your own rules for the arguments of tool calls.
    pub(super) policy: Vec<At<PolicyTable>>,
}

/// Where the conversations of data sets are. A row is a record of JSON Lines, or an element of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ColumnsTable {
    /// The keys of the messages; of several, the first one that a row has. A file with such a key in its first rows is
    /// read as a data set.
    pub(super) messages: Option<Vec<String>>,
    /// The keys of the tools, which come before the usual ones.
    pub(super) tools: Option<Vec<String>>,
    /// The keys of the system text, which come before the usual ones.
    pub(super) system: Option<Vec<String>>,
}

/// The rules that have settings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct RulesTable {
    /// The tools that complete a task.
    pub(super) completion_after_failure: ToolsTable,
    /// When repeated failures of the same call are reported.
    pub(super) repeated_failing_call: RepeatedTable,
    /// The tools that run a command in a shell; also used by `oversized-command`.
    pub(super) shell_file_write: ToolsTable,
    /// The maximum length of a command.
    pub(super) oversized_command: OversizedTable,
}

/// Tools, by name or as a glob such as `fs_*`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ToolsTable {
    /// Use these tools instead of the built-in list.
    pub(super) tools: Option<Vec<At<String>>>,
    /// Add these tools to the list.
    pub(super) extend_tools: Vec<At<String>>,
}

/// When repeated failures are reported.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct RepeatedTable {
    /// The number of failures in a row that is reported, at least 2. Default: 3.
    pub(super) times: Option<At<usize>>,
}

/// The maximum length of a command.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct OversizedTable {
    /// The systems whose limits apply. Default: all.
    pub(super) systems: Option<Vec<At<SystemName>>>,
    /// Your own limit, in characters.
    pub(super) most_characters: Option<usize>,
}

/// Settings for some files only.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct FilesTable {
    /// Patterns of the files.
    pub(super) paths: Vec<At<String>>,
    /// The format of these files.
    pub(super) format: Option<At<FormatId>>,
    /// The API that these files are checked against.
    pub(super) target: Option<At<TargetText>>,
    /// The kind of transcript in these files.
    pub(super) kind: Option<At<KindName>>,
    /// A file with tool definitions for transcripts that declare no tools: a path relative to the configuration's
    /// folder.
    pub(super) tools: Option<At<String>>,
    /// The chat template of the model: `tokenizer_config.json`, a Jinja file, a GGUF file or a model's folder, relative to this file's folder.
    pub(super) template: Option<At<String>>,
    /// Run only these rules.
    #[serde(default)]
    pub(super) select: Vec<At<RuleName>>,
    /// Also run these rules.
    #[serde(default)]
    pub(super) extend_select: Vec<At<RuleName>>,
    /// Do not run these rules.
    #[serde(default)]
    pub(super) ignore: Vec<At<RuleName>>,
}

/// Findings that are not reported.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct AllowTable {
    /// The rule.
    pub(super) rule: At<RuleName>,
    /// A pattern of the files. Default: all files.
    pub(super) path: Option<At<String>>,
    /// The value, or one that contains it, as a JSON Pointer in which `*` matches one segment and `**` any number.
    /// Default: any value.
    pub(super) pointer: Option<At<String>>,
    /// The tool, by name or as a glob. Default: any tool.
    pub(super) tool: Option<At<String>>,
    /// Why these findings are acceptable.
    pub(super) reason: At<String>,
}

/// A rule of your own: a schema that the arguments of some tools must match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct PolicyTable {
    /// The id of the policy, shown in its findings.
    pub(super) id: At<String>,
    /// The tools that it applies to, by name or as globs.
    pub(super) tools: Vec<At<String>>,
    /// The JSON Schema that their arguments must match, as a table or as JSON in a string.
    pub(super) schema: At<Json>,
    /// The message of its findings.
    pub(super) message: Option<String>,
    /// The level of its findings. Default: `error`.
    pub(super) level: Option<At<LevelName>>,
}

/// The relevant part of a `pyproject.toml`.
#[derive(Debug, Deserialize)]
struct Pyproject {
    tool: Option<Holder>,
}

/// The relevant part of a `Cargo.toml`.
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

/// The JSON Schema of a `toolcheck.toml`.
#[cfg(feature = "schema")]
pub(super) fn schema() -> Json {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<File>();
    tidy(&mut schema);
    // The types do not express that a policy's schema is a JSON Schema.
    let mut schema = schema.to_value();
    schema["$defs"]["PolicyTable"]["properties"]["schema"]["type"] =
        serde_json::json!(["object", "boolean", "string"]);
    schema
}

/// TOML has no null, so an optional key has just its type; and descriptions have no line breaks.
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
    /// Reads a configuration that extends no other.
    ///
    /// # Errors
    ///
    /// Everything that is invalid, with its place: TOML syntax, unknown keys, rules or systems, and policies with an invalid
    /// schema.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let nowhere = Path::new("");
        let origin = Origin { name: "", folder: nowhere, globs_from: nowhere };
        let file = ConfigFile::read(text, Home::Own)?;
        file.map_or_else(|| Ok(Self::default()), |file| file.over(Self::default(), origin))
    }
}

impl ConfigFile {
    /// Reads the text of a file; `None` if it has no table for toolcheck.
    ///
    /// # Errors
    ///
    /// The syntax or structure is invalid.
    pub fn read(text: &str, home: Home) -> Result<Option<Self>, Error> {
        // Some editors start a file with a byte order mark, which is not part of the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut faults = Faults::default();
        let table = read_despite_unknown(text, &mut faults, |text| read_table(text, home)).flatten();
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

    /// The path of the configuration that this one extends, as written.
    pub fn extends(&self) -> Option<&str> {
        self.table.extend.as_ref().map(|path| path.get().as_str())
    }

    /// An error about the configuration that this one extends, at the place where it is named.
    pub fn error_of_extends(&self, message: String) -> Error {
        self.error_at(self.table.extend.as_ref().map_or(0..0, At::span), message)
    }

    /// The files with targets, tools and templates that it names, as written, each with the span of its name.
    pub fn named_files(&self) -> impl Iterator<Item = (NamedFile<'_>, Range<usize>)> {
        let File { target, tools, template, files, .. } = &self.table;
        let of_some = files.iter().map(|files| (&files.target, &files.tools, &files.template));
        std::iter::once((target, tools, template)).chain(of_some).flat_map(|(target, tools, template)| {
            let target = target.as_ref().filter(|target| target.get().0.ends_with(".toml"));
            let target = target.map(|name| (NamedFile::Target(&name.get().0), name.span()));
            let tools = tools.as_ref().map(|name| (NamedFile::Tools(name.get()), name.span()));
            let template = template.as_ref().map(|name| (NamedFile::Template(name.get()), name.span()));
            [target, tools, template].into_iter().flatten()
        })
    }

    /// An error at a place in the text.
    pub fn error_at(&self, span: Range<usize>, message: String) -> Error {
        error_of(&self.text, Faults(vec![FileFault(span, message)]))
    }

    /// Applies this file on top of the configuration that it extends, or of the default one.
    ///
    /// # Errors
    ///
    /// A value in it is invalid.
    pub fn over(self, base: Config, origin: Origin<'_>) -> Result<Config, Error> {
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

/// The maximum number of unknown keys to report: each one is found by parsing the rest again.
const MAX_UNKNOWN: usize = 20;

/// Converts faults to an error that is safe to print: a configuration may come from someone else.
pub(super) fn error_of(text: &str, faults: Faults) -> Error {
    let mut faults = faults.0;
    toolcheck_json::sort_by_position(&mut faults, |FileFault(span, _)| span.start);
    let error = |FileFault(span, message): FileFault| {
        Error::at(position(text, &span), bounded(&message, MAX_MESSAGE))
    };
    let mut errors = faults.into_iter().map(error);
    let first = errors.next().unwrap_or_else(|| Error::new(String::new()));
    first.with_others(errors.collect())
}

/// Reads a text repeatedly, each time without the unknown keys found so far, so that later errors are found too; `None`
/// if there is any other error.
pub(super) fn read_despite_unknown<T>(
    text: &str,
    faults: &mut Faults,
    read: impl Fn(&str) -> Result<T, toolcheck_toml::Error>,
) -> Option<T> {
    let mut left = Cow::Borrowed(text);
    loop {
        let error = match read(&left) {
            Ok(table) => return Some(table),
            Err(error) => error,
        };
        let message = error.message().trim();
        let span = error.span().unwrap_or(0..0);
        let without = without_unknown(&left, message, &span);
        faults.0.push(FileFault(span, in_place_of_list(message)));
        left = Cow::Owned(without.filter(|_| faults.0.len() < MAX_UNKNOWN)?);
    }
}

fn read_table(text: &str, home: Home) -> Result<Option<File>, toolcheck_toml::Error> {
    match home {
        Home::Own => toolcheck_toml::from_str(text).map(Some),
        // Most of these files have no table for toolcheck, and need not be parsed.
        _ if !text.contains("toolcheck") => Ok(None),
        Home::Pyproject => toolcheck_toml::from_str::<Pyproject>(text).map(|file| file.tool?.toolcheck),
        Home::Cargo => toolcheck_toml::from_str::<Manifest>(text).map(|file| {
            let own = |table: Option<Metadata>| table?.metadata?.toolcheck;
            own(file.workspace).or_else(|| own(file.package))
        }),
    }
}

/// The text with the unknown key at `span` and its value replaced by spaces, so that everything else keeps its place;
/// `None` if the error is a different one, or if the key belongs to a table of several lines.
fn without_unknown(text: &str, message: &str, span: &Range<usize>) -> Option<String> {
    if !message.starts_with("unknown field") {
        return None;
    }
    let document = toml::de::DeTable::parse(text).ok()?;
    let value = value_of(document.get_ref(), span)?;
    // The keys of a table with a header come after the header.
    let is_inside = text.get(span.end..value.start)?.trim_matches(['"', '\'', ' ', '\t']) == "=";
    let blank = |byte: u8| if byte == b'\n' { '\n' } else { ' ' };
    is_inside.then(|| {
        let blanked: String =
            text.as_bytes()[span.start..value.end].iter().map(|byte| blank(*byte)).collect();
        format!("{}{blanked}{}", &text[..span.start], &text[value.end..])
    })
}

/// The span of the value whose key is at `span`.
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
