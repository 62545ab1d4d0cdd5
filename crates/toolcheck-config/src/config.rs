//! The configuration of a folder: what applies to each of its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::targets::Target;

use crate::allow::Allow;
use crate::globs::PathGlobs;
use crate::target::TargetSource;
use toolcheck_lint::Rule;
use toolcheck_lint::rules;
use toolcheck_lint::settings::Settings;
use toolcheck_open::FileFormat;

/// The configuration of a folder, including those that it extends.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Config {
    /// Which rules run.
    pub selection: Selection,
    /// The settings of the rules.
    pub settings: Arc<Settings>,
    /// How files are read.
    pub read_as: ReadAs,
    /// Settings for some files only; later ones take precedence.
    pub files: Vec<FilesConfig>,
    /// The files of a folder that are linted; `None` for the usual file extensions.
    pub include: Option<PathGlobs>,
    /// The files and folders that are excluded, one element per configuration.
    pub exclude: Vec<PathGlobs>,
    /// The findings that are not reported.
    pub allows: Vec<Allow>,
}

/// How files are read; `None` means detected or default.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadAs {
    /// The format.
    pub format: Option<FileFormat>,
    /// The API that they are checked against.
    pub target: Option<TargetSource>,
    /// The kind of transcript in them.
    pub kind: Option<TranscriptKind>,
    /// The file with tool definitions for transcripts that declare no tools.
    pub tools: Option<PathBuf>,
    /// The file or folder with the chat template of the model.
    pub template: Option<PathBuf>,
    /// The place of the messages, or of the request, in each record, as a JSON Pointer.
    pub at: Option<String>,
}

/// Settings that take precedence over those of a configuration, such as those of a command line.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Overrides {
    /// How files are read.
    pub read_as: ReadAs,
    /// The only conversation to check in files that hold several, by its title, its number from 1, or `next` for what an
    /// agent sends next.
    pub conversation: Option<String>,
    /// Which rules run.
    pub selection: Selection,
}

/// Settings for some files only.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FilesConfig {
    /// The files.
    pub paths: PathGlobs,
    /// How they are read.
    pub read_as: ReadAs,
    /// Which rules run on them.
    pub selection: Selection,
}

/// Which rules run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Selection {
    /// Only these rules; if empty, all rules that are not opt-in.
    pub select: Vec<&'static Rule>,
    /// These rules as well.
    pub extend_select: Vec<&'static Rule>,
    /// Not these rules.
    pub ignore: Vec<&'static Rule>,
}

impl Config {
    /// The settings for one file, with the overrides on top.
    pub fn for_file(&self, path: &Path, overrides: &Overrides) -> (ReadAs, Selection) {
        let all = (self.read_as.clone(), self.selection.clone());
        let own = self.files.iter().filter(|files| files.paths.covers(path));
        let own = own.map(|files| (&files.read_as, &files.selection));
        own.chain([(&overrides.read_as, &overrides.selection)]).fold(all, |below, (read_as, selection)| {
            (read_as.clone().over(below.0), selection.clone().over(below.1))
        })
    }

    /// Whether a file or folder is excluded by its own name.
    pub fn excludes(&self, path: &Path) -> bool {
        self.exclude.iter().any(|globs| globs.is_exactly(path))
    }

    /// Whether a file is excluded, by its own name or by that of a folder that contains it.
    pub fn excludes_around(&self, path: &Path) -> bool {
        self.exclude.iter().any(|globs| globs.covers(path))
    }
}

impl ReadAs {
    /// The kind of transcript; that of the target if it is not set.
    pub fn kind_for(&self, target: Option<&Target>) -> TranscriptKind {
        self.kind.or(target.and_then(|target| target.kind)).unwrap_or_default()
    }

    /// These settings, with the other ones for what is not set here.
    pub fn over(self, other: Self) -> Self {
        Self {
            format: self.format.or(other.format),
            target: self.target.or(other.target),
            kind: self.kind.or(other.kind),
            tools: self.tools.or(other.tools),
            template: self.template.or(other.template),
            at: self.at.or(other.at),
        }
    }
}

impl Selection {
    /// The rules that run.
    pub fn rules(&self) -> Vec<&'static Rule> {
        let is_chosen = |rule: &Rule| {
            let is_selected =
                if self.select.is_empty() { !rule.is_optional } else { contains(&self.select, rule) };
            (is_selected || contains(&self.extend_select, rule)) && !contains(&self.ignore, rule)
        };
        rules::ALL.iter().copied().filter(|rule| is_chosen(rule)).collect()
    }

    /// This selection applied on top of the other: `select` replaces everything in the other, and `extend-select`
    /// re-enables rules that the other ignores.
    pub fn over(self, other: Self) -> Self {
        let mut both = if self.select.is_empty() { other } else { Self::default() };
        both.select.extend(self.select);
        both.ignore.retain(|ignored| !contains(&self.extend_select, ignored));
        both.extend_select.extend(self.extend_select);
        both.ignore.extend(self.ignore);
        both
    }
}

fn contains(list: &[&Rule], rule: &Rule) -> bool {
    list.iter().any(|other| other.id == rule.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_about_a_value_of_any_length_is_bounded() {
        let text = format!("select = [\"{}\"]", "a".repeat(1_000_000));
        let error = Config::parse(&text).expect_err("there is no such rule").to_string();
        assert!(error.chars().count() < 700, "{error}");
    }
}
