//! How a file is linted: as `toolcheck lint` would.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Deserialize;
use toolcheck_config::Overrides;
use toolcheck_config::allow::Allow;
use toolcheck_core::formats;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::suggest::similar;
use toolcheck_lint::{FileReport, Finding, Options};
use toolcheck_open::{Container, FileFormat};
use toolcheck_project::{ConfigOptions, Configs, Error, Input, Limits, Resolver, SettingsFault, find_target};

use crate::diagnostics::MOST;

/// What an editor may set, in `initializationOptions`. It takes precedence over configurations, as flags do.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct EditorOptions {
    target: Option<String>,
    format: Option<String>,
    kind: Option<String>,
    /// The configuration for all files.
    config: Option<PathBuf>,
}

impl EditorOptions {
    fn resolver(&self) -> Result<Resolver, Unusable> {
        let mut overrides = Overrides::default();
        let read_as = &mut overrides.read_as;
        if let Some(name) = &self.target {
            read_as.target = Some(find_target(name)?);
        }
        if let Some(name) = &self.format {
            let unknown = || format!("there is no format `{name}`{}", similar(name, FileFormat::names()));
            read_as.format = Some(FileFormat::named(name).ok_or_else(unknown)?);
        }
        if let Some(name) = &self.kind {
            let kinds = TranscriptKind::ALL.iter().map(|kind| kind.as_str());
            let unknown = || format!("there is no kind `{name}`{}", similar(name, kinds));
            read_as.kind = Some(name.parse().map_err(|_| unknown())?);
        }
        let options = self.config.clone().map_or(ConfigOptions::Closest, ConfigOptions::File);
        let configs = Configs::new(&options)?;
        Ok(Resolver::new(overrides, Arc::new(configs))?)
    }
}

/// Why what an editor has set can't be used.
struct Unusable {
    message: String,
    faults: Vec<SettingsFault>,
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self { message: error.to_string(), faults: error.faults().to_vec() }
    }
}

impl From<String> for Unusable {
    fn from(message: String) -> Self {
        Self { message, faults: Vec::new() }
    }
}

/// The most files whose last settings are kept, also after they are closed: an editor may open what one looks at only
/// shortly.
const MOST_KEPT: usize = 1000;

/// The settings of all files.
#[derive(Debug)]
pub(crate) struct Workspace {
    options: EditorOptions,
    resolver: Resolver,
    /// What is wrong in the configuration that the editor has named, if it can't be used.
    named: Vec<SettingsFault>,
    /// The errors that were told, so that each is told once.
    told: Vec<String>,
    /// The last settings of each file that could be used: they hold while somebody edits its configuration.
    last: HashMap<PathBuf, Settings>,
}

impl Workspace {
    /// The settings with what an editor has set; if that can't be used, without, and the reason.
    pub(crate) fn new(options: EditorOptions) -> (Self, Option<String>) {
        match options.resolver() {
            Ok(resolver) => (Self::with(options, resolver, Vec::new()), None),
            Err(Unusable { message, faults }) => {
                let options = EditorOptions::default();
                // Without any, there is nothing to read that could fail.
                let configs = Arc::new(Configs::new(&ConfigOptions::Closest).expect("nothing is named"));
                let resolver = Resolver::new(Overrides::default(), configs).expect("nothing is named");
                (Self::with(options, resolver, faults), Some(message))
            }
        }
    }

    fn with(options: EditorOptions, resolver: Resolver, named: Vec<SettingsFault>) -> Self {
        Self { options, resolver, named, told: Vec::new(), last: HashMap::new() }
    }

    /// Forgets what was read: configurations have changed.
    pub(crate) fn read_again(&mut self) -> Option<String> {
        match self.options.resolver() {
            Ok(resolver) => {
                (self.resolver, self.told, self.named) = (resolver, Vec::new(), Vec::new());
                None
            }
            Err(Unusable { message, faults }) => {
                self.named = faults;
                Some(message)
            }
        }
    }

    /// The settings of a file; `None` if its configuration excludes it, or can't be used and never could.
    pub(crate) fn of(&mut self, path: &Path) -> Option<Settings> {
        let input = Input::file(path);
        let Some(settings) = self.resolver.resolve(&input) else { return self.last.get(path).cloned() };
        if settings.config.config.excludes_around(&input.real) {
            self.last.remove(path);
            return None;
        }
        let allows: Vec<Allow> =
            settings.config.config.allows.iter().filter(|allow| allow.is_for(&input.real)).cloned().collect();
        let most = if allows.is_empty() { MOST + 1 } else { usize::MAX };
        let settings = Settings {
            name: input.name.into(),
            options: settings.options().keeps_source(false).max_findings(most),
            container: settings.container(),
            is_named: settings.format.is_some(),
            allows: allows.into(),
        };
        if self.last.len() >= MOST_KEPT {
            self.last.clear();
        }
        self.last.insert(path.to_owned(), settings.clone());
        Some(settings)
    }

    /// What is wrong in the configurations, and in the files that they name.
    pub(crate) fn faults(&self) -> Vec<SettingsFault> {
        let errors = self.resolver.errors();
        self.named.iter().chain(errors.iter().flat_map(Error::faults)).cloned().collect()
    }

    /// The errors in configurations that were not told yet.
    pub(crate) fn new_errors(&mut self) -> Vec<String> {
        let foreign = self.resolver.foreign_configs().into_iter().map(|config| config.to_string());
        let errors = self.resolver.errors().into_iter().map(|error| error.to_string()).chain(foreign);
        let new: Vec<String> = errors.filter(|error| !self.told.contains(error)).collect();
        self.told.extend(new.iter().cloned());
        new
    }
}

/// How one file is linted. A clone of it is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) name: Arc<str>,
    pub(crate) options: Options,
    container: Option<&'static Container>,
    /// Whether the user says what the file is.
    is_named: bool,
    allows: Arc<[Allow]>,
}

impl Settings {
    /// Lints a whole text.
    pub(crate) fn lint(&self, bytes: &[u8]) -> FileReport {
        let mut report = match toolcheck_project::open(bytes, self.container, Limits::default()) {
            Some(opened) => toolcheck_lint::lint_opened(&self.name, bytes, &opened, &self.options),
            None => toolcheck_lint::lint(&self.name, bytes, &self.options),
        };
        // All the JSON files of a project come by: one that is not a transcript is none of our business.
        if report.format.is_none() && report.transcripts == 0 && !self.is_named {
            report.findings.clear();
        }
        self.sift(&mut report);
        report
    }

    /// Whether the text may hold requests inside something else, so that places in it are not those of the requests.
    pub(crate) fn is_opened(&self, bytes: &[u8]) -> bool {
        self.container.is_some() || toolcheck_open::sniff(bytes).is_some()
    }

    /// Takes out what the user allows.
    pub(crate) fn sift(&self, report: &mut FileReport) {
        let before = report.findings.len();
        report.findings.retain(|finding: &Finding| !self.allows.iter().any(|allow| allow.allows(finding)));
        report.allowed += before - report.findings.len();
    }

    /// The same, read as this format.
    pub(crate) fn read_as(&self, format: Option<&str>) -> Options {
        match format.and_then(formats::find) {
            Some(format) => self.options.clone().format(Some(format)),
            None => self.options.clone(),
        }
    }
}

/// The path of a file, or a name for what is not saved.
pub(crate) fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(path) = text.strip_prefix("file://") else {
        let name = text.rsplit(['/', ':']).next().unwrap_or(text);
        return PathBuf::from(percent_decode_str(name).decode_utf8_lossy().into_owned());
    };
    // A name of a machine is before the first slash; there is none in the paths of editors.
    let path = &path[path.find('/').unwrap_or(0)..];
    let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
    // `/c:/folder` on Windows.
    let bytes = path.as_bytes();
    let has_drive = bytes.len() > 2 && bytes[1].is_ascii_alphabetic() && bytes[2] == b':';
    PathBuf::from(if has_drive { &path[1..] } else { &path })
}

/// The characters of a path that stand for themselves in a URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The address of a file, as editors write it.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_str()?.replace('\\', "/");
    let root = if path.starts_with('/') { "" } else { "/" };
    format!("file://{root}{}", utf8_percent_encode(&path, PLAIN)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_the_path() {
        for path in ["/home/a b/ü.toml", "c:/x#y/100%.toml"] {
            let uri = uri_of(Path::new(path)).expect("it is a URI");
            assert_eq!(path_of(&uri), Path::new(path), "{}", uri.as_str());
        }
    }

    #[test]
    fn paths_are_those_of_the_file_system() {
        let path = |uri: &str| path_of(&uri.parse().expect("it is a URI")).to_string_lossy().into_owned();
        assert_eq!(path("file:///home/a%20b/%C3%BC.json"), "/home/a b/ü.json");
        assert_eq!(path("file:///c%3A/x.json"), "c:/x.json");
        assert_eq!(path("file://host/share/x.json"), "/share/x.json");
        assert_eq!(path("untitled:Untitled-1"), "Untitled-1");
    }
}
