//! Two files, conversation by conversation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toolcheck_json::origins::Origin;
use toolcheck_json::{Position, locate, pointers};

use super::{File, MadeOf};
use crate::diff::align::{Keys, Pairs};
use crate::diff::events::Events;
use crate::diff::side_by_side::{self, SideBySide};
use crate::diff::{Change, Counts, Diff, Kind, Level, canonical, diff};
use crate::formats::Format;
use crate::ir::{Place, Role};
use crate::text::Line;

/// What changed between two files.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The changes: conversation by conversation, the worst first.
    pub changes: Vec<Located>,
    /// How much there is in all conversations, and how much of it is kept.
    pub counts: Counts,
    /// The number of conversations before and after.
    pub conversations: (usize, usize),
    /// The conversations that have changed, side by side; each with its title, if a file holds several.
    pub pictures: Vec<(Option<Line>, SideBySide)>,
}

/// A change with its places in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// What happened.
    pub kind: Kind,
    /// How bad it is.
    pub level: Level,
    /// Whether the format after has no place for what was before.
    pub inexpressible: bool,
    /// The place in the file before; `None` if it is new.
    pub before: Option<Spot>,
    /// The place in the file after; `None` if it is gone.
    pub after: Option<Spot>,
    /// What it is about: the name of a tool, an id, a length; never a value.
    pub about: Line,
    /// How many parts it is about.
    pub count: usize,
    /// The title of the conversation, if a file holds several.
    pub conversation: Option<Line>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spot {
    /// The JSON Pointer in its record, or in the list of all records if a conversation is in several.
    pub pointer: String,
    /// The line and column in the file.
    pub position: Position,
    /// The bytes in the file, or in the members of an archive.
    pub bytes: Range<usize>,
    /// What it is in, if the file is a recording or an archive. The pointer is then the one in that value.
    pub origin: Option<Arc<Origin>>,
}

impl Spot {
    /// Its value by name: the JSON Pointer, after the name of the body that it is in, if the file holds that inside
    /// something else.
    pub fn name(&self) -> Cow<'_, str> {
        match &self.origin {
            Some(origin) => Cow::Owned(origin.name_of(&self.pointer)),
            None => Cow::Borrowed(&self.pointer),
        }
    }
}

/// Compares two files, conversation by conversation. Results belong to calls as in requests of `bound_as`, or else as in
/// their own formats.
pub fn compare<'s>(before: &File<'s>, after: &File<'s>, bound_as: Option<&Format>) -> Report {
    let mut report = Report {
        conversations: (before.conversations.len(), after.conversations.len()),
        ..Report::default()
    };
    let most = before.conversations.len().max(after.conversations.len());
    let mut found: Vec<(Change, [Option<usize>; 2])> = Vec::new();
    for sides in paired(before, after) {
        let (changes, picture) = match sides {
            [Some(one), Some(other)] if is_same(before, one, after, other) => {
                let events = Events::of(&before.side(one, bound_as)).all;
                report.counts.count(&events, |count| &mut count.before);
                report.counts.count(&events, |count| &mut count.after);
                report.counts.count(&events, |count| &mut count.kept);
                continue;
            }
            [Some(one), Some(other)] => {
                let Diff { changes, counts, picture, .. } =
                    diff(&before.side(one, bound_as), &after.side(other, bound_as));
                report.counts.add(&counts);
                (changes, picture)
            }
            _ => {
                if let Some(one) = sides[0] {
                    let events = Events::of(&before.side(one, bound_as)).all;
                    report.counts.count(&events, |count| &mut count.before);
                } else if let Some(other) = sides[1] {
                    let events = Events::of(&after.side(other, bound_as)).all;
                    report.counts.count(&events, |count| &mut count.after);
                }
                let missing = missing(before, after, sides);
                let picture =
                    SideBySide { beside: vec![side_by_side::Mark::of(&missing)], entries: Vec::new() };
                (vec![missing], picture)
            }
        };
        let title = title(before, after, sides).filter(|_| most > 1);
        if !picture.is_empty() {
            report.pictures.push((title, picture));
        }
        found.extend(changes.into_iter().map(|change| (change, sides)));
    }
    let mut spots_before = spots(before, found.iter().map(|(change, [one, _])| one.zip(change.before)));
    let mut spots_after = spots(after, found.iter().map(|(change, [_, other])| other.zip(change.after)));
    for (number, (change, [one, other])) in found.into_iter().enumerate() {
        let title = title(before, after, [one, other]).filter(|_| most > 1);
        report.changes.push(Located {
            kind: change.kind,
            level: change.level,
            inexpressible: change.inexpressible,
            before: spots_before.remove(&number),
            after: spots_after.remove(&number),
            about: change.about,
            count: change.count,
            conversation: title,
        });
    }
    report
}

/// The title of a conversation: as before, or else as after.
fn title(before: &File<'_>, after: &File<'_>, [one, other]: [Option<usize>; 2]) -> Option<Line> {
    let of_before = one.map(|one| &before.conversations[one].title);
    let title = of_before.or_else(|| other.map(|other| &after.conversations[other].title));
    title.map(|title| Line::from(title.clone()))
}

/// Whether a conversation before is that after, byte for byte.
fn is_same(before: &File<'_>, one: usize, after: &File<'_>, other: usize) -> bool {
    if std::ptr::eq(before, after) {
        return one == other;
    }
    let is_alone = |file: &File<'_>, number: usize| {
        let document = |number: usize| file.conversations.get(number).map(|one| one.document);
        let others = [number.checked_sub(1).and_then(document), document(number + 1)];
        !others.contains(&document(number))
    };
    let [said, again] = [(before, one), (after, other)].map(|(file, number)| {
        let conversation = &file.conversations[number];
        (conversation.transcript.format, file.documents[conversation.document].0.bytes())
    });
    before.format == after.format && said == again && is_alone(before, one) && is_alone(after, other)
}

/// Which conversation before is which one after: those that are the same, then those that begin with the same words, then
/// the others between them in order.
fn paired(before: &File<'_>, after: &File<'_>) -> Vec<[Option<usize>; 2]> {
    let counts = [before, after].map(|file| file.conversations.len());
    let mut pairs = Pairs::new(counts[0], counts[1]);
    if counts == [1, 1] || std::ptr::eq(before, after) {
        (0..counts[0]).for_each(|number| pairs.add(number, number));
    } else {
        let [(whole, start), (whole_after, start_after)] = [before, after].map(keys);
        let others = counts.map(|count| vec![Some(0); count]);
        pairs.unique(&whole, &whole_after);
        pairs.in_gaps(&whole, &whole_after);
        pairs.unique(&start, &start_after);
        pairs.in_gaps(&start, &start_after);
        pairs.in_gaps(&others[0], &others[1]);
    }
    let mut paired = Vec::with_capacity(counts[0]);
    let mut new = (0..counts[1]).filter(|number| pairs.after[*number].is_none()).peekable();
    for (number, other) in pairs.before.iter().enumerate() {
        // A new conversation is told where it is.
        while let Some(added) = new.next_if(|added| other.is_some_and(|other| *added < other)) {
            paired.push([None, Some(added)]);
        }
        paired.push([Some(number), *other]);
    }
    paired.extend(new.map(|number| [None, Some(number)]));
    paired
}

/// For each conversation, a hash of all of it, and one of the first words of the user.
fn keys(file: &File<'_>) -> (Keys, Keys) {
    let key = |number| {
        let events = Events::of(&file.side(number, None)).all;
        let said = events.iter().map(|event| canonical::of_all(b'a', &[event.speaker as u64, event.key]));
        let whole = canonical::of_all(b'a', &said.collect::<Vec<u64>>());
        let start = events.iter().find(|event| event.speaker == Role::User).or(events.first());
        (Some(whole), start.map(|event| event.key))
    };
    (0..file.conversations.len()).map(key).unzip()
}

/// The change of a conversation that only one file has.
fn missing(before: &File<'_>, after: &File<'_>, [one, other]: [Option<usize>; 2]) -> Change {
    let place = |file: &File<'_>, number: usize| {
        let transcript = &file.conversations[number].transcript;
        transcript.messages.first().map_or(transcript.place, |message| message.place)
    };
    let (kind, level) = match one {
        Some(_) => (Kind::ConversationLost, Level::Loss),
        None => (Kind::ConversationAdded, Level::Change),
    };
    Change {
        kind,
        level,
        inexpressible: false,
        before: one.map(|number| place(before, number)),
        after: other.map(|number| place(after, number)),
        about: Line::default(),
        count: 1,
    }
}

/// The places of changes, by the numbers of the changes; each is in the conversation with a number.
fn spots(file: &File<'_>, places: impl Iterator<Item = Option<(usize, Place)>>) -> BTreeMap<usize, Spot> {
    let mut by_document: BTreeMap<usize, Vec<(usize, Place)>> = BTreeMap::new();
    for (number, place) in places.enumerate() {
        if let Some((conversation, place)) = place {
            let document = file.conversations[conversation].document;
            by_document.entry(document).or_default().push((number, place));
        }
    }
    let mut found = BTreeMap::new();
    for (document, places) in by_document {
        let (document, record) = &file.documents[document];
        let nodes: Vec<_> = places.iter().map(|(_, place)| place.node).collect();
        let starts: Vec<usize> = places.iter().map(|(_, place)| place.span.start as usize).collect();
        let positions = locate(document.bytes(), &starts);
        let spots = places.iter().zip(pointers(document, &nodes)).zip(positions);
        for (((number, place), pointer), position) in spots {
            let bytes = place.span.range();
            let position = record.position_in_file(position);
            let bytes = bytes.start + record.start..bytes.end + record.start;
            found.insert(*number, Spot { pointer, position, bytes, origin: None });
        }
    }
    relocate(file, &mut found);
    found
}

/// Gives the places in a recording or an archive the lines of the file.
fn relocate(file: &File<'_>, spots: &mut BTreeMap<usize, Spot>) {
    let Some((made_of, source)) = file.made_of else { return };
    let mut starts = Vec::with_capacity(spots.len());
    let opened = match made_of {
        MadeOf::Opened(opened) => opened,
        MadeOf::Strings(expanded) => {
            for spot in spots.values_mut() {
                spot.bytes = expanded.source_of(spot.bytes.clone()).unwrap_or_default();
                starts.push(spot.bytes.start);
            }
            for (spot, position) in spots.values_mut().zip(locate(source, &starts)) {
                spot.position = position;
            }
            return;
        }
    };
    for spot in spots.values_mut() {
        let Some(located) = opened.origins.locate(spot.bytes.clone()) else {
            starts.push(0);
            continue;
        };
        starts.push(located.source.start);
        if let Some(inside) = spot.pointer.strip_prefix(located.pointer) {
            spot.pointer = inside.to_owned();
        }
        spot.bytes = located.source;
        spot.origin = Some(Arc::clone(located.origin));
    }
    for (spot, position) in spots.values_mut().zip(opened.locate(source, &starts)) {
        spot.position = position;
    }
}

impl Report {
    /// The worst level of a change; `None` if there is none.
    pub fn level(&self) -> Option<Level> {
        self.changes.iter().map(|change| change.level).max()
    }

    /// How many changes are of a level; those of `form` without the ones that the format has no place for.
    pub fn count(&self, level: Level) -> usize {
        self.changes.iter().filter(|change| change.level == level && !change.inexpressible).count()
    }

    /// How many changes the format after is the reason for.
    pub fn inexpressible(&self) -> usize {
        self.changes.iter().filter(|change| change.inexpressible).count()
    }

    /// Leaves out the changes of these kinds, and returns how many there were.
    pub fn allow(&mut self, kinds: &[Kind]) -> usize {
        let before = self.changes.len();
        self.changes.retain(|change| !kinds.contains(&change.kind));
        for (_, picture) in &mut self.pictures {
            picture.leave_out(kinds);
        }
        before - self.changes.len()
    }
}
