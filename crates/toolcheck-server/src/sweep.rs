//! The files of the editor's folders, for an editor that asks about all of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crossbeam_channel::Sender;
use lsp_server::{ErrorCode, RequestId, Response};
use lsp_types::{
    Diagnostic, DiagnosticSeverity, FullDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport, Uri,
    WorkspaceDiagnosticReport, WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};
use serde_json::json;
use toolcheck_project::{ConfigOptions, Configs, FileOptions, Input, Inputs, Source};

use crate::diagnostics::{self, SOURCE};
use crate::settings::{EditorOptions, Workspace, path_of, uri_of};
use crate::text::{Encoding, Text};

/// A file with more bytes is named and not checked.
const LARGEST: u64 = 64 << 20;

/// How long nothing is looked at again if nothing has changed, and how many times as long as looking took.
const PAUSE: (Duration, u32) = (Duration::from_secs(3), 20);

/// How soon a sweep notices that nobody waits for it.
const BREATH: Duration = Duration::from_millis(50);

/// A request about all files. It is answered as soon as something is not as the editor knows it.
pub(crate) struct Sweep {
    pub(crate) id: RequestId,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) options: EditorOptions,
    pub(crate) encoding: Encoding,
    /// The number of the settings: what was found with others holds no longer.
    pub(crate) settings: usize,
    /// What the editor knows: for each file, of which state it has a report.
    pub(crate) known: HashMap<String, String>,
    /// The files that are open, which it asks about one by one.
    pub(crate) open: HashSet<PathBuf>,
    /// Whether nobody waits for it any longer.
    pub(crate) is_over: Arc<AtomicBool>,
}

impl Sweep {
    /// Answers on another thread, which ends with the answer, or when nobody waits for it.
    pub(crate) fn start(self, swept: Sender<Response>) {
        thread::spawn(move || {
            let answer = catch_unwind(AssertUnwindSafe(|| self.run())).unwrap_or_else(|_| {
                let why = "this is a fault of toolcheck, please report it".to_owned();
                Some(Response::new_err(self.id.clone(), ErrorCode::InternalError as i32, why))
            });
            // It ends only with the server.
            answer.map(|answer| swept.send(answer))
        });
    }

    /// The answer; `None` if nobody waits for it.
    fn run(&self) -> Option<Response> {
        loop {
            let start = Instant::now();
            let items = self.items()?;
            let is_news = |item: &WorkspaceDocumentDiagnosticReport| {
                matches!(item, WorkspaceDocumentDiagnosticReport::Full(_))
            };
            if items.is_empty() || items.iter().any(is_news) {
                return Some(Response::new_ok(self.id.clone(), json!(WorkspaceDiagnosticReport { items })));
            }
            let until = Instant::now() + PAUSE.0.max(start.elapsed().saturating_mul(PAUSE.1));
            while Instant::now() < until {
                if self.is_over() {
                    return None;
                }
                thread::sleep(BREATH);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The reports of all files that are there, and of those that are gone.
    fn items(&self) -> Option<Vec<WorkspaceDocumentDiagnosticReport>> {
        let (mut workspace, _) = Workspace::new(self.options.clone());
        let mut gone: HashSet<&str> = self.known.keys().map(String::as_str).collect();
        let mut items = Vec::new();
        for path in self.files() {
            if self.is_over() {
                return None;
            }
            let Some(uri) = uri_of(&path) else { continue };
            gone.remove(uri.as_str());
            if self.open.contains(&path) {
                continue;
            }
            let state = self.state(&path);
            if self.known.get(uri.as_str()).is_some_and(|known| *known == state) {
                let unchanged_document_diagnostic_report =
                    UnchangedDocumentDiagnosticReport { result_id: state };
                let same = WorkspaceUnchangedDocumentDiagnosticReport {
                    uri,
                    version: None,
                    unchanged_document_diagnostic_report,
                };
                items.push(WorkspaceDocumentDiagnosticReport::Unchanged(same));
            } else {
                let found = self.check(&path, &uri, &mut workspace);
                items.push(full(uri, Some(state), found));
            }
        }
        let gone = gone.into_iter().filter_map(|uri| uri.parse::<Uri>().ok());
        let gone = gone.filter(|uri| !self.open.contains(&path_of(uri)));
        items.extend(gone.map(|uri| full(uri, None, Vec::new())));
        Some(items)
    }

    /// The files that `toolcheck lint` would look at and an editor can show.
    fn files(&self) -> Vec<PathBuf> {
        if self.folders.is_empty() {
            return Vec::new();
        }
        let options = FileOptions { paths: self.folders.clone(), ..FileOptions::default() };
        let found = Configs::new(&ConfigOptions::Closest)
            .and_then(|configs| Inputs::find(&options, &Arc::new(configs), HashSet::new()));
        let is_text = |path: &PathBuf| path.extension().is_none_or(|end| end != "gz" && end != "zst");
        let path = |source| match source {
            Source::File(path) => Some(path),
            Source::Stdin => None,
        };
        let inputs = found.map(|found| found.inputs).unwrap_or_default();
        inputs.into_iter().filter_map(|input| path(input.source)).filter(is_text).collect()
    }

    /// What tells a file, as it is now and with the settings of now, from itself at another time.
    fn state(&self, path: &Path) -> String {
        let about = fs::metadata(path).ok();
        let changed = about.as_ref().and_then(|about| about.modified().ok());
        let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        format!("{}-{}-{}", self.settings, changed.as_nanos(), about.map_or(0, |about| about.len()))
    }

    fn check(&self, path: &Path, uri: &Uri, workspace: &mut Workspace) -> Vec<Diagnostic> {
        let Some(settings) = workspace.of(path) else { return Vec::new() };
        if fs::metadata(path).is_ok_and(|about| about.len() > LARGEST) {
            return vec![note(
                "not checked here, because it is large: `toolcheck lint` checks it".to_owned(),
            )];
        }
        let bytes = match Input::file(path).read() {
            Ok(bytes) => bytes,
            Err(error) => return vec![note(format!("not checked: {error}"))],
        };
        // As the editor would show it: places are counted in that.
        let text = String::from_utf8_lossy(&bytes);
        let report = settings.lint(text.as_bytes(), false);
        let found: Vec<_> = report.findings.iter().map(|finding| (0, finding)).collect();
        diagnostics::all(&found, report.left_out(), &Text::new(&text, self.encoding), uri)
    }
}

fn full(uri: Uri, result_id: Option<String>, items: Vec<Diagnostic>) -> WorkspaceDocumentDiagnosticReport {
    let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id, items };
    WorkspaceFullDocumentDiagnosticReport { uri, version: None, full_document_diagnostic_report }.into()
}

fn note(message: String) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::INFORMATION),
        source: Some(SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    }
}
