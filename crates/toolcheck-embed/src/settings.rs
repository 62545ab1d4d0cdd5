//! How bodies are linted, by the names that users write.

use std::path::Path;

use toolcheck_config::{Config, ConfigFile, Home, Overrides, TargetSource, parse_target};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::suggest;
use toolcheck_core::targets;
use toolcheck_core::text::shown;
use toolcheck_core::tools::{self, Definition};
use toolcheck_json::{Document, locate};
use toolcheck_lint::{ChatTemplate, FixOptions, Options, Rule, TargetRef, rules};
use toolcheck_open::FileFormat;

use crate::linter::Linter;
use toolcheck_core::Error;

/// How bodies are linted. Options are named as on the command line, and what can't be used is an error that says why.
///
/// ```
/// use toolcheck_embed::Settings;
///
/// let error = Settings::new().target("bedrok").expect_err("there is no such target");
/// assert!(error.to_string().starts_with("there is no target `bedrok`; did you mean `bedrock`?"));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Settings {
    name: Option<String>,
    tools: Vec<Definition>,
    template: Option<std::sync::Arc<ChatTemplate>>,
    config: Config,
    /// The options that take precedence over the configuration.
    overrides: Overrides,
}

impl Settings {
    /// The defaults: everything is detected, and all rules run that are not opt-in.
    pub fn new() -> Self {
        Self::default()
    }

    /// These settings with one that may be given, by its method.
    ///
    /// # Errors
    ///
    /// The method's own.
    pub fn given<T>(
        self,
        value: Option<T>,
        set: impl FnOnce(Self, T) -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        match value {
            Some(value) => set(self, value),
            None => Ok(self),
        }
    }

    /// The name of the body in reports, by default `body.json`. The settings for some files only of the configuration are
    /// for this name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What bodies are read as, by a name of `toolcheck formats`. By default it is detected.
    ///
    /// # Errors
    ///
    /// If there is no such format.
    pub fn format(mut self, id: &str) -> Result<Self, Error> {
        let format = FileFormat::named(id)
            .ok_or_else(|| unknown("format", id, FileFormat::all().map(FileFormat::id), FileFormat::names()));
        self.overrides.read_as.format = Some(format?);
        Ok(self)
    }

    /// The API to check against, by a name of `toolcheck targets`. By default the format's own.
    ///
    /// # Errors
    ///
    /// If there is no such target.
    pub fn target(mut self, id: &str) -> Result<Self, Error> {
        let target = targets::named(id);
        let target = target.ok_or_else(|| unknown("target", id, targets::ids(), targets::names()))?;
        self.overrides.read_as.target = Some(target.into());
        Ok(self)
    }

    /// The API to check against, described by the text of a TOML file (`schemas/target.v1.schema.json`).
    ///
    /// # Errors
    ///
    /// If the text is no such description.
    pub fn own_target(mut self, toml: &str) -> Result<Self, Error> {
        let target = parse_target(toml).map_err(|error| Error::new(format!("invalid target:\n{error}")))?;
        self.overrides.read_as.target = Some(TargetRef::from(target).into());
        Ok(self)
    }

    /// The kind of transcript: `request` (the default), `session` or `dataset`. The last two may end with unanswered
    /// calls.
    ///
    /// # Errors
    ///
    /// If there is no such kind.
    pub fn kind(mut self, kind: &str) -> Result<Self, Error> {
        let kinds = || TranscriptKind::ALL.iter().copied().map(TranscriptKind::as_str);
        let kind = kind.parse().map_err(|_| unknown("kind", kind, kinds(), kinds()))?;
        self.overrides.read_as.kind = Some(kind);
        Ok(self)
    }

    /// The tools of bodies that declare none: a list of tools, a request of any format, or an MCP server's response to
    /// `tools/list`, as JSON.
    ///
    /// # Errors
    ///
    /// If there are no tools in it, or an element is not a tool.
    pub fn tools(mut self, declared: &[u8]) -> Result<Self, Error> {
        let document = Document::read(declared);
        let root = Some(document.root()).filter(|_| document.faults().is_empty());
        if let Some(element) = root.and_then(tools::misfit) {
            let at = locate(declared, &[element.span().start as usize])[0];
            let (line, column) = (at.line, at.column);
            let why = "this is not a tool definition, as it has no `name`";
            return Err(Error::new(format!("tools: {line}:{column}: {why}")));
        }
        let tools = root.and_then(tools::read);
        self.tools = tools.ok_or_else(|| {
            let expected = "expected a list of tools, a request or an MCP response to `tools/list`";
            Error::new(format!("no tools found: {expected}"))
        })?;
        Ok(self)
    }

    /// The chat template of the model, which the rules about templates run on each request: the files of a model's folder
    /// that may have one, or a single file, by their names.
    ///
    /// # Errors
    ///
    /// If there is no template in them.
    #[cfg(feature = "template")]
    pub fn template(mut self, files: &[(&str, &[u8])]) -> Result<Self, Error> {
        let template = match files {
            [(name, bytes)] => toolcheck_template::Template::from_file_bytes(name, bytes),
            files => toolcheck_template::Template::from_files(files),
        };
        let template = template.map_err(|error| Error::new(format!("template: {error}")))?;
        self.template = Some(std::sync::Arc::new(template.into()));
        Ok(self)
    }

    /// The text of a `toolcheck.toml`. The other options take precedence. Files are not read, so it may not name any: it
    /// can't extend another one, or name the file of a target or of tools.
    ///
    /// # Errors
    ///
    /// If the text is not a configuration, or it names a file.
    pub fn config(mut self, toml: &str) -> Result<Self, Error> {
        let invalid = |error: toolcheck_config::Error| Error::new(format!("invalid configuration: {error}"));
        let config = Config::parse(toml).map_err(invalid)?;
        if let Some(file) = ConfigFile::read(toml, Home::Own).map_err(invalid)?
            && file.extends().is_some()
        {
            let why = "`extend` is not supported, because files are not read".to_owned();
            return Err(invalid(file.error_of_extends(why)));
        }
        let mut reads =
            std::iter::once(&config.read_as).chain(config.files.iter().map(|files| &files.read_as));
        if reads.any(|read_as| {
            matches!(read_as.target, Some(TargetSource::File(_)))
                || read_as.tools.is_some()
                || read_as.template.is_some()
        }) {
            return Err(Error::new(
                "invalid configuration: it names the file of a target, of tools or of a chat template, but files are not read",
            ));
        }
        self.config = config;
        Ok(self)
    }

    /// The only conversation to check in bodies that hold several, by its title, its number from 1, or `next` for what an
    /// agent sends next.
    pub fn conversation(mut self, conversation: impl Into<String>) -> Self {
        self.overrides.conversation = Some(conversation.into());
        self
    }

    /// The place of the messages, or of the request, in each record, as a JSON Pointer. By default they are searched for.
    ///
    /// # Errors
    ///
    /// If it is not a JSON Pointer.
    pub fn at(mut self, pointer: impl Into<String>) -> Result<Self, Error> {
        let pointer = pointer.into();
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(Error::new(format!(
                "`at`: a JSON Pointer begins with a slash: `/{}`",
                shown(&pointer)
            )));
        }
        self.overrides.read_as.at = Some(pointer);
        Ok(self)
    }

    /// Runs only these rules.
    ///
    /// # Errors
    ///
    /// If there is no such rule. The same holds for the other two.
    pub fn select<'r>(mut self, ids: impl IntoIterator<Item = &'r str>) -> Result<Self, Error> {
        self.overrides.selection.select = known_rules(ids)?;
        Ok(self)
    }

    /// Also runs these opt-in rules.
    ///
    /// # Errors
    ///
    /// If there is no such rule.
    pub fn extend_select<'r>(mut self, ids: impl IntoIterator<Item = &'r str>) -> Result<Self, Error> {
        self.overrides.selection.extend_select.extend(known_rules(ids)?);
        Ok(self)
    }

    /// Does not run these rules.
    ///
    /// # Errors
    ///
    /// If there is no such rule.
    pub fn ignore<'r>(mut self, ids: impl IntoIterator<Item = &'r str>) -> Result<Self, Error> {
        self.overrides.selection.ignore.extend(known_rules(ids)?);
        Ok(self)
    }

    /// A linter with these settings.
    pub fn linter(&self) -> Linter {
        let name = self.name.as_deref().unwrap_or("body.json");
        let path = Path::new(name);
        let (read_as, selection) = self.config.for_file(path, &self.overrides);
        let target = match &read_as.target {
            Some(TargetSource::Loaded(target)) => Some(target.clone()),
            // `config` rejects a configuration that names a file.
            Some(TargetSource::File(_)) | None => None,
        };
        let options = Options::new()
            .format(read_as.format.and_then(FileFormat::input))
            .conversation(self.overrides.conversation.as_deref())
            .kind(read_as.kind_for(target.as_deref()))
            .target(target)
            .tools(self.tools.clone())
            .template(self.template.clone())
            .settings(self.config.settings.clone())
            .rules(selection.rules())
            .ignored(selection.ignore)
            .at(read_as.at);
        let container = read_as.format.and_then(FileFormat::container);
        Linter::new(name, options, self.config.allows.clone()).container(container)
    }
}

/// What is fixed, by the names that users write: only findings of these rules, if any are named, and only those at a
/// place, if one is: `LINE`, `LINE:COLUMN` or a JSON Pointer. Findings of named rules are fixed even if the API accepts
/// them.
///
/// # Errors
///
/// If there is no such rule, or the place is of another form.
pub fn fix_options<'r>(
    unsafe_fixes: bool,
    only: impl IntoIterator<Item = &'r str>,
    place: Option<&str>,
) -> Result<FixOptions, Error> {
    let only = known_rules(only)?;
    let place = place
        .map(str::parse)
        .transpose()
        .map_err(|error: toolcheck_lint::Error| Error::new(shown(&error.to_string())))?;
    let options = FixOptions::new().unsafe_fixes(unsafe_fixes).accepted(!only.is_empty());
    Ok(options.only(only.iter().map(|rule| rule.id)).places(place))
}

fn known_rules<'r>(ids: impl IntoIterator<Item = &'r str>) -> Result<Vec<&'static Rule>, Error> {
    let known = |id| {
        let all = || rules::ALL.iter().map(|rule| rule.id.as_str());
        rules::find(id).ok_or_else(|| Error::new(suggest::unknown("rule", id, all())))
    };
    ids.into_iter().map(known).collect()
}

/// The error of an unknown name: `listed` are those that are shown, and `known` all that are accepted.
fn unknown<'k>(
    noun: &str,
    id: &str,
    listed: impl Iterator<Item = &'k str>,
    known: impl Iterator<Item = &'k str>,
) -> Error {
    let listed: Vec<&str> = listed.collect();
    Error::new(format!("{}\n\n{noun}s: {}", suggest::unknown(noun, id, known), listed.join(", ")))
}
