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
    use crate::{ConfigFile, Error, Home, Origin};

    fn fault(text: &str) -> String {
        Config::parse(text).expect_err("the configuration is invalid").to_string()
    }

    fn place(error: &Error) -> String {
        let at = error.position().expect("the error has a place");
        format!("{}:{}", at.line, at.column)
    }

    #[test]
    fn errors_have_a_place_and_a_suggestion() {
        assert!(fault("ingore = []").ends_with("did you mean `ignore`?"));
        // A message about a value of any length is quick, bounded and on one line.
        assert!(fault(&format!("select = [\"{}\"]", "a".repeat(1_000_000))).chars().count() < 700);
        assert!(fault("[rules.oversized-command]\nsystems = [\"window\"]").ends_with("`windows`?"));
        let twice = "[[policy]]\nid = \"a\"\ntools = []\nschema = {}\n".repeat(2);
        assert_eq!(fault(&twice), "6:6: duplicate policy `a`");
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let text = "select = [\"blank-txt\", \"empty\"]\nkind = \"log\"\nformt = \"x\"\n\
            tols = [\n  \"a\",\n]\n[levels]\nblank-text = \"off\"\n\
            [[policy]]\nid = \"a\"\ntools = [\"[\"]\nschema = {}\nlevl = \"error\"\n\
            [[files]]\npaths = [\"a\"]\nkind = \"logs\"\n";
        let error = Config::parse(text).expect_err("the configuration is invalid");
        let places: Vec<String> = error.all().map(place).collect();
        assert_eq!(
            places,
            ["1:11", "1:24", "2:8", "3:1", "4:1", "8:14", "11:10", "13:1", "16:8"],
            "{:#?}",
            error
        );
        let off = fault("levels.blank-text = \"off\"");
        assert!(off.ends_with("to turn a rule off, add it to `ignore`"), "{off}");
    }

    #[test]
    fn settings_replace_or_extend_the_defaults() {
        let config = Config::parse(
            "[rules.completion-after-failure]\ntools = [\"done\"]\n\
             [rules.shell-file-write]\nextend-tools = [\"run_*\"]\n\
             [rules.oversized-command]\nsystems = [\"Linux\"]\nmost-characters = 1000\n",
        );
        let settings = config.expect("the configuration is valid").settings;
        assert!(
            settings.completion_tools.contains("done")
                && !settings.completion_tools.contains("attempt_completion")
        );
        assert!(settings.shell_tools.contains("run_it") && settings.shell_tools.contains("bash"));
        let limits: Vec<_> = settings.command_limits.iter().map(|limit| limit.most).collect();
        assert_eq!(limits, [131_071, 1000]);
    }

    #[test]
    fn selection_decides_which_rules_run() {
        let ids = |text: &str| {
            let selection = Config::parse(text).expect("the configuration is valid").selection;
            selection.rules().iter().map(|rule| rule.id).collect::<Vec<_>>()
        };
        assert!(!ids("").contains(&toolcheck_core::RuleId::ShellFileWrite));
        assert_eq!(ids("extend-select = [\"shell-file-write\"]").len(), ids("").len() + 1);
        assert_eq!(
            ids("select = [\"blank-text\", \"empty-content\"]\nignore = [\"blank-text\"]"),
            ["empty-content"]
        );
    }
    #[test]
    fn later_tables_take_precedence() {
        let text = "target = \"portable\"\nignore = [\"blank-text\"]\n\
            [[files]]\npaths = [\"logs\"]\nkind = \"session\"\ntarget = \"mcp-sampling\"\n\
            [[files]]\npaths = [\"*.jsonl\"]\nkind = \"dataset\"\nextend-select = [\"blank-text\"]\n";
        let config = Config::parse(text).expect("the configuration is valid");
        let of = |path: &str| {
            let (read_as, selection) = config.for_file(Path::new(path), &Overrides::default());
            let target = match read_as.target {
                Some(TargetSource::Loaded(target)) => target.id.clone(),
                other => panic!("{other:?}"),
            };
            let has_blank = selection.rules().iter().any(|rule| rule.id == "blank-text");
            (target, read_as.kind.map(TranscriptKind::as_str), has_blank)
        };
        assert_eq!(of("a.json"), ("portable".into(), None, false));
        assert_eq!(of("logs/a.json"), ("mcp-sampling".into(), Some("session"), false));
        assert_eq!(of("logs/a.jsonl"), ("mcp-sampling".into(), Some("dataset"), true));
        assert_eq!(of("b/a.jsonl"), ("portable".into(), Some("dataset"), true));
    }

    #[test]
    fn an_extending_configuration_takes_precedence() {
        let read = |text: &str, base: Config, folder: &str| {
            let origin = Origin { name: "", folder: Path::new(folder), globs_from: Path::new(folder) };
            let file = ConfigFile::read(text, Home::Own)
                .expect("the configuration is valid")
                .expect("it is not empty");
            file.over(base, origin).expect("its values are valid")
        };
        let base = "ignore = [\"blank-text\", \"empty-content\"]\nexclude = [\"vendor\"]\ntarget = \"gateway.toml\"\n\
            [levels]\nblank-text = \"error\"\n\
            [[policy]]\nid = \"a\"\ntools = [\"one\"]\nschema = {}\n[[policy]]\nid = \"b\"\ntools = []\nschema = {}\n";
        let own = "extend = \"../base.toml\"\nextend-select = [\"blank-text\"]\nexclude = [\"old\"]\n\
            levels.empty-content = \"warning\"\n\
            [[policy]]\nid = \"a\"\ntools = [\"two\"]\nschema = {}\n";
        let config = read(own, read(base, Config::default(), "/base"), "/base/own");
        let rules = config.selection.rules();
        assert!(rules.iter().any(|rule| rule.id == "blank-text"));
        assert!(rules.iter().all(|rule| rule.id != "empty-content"));
        assert!(config.excludes(Path::new("/base/vendor")) && config.excludes(Path::new("/base/own/old")));
        assert!(!config.excludes(Path::new("/base/old")));
        assert!(
            matches!(&config.read_as.target, Some(TargetSource::File(path)) if path == Path::new("/base/gateway.toml"))
        );
        assert_eq!(config.settings.levels.len(), 2);
        let policies: Vec<_> = config
            .settings
            .policies
            .iter()
            .map(|policy| (&*policy.id, policy.tools.contains("two")))
            .collect();
        assert_eq!(policies, [("b", false), ("a", true)]);
    }

    #[test]
    fn tables_in_other_files_are_read() {
        let read = |text: &str, home| ConfigFile::read(text, home).map(|file| file.is_some());
        let pyproject = "[project]\nname = \"toolcheck-users\"\n[tool.ruff]\nselect = [\"ALL\"]\n";
        assert_eq!(read(pyproject, Home::Pyproject), Ok(false));
        let ours = format!("{pyproject}[tool.toolcheck]\nignore = [\"blank-text\"]\n");
        assert_eq!(read(&ours, Home::Pyproject), Ok(true));
        let wrong = read(&format!("{ours}ingore = []\n"), Home::Pyproject).expect_err("the key is unknown");
        assert_eq!(place(&wrong), "7:1");
        for table in ["workspace", "package"] {
            let manifest =
                format!("[package]\nname = \"a\"\n[{table}.metadata.toolcheck]\nkind = \"dataset\"\n");
            assert_eq!(read(&manifest, Home::Cargo), Ok(true), "{table}");
        }
        assert_eq!(read("[package]\nname = \"a\"\n", Home::Cargo), Ok(false));
        // A broken file without a table for toolcheck is not for us to report.
        assert_eq!(read("[package\n", Home::Cargo), Ok(false));
    }
}
