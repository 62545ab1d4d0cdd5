//! How a file is linted: what the command line says, over what its configuration says.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use toolcheck_config::{Selection, TargetName, parse_target};
use toolcheck_core::formats::Format;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::target;
use toolcheck_core::text::bounded;
use toolcheck_core::tools::Definition;
use toolcheck_json::Document;
use toolcheck_lint::TargetRef;
use toolcheck_lint::suggest::did_you_mean;
use toolcheck_lint::{Options, Rule};

use crate::args::{ReadingArgs, SelectionArgs};
use crate::config::{ANOTHER, Configs, Loaded, read_bytes, read_text};
use crate::inputs::Input;
use crate::screen::named;

/// How a file is linted.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) format: Option<&'static Format>,
    pub(crate) target: Option<TargetRef>,
    pub(crate) kind: TranscriptKind,
    pub(crate) tools: Arc<[Definition]>,
    pub(crate) rules: Vec<&'static Rule>,
}

impl Settled {
    pub(crate) fn options(&self) -> Options {
        Options::new()
            .format(self.format)
            .target(self.target.clone())
            .kind(self.kind)
            .tools(Arc::clone(&self.tools))
            .settings(Arc::clone(&self.loaded.config.settings))
            .rules(self.rules.iter().copied())
    }
}

/// Settles how files are linted. What several of them need is read once.
#[derive(Debug)]
pub(crate) struct Settler<'a> {
    reading: &'a ReadingArgs,
    asked: Selection,
    configs: Arc<Configs>,
    target: Option<TargetRef>,
    tools: Option<Arc<[Definition]>>,
    /// The targets and tools that configurations name; `None` where they can't be read.
    targets_of_files: HashMap<PathBuf, Option<TargetRef>>,
    tools_of_files: HashMap<PathBuf, Option<Arc<[Definition]>>>,
    /// What was wrong with them.
    pub(crate) troubles: Vec<String>,
}

impl<'a> Settler<'a> {
    pub(crate) fn new(
        reading: &'a ReadingArgs,
        rules: &SelectionArgs,
        configs: &Arc<Configs>,
    ) -> Result<Self> {
        let asked = Selection {
            select: rules.select.clone(),
            extend_select: rules.extend_select.clone(),
            ignore: rules.ignore.clone(),
        };
        Ok(Self {
            reading,
            asked,
            configs: Arc::clone(configs),
            target: reading.target.as_deref().map(find_target).transpose()?,
            tools: reading.tools.as_deref().map(read_tools).transpose()?.map(Arc::from),
            targets_of_files: HashMap::new(),
            tools_of_files: HashMap::new(),
            troubles: Vec::new(),
        })
    }

    /// How an input is linted; `None` where its configuration can't be used, which is told once.
    pub(crate) fn settle(&mut self, input: &Input) -> Option<Settled> {
        let loaded = self.configs.of(&input.real)?;
        let (read_as, selection) = loaded.config.for_file(&input.real);
        let target = match (&self.target, read_as.target) {
            (Some(target), _) => Some(target.clone()),
            (None, None) => None,
            (None, Some(TargetName::Known(target))) => Some(TargetRef::BuiltIn(target)),
            (None, Some(TargetName::File(path))) => Some(self.target_of_file(path)?),
        };
        let tools = match (&self.tools, read_as.tools) {
            (Some(tools), _) => Arc::clone(tools),
            (None, None) => Arc::default(),
            (None, Some(path)) => self.tools_of_file(path)?,
        };
        let kind_of_target = target.as_ref().and_then(|target| target.kind);
        Some(Settled {
            format: self.reading.format.or(read_as.format),
            target,
            kind: self.reading.kind.or(read_as.kind).or(kind_of_target).unwrap_or_default(),
            tools,
            rules: self.asked.clone().over(selection).rules(),
            loaded,
        })
    }

    fn target_of_file(&mut self, path: PathBuf) -> Option<TargetRef> {
        let troubles = &mut self.troubles;
        let read =
            |path: &PathBuf| read_target(path).map_err(|error| troubles.push(format!("{error:#}"))).ok();
        self.targets_of_files.entry(path).or_insert_with_key(read).clone()
    }

    fn tools_of_file(&mut self, path: PathBuf) -> Option<Arc<[Definition]>> {
        let troubles = &mut self.troubles;
        let read = |path: &PathBuf| {
            read_tools(path).map(Arc::from).map_err(|error| troubles.push(format!("{error:#}"))).ok()
        };
        self.tools_of_files.entry(path).or_insert_with_key(read).clone()
    }
}

/// The target of that name, or the one that a file of that name describes.
fn find_target(name: &str) -> Result<TargetRef> {
    if let Some(target) = target::named(name) {
        return Ok(TargetRef::BuiltIn(target));
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") || path.is_file() {
        return read_target(path);
    }
    let known = target::ids().collect::<Vec<_>>().join(", ");
    let similar = did_you_mean(name, target::names());
    Err(anyhow!(
        "no such target: `{}`{similar}\n\ntargets: {known}, or a TOML file of your own",
        bounded(name, 80)
    ))
}

fn read_target(path: &Path) -> Result<TargetRef> {
    let name = named(path);
    let text = read_text(path).with_context(|| format!("cannot read the target {name}"))?;
    let target = parse_target(&text).map_err(|error| {
        let errors: Vec<String> = error.all().map(|error| format!("{name}:{error}")).collect();
        anyhow!("{}", errors.join(ANOTHER))
    })?;
    Ok(target.into())
}

/// The tools that a file declares.
fn read_tools(path: &Path) -> Result<Vec<Definition>> {
    let name = named(path);
    let bytes = read_bytes(path).with_context(|| format!("cannot read the tools {name}"))?;
    let document = Document::read(&bytes);
    if let Some(fault) = document.faults().first() {
        let at = toolcheck_json::locate(&bytes, &[fault.span.start as usize]);
        let (line, column) = at.first().map_or((1, 1), |at| (at.line, at.column));
        return Err(anyhow!("{name}:{line}:{column}: {}", fault.kind.describe()));
    }
    let tools = toolcheck_core::tools::read(document.root());
    tools.ok_or_else(|| {
        anyhow!("{name} contains no tool definitions\n\nexpected a list of tools, a request, or an MCP server's response to tools/list")
    })
}
