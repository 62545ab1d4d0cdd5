//! Diagnostics that an editor asks for, instead of getting them unasked.

use lsp_server::{ErrorCode, RequestId, Response};
use lsp_types::{
    CancelParams, Diagnostic, DiagnosticOptions, DiagnosticServerCapabilities, DocumentDiagnosticReport,
    FullDocumentDiagnosticReport, NumberOrString, RelatedFullDocumentDiagnosticReport,
};
use serde_json::{Value as Json, json};

use crate::diagnostics::SOURCE;

/// What an editor has asked for, and has not got yet.
#[derive(Debug, Default)]
pub(crate) struct Pulls {
    /// Whether the editor asks: what it also got unasked, it would show twice.
    pub(crate) is_used: bool,
    /// Whether it can be told to ask again.
    pub(crate) can_ask_again: bool,
    /// The requests about files that are being linted, with the files.
    waiting: Vec<(RequestId, String)>,
}

impl Pulls {
    /// What an editor can do, by the parameters of `initialize`.
    pub(crate) fn new(params: &Json) -> Self {
        let has = |pointer: &str| params.pointer(pointer).is_some_and(|value| !value.is_null());
        let again = params.pointer("/capabilities/workspace/diagnostics/refreshSupport");
        Self {
            is_used: has("/capabilities/textDocument/diagnostic"),
            can_ask_again: again == Some(&Json::Bool(true)),
            waiting: Vec::new(),
        }
    }

    /// What the server offers to an editor that asks.
    pub(crate) fn capability(&self) -> Option<DiagnosticServerCapabilities> {
        let options =
            DiagnosticOptions { identifier: Some(SOURCE.to_owned()), ..DiagnosticOptions::default() };
        self.is_used.then_some(DiagnosticServerCapabilities::Options(options))
    }

    /// Notes a request about a file that is being linted.
    pub(crate) fn wait(&mut self, id: RequestId, key: &str) {
        self.waiting.push((id, key.to_owned()));
    }

    /// The requests about a file.
    pub(crate) fn of(&mut self, key: &str) -> Vec<RequestId> {
        self.waiting.extract_if(.., |(_, about)| about == key).map(|(id, _)| id).collect()
    }

    /// The answers if nobody waits any longer.
    pub(crate) fn end(&mut self) -> Vec<Response> {
        self.waiting.drain(..).map(|(id, _)| canceled(id)).collect()
    }

    /// The answer to a request that is taken back.
    pub(crate) fn cancel(&mut self, params: Json) -> Option<Response> {
        let id = match serde_json::from_value::<CancelParams>(params).ok()?.id {
            NumberOrString::Number(number) => RequestId::from(number),
            NumberOrString::String(text) => RequestId::from(text),
        };
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == id)?;
        Some(canceled(self.waiting.remove(at).0))
    }
}

/// The answer with all diagnostics of a file.
pub(crate) fn report(id: RequestId, items: Vec<Diagnostic>) -> Response {
    let report = FullDocumentDiagnosticReport { result_id: None, items };
    Response::new_ok(
        id,
        json!(DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: report,
        })),
    )
}

fn canceled(id: RequestId) -> Response {
    Response::new_err(id, ErrorCode::RequestCanceled as i32, "no longer awaited".to_owned())
}
