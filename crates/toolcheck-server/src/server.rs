//! What the server answers, message by message.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crossbeam_channel::Sender;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, DidChangeTextDocumentParams,
    DidChangeWatchedFilesRegistrationOptions, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentDiagnosticParams, DocumentLinkOptions, DocumentSymbolResponse, FileSystemWatcher,
    FoldingRangeProviderCapability, GlobPattern, GotoDefinitionResponse, HoverProviderCapability,
    InitializeParams, InitializeResult, LogMessageParams, MessageType, OneOf, PublishDiagnosticsParams,
    Registration, RegistrationParams, ServerCapabilities, ServerInfo, ShowMessageParams,
    TextDocumentIdentifier, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkDoneProgressOptions, WorkspaceDiagnosticParams,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use toolcheck_core::text::shown;
use toolcheck_lint::FileReport;
use toolcheck_project::SettingsFault;

use crate::actions::{self, FIX_ALL};
use crate::document::{Document, Job};
use crate::drafts::{self, Draft};
use crate::pulls::{self, Pulls};
use crate::settings::{EditorOptions, Workspace, encoded, path_of, uri_of};
use crate::sweep::Sweep;
use crate::text::{Encoding, Text};
use crate::transport;
use crate::{diagnostics, folding, hover, links, navigate, symbols};

/// The files that may have settings for others: configurations, those that they extend, and targets.
const SETTINGS: &str = ".toml";

/// What is said before the reason.
const UNUSABLE: &str = "some settings in the editor can't be used: ";

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

pub(crate) struct Server<'o> {
    out: &'o mut dyn Write,
    jobs: Sender<Job>,
    /// Takes the answers about all files.
    swept: Sender<Response>,
    pub(crate) phase: Phase,
    encoding: Encoding,
    workspace: Workspace,
    documents: HashMap<String, Document>,
    /// The files of settings that are open.
    drafts: HashMap<String, Draft>,
    /// The diagnostics that the editor waits for.
    pulls: Pulls,
    /// The files of settings that have diagnostics.
    faulty: BTreeSet<PathBuf>,
    /// Whether the editor tells of files that change if it is asked to.
    can_watch: bool,
    /// The patterns of the files that it tells of.
    watched: BTreeSet<String>,
    requests: i32,
    /// How often the settings were read.
    settings: usize,
}

impl<'o> Server<'o> {
    pub(crate) fn new(out: &'o mut dyn Write, jobs: Sender<Job>, swept: Sender<Response>) -> Self {
        let (workspace, _) = Workspace::new(EditorOptions::default());
        Self {
            out,
            jobs,
            swept,
            phase: Phase::Starting,
            encoding: Encoding::default(),
            workspace,
            documents: HashMap::new(),
            drafts: HashMap::new(),
            pulls: Pulls::default(),
            faulty: BTreeSet::new(),
            can_watch: false,
            watched: BTreeSet::new(),
            requests: 0,
            settings: 0,
        }
    }

    pub(crate) fn take(&mut self, message: Message) -> io::Result<()> {
        match message {
            Message::Request(mut request) => {
                encode(&mut request.params);
                if let Some(response) = self.answer(request) {
                    self.send(Message::Response(response))?;
                }
                if self.phase == Phase::ShutDown { self.respond_all(Pulls::end) } else { Ok(()) }
            }
            Message::Notification(notification) => self.notice(notification),
            // To what the server has asked for; it can go on without.
            Message::Response(_) => Ok(()),
        }
    }

    /// Answers a body that is not a message.
    pub(crate) fn refuse(&mut self, code: ErrorCode, why: &str) -> io::Result<()> {
        let error = json!({"code": code as i32, "message": format!("not a message: {why}")});
        // Nobody knows its id, and the type of a response has no place for that.
        transport::write_json(&json!({"jsonrpc": "2.0", "id": null, "error": error}), self.out)
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        transport::write(&message, self.out)
    }

    fn respond_all(&mut self, responses: impl FnOnce(&mut Pulls) -> Vec<Response>) -> io::Result<()> {
        responses(&mut self.pulls).into_iter().try_for_each(|one| self.send(Message::Response(one)))
    }

    /// Asks the editor for something that the server can go on without.
    fn ask<R: request::Request>(&mut self, params: R::Params) -> io::Result<()>
    where
        R::Params: serde::Serialize,
    {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Message::Request(Request::new(id, R::METHOD.to_owned(), params)))
    }

    fn tell<N: notification::Notification>(&mut self, params: N::Params) -> io::Result<()>
    where
        N::Params: serde::Serialize,
    {
        self.send(Message::Notification(Notification::new(N::METHOD.to_owned(), params)))
    }

    fn show(&mut self, message: &str) -> io::Result<()> {
        let message = format!("toolcheck: {message}");
        self.tell::<notification::ShowMessage>(ShowMessageParams { typ: MessageType::ERROR, message })
    }

    /// Answers a request; `None` if the answer follows.
    fn answer(&mut self, request: Request) -> Option<Response> {
        if self.phase == Phase::Running
            && let Some(key) = self.awaited(&request)
        {
            self.pulls.wait(request, &key);
            return None;
        }
        let (id, method) = (request.id, request.method);
        let failed = |code: ErrorCode, why: &str| Response::new_err(id.clone(), code as i32, why.to_owned());
        Some(match (self.phase, method.as_str()) {
            (Phase::Starting, request::Initialize::METHOD) => {
                self.pulls = Pulls::new(&request.params);
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
            (Phase::Running, request::WorkspaceDiagnosticRequest::METHOD) => {
                return self.sweep(id, request.params);
            }
            (Phase::Running, _) => self.answer_about_document(id, &method, request.params),
        })
    }

    /// The file that a request is about, if its answer must wait until that is linted: diagnostics, and all that is asked
    /// of a file of which nothing is known yet.
    fn awaited(&self, request: &Request) -> Option<String> {
        let key = request.params.pointer("/textDocument/uri")?.as_str()?;
        let document = self.documents.get(key)?;
        let waits = match request.method.as_str() {
            request::DocumentDiagnosticRequest::METHOD => document.is_being_linted(),
            _ => document.is_being_linted() && !document.is_known(),
        };
        waits.then(|| key.to_owned())
    }

    /// Answers the requests that have waited for a file.
    fn answer_awaited(&mut self, key: &str) -> io::Result<()> {
        for request in self.pulls.of(key) {
            if let Some(response) = self.answer(request) {
                self.send(Message::Response(response))?;
            }
        }
        Ok(())
    }

    /// Has all files of the editor's folders checked; the answer follows.
    fn sweep(&mut self, id: RequestId, params: Json) -> Option<Response> {
        let params: WorkspaceDiagnosticParams = match parameters(&id, params) {
            Ok(params) => params,
            Err(response) => return Some(response),
        };
        let known =
            params.previous_result_ids.into_iter().map(|one| (one.uri.as_str().to_owned(), one.value));
        let sweep = Sweep {
            is_over: self.pulls.sweep(id.clone()),
            id,
            folders: self.pulls.folders.clone(),
            options: self.workspace.options(),
            encoding: self.encoding,
            settings: self.settings,
            known: known.collect(),
            open: self.documents.values().map(|document| path_of(&document.uri)).collect(),
        };
        sweep.start(self.swept.clone());
        None
    }

    /// Passes on an answer about all files, if it is still waited for.
    pub(crate) fn finish_sweep(&mut self, answer: Response) -> io::Result<()> {
        if self.pulls.end_sweeps(Some(&answer.id)).is_empty() {
            return Ok(());
        }
        self.send(Message::Response(answer))
    }

    fn answer_about_document(&mut self, id: RequestId, method: &str, params: Json) -> Response {
        let files = &mut self.documents;
        let about = params.pointer("/textDocument/uri").and_then(Json::as_str).unwrap_or_default();
        match method {
            request::DocumentDiagnosticRequest::METHOD => {
                with::<DocumentDiagnosticParams>(id, params, |params| {
                    pulls::report(of(files, &params.text_document, |file| file.diagnostics()))
                })
            }
            request::HoverRequest::METHOD => with::<lsp_types::HoverParams>(id, params, |params| {
                let at = params.text_document_position_params;
                json!(of(files, &at.text_document, |file| hover::hover(file, at.position)))
            }),
            request::GotoDefinition::METHOD => {
                with::<lsp_types::GotoDefinitionParams>(id, params, |params| {
                    let at = params.text_document_position_params;
                    let found = of(files, &at.text_document, |file| navigate::definition(file, at.position));
                    json!(GotoDefinitionResponse::Array(found))
                })
            }
            request::References::METHOD => with::<lsp_types::ReferenceParams>(id, params, |params| {
                let (at, includes) = (params.text_document_position, params.context.include_declaration);
                json!(of(files, &at.text_document, |file| navigate::references(file, at.position, includes)))
            }),
            request::DocumentHighlightRequest::METHOD => {
                with::<lsp_types::DocumentHighlightParams>(id, params, |params| {
                    let at = params.text_document_position_params;
                    json!(of(files, &at.text_document, |file| navigate::highlights(file, at.position)))
                })
            }
            request::DocumentSymbolRequest::METHOD => {
                with::<lsp_types::DocumentSymbolParams>(id, params, |params| {
                    let found = of(files, &params.text_document, symbols::symbols);
                    json!(DocumentSymbolResponse::Nested(found))
                })
            }
            request::FoldingRangeRequest::METHOD => {
                with::<lsp_types::FoldingRangeParams>(id, params, |params| {
                    json!(of(files, &params.text_document, folding::folds))
                })
            }
            request::DocumentLinkRequest::METHOD => {
                with::<lsp_types::DocumentLinkParams>(id, params, |params| {
                    json!(of(files, &params.text_document, links::links))
                })
            }
            request::CodeActionRequest::METHOD if self.drafts.contains_key(about) => {
                let faults = self.workspace.faults();
                with::<lsp_types::CodeActionParams>(id, params, |params| {
                    let draft = self.drafts.get(params.text_document.uri.as_str());
                    json!(draft.map(|draft| draft.actions(params.range, &faults)))
                })
            }
            request::CodeActionRequest::METHOD => with::<lsp_types::CodeActionParams>(id, params, |params| {
                let actions = |file: &mut _| actions::actions(file, params.range, &params.context);
                json!(of(files, &params.text_document, actions))
            }),
            _ => {
                let why = format!("there is no `{method}` here");
                Response::new_err(id, ErrorCode::MethodNotFound as i32, why)
            }
        }
    }

    /// The folder that the editor has opened; of several, the first.
    fn folder(&self) -> Option<&Path> {
        self.pulls.root.as_deref()
    }

    fn initialize(&mut self, params: InitializeParams) -> Json {
        let general = params.capabilities.general.as_ref();
        self.encoding = Encoding::chosen(general.and_then(|general| general.position_encodings.as_deref()));
        let workspace = params.capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files);
        self.can_watch = watched.and_then(|watched| watched.dynamic_registration).unwrap_or_default();
        let options = EditorOptions::first(params.initialization_options.as_ref().unwrap_or(&Json::Null));
        let (workspace, unusable) = Workspace::new(options.within(self.folder()));
        self.workspace = workspace;
        self.phase = Phase::Running;
        if let Some(why) = unusable {
            // An editor that can't be told will find out with the next message.
            let _ = self.show(&format!("{UNUSABLE}{why}"));
        }
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            // Not every editor can watch files.
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
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
            folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
            diagnostic_provider: self.pulls.capability(),
            document_link_provider: Some(DocumentLinkOptions {
                resolve_provider: Some(false),
                work_done_progress_options: WorkDoneProgressOptions::default(),
            }),
            code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                code_action_kinds: Some(kinds),
                ..CodeActionOptions::default()
            })),
            workspace: Some(WorkspaceServerCapabilities {
                workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                    supported: Some(true),
                    change_notifications: Some(OneOf::Left(true)),
                }),
                file_operations: None,
            }),
            ..ServerCapabilities::default()
        };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let server_info = Some(ServerInfo { name: "toolcheck".to_owned(), version: Some(version) });
        json!(InitializeResult { capabilities, server_info })
    }

    fn notice(&mut self, notification: Notification) -> io::Result<()> {
        let Notification { method, mut params } = notification;
        encode(&mut params);
        if method == notification::Exit::METHOD {
            self.phase = Phase::Ended(self.phase == Phase::ShutDown);
            return Ok(());
        }
        if self.phase != Phase::Running {
            return Ok(());
        }
        let uri = params.pointer("/textDocument/uri").and_then(Json::as_str).unwrap_or_default().to_owned();
        match method.as_str() {
            notification::Initialized::METHOD => self.watch(),
            notification::DidOpenTextDocument::METHOD => match serde_json::from_value(params) {
                Ok(params) => self.open(params),
                Err(error) => self.misread(&method, &uri, &error),
            },
            notification::DidChangeTextDocument::METHOD => match serde_json::from_value(params) {
                Ok(params) => self.change(params),
                Err(error) => self.misread(&method, &uri, &error),
            },
            notification::DidCloseTextDocument::METHOD => match serde_json::from_value(params) {
                Ok(params) => self.close(&params),
                Err(error) => self.misread(&method, &uri, &error),
            },
            notification::Cancel::METHOD => {
                self.respond_all(|pulls| pulls.cancel(params).into_iter().collect())
            }
            notification::DidChangeConfiguration::METHOD => {
                if let Some(options) = EditorOptions::changed(&params) {
                    let options = options.within(self.folder());
                    self.workspace.set(options);
                }
                self.read_settings_again()
            }
            notification::DidChangeWatchedFiles::METHOD => self.read_settings_again(),
            notification::DidChangeWorkspaceFolders::METHOD => {
                self.pulls.change_folders(&params["event"]);
                self.read_settings_again()
            }
            notification::DidSaveTextDocument::METHOD => {
                if uri.ends_with(SETTINGS) || self.workspace.has_changed(true) {
                    return self.read_settings_again();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Says that a notification can't be read. Of a file that it would have changed, nothing is known then.
    fn misread(&mut self, method: &str, uri: &str, error: &serde_json::Error) -> io::Result<()> {
        let message = format!("toolcheck: {method} can't be read: {}", shown(&error.to_string()));
        self.tell::<notification::LogMessage>(LogMessageParams { typ: MessageType::ERROR, message })?;
        if let Some(draft) = self.drafts.get_mut(uri) {
            draft.text.is_lost = true;
            return self.tell_of_settings();
        }
        let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
        document.text.is_lost = true;
        self.lint(uri)
    }

    /// Asks to be told of configurations that change, and of files that they name.
    fn watch(&mut self) -> io::Result<()> {
        let named = self.workspace.files().into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            let is_known = name.ends_with(SETTINGS);
            (!is_known).then(|| format!("**/{}", name.replace(|letter| "*?[]{}!,\\".contains(letter), "?")))
        });
        let all = std::iter::once(format!("**/*{SETTINGS}")).chain(named);
        let new: Vec<String> = all.filter(|glob| self.watched.insert(glob.clone())).collect();
        if new.is_empty() || !self.can_watch {
            return Ok(());
        }
        let watcher = |glob| FileSystemWatcher { glob_pattern: GlobPattern::String(glob), kind: None };
        let watchers = new.into_iter().map(watcher).collect();
        let options = DidChangeWatchedFilesRegistrationOptions { watchers };
        let registration = Registration {
            id: format!("configurations-{}", self.watched.len()),
            method: notification::DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: Some(json!(options)),
        };
        self.ask::<request::RegisterCapability>(RegistrationParams { registrations: vec![registration] })
    }

    fn open(&mut self, params: DidOpenTextDocumentParams) -> io::Result<()> {
        let file = params.text_document;
        // Of a configuration, too: they are its own.
        if self.workspace.has_changed(true) {
            self.read_settings_again()?;
        }
        let settings = self.workspace.of_open(&path_of(&file.uri));
        let key = file.uri.as_str().to_owned();
        if drafts::is_one(&file.uri) {
            self.drafts.insert(key, Draft::new(file, self.encoding));
            return self.tell_of_settings();
        }
        let document = Document::new(file.uri, file.version, &file.text, self.encoding, settings);
        self.documents.insert(key.clone(), document);
        self.lint(&key)?;
        self.tell_of_settings()
    }

    /// Tells what is wrong in configurations, and shows it in them.
    fn tell_of_settings(&mut self) -> io::Result<()> {
        self.watch()?;
        let drafts = &self.drafts;
        let is_open = |path: &Path| drafts.values().any(|draft| draft.path == path);
        for error in self.workspace.new_errors(is_open) {
            self.show(&error)?;
        }
        let faults = self.workspace.faults();
        let now: BTreeSet<PathBuf> = faults.iter().map(|fault| fault.path.clone()).collect();
        // Those that are right again have none.
        let before = std::mem::replace(&mut self.faulty, now.clone());
        for path in before.union(&now) {
            let is_draft = self.drafts.values().any(|draft| draft.path == *path);
            let Some(uri) = uri_of(path).filter(|_| !is_draft) else { continue };
            let of_file: Vec<&SettingsFault> = faults.iter().filter(|fault| fault.path == *path).collect();
            // What can't be read has no lines, and so what is wrong with it is at its start.
            let bytes = toolcheck_project::read_settings(path).unwrap_or_default();
            let text = Text::new(&String::from_utf8_lossy(&bytes), self.encoding);
            let diagnostics = diagnostics::of_settings(&of_file, &text);
            let params = PublishDiagnosticsParams::new(uri, diagnostics, None);
            self.tell::<notification::PublishDiagnostics>(params)?;
        }
        let drafts: Vec<_> = self.drafts.values().filter_map(|draft| draft.diagnostics(&faults)).collect();
        drafts.into_iter().try_for_each(|params| self.tell::<notification::PublishDiagnostics>(params))
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) -> io::Result<()> {
        let file = params.text_document;
        let key = file.uri.as_str();
        if let Some(draft) = self.drafts.get_mut(key) {
            draft.edit(file.version, &params.content_changes);
            let params = draft.diagnostics(&self.workspace.faults());
            return params.map_or(Ok(()), |params| self.tell::<notification::PublishDiagnostics>(params));
        }
        // A file that is not open has no text that could change.
        let Some(document) = self.documents.get_mut(key) else { return Ok(()) };
        document.edit(file.version, &params.content_changes);
        if self.workspace.has_changed(false) { self.read_settings_again() } else { self.lint(key) }
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams) -> io::Result<()> {
        let uri = params.text_document.uri.clone();
        let is_draft = self.drafts.remove(uri.as_str()).is_some();
        if self.documents.remove(uri.as_str()).is_none() && !is_draft {
            return Ok(());
        }
        self.answer_awaited(uri.as_str())?;
        if !self.pulls.is_used || is_draft {
            let none = PublishDiagnosticsParams::new(uri, Vec::new(), None);
            self.tell::<notification::PublishDiagnostics>(none)?;
        }
        if is_draft { self.tell_of_settings() } else { Ok(()) }
    }

    fn read_settings_again(&mut self) -> io::Result<()> {
        if let Some(why) = self.workspace.read_again() {
            self.show(&format!("{UNUSABLE}{why}"))?;
        }
        let mut keys: Vec<String> = self.documents.keys().cloned().collect();
        keys.sort_unstable();
        for key in keys {
            if let Some(document) = self.documents.get_mut(&key) {
                document.set(self.workspace.of_open(&path_of(&document.uri)));
            }
            self.lint(&key)?;
        }
        // What is being checked is checked with the settings of before: the editor asks again.
        self.settings += 1;
        for id in self.pulls.end_sweeps(None) {
            self.send(Message::Response(Response::new_ok(id, json!({"items": []}))))?;
        }
        if self.pulls.can_ask_again {
            self.ask::<request::WorkspaceDiagnosticRefresh>(())?;
        }
        self.tell_of_settings()
    }

    /// Lints a file, and publishes what was found if that is all.
    fn lint(&mut self, key: &str) -> io::Result<()> {
        let Some(document) = self.documents.get_mut(key) else { return Ok(()) };
        if document.lint(Instant::now()) { self.publish(key) } else { Ok(()) }
    }

    fn publish(&mut self, key: &str) -> io::Result<()> {
        self.answer_awaited(key)?;
        let Some(document) = self.documents.get(key).filter(|_| !self.pulls.is_used) else { return Ok(()) };
        let (uri, version) = (document.uri.clone(), Some(document.version));
        let params = PublishDiagnosticsParams::new(uri, document.diagnostics(), version);
        self.tell::<notification::PublishDiagnostics>(params)
    }

    /// When the next file is to be linted as a whole.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.documents.values().filter_map(|document| document.due).min()
    }

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
    pub(crate) fn finish(&mut self, uri: &Uri, round: i32, report: Option<FileReport>) -> io::Result<()> {
        let key = uri.as_str();
        let has_failed = report.is_none();
        let is_current = self.documents.get_mut(key).is_some_and(|document| document.take(round, report));
        if has_failed {
            let name = shown(key);
            self.show(&format!("{name} was not checked: this is a fault of toolcheck, please report it"))?;
            return self.answer_awaited(key);
        }
        if is_current { self.publish(key) } else { Ok(()) }
    }
}

/// Encodes what a client has left as it is in the address of the file that a message is about.
fn encode(params: &mut Json) {
    if let Some(uri) = params.pointer_mut("/textDocument/uri")
        && let Some(better) = uri.as_str().and_then(encoded).filter(|better| *uri != *better.as_str())
    {
        *uri = better.as_str().into();
    }
}

/// What is made of an open file; nothing if it is not open.
fn of<T: Default>(
    files: &mut HashMap<String, Document>,
    file: &TextDocumentIdentifier,
    make: impl FnOnce(&mut Document) -> T,
) -> T {
    files.get_mut(file.uri.as_str()).map(make).unwrap_or_default()
}

/// The parameters of a request, or the answer that says what is wrong with them.
fn parameters<P: DeserializeOwned>(id: &RequestId, params: Json) -> Result<P, Response> {
    serde_json::from_value(params)
        .map_err(|error| Response::new_err(id.clone(), ErrorCode::InvalidParams as i32, error.to_string()))
}

/// Answers a request with what is made of its parameters, or says what is wrong with them.
fn with<P: DeserializeOwned>(id: RequestId, params: Json, answer: impl FnOnce(P) -> Json) -> Response {
    match parameters(&id, params) {
        Ok(params) => Response::new_ok(id, answer(params)),
        Err(response) => response,
    }
}
