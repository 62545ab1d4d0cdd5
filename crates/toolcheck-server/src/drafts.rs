//! Files of settings that are open in the editor. They are no transcripts; what is wrong in one is shown as it is typed.

use std::path::PathBuf;

use lsp_types::{
    Diagnostic, PublishDiagnosticsParams, TextDocumentContentChangeEvent, TextDocumentItem, Uri,
};
use toolcheck_project::{Input, SettingsFault, faults_in};

use crate::diagnostics;
use crate::settings::path_of;
use crate::text::{Encoding, Text};

/// An open file of settings.
#[derive(Debug)]
pub(crate) struct Draft {
    uri: Uri,
    version: i32,
    text: Text,
    pub(crate) path: PathBuf,
}

/// Whether a file may have settings: a configuration, or a target of one's own.
pub(crate) fn is_one(uri: &Uri) -> bool {
    uri.as_str().ends_with(".toml")
}

impl Draft {
    pub(crate) fn new(file: TextDocumentItem, encoding: Encoding) -> Self {
        let path = Input::file(&path_of(&file.uri)).real;
        Self { text: Text::new(&file.text, encoding), uri: file.uri, version: file.version, path }
    }

    pub(crate) fn edit(&mut self, version: i32, changes: &[TextDocumentContentChangeEvent]) {
        self.version = version;
        for change in changes {
            self.text.edit(change);
        }
    }

    /// What is wrong in it. `known` is what is wrong in files of settings as they are saved. Nothing is said of a target
    /// that is not saved yet.
    pub(crate) fn diagnostics(&self, known: &[SettingsFault]) -> Option<PublishDiagnosticsParams> {
        let bytes = self.text.bytes();
        let is_saved = toolcheck_project::read_settings(&self.path).is_ok_and(|saved| saved == bytes);
        let now = || faults_in(&self.path, &String::from_utf8_lossy(&bytes));
        let faults = if is_saved {
            let known: Vec<_> = known.iter().filter(|fault| fault.path == self.path).cloned().collect();
            if known.is_empty() { now().unwrap_or_default() } else { known }
        } else {
            now()?
        };
        Some(PublishDiagnosticsParams::new(self.uri.clone(), self.shown(&faults), Some(self.version)))
    }

    fn shown(&self, faults: &[SettingsFault]) -> Vec<Diagnostic> {
        diagnostics::of_settings(&faults.iter().collect::<Vec<_>>(), &self.text)
    }
}
