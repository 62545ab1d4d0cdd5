//! What the server answers, message by message.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use crossbeam_channel::Sender;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, DidChangeTextDocumentParams,
    DidChangeWatchedFilesRegistrationOptions, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentLinkOptions, DocumentSymbolResponse, FileSystemWatcher, GlobPattern, GotoDefinitionResponse,
    HoverProviderCapability, InitializeParams, InitializeResult, MessageType, OneOf,
    PublishDiagnosticsParams, Registration, RegistrationParams, ServerCapabilities, ServerInfo,
    ShowMessageParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, Uri,
    WorkDoneProgressOptions,
};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use toolcheck_core::text::shown;
use toolcheck_lint::FileReport;
use toolcheck_project::{Input, SettingsFault};

use crate::actions::{self, FIX_ALL};
use crate::document::{Document, Job};
use crate::settings::{EditorOptions, Workspace, path_of, uri_of};
use crate::text::{Encoding, Text};
use crate::transport;
use crate::{diagnostics, hover, links, navigate, symbols};

/// The files that have settings for others.
const CONFIGURATIONS: [&str; 4] = ["toolcheck.toml", ".toolcheck.toml", "pyproject.toml", "Cargo.toml"];

/// How far the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits for `initialize`.
    Starting,
    Running,
    /// It has been told to shut down, and waits for `exit`.
    ShutDown,
    /// It has been told to exit; whether it was shut down before.
    Ended(bool),
}

/// The server, and the files that are open in it.
pub(crate) struct Server<'o> {
    out: &'o mut dyn Write,
    jobs: Sender<Job>,
    pub(crate) phase: Phase,
    encoding: Encoding,
    workspace: Workspace,
    documents: HashMap<String, Document>,
    /// The files of settings that have diagnostics.
    faulty: BTreeSet<PathBuf>,
    /// Whether the editor tells of files that change if it is asked to.
    can_watch: bool,
    requests: i32,
}

impl<'o> Server<'o> {
    pub(crate) fn new(out: &'o mut dyn Write, jobs: Sender<Job>) -> Self {
        let (workspace, _) = Workspace::new(EditorOptions::default());
        Self {
            out,
            jobs,
            phase: Phase::Starting,
            encoding: Encoding::default(),
            workspace,
            documents: HashMap::new(),
            faulty: BTreeSet::new(),
            can_watch: false,
            requests: 0,
        }
    }

    /// Takes a message.
    pub(crate) fn take(&mut self, message: Message) -> io::Result<()> {
        match message {
            Message::Request(request) => {
                let response = self.answer(request);
                self.send(Message::Response(response))
            }
            Message::Notification(notification) => self.notice(notification),
            // To what the server has asked for; it can go on without.
            Message::Response(_) => Ok(()),
        }
    }

    /// Answers a body that is not a message.
    pub(crate) fn refuse(&mut self, why: &str) -> io::Result<()> {
        let error = json!({"code": ErrorCode::ParseError as i32, "message": format!("not a message: {why}")});
        // Nobody knows its id, and the type of a response has no place for that.
        let body = json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
        write!(self.out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        self.out.flush()
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        transport::write(&message, self.out)
    }

    fn tell<N: notification::Notification>(&mut self, params: N::Params) -> io::Result<()>
    where
        N::Params: serde::Serialize,
    {
        self.send(Message::Notification(Notification::new(N::METHOD.to_owned(), params)))
    }

    /// Shows the user a message.
    fn show(&mut self, message: String) -> io::Result<()> {
        let message = format!("toolcheck: {message}");
        self.tell::<notification::ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message })
    }

    fn answer(&mut self, request: Request) -> Response {
        let (id, method) = (request.id, request.method);
        let failed = |code: ErrorCode, why: &str| Response::new_err(id.clone(), code as i32, why.to_owned());
        match (self.phase, method.as_str()) {
            (Phase::Starting, request::Initialize::METHOD) => {
                with::<InitializeParams>(id, request.params, |params| self.initialize(params))
            }
            (Phase::Starting, _) => failed(ErrorCode::ServerNotInitialized, "the server is not initialized"),
            (Phase::ShutDown | Phase::Ended(_), _) => {
                failed(ErrorCode::InvalidRequest, "the server is shut down")
            }
            (Phase::Running, request::Initialize::METHOD) => {
                failed(ErrorCode::InvalidRequest, "the server is initialized already")
            }
            (Phase::Running, request::Shutdown::METHOD) => {
                self.phase = Phase::ShutDown;
                Response::new_ok(id, Json::Null)
            }
            (Phase::Running, _) => self.answer_about_document(id, &method, request.params),
        }
    }

    fn answer_about_document(&mut self, id: RequestId, method: &str, params: Json) -> Response {
        let documents = &mut self.documents;
        match method {
            request::HoverRequest::METHOD => with::<lsp_types::HoverParams>(id, params, |params| {
                let at = params.text_document_position_params;
                json!(
                    documents
                        .get_mut(at.text_document.uri.as_str())
                        .and_then(|document| hover::hover(document, at.position))
                )
            }),
            request::GotoDefinition::METHOD => {
                with::<lsp_types::GotoDefinitionParams>(id, params, |params| {
                    let at = params.text_document_position_params;
                    let found = documents
                        .get_mut(at.text_document.uri.as_str())
                        .map(|file| navigate::definition(file, at.position));
                    json!(GotoDefinitionResponse::Array(found.unwrap_or_default()))
                })
            }
            request::References::METHOD => with::<lsp_types::ReferenceParams>(id, params, |params| {
                let at = params.text_document_position;
                let includes = params.context.include_declaration;
                let found = documents
                    .get_mut(at.text_document.uri.as_str())
                    .map(|document| navigate::references(document, at.position, includes));
                json!(found.unwrap_or_default())
            }),
            request::DocumentHighlightRequest::METHOD => {
                with::<lsp_types::DocumentHighlightParams>(id, params, |params| {
                    let at = params.text_document_position_params;
                    let found = documents
                        .get_mut(at.text_document.uri.as_str())
                        .map(|file| navigate::highlights(file, at.position));
                    json!(found.unwrap_or_default())
                })
            }
            request::DocumentSymbolRequest::METHOD => {
                with::<lsp_types::DocumentSymbolParams>(id, params, |params| {
                    let found = documents.get_mut(params.text_document.uri.as_str()).map(symbols::symbols);
                    json!(DocumentSymbolResponse::Nested(found.unwrap_or_default()))
                })
            }
            request::DocumentLinkRequest::METHOD => {
                with::<lsp_types::DocumentLinkParams>(id, params, |params| {
                    let found = documents.get_mut(params.text_document.uri.as_str()).map(links::links);
                    json!(found.unwrap_or_default())
                })
            }
            request::CodeActionRequest::METHOD => with::<lsp_types::CodeActionParams>(id, params, |params| {
                let found = documents
                    .get_mut(params.text_document.uri.as_str())
                    .map(|file| actions::actions(file, params.range, &params.context));
                json!(found.unwrap_or_default())
            }),
            _ => Response::new_err(
                id,
                ErrorCode::MethodNotFound as i32,
                format!("there is no `{method}` here"),
            ),
        }
    }

    fn initialize(&mut self, params: InitializeParams) -> Json {
        let general = params.capabilities.general.as_ref();
        self.encoding = Encoding::chosen(general.and_then(|general| general.position_encodings.as_deref()));
        let workspace = params.capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files);
        self.can_watch = watched.and_then(|watched| watched.dynamic_registration).unwrap_or_default();
        let options = params.initialization_options.filter(|options| !options.is_null());
        let options = options.map(serde_json::from_value::<EditorOptions>).transpose();
        let (options, wrong) = match options {
            Ok(options) => (options.unwrap_or_default(), None),
            Err(error) => (EditorOptions::default(), Some(error.to_string())),
        };
        let (workspace, unusable) = Workspace::new(options);
        self.workspace = workspace;
        self.phase = Phase::Running;
        if let Some(why) = wrong.or(unusable) {
            // An editor that can't be told will find out with the next message.
            let _ = self.show(format!("its settings in the editor can't be used: {why}"));
        }
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        };
        let kinds = vec![CodeActionKind::QUICKFIX, FIX_ALL];
        let capabilities = ServerCapabilities {
            position_encoding: Some(self.encoding.kind()),
            text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            definition_provider: Some(OneOf::Left(true)),
            references_provider: Some(OneOf::Left(true)),
            document_highlight_provider: Some(OneOf::Left(true)),
            document_symbol_provider: Some(OneOf::Left(true)),
            document_link_provider: Some(DocumentLinkOptions {
                resolve_provider: Some(false),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            }),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(kinds),
                ..CodeActionOptions::default()
            })),
            ..ServerCapabilities::default()
        };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let server_info = Some(ServerInfo { name: "toolcheck".to_owned(), version: Some(version) });
        json!(InitializeResult { capabilities, server_info })
    }

    fn notice(&mut self, notification: Notification) -> io::Result<()> {
        let Notification { method, params } = notification;
        if method == notification::Exit::METHOD {
            self.phase = Phase::Ended(self.phase == Phase::ShutDown);
            return Ok(());
        }
        if self.phase != Phase::Running {
            return Ok(());
        }
        // Parameters that can't be read have no answer, so they are passed over.
        match method.as_str() {
            notification::Initialized::METHOD => self.watch(),
            notification::DidOpenTextDocument::METHOD => match serde_json::from_value(params) {
                Ok(params) => self.open(params),
                Err(_) => Ok(()),
            },
            notification::DidChangeTextDocument::METHOD => match serde_json::from_value(params) {
                Ok(params) => self.change(params),
                Err(_) => Ok(()),
            },
            notification::DidCloseTextDocument::METHOD => match serde_json::from_value(params) {
                Ok(params) => self.close(&params),
                Err(_) => Ok(()),
            },
            notification::DidChangeWatchedFiles::METHOD | notification::DidChangeConfiguration::METHOD => {
                self.read_settings_again()
            }
            notification::DidSaveTextDocument::METHOD => {
                let uri = params.pointer("/textDocument/uri").and_then(Json::as_str).unwrap_or_default();
                let name = uri.rsplit('/').next().unwrap_or_default();
                if CONFIGURATIONS.contains(&name) { self.read_settings_again() } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Asks to be told of configurations that change.
    fn watch(&mut self) -> io::Result<()> {
        if !self.can_watch {
            return Ok(());
        }
        let watchers = CONFIGURATIONS.iter().map(|name| FileSystemWatcher {
            glob_pattern: GlobPattern::String(format!("**/{name}")),
            kind: None,
        });
        let options = DidChangeWatchedFilesRegistrationOptions { watchers: watchers.collect() };
        let registration = Registration {
            id: "configurations".to_owned(),
            method: notification::DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: Some(json!(options)),
        };
        let params = RegistrationParams { registrations: vec![registration] };
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Message::Request(Request::new(id, request::RegisterCapability::METHOD.to_owned(), params)))
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) -> io::Result<()> {
        let file = params.text_document;
        let settings = self.workspace.of(&path_of(&file.uri));
        let key = file.uri.as_str().to_owned();
        let document = Document::new(file.uri, file.version, &file.text, self.encoding, settings);
        self.documents.insert(key.clone(), document);
        self.lint(&key)?;
        self.tell_of_settings()
    }

    /// Tells what is wrong in configurations, and shows it in them.
    fn tell_of_settings(&mut self) -> io::Result<()> {
        for error in self.workspace.new_errors() {
            self.show(error)?;
        }
        let faults = self.workspace.faults();
        let now: BTreeSet<PathBuf> = faults.iter().map(|fault| fault.path.clone()).collect();
        // Those that are right again have none.
        let before = std::mem::replace(&mut self.faulty, now.clone());
        for path in before.union(&now) {
            let Some(uri) = uri_of(path) else { continue };
            let of_file: Vec<&SettingsFault> = faults.iter().filter(|fault| fault.path == *path).collect();
            // What can't be read has no lines, and so what is wrong with it is at its start.
            let bytes = Input::file(path).read().unwrap_or_default();
            let text = Text::new(&String::from_utf8_lossy(&bytes), self.encoding);
            let diagnostics = diagnostics::of_settings(&of_file, &text);
            let params = PublishDiagnosticsParams::new(uri, diagnostics, None);
            self.tell::<notification::PublishDiagnostics>(params)?;
        }
        Ok(())
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) -> io::Result<()> {
        let file = params.text_document;
        let key = file.uri.as_str();
        // A file that is not open has no text that could change.
        let Some(document) = self.documents.get_mut(key) else { return Ok(()) };
        document.edit(file.version, &params.content_changes);
        self.lint(key)
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) -> io::Result<()> {
        let uri = params.text_document.uri.clone();
        if self.documents.remove(uri.as_str()).is_none() {
            return Ok(());
        }
        self.tell::<notification::PublishDiagnostics>(PublishDiagnosticsParams::new(uri, Vec::new(), None))
    }

    fn read_settings_again(&mut self) -> io::Result<()> {
        if let Some(error) = self.workspace.read_again() {
            self.show(error)?;
        }
        let keys: Vec<String> = self.documents.keys().cloned().collect();
        for key in keys {
            if let Some(document) = self.documents.get_mut(&key) {
                document.set(self.workspace.of(&path_of(&document.uri)));
            }
            self.lint(&key)?;
        }
        self.tell_of_settings()
    }

    /// Lints a file, and publishes what was found if that is all.
    fn lint(&mut self, key: &str) -> io::Result<()> {
        let Some(document) = self.documents.get_mut(key) else { return Ok(()) };
        if document.lint(Instant::now()) { self.publish(key) } else { Ok(()) }
    }

    fn publish(&mut self, key: &str) -> io::Result<()> {
        let Some(document) = self.documents.get(key) else { return Ok(()) };
        let params = PublishDiagnosticsParams::new(
            document.uri.clone(),
            document.diagnostics(),
            Some(document.version),
        );
        self.tell::<notification::PublishDiagnostics>(params)
    }

    /// When the next file is to be linted as a whole.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.documents.values().filter_map(|document| document.due).min()
    }

    /// Has the files linted that are due.
    pub(crate) fn start_due(&mut self) {
        let now = Instant::now();
        for document in
            self.documents.values_mut().filter(|document| document.due.is_some_and(|due| due <= now))
        {
            if let Some(job) = document.job() {
                // It ends only with this server.
                let _ = self.jobs.send(job);
            }
        }
    }

    /// Takes a report that was made elsewhere; `None` if that failed.
    pub(crate) fn finish(&mut self, uri: &Uri, version: i32, report: Option<FileReport>) -> io::Result<()> {
        let key = uri.as_str();
        let Some(report) = report else {
            let name = shown(key);
            return self
                .show(format!("{name} was not checked: this is a fault of toolcheck, please report it"));
        };
        let is_current = self.documents.get_mut(key).is_some_and(|document| document.take(version, report));
        if is_current { self.publish(key) } else { Ok(()) }
    }
}

/// Answers a request with what is made of its parameters, or says what is wrong with them.
fn with<P: DeserializeOwned>(id: RequestId, params: Json, answer: impl FnOnce(P) -> Json) -> Response {
    match serde_json::from_value(params) {
        Ok(params) => Response::new_ok(id, answer(params)),
        Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
    }
}
