//! What an editor has asked for and gets later: diagnostics, and what is in a file that was opened just now.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::{
    CancelParams, Diagnostic, DiagnosticOptions, DiagnosticServerCapabilities, DocumentDiagnosticReport,
    FullDocumentDiagnosticReport, NumberOrString, RelatedFullDocumentDiagnosticReport,
};
use serde_json::{Value as Json, json};

use crate::diagnostics::SOURCE;
use crate::settings::{encoded, path_of};

/// What an editor has asked for, and has not got yet.
#[derive(Debug, Default)]
pub(crate) struct Pulls {
    /// Whether the editor asks: what it also got unasked, it would show twice.
    pub(crate) is_used: bool,
    /// Whether it can be told to ask again.
    pub(crate) can_ask_again: bool,
    /// The requests about files that are being linted, with the files.
    waiting: Vec<(Request, String)>,
    /// Whether it may ask about all files of its folders.
    is_swept: bool,
    pub(crate) folders: Vec<PathBuf>,
    /// The folder that the editor has opened; of several, the first.
    pub(crate) root: Option<PathBuf>,
    /// The requests about all files, each with whether it is over.
    sweeps: Vec<(RequestId, Arc<AtomicBool>)>,
}

impl Pulls {
    /// What an editor can do, by the parameters of `initialize`.
    pub(crate) fn new(params: &Json) -> Self {
        let has = |pointer: &str| params.pointer(pointer).is_some_and(|value| !value.is_null());
        let again = params.pointer("/capabilities/workspace/diagnostics/refreshSupport");
        let uris = params.get("workspaceFolders").filter(|folders| folders.is_array());
        let folders = folders(uris.unwrap_or(&json!([{"uri": params["rootUri"]}])));
        let root = folders.first().cloned();
        let is_swept = ["/initializationOptions/workspace", "/initializationOptions/toolcheck/workspace"]
            .iter()
            .any(|pointer| params.pointer(pointer) == Some(&Json::Bool(true)));
        Self {
            is_used: has("/capabilities/textDocument/diagnostic"),
            can_ask_again: again == Some(&Json::Bool(true)),
            is_swept,
            folders,
            root,
            ..Self::default()
        }
    }

    /// What the server offers to an editor that asks.
    pub(crate) fn capability(&self) -> Option<DiagnosticServerCapabilities> {
        let options = DiagnosticOptions {
            identifier: Some(SOURCE.to_owned()),
            workspace_diagnostics: self.is_swept,
            ..DiagnosticOptions::default()
        };
        self.is_used.then_some(DiagnosticServerCapabilities::Options(options))
    }

    /// Takes folders that were added and removed.
    pub(crate) fn change_folders(&mut self, event: &Json) {
        let removed = folders(&event["removed"]);
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(folders(&event["added"]));
    }

    /// Notes a request about a file that is being linted.
    pub(crate) fn wait(&mut self, request: Request, key: &str) {
        self.waiting.push((request, key.to_owned()));
    }

    /// The requests about a file.
    pub(crate) fn of(&mut self, key: &str) -> Vec<Request> {
        self.waiting.extract_if(.., |(_, about)| about == key).map(|(request, _)| request).collect()
    }

    /// The answers if nobody waits any longer.
    pub(crate) fn end(&mut self) -> Vec<Response> {
        let sweeps = self.end_sweeps(None);
        self.waiting.drain(..).map(|(request, _)| request.id).chain(sweeps).map(canceled).collect()
    }

    /// Notes a request about all files, and returns what says that it is over.
    pub(crate) fn sweep(&mut self, id: RequestId) -> Arc<AtomicBool> {
        let is_over = Arc::default();
        self.sweeps.push((id, Arc::clone(&is_over)));
        is_over
    }

    /// Ends requests about all files: this one, or all. Returns those that were waited for.
    pub(crate) fn end_sweeps(&mut self, id: Option<&RequestId>) -> Vec<RequestId> {
        let ended = self.sweeps.extract_if(.., |(waiting, _)| id.is_none_or(|id| id == waiting));
        let ended = ended.map(|(id, is_over)| {
            is_over.store(true, Ordering::Relaxed);
            id
        });
        ended.collect()
    }

    /// The answer to a request that is taken back.
    pub(crate) fn cancel(&mut self, params: Json) -> Option<Response> {
        let id = match serde_json::from_value::<CancelParams>(params).ok()?.id {
            NumberOrString::Number(number) => RequestId::from(number),
            NumberOrString::String(text) => RequestId::from(text),
        };
        if let Some(sweep) = self.end_sweeps(Some(&id)).pop() {
            return Some(canceled(sweep));
        }
        let at = self.waiting.iter().position(|(waiting, _)| waiting.id == id)?;
        Some(canceled(self.waiting.remove(at).0.id))
    }
}

/// Folders of the editor.
fn folders(sent: &Json) -> Vec<PathBuf> {
    let uris = sent.as_array().into_iter().flatten().filter_map(|folder| encoded(folder["uri"].as_str()?));
    uris.filter(|uri| uri.as_str().starts_with("file:")).map(|uri| path_of(&uri)).collect()
}

/// The diagnostics of a file, as they are asked for.
pub(crate) fn report(items: Vec<Diagnostic>) -> Json {
    json!(DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id: None, items },
    }))
}

fn canceled(id: RequestId) -> Response {
    Response::new_err(id, ErrorCode::RequestCanceled as i32, "no longer awaited".to_owned())
}
