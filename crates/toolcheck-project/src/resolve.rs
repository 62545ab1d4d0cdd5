//! The settings of a file: the overrides of a run on top of its configuration.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::HashMap;
use toolcheck_config::{NamedFile, Overrides, TargetSource, parse_target};
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::suggest::unknown;
use toolcheck_core::tools::{self, Definition};
use toolcheck_core::{RuleId, targets};
use toolcheck_json::{Document, Span};
use toolcheck_lint::{ChatTemplate, Options, Rule, TargetRef};
use toolcheck_open::{Container, FileFormat};

use crate::configs::{self, Configs, ForeignConfig, LoadedConfig};
use crate::error::{Error, SettingsFault};
use crate::inputs::Input;
use crate::paths::printable;
use crate::template;

/// The settings of a file.
#[derive(Debug, Clone)]
pub struct FileSettings {
    /// The configuration.
    pub config: Arc<LoadedConfig>,
    /// The format; detected from the content if `None`.
    pub format: Option<FileFormat>,
    /// The only conversation to check; all of them if `None`.
    pub conversation: Option<Arc<str>>,
    /// The target; the format's own provider if `None`.
    pub target: Option<TargetRef>,
    /// The kind of transcript.
    pub kind: TranscriptKind,
    /// Tool definitions for transcripts that have none.
    pub tools: Arc<[Definition]>,
    /// The chat template of the model.
    pub template: Option<Arc<ChatTemplate>>,
    /// The place of the messages, or of the request, in each record, as a JSON Pointer.
    pub at: Option<Arc<str>>,
    /// The rules that run.
    pub rules: Rules,
    /// The rules that don't run because the user ignores them.
    pub ignored: Rules,
}

/// Rules that the settings of many files share.
type Rules = Arc<[&'static Rule]>;

impl FileSettings {
    /// The kind of file that holds the requests, if the format is one.
    pub fn container(&self) -> Option<&'static Container> {
        self.format.and_then(FileFormat::container)
    }

    /// The options to lint the file with.
    pub fn options(&self) -> Options {
        Options::new()
            .format(self.format.and_then(FileFormat::input))
            .conversation(self.conversation.as_deref())
            .target(self.target.clone())
            .kind(self.kind)
            .tools(Arc::clone(&self.tools))
            .template(self.template.clone())
            .settings(Arc::clone(&self.config.config.settings))
            .rules(self.rules.iter().copied())
            .ignored(self.ignored.iter().copied())
            .at(self.at.as_deref())
    }
}

/// Resolves the settings of files. Files that several of them need are read once.
#[derive(Debug)]
pub struct Resolver {
    overrides: Overrides,
    configs: Arc<Configs>,
    /// The targets and tools that were read; `None` if they can't be used.
    targets: HashMap<PathBuf, Option<TargetRef>>,
    tools: HashMap<PathBuf, Option<Arc<[Definition]>>>,
    templates: HashMap<PathBuf, Option<Arc<ChatTemplate>>>,
    /// The choices of rules so far, by their ids.
    rules: HashMap<Vec<RuleId>, Rules>,
    errors: Vec<Error>,
}

impl Resolver {
    /// Creates a resolver with overrides for all files. Fails if the target, the tool definitions or the chat template
    /// of the overrides can't be used.
    pub fn new(overrides: Overrides, configs: Arc<Configs>) -> Result<Self, Error> {
        let (mut targets, mut tools) = (HashMap::default(), HashMap::default());
        if let Some(TargetSource::File(path)) = &overrides.read_as.target {
            targets.insert(path.clone(), Some(read_target(path, toolcheck_files::read_named)?));
        }
        if let Some(path) = &overrides.read_as.tools {
            tools.insert(path.clone(), Some(Arc::from(read_tools(path, toolcheck_files::read_named)?)));
        }
        let mut templates = HashMap::default();
        if let Some(path) = &overrides.read_as.template {
            templates.insert(path.clone(), Some(Arc::new(template::read(path)?.into())));
        }
        Ok(Self {
            overrides,
            configs,
            targets,
            tools,
            templates,
            rules: HashMap::default(),
            errors: Vec::new(),
        })
    }

    /// The settings of an input; `None` if its configuration can't be used, which is one of the [`Resolver::errors`].
    pub fn resolve(&mut self, input: &Input) -> Option<FileSettings> {
        let config = self.configs.of(&input.real)?;
        let (read_as, selection) = config.config.for_file(&input.real, &self.overrides);
        let target = match &read_as.target {
            None => None,
            Some(TargetSource::Loaded(target)) => Some(target.clone()),
            Some(TargetSource::File(path)) => Some(self.target_of_file(path.clone(), &config)?),
        };
        let tools = match &read_as.tools {
            None => Arc::default(),
            Some(path) => self.tools_of_file(path.clone(), &config)?,
        };
        let template = match &read_as.template {
            None => None,
            Some(path) => Some(self.template_of_file(path.clone(), &config)?),
        };
        let kind = read_as.kind_for(target.as_deref());
        let (rules, ignored) = (self.shared(selection.rules()), self.shared(selection.ignore));
        let at = read_as.at.as_deref().map(Arc::from);
        Some(FileSettings {
            format: read_as.format,
            conversation: self.overrides.conversation.as_deref().map(Arc::from),
            target,
            kind,
            tools,
            template,
            rules,
            ignored,
            at,
            config,
        })
    }

    /// Rules as earlier files have them, so that each file holds no copy.
    fn shared(&mut self, rules: Vec<&'static Rule>) -> Rules {
        let ids = rules.iter().map(|rule| rule.id).collect();
        Arc::clone(self.rules.entry(ids).or_insert_with(|| rules.into()))
    }

    /// The errors in the configurations that were used so far, and in the targets and tools that they name.
    pub fn errors(&self) -> Vec<Error> {
        self.errors.iter().cloned().chain(self.configs.errors()).collect()
    }

    /// The configurations that were found so far and do not hold, because they belong to another user.
    pub fn foreign_configs(&self) -> Vec<ForeignConfig> {
        self.configs.foreign()
    }

    /// The files that settings were read from so far, also in vain, each with what it is.
    pub fn files_read(&self) -> Vec<(PathBuf, &'static str)> {
        let configs = self.configs.files_read().into_iter().map(|path| (path, "a configuration"));
        let targets = self.targets.keys().map(|path| (path.clone(), "the file of a target"));
        let tools = self.tools.keys().map(|path| (path.clone(), "a file of tools"));
        let templates = self.templates.keys().map(|path| (path.clone(), "a chat template"));
        configs.chain(targets).chain(tools).chain(templates).collect()
    }

    fn target_of_file(&mut self, path: PathBuf, config: &LoadedConfig) -> Option<TargetRef> {
        let errors = &mut self.errors;
        let read = |path: &PathBuf| {
            read_target(path, toolcheck_files::read)
                .map_err(|error| errors.push(error.with_faults(|error| faults_of(config, error))))
                .ok()
        };
        self.targets.entry(path).or_insert_with_key(read).clone()
    }

    fn template_of_file(&mut self, path: PathBuf, config: &LoadedConfig) -> Option<Arc<ChatTemplate>> {
        let errors = &mut self.errors;
        let read = |path: &PathBuf| {
            let template = template::read(path).map(|template| Arc::new(template.into()));
            template.map_err(|error| errors.push(error.with_faults(|error| faults_of(config, error)))).ok()
        };
        self.templates.entry(path).or_insert_with_key(read).clone()
    }

    fn tools_of_file(&mut self, path: PathBuf, config: &LoadedConfig) -> Option<Arc<[Definition]>> {
        let errors = &mut self.errors;
        let read = |path: &PathBuf| {
            let tools = read_tools(path, toolcheck_files::read).map(Arc::from);
            tools.map_err(|error| errors.push(error.with_faults(|error| faults_of(config, error)))).ok()
        };
        self.tools.entry(path).or_insert_with_key(read).clone()
    }
}

/// The longest line of a list in an error.
const LIST_WIDTH: usize = 78;

/// The bytes of a file of settings as it is saved. Fails if it can't be read, is no regular file, or is too large for
/// settings.
pub fn read_settings(path: &Path) -> io::Result<Vec<u8>> {
    toolcheck_files::read(path)
}

/// Finds a target by its id or alias, or the TOML file that describes one. Fails if there is no such target or file.
pub fn find_target(name: &str) -> Result<TargetSource, Error> {
    if let Some(target) = targets::named(name) {
        return Ok(target.into());
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") || path.exists() && !path.is_dir() {
        return Ok(TargetSource::File(path.to_owned()));
    }
    let mut lines = vec!["targets:".to_owned()];
    for word in targets::ids().map(|id| format!(" {id},")).chain([" or a TOML file of your own".to_owned()]) {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() <= LIST_WIDTH => line.push_str(&word),
            _ => lines.push(format!(" {word}")),
        }
    }
    let unknown = unknown("target", name, targets::names());
    Err(Error::new(format!("{unknown}\n\n{}", lines.join("\n"))))
}

/// What is wrong in a configuration that is not saved yet, also with the files that it names; `None` if no configuration has
/// this name.
pub fn faults_in(path: &Path, text: &str) -> Option<Vec<SettingsFault>> {
    let mut faults = configs::faults_in(path, text)?;
    faults.extend(faults_of_named(path, text));
    Some(faults)
}

/// What is wrong with the files that a configuration names, where it names them. What is wrong inside of one is shown there.
fn faults_of_named(path: &Path, text: &str) -> Vec<SettingsFault> {
    let Some((config, folder)) = configs::as_written(path, text) else { return Vec::new() };
    let faults = config.named_files().filter_map(|(file, span)| {
        let error = match file {
            NamedFile::Target(name) => read_target(&folder.join(name), toolcheck_files::read).err(),
            NamedFile::Tools(name) => read_tools(&folder.join(name), toolcheck_files::read).err(),
            NamedFile::Template(name) => template::read(&folder.join(name)).err(),
            _ => None,
        };
        let error = error.filter(|error| error.faults().is_empty())?;
        let error = config.error_at(span, error.first_line().to_owned());
        Some(Error::in_file(path, "", &error).faults().to_vec())
    });
    faults.flatten().collect()
}

/// The faults in the configurations that name a file which can't be used.
fn faults_of(config: &LoadedConfig, error: &Error) -> Vec<SettingsFault> {
    let named = config.sources.iter().filter_map(|path| {
        let text = toolcheck_files::read(path).and_then(toolcheck_files::text).ok()?;
        Some(faults_of_named(path, &text))
    });
    named.flatten().filter(|fault| fault.message == error.first_line()).collect()
}

/// How the bytes of a file are read: one that the user has named on the command line may be a pipe.
type Read = fn(&Path) -> io::Result<Vec<u8>>;

fn read_target(path: &Path, read: Read) -> Result<TargetRef, Error> {
    let name = printable(path);
    let text = read(path)
        .and_then(toolcheck_files::text)
        .map_err(|error| Error::caused(format!("cannot read the target file {name}"), &error))?;
    let target = parse_target(&text).map_err(|error| Error::in_file(path, &name, &error))?;
    Ok(target.into())
}

fn read_tools(path: &Path, read: Read) -> Result<Vec<Definition>, Error> {
    let name = printable(path);
    let bytes =
        read(path).map_err(|error| Error::caused(format!("cannot read the tools file {name}"), &error))?;
    let document = Document::read(&bytes);
    let error_at = |span: Span, what: &str| {
        let at = toolcheck_json::locate(&bytes, &[span.start as usize]);
        let (line, column) = at.first().map_or((1, 1), |at| (at.line, at.column));
        Error::new(format!("{name}:{line}:{column}: {what}"))
    };
    if let Some(fault) = document.faults().first() {
        return Err(error_at(fault.span, fault.kind.describe()));
    }
    let root = document.root();
    if let Some(element) = tools::misfit(root) {
        return Err(error_at(element.span(), "this is not a tool definition, as it has no `name`"));
    }
    tools::read(root).filter(|tools| !tools.is_empty()).ok_or_else(|| {
        Error::new(format!(
            "{name} contains no tool definitions\n\nexpected a list of tools, a request, or an MCP server's response to tools/list"
        ))
    })
}
