//! Files of settings that are open in the editor. They are no transcripts; what is wrong in one is shown as it is typed.

use std::path::PathBuf;

use lsp_types::{
    CodeActionKind, CodeActionOrCommand, Diagnostic, PublishDiagnosticsParams, Range,
    TextDocumentContentChangeEvent, TextDocumentItem, TextEdit, Uri,
};
use toolcheck_project::{Input, SettingsFault, faults_in};

use crate::settings::path_of;
use crate::text::{Encoding, Text};
use crate::{actions, diagnostics};

/// An open file of settings.
#[derive(Debug)]
pub(crate) struct Draft {
    uri: Uri,
    version: i32,
    pub(crate) text: Text,
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
        let faults = if self.text.is_lost { Vec::new() } else { self.faults(known)? };
        Some(PublishDiagnosticsParams::new(self.uri.clone(), self.shown(&faults), Some(self.version)))
    }

    /// What its diagnostics are about.
    fn faults(&self, known: &[SettingsFault]) -> Option<Vec<SettingsFault>> {
        let bytes = self.text.bytes();
        let is_saved = toolcheck_project::read_settings(&self.path).is_ok_and(|saved| saved == bytes);
        let now = || faults_in(&self.path, &String::from_utf8_lossy(&bytes));
        if is_saved {
            let known: Vec<_> = known.iter().filter(|fault| fault.path == self.path).cloned().collect();
            return if known.is_empty() { Some(now().unwrap_or_default()) } else { Some(known) };
        }
        now()
    }

    /// Names that were meant, as actions on diagnostics in a range.
    pub(crate) fn actions(&self, range: Range, known: &[SettingsFault]) -> Vec<CodeActionOrCommand> {
        let all = self.diagnostics(known).map(|params| params.diagnostics).unwrap_or_default();
        let here = all.into_iter().filter(|one| one.range.start <= range.end && range.start <= one.range.end);
        let action = |one: Diagnostic| {
            let (name, _) = one.message.split_once("did you mean `")?.1.split_once('`')?;
            let bytes = self.text.slice(self.text.byte(one.range.start)..self.text.byte(one.range.end));
            let quote = String::from_utf8(bytes).ok()?.chars().next().filter(|first| "\"'".contains(*first));
            let quote = quote.map(String::from).unwrap_or_default();
            let new_text = format!("{quote}{name}{quote}");
            let what = (format!("Write `{name}`"), CodeActionKind::QUICKFIX, true);
            let edits = vec![TextEdit { range: one.range, new_text }];
            Some(actions::one(&self.uri, what, edits, vec![one]).into())
        };
        here.filter_map(action).collect()
    }

    fn shown(&self, faults: &[SettingsFault]) -> Vec<Diagnostic> {
        diagnostics::of_settings(&faults.iter().collect::<Vec<_>>(), &self.text)
    }
}
