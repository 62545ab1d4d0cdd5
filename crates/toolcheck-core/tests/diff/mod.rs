//! Comparing conversations: kinds of changes, properties, and the conversations of the corpus.

mod events;
mod files;
mod kinds;
mod properties;
mod same;

use serde_json::Value as Json;
use toolcheck_core::conversation::{Conversation, Feature};
use toolcheck_core::diff::{Change, Diff, Kind, Level, Side, diff};
use toolcheck_core::{Format, formats};
use toolcheck_json::{Document, pointers};

fn format(id: &str) -> &'static Format {
    formats::find(id).unwrap()
}

/// A conversation without what a format cannot hold.
fn held(conversation: &Conversation, format: &Format) -> Conversation {
    let lost = Feature::ALL.into_iter().filter(|feature| !format.can_hold(*feature));
    lost.fold(conversation.clone(), Conversation::without)
}

/// A change without what tests of it need not know: its kind, its level, whether the format is the reason, and the places.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    kind: Kind,
    level: Level,
    inexpressible: bool,
    before: Option<String>,
    after: Option<String>,
}

fn compare(before: (&Json, &'static Format), after: (&Json, &'static Format)) -> (Diff, Vec<Seen>) {
    let texts = [before.0.to_string(), after.0.to_string()];
    compare_texts((&texts[0], before.1), (&texts[1], after.1))
}

fn compare_texts(before: (&str, &'static Format), after: (&str, &'static Format)) -> (Diff, Vec<Seen>) {
    let documents = [Document::read(before.0.as_bytes()), Document::read(after.0.as_bytes())];
    let transcripts =
        [before.1.read(documents[0].root()).unwrap(), after.1.read(documents[1].root()).unwrap()];
    let found = diff(&Side::new(&transcripts[0], &documents[0]), &Side::new(&transcripts[1], &documents[1]));
    let seen = found.changes.iter().map(|change| seen(change, &documents)).collect();
    (found, seen)
}

fn seen(change: &Change, documents: &[Document<'_>; 2]) -> Seen {
    let pointer = |place: Option<toolcheck_core::Place>, document: &Document<'_>| {
        place.map(|place| pointers(document, &[place.node]).remove(0))
    };
    Seen {
        kind: change.kind,
        level: change.level,
        inexpressible: change.inexpressible,
        before: pointer(change.before, &documents[0]),
        after: pointer(change.after, &documents[1]),
    }
}
