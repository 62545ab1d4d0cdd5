//! How a file is linted: as `toolcheck lint` would.

use std::collections::HashMap;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value as Json;
use toolcheck_config::Overrides;
use toolcheck_config::allow::{self, Allow};
use toolcheck_core::RuleId;
use toolcheck_core::formats;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::suggest::unknown;
use toolcheck_lint::{FileReport, Options};
use toolcheck_open::{Container, FileFormat};
use toolcheck_project::{
    ConfigOptions, Configs, Error, Input, Limits, NAMES, Resolver, SettingsFault, find_target,
};

use crate::diagnostics::MOST;

/// What an editor may set, in `initializationOptions` or later. It takes precedence over configurations, as flags do.
#[derive(Debug, Clone, Default)]
pub(crate) struct EditorOptions {
    target: Option<String>,
    format: Option<String>,
    kind: Option<String>,
    config: Option<String>,
    /// What can't be used of what was sent.
    wrong: Vec<String>,
}

impl EditorOptions {
    /// What an editor has sent. Each setting counts by itself: a wrong one does not disable the others.
    pub(crate) fn read(sent: &Json) -> Self {
        let mut options = Self::default();
        match sent {
            Json::Object(members) => members.iter().for_each(|(key, value)| options.set(key, value)),
            Json::Null => {}
            _ => options.wrong.push("they are not an object".to_owned()),
        }
        options
    }

    /// What an editor sends first. Some put the name of the server around it.
    pub(crate) fn first(sent: &Json) -> Self {
        Self::read(sent.get("toolcheck").unwrap_or(sent))
    }

    /// The same with the files that they name: those of the folder that the editor has opened, or of one's own for `~`.
    pub(crate) fn within(mut self, folder: Option<&Path>) -> Self {
        let is_file = |name: &&mut String| name.contains(['/', '\\']) || name.ends_with(".toml");
        for name in self.config.iter_mut().chain(self.target.as_mut().filter(is_file)) {
            let (base, path) =
                match name.strip_prefix('~').map(|rest| (rest, rest.trim_start_matches(['/', '\\']))) {
                    Some((rest, path)) if rest.len() != path.len() => (std::env::home_dir(), path),
                    _ => (folder.map(Path::to_owned), name.as_str()),
                };
            if let Some(Ok(path)) = base.map(|base| base.join(path).into_os_string().into_string()) {
                *name = path;
            }
        }
        self
    }

    /// What an editor sends when its settings have changed, if it does. Some put the name of the server around them; others
    /// send what is nothing of ours.
    pub(crate) fn changed(params: &Json) -> Option<Self> {
        let sent = params.get("settings")?;
        if let Some(own) = sent.get("toolcheck") {
            return Some(Self::read(own));
        }
        let members = sent.as_object().filter(|members| !members.is_empty())?;
        members.keys().all(|key| Self::NAMES.contains(&key.as_str())).then(|| Self::read(sent))
    }

    const NAMES: [&str; 5] = ["target", "format", "kind", "config", "workspace"];

    fn set(&mut self, key: &str, value: &Json) {
        let place = match key {
            "target" => &mut self.target,
            "format" => &mut self.format,
            "kind" => &mut self.kind,
            "config" => &mut self.config,
            // It counts from the start of the server, or not at all.
            "workspace" => {
                if !matches!(value, Json::Null | Json::Bool(_)) {
                    self.wrong.push(format!("`{key}` is neither `true` nor `false`"));
                }
                return;
            }
            _ => {
                return self.wrong.push(unknown("setting", key, Self::NAMES));
            }
        };
        match value {
            Json::Null => {}
            Json::String(text) => *place = (!text.is_empty()).then(|| text.clone()),
            _ => self.wrong.push(format!("`{key}` is not a string")),
        }
    }

    /// The settings of files, and why some of what was sent can't be used.
    fn resolver(&self) -> (Resolver, Unusable) {
        let mut unusable = Unusable { messages: self.wrong.clone(), ..Unusable::default() };
        let mut overrides = Overrides::default();
        let read_as = &mut overrides.read_as;
        read_as.target =
            self.target.as_ref().and_then(|name| unusable.unless(find_target(name).map_err(Into::into)));
        read_as.format = self.format.as_ref().and_then(|name| {
            let format = FileFormat::named(name);
            unusable.unless(format.ok_or_else(|| unknown("format", name, FileFormat::names()).into()))
        });
        read_as.kind = self.kind.as_ref().and_then(|name| {
            let kinds = TranscriptKind::ALL.iter().map(|kind| kind.as_str());
            unusable.unless(name.parse().map_err(|_| unknown("kind", name, kinds).into()))
        });
        let named = self.config.as_ref().map(|path| ConfigOptions::File(PathBuf::from(path)));
        let configs = named.and_then(|named| {
            let configs = unusable.unless(Configs::new(&named).map_err(Into::into));
            unusable.lacks_config = configs.is_none();
            configs
        });
        // Without any, there is nothing to read that could fail.
        let closest = || Configs::new(&ConfigOptions::Closest).expect("nothing is named");
        let configs = Arc::new(configs.unwrap_or_else(closest));
        let resolver = Resolver::new(overrides, Arc::clone(&configs)).map_err(Into::into);
        let resolver = unusable.unless(resolver).unwrap_or_else(|| {
            Resolver::new(Overrides::default(), Arc::new(closest())).expect("nothing is named")
        });
        (resolver, unusable)
    }
}

/// Why some of what an editor has set can't be used.
#[derive(Default)]
struct Unusable {
    messages: Vec<String>,
    faults: Vec<SettingsFault>,
    /// Whether the configuration for all files is missing.
    lacks_config: bool,
}

impl Unusable {
    /// A value, or nothing and why.
    fn unless<T>(&mut self, value: Result<T, Self>) -> Option<T> {
        value
            .map_err(|other| {
                self.messages.extend(other.messages);
                self.faults.extend(other.faults);
            })
            .ok()
    }

    fn message(self) -> Option<String> {
        (!self.messages.is_empty()).then(|| self.messages.join(", and "))
    }
}

/// An error without the list for a terminal that may follow it, and on one line.
fn brief(error: &Error) -> String {
    error.to_string().split("\n\n").next().unwrap_or_default().replace("\nerror: ", "; ")
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self { messages: vec![brief(&error)], faults: error.faults().to_vec(), lacks_config: false }
    }
}

impl From<String> for Unusable {
    fn from(message: String) -> Self {
        Self { messages: vec![message], ..Self::default() }
    }
}

/// The most files whose last settings are kept, also after they are closed: an editor may open what one looks at only
/// shortly.
const MOST_KEPT: usize = 1000;

#[derive(Debug)]
pub(crate) struct Workspace {
    options: EditorOptions,
    resolver: Resolver,
    /// What is wrong in the configuration that the editor has named, if it can't be used.
    named: Vec<SettingsFault>,
    /// Why some of what the editor has set can't be used, as it was told.
    unusable: Option<String>,
    /// The errors that were told, so that each is told once.
    told: Vec<String>,
    /// The last settings of each file that could be used: they hold while somebody edits its configuration.
    last: HashMap<PathBuf, Settings>,
    /// What the settings of open files come from, or would come from if it were there, as it was.
    seen: HashMap<PathBuf, Stamp>,
    looked: Instant,
}

/// When a file was changed, and its length.
type Stamp = Option<(Option<SystemTime>, u64)>;

fn stamp(path: &Path) -> Stamp {
    path.metadata().ok().map(|about| (about.modified().ok(), about.len()))
}

/// How often it is looked whether settings have changed, if something else does.
const PAUSE: Duration = Duration::from_secs(1);

impl Workspace {
    /// The settings with what an editor has set, and why some of that can't be used.
    pub(crate) fn new(options: EditorOptions) -> (Self, Option<String>) {
        let (resolver, mut unusable) = options.resolver();
        let named = std::mem::take(&mut unusable.faults);
        let unusable = unusable.message();
        let told = unusable.clone();
        let (last, seen, looked) = (HashMap::new(), HashMap::new(), Instant::now());
        (Self { options, resolver, named, unusable, told: Vec::new(), last, seen, looked }, told)
    }

    /// Forgets what was read: configurations have changed. Returns why some of what the editor has set can't be used, if that
    /// is new.
    pub(crate) fn read_again(&mut self) -> Option<String> {
        self.seen.clear();
        let (resolver, mut unusable) = self.options.resolver();
        self.named = std::mem::take(&mut unusable.faults);
        // The last settings of a configuration that can't be used hold.
        if !unusable.lacks_config {
            (self.resolver, self.told) = (resolver, Vec::new());
        }
        let now = unusable.message();
        let before = std::mem::replace(&mut self.unusable, now.clone());
        now.filter(|now| before.as_ref() != Some(now))
    }

    pub(crate) fn options(&self) -> EditorOptions {
        self.options.clone()
    }

    pub(crate) fn set(&mut self, options: EditorOptions) {
        self.options = options;
    }

    /// Whether settings of open files are not as they were: not every editor tells. It is looked once in a while, or `at_once`.
    pub(crate) fn has_changed(&mut self, at_once: bool) -> bool {
        if !at_once && self.looked.elapsed() < PAUSE {
            return false;
        }
        self.looked = Instant::now();
        self.seen.iter().any(|(path, before)| stamp(path) != *before)
    }

    /// The files that settings were read from.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.resolver.files_read().into_iter().map(|(path, _)| path).collect()
    }

    /// The settings of an open file.
    pub(crate) fn of_open(&mut self, path: &Path) -> Option<Settings> {
        let real = Input::file(path).real;
        // Above a folder that is known, all are.
        let new =
            real.ancestors().skip(1).take_while(|folder| !self.seen.contains_key(&folder.join(NAMES[0].0)));
        let new = new.flat_map(|folder| NAMES.map(|(name, _)| folder.join(name)));
        let new: Vec<PathBuf> = new.chain(self.options.config.iter().map(PathBuf::from)).collect();
        // Before they are read: they may change in between.
        let note = |path: PathBuf, seen: &mut HashMap<_, _>| {
            seen.entry(path).or_insert_with_key(|path: &PathBuf| stamp(path));
        };
        new.into_iter().for_each(|path| note(path, &mut self.seen));
        let settings = self.of(path);
        self.files().into_iter().for_each(|path| note(path, &mut self.seen));
        settings
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

    /// What is wrong in the configurations, and in the files that they name. What several extend is wrong once.
    pub(crate) fn faults(&self) -> Vec<SettingsFault> {
        let errors = self.resolver.errors();
        let mut told = HashSet::new();
        let faults = self.named.iter().chain(errors.iter().flat_map(Error::faults));
        faults.filter(|fault| told.insert(*fault)).cloned().collect()
    }

    /// The errors that were not told yet, without those in configurations that are open, which show them.
    pub(crate) fn new_errors(&mut self, is_open: impl Fn(&Path) -> bool) -> Vec<String> {
        let is_shown = |error: &Error| {
            !error.faults().is_empty() && error.faults().iter().all(|fault| is_open(&fault.path))
        };
        let foreign = self.resolver.foreign_configs().into_iter().map(|config| config.to_string());
        let errors = self.resolver.errors().into_iter().filter(|error| !is_shown(error));
        let errors = errors.map(|error| brief(&error)).chain(foreign);
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
    pub(crate) allows: Arc<[Allow]>,
}

impl Settings {
    /// Lints a text. Of one that is no transcript only the faults of its JSON are kept, if it `was_transcript` before an edit.
    pub(crate) fn lint(&self, bytes: &[u8], was_transcript: bool) -> FileReport {
        let mut report = match toolcheck_project::open(bytes, self.container, Limits::default()) {
            Some(opened) => toolcheck_lint::lint_opened(&self.name, bytes, &opened, &self.options),
            None => toolcheck_lint::lint(&self.name, bytes, &self.options),
        };
        // All the JSON files of a project are opened here, and `toolcheck lint` skips those that are not transcripts.
        if !report.is_transcript() && !self.is_named {
            report.findings.retain(|finding| was_transcript && finding.rule == RuleId::MalformedJson);
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
        allow::take_out(&self.allows, report);
    }

    pub(crate) fn read_as(&self, format: Option<&str>) -> Options {
        match format.and_then(formats::find) {
            Some(format) => self.options.clone().format(Some(format)),
            None => self.options.clone(),
        }
    }
}

/// The path of a file, or a name for what is not saved.
pub(crate) fn path_of(uri: &Uri) -> PathBuf {
    path_in(uri.as_str())
}

/// The address of a file in which a client has left characters as they are, as it should be.
pub(crate) fn encoded(raw: &str) -> Option<Uri> {
    raw.parse().ok().or_else(|| uri_of(&path_in(raw)).filter(|_| raw.starts_with("file:///")))
}

fn path_in(text: &str) -> PathBuf {
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
