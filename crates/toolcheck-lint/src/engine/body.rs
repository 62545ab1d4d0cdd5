//! The body of a request, as an API reads it.

use toolcheck_core::formats::Format;
use toolcheck_core::ir::{Buffers, Transcript, TranscriptKind};
use toolcheck_json::{Document, Position, Record};
use toolcheck_schema::Schemas;

use super::file_linter::FileLinter;
use super::format_rules::FormatRules;
use crate::observe::Observer;
use crate::options::Options;
use crate::report::FileReport;
use crate::server_state::ServerState;

/// Lints the body of a request that was sent to an API of this format. It is one JSON value, whatever else it looks like:
/// nothing is detected and nothing is opened, and what every request has may not be missing, but for the model where the
/// path names it ([`Options::names_model`]). What the server keeps of earlier requests says what it goes on from.
pub fn lint_body(
    bytes: &[u8],
    format: &'static Format,
    options: &Options,
    server: Option<&ServerState>,
    observer: &mut dyn Observer,
) -> FileReport {
    let options =
        &Options { format: Some(format), kind: TranscriptKind::Request, is_body: true, ..options.clone() };
    let mut report = FileReport::empty("body", options.kind);
    let rules = FormatRules::new(Some(format), options);
    rules.describe(None, &mut report);
    let schemas = Schemas::new(false);
    let record = Record { index: 0, bytes, start: 0, position: Position { line: 1, column: 1 } };
    let document = Document::read(bytes);
    FileLinter::new(rules, options, &schemas, observer, &mut report).lint_body(&record, &document, server);
    report
}

impl FileLinter<'_> {
    fn lint_body(&mut self, record: &Record<'_>, document: &Document<'_>, server: Option<&ServerState>) {
        let root = document.root();
        let rules = self.rules();
        let Some(format) = rules.format else { return };
        let read = (format.read_with)(root, Buffers::default());
        let mut transcript = read.unwrap_or_else(|| Transcript::without_messages(format.key(), root));
        if transcript.request.model.is_none() {
            transcript.request.model =
                self.options.path_model.as_deref().map(|model| model.to_owned().into());
        }
        let continued = server.and_then(|server| server.continued_by(&transcript));
        self.lint_read(rules, record, document, transcript, continued.as_ref());
    }
}
