//! A run over the files of a project.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcheck_config::Overrides;
use toolcheck_core::RuleId;
use toolcheck_lint::{FileReport, Finding, Options, Report, SkippedFile};

use crate::Progress;
use crate::allowed::{AllowUsage, UnusedAllow};
use crate::baseline::{BaselineChange, RunBaseline, StaleEntries};
use crate::configs::{Configs, ForeignConfig, LoadedConfig};
use crate::error::Error;
use crate::inputs::{Input, Inputs, Source};
use crate::linting::{self, Linter, Outcome};
use crate::options::{BaselineOptions, ConfigOptions, FileOptions, Limits, LintOptions};
use crate::outputs::FilesRead;
use crate::resolve::{FileSettings, Resolver};

/// The parts of a project.
#[derive(Debug, Clone, Default)]
pub struct ProjectOptions {
    /// The files.
    pub files: FileOptions,
    /// Their configuration.
    pub config: ConfigOptions,
    /// Settings that take precedence over the configuration.
    pub overrides: Overrides,
    /// The baseline, if any.
    pub baseline: Option<BaselineOptions>,
    /// Files in the searched folders that are not linted, such as reports of earlier runs.
    pub own_files: Vec<PathBuf>,
}

/// Files, their configurations and a baseline.
#[derive(Debug)]
pub struct Project {
    files: FileOptions,
    inputs: Inputs,
    resolver: Resolver,
    baseline: Option<RunBaseline>,
    /// The files with their settings, once they are known.
    resolved: Option<Vec<(Input, FileSettings)>>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct LintRun {
    /// The findings.
    pub report: Report,
    /// The number of skipped files that are not valid JSON.
    pub skipped_not_json: usize,
    /// The number of skipped files that are Parquet files, Arrow files or SQLite databases.
    pub unread_tables: usize,
    /// Errors about files that could not be found or read.
    pub errors: Vec<Error>,
    /// Errors in configurations, targets and tool definitions. The files that need them are not linted.
    pub settings_errors: Vec<Error>,
    /// Entries of `[[allow]]` that match no finding.
    pub unused_allows: Vec<UnusedAllow>,
    /// Entries of the baseline that match no finding.
    pub stale_baseline: Vec<StaleEntries>,
    /// The configurations that hold, each with the number of its files.
    pub configs: Vec<(Arc<LoadedConfig>, usize)>,
}

impl Project {
    /// Reads the overrides and the baseline, and finds the files. Fails if an option can't be used.
    pub fn open(options: ProjectOptions) -> Result<Self, Error> {
        let configs = Arc::new(Configs::new(&options.config)?);
        let resolver = Resolver::new(options.overrides, Arc::clone(&configs))?;
        let baseline = options.baseline.map(RunBaseline::read).transpose()?;
        let own_files = options.own_files.iter().chain(baseline.as_ref().map(RunBaseline::path));
        let own_files: HashSet<_> = own_files.map(|path| crate::paths::real(path)).collect();
        let inputs = Inputs::find(&options.files, &configs, own_files)?;
        Ok(Self { files: options.files, inputs, resolver, baseline, resolved: None })
    }

    /// The files.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs.inputs
    }

    /// The settings of a file; `None` if its configuration can't be used, which is one of [`Project::settings_errors`].
    pub fn settings(&mut self, input: &Input) -> Option<FileSettings> {
        self.resolver.resolve(input)
    }

    /// The files and folders that are excluded, each with what excludes it.
    pub fn excluded(&self) -> &[(PathBuf, String)] {
        &self.inputs.excluded
    }

    /// Errors about paths that could not be found or searched.
    pub fn errors(&self) -> &[Error] {
        &self.inputs.errors
    }

    /// Errors so far in configurations, targets and tool definitions.
    pub fn settings_errors(&self) -> Vec<Error> {
        self.resolver.errors()
    }

    /// The configurations that were found so far and do not hold, because they belong to another user.
    pub fn foreign_configs(&self) -> Vec<ForeignConfig> {
        self.resolver.foreign_configs()
    }

    /// Checks that no output, nor the baseline if it is to be written, would overwrite a file that the run reads, and
    /// that no two of them are one file. Links and other names of a file are seen through. Fails if two are one file.
    pub fn check_outputs(&mut self, outputs: &[&Path]) -> Result<(), Error> {
        let mut written: Vec<PathBuf> = outputs.iter().map(|path| path.to_path_buf()).collect();
        let baseline =
            self.baseline.as_ref().map(|baseline| (baseline.path().clone(), baseline.is_updated()));
        if let Some((path, true)) = &baseline {
            written.push(path.clone());
        }
        if written.is_empty() {
            return Ok(());
        }
        // The settings name more files.
        let resolved = self.resolved.take().unwrap_or_else(|| self.resolve());
        self.resolved = Some(resolved);
        let mut read = FilesRead::default();
        for input in &self.inputs.inputs {
            match &input.source {
                Source::File(path) => read.add(path, "an input"),
                // The shell may have opened a file for it.
                Source::Stdin => read.add(Path::new("/dev/stdin"), "an input"),
            }
        }
        for path in self.inputs.own_files.iter().filter(|path| is_transcript(path)) {
            read.add(path, "a transcript in a folder that is searched");
        }
        for (path, what) in self.resolver.files_read() {
            read.add(&path, what);
        }
        for path in &self.inputs.ignore_files {
            read.add(path, "a list of ignored files");
        }
        if let Some(list) = &self.files.files_from {
            let list = if list.as_os_str() == "-" { Path::new("/dev/stdin") } else { list };
            read.add(list, "the list of files");
        }
        if let Some((path, false)) = &baseline {
            read.add(path, "the baseline");
        }
        read.check(&written)
    }

    /// The files with their settings, except those whose configuration can't be used.
    fn resolve(&mut self) -> Vec<(Input, FileSettings)> {
        let resolver = &mut self.resolver;
        let inputs = self.inputs.inputs.iter();
        inputs.filter_map(|input| Some((input.clone(), resolver.resolve(input)?))).collect()
    }

    /// Lints the files, on the threads of rayon's current pool. The findings do not depend on the number of threads.
    pub fn lint(&mut self, options: LintOptions, progress: Progress<'_>) -> LintRun {
        let resolved = self.resolved.take().unwrap_or_else(|| self.resolve());
        let mut run = LintRun { errors: self.inputs.errors.clone(), ..LintRun::default() };
        run.report.skipped.clone_from(&self.inputs.skipped);
        run.unread_tables = self.inputs.unread_tables;
        let mut allows = AllowUsage::default();
        for window in linting::windows(&resolved) {
            let options = &options;
            let linter =
                Linter { options, limits: self.files.limits, baseline: self.baseline.as_ref(), progress };
            for ((input, settings), outcome) in window.iter().zip(linter.lint_all(window)) {
                let Some(outcome) = run.check(input, outcome) else { continue };
                run.count_config(settings);
                allows.add(settings, &input.real, &outcome.used);
                if let Some(baseline) = &mut self.baseline {
                    baseline.add(&input.real, &settings.rules, outcome.entries);
                }
                run.report.files.push(outcome.file);
            }
        }
        run.settings_errors = self.settings_errors();
        run.unused_allows = allows.unused(&self.inputs.searched);
        run.stale_baseline = self.baseline.as_ref().map(RunBaseline::stale).unwrap_or_default();
        run
    }

    /// Writes the baseline if its options say so, and returns the change. Fails if the file can't be written.
    pub fn save_baseline(&mut self) -> Result<Option<BaselineChange>, Error> {
        self.baseline.as_mut().map_or(Ok(None), RunBaseline::save)
    }
}

impl LintRun {
    fn count_config(&mut self, settings: &FileSettings) {
        let config = &settings.config;
        if config.sources.is_empty() {
            return;
        }
        match self.configs.iter_mut().find(|(known, _)| Arc::ptr_eq(known, config)) {
            Some((_, count)) => *count += 1,
            None => self.configs.push((Arc::clone(config), 1)),
        }
    }

    /// Records the error of an outcome, and returns the outcome if it is part of the report.
    fn check(&mut self, input: &Input, mut outcome: Outcome) -> Option<Outcome> {
        let error = outcome.error.take();
        let is_broken = error.is_some();
        self.errors.extend(error);
        if !input.is_named && !outcome.file.is_transcript() {
            if !is_broken {
                let (reason, is_json) = why_skipped(&outcome.file);
                self.skipped_not_json += usize::from(!is_json);
                self.report.skipped.push(SkippedFile::new(outcome.file.path, reason));
            }
            return None;
        }
        (!is_broken || outcome.file.transcripts > 0).then_some(outcome)
    }
}

/// Whether a file that an output would replace is a transcript, and not a report of an earlier run.
fn is_transcript(path: &Path) -> bool {
    let read = Input::file(path).read();
    read.is_ok_and(|bytes| {
        if linting::open(&bytes, None, Limits::default()).is_some() {
            return true;
        }
        let file = toolcheck_lint::lint("", &bytes, &Options::default());
        file.is_transcript() || file.format.is_some()
    })
}

/// Why a file without a transcript was skipped, and whether it is valid JSON.
fn why_skipped(file: &FileReport) -> (String, bool) {
    let is_unrecognised = |finding: &&Finding| finding.rule == RuleId::UnrecognisedFormat;
    match file.findings.iter().find(is_unrecognised).or(file.findings.first()) {
        Some(finding) if is_unrecognised(&finding) => (finding.message.to_string(), true),
        Some(finding) => (format!("not valid JSON: {}", finding.message), false),
        None => ("nothing in it was recognised".to_owned(), true),
    }
}
