//! Both sides of a comparison next to each other, where they differ.

use std::borrow::Cow;

use foldhash::HashMap;

use super::Change;
use super::align::longest_increasing;
use super::changes::{At, FoundChange, characters};
use super::counterparts::Paired;
use super::events::{Event, EventKind, Events};
use super::kinds::{Kind, Level};
use crate::ir::Role;
use crate::text::{Line, shorten};

/// Both sides of a comparison in rows. What is the same far from all changes is only counted.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SideBySide {
    /// What changed beside the messages.
    pub beside: Vec<Mark>,
    /// The rows, in the order of the conversation.
    pub entries: Vec<Entry>,
}

/// A row, or several that are left out.
#[derive(Debug, Clone)]
pub enum Entry {
    /// So many parts are the same on both sides.
    Same(usize),
    /// A row.
    Row(Box<Row>),
}

/// A part of the conversation, on both sides or on one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// The part before; `None` if there is none at this place.
    pub before: Option<Part>,
    /// The part after.
    pub after: Option<Part>,
    /// What changed in it.
    pub marks: Vec<Mark>,
}

/// A part on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The number of its message, from 0.
    pub message: usize,
    /// Who says it.
    pub speaker: &'static str,
    /// Its kind.
    pub kind: PartKind,
    /// The name of the tool, if it is a call or a result.
    pub name: Option<Line>,
    /// The id of the call.
    pub id: Option<Line>,
    /// What it is, and how long; never a value. Empty for a call.
    pub details: Line,
}

/// The kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartKind {
    /// A call.
    Call,
    /// A result.
    Result,
    /// A text, reasoning, a medium or something else.
    Other,
}

/// A change, where it is shown.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Mark {
    /// What happened.
    pub kind: Kind,
    /// How bad it is.
    pub level: Level,
    /// Whether the format after has no place for what was before.
    pub inexpressible: bool,
    /// What it is about.
    pub about: Line,
}

impl Mark {
    pub(super) fn of(change: &Change) -> Self {
        let Change { kind, level, inexpressible, .. } = *change;
        Self { kind, level, inexpressible, about: change.about.clone() }
    }
}

/// The number of rows shown before and after one with a mark.
const AROUND: usize = 2;

/// The numbers of the events in a row.
type Numbers = [Option<usize>; 2];

impl SideBySide {
    /// The picture of what was found; empty if that is nothing.
    pub(super) fn new(paired: &Paired<'_, '_>, found: &[FoundChange]) -> Self {
        if found.is_empty() {
            return Self::default();
        }
        let mut marks: [HashMap<usize, Vec<usize>>; 2] = Default::default();
        let mut beside = Vec::new();
        for (number, FoundChange { change, at: At(before, after) }) in found.iter().enumerate() {
            if before.or(*after).is_none() {
                beside.push(Mark::of(change));
            }
            for (marks, event) in marks.iter_mut().zip([before, after]) {
                event.iter().for_each(|event| marks.entry(*event).or_default().push(number));
            }
        }
        // What is said of several texts that make one is said of each.
        for (before, after) in &paired.merged {
            for (marks, group) in marks.iter_mut().zip([before, after]) {
                let Some(own) = group.first().and_then(|first| marks.get(first)).cloned() else { continue };
                group[1..].iter().for_each(|event| marks.entry(*event).or_default().extend(&own));
            }
        }
        let rows = rows(paired);
        // What is said of both sides is said once if they are in one row.
        let marked = |row: &Numbers| -> Vec<usize> {
            let own = row.iter().zip(&marks).filter_map(|(event, marks)| marks.get(event.as_ref()?));
            let mut own: Vec<usize> = own.flatten().copied().collect();
            own.sort_unstable();
            own.dedup();
            own
        };
        let is_marked: Vec<bool> =
            rows.iter().map(|row| row.contains(&None) || !marked(row).is_empty()).collect();
        let mut entries = Vec::new();
        let mut same = 0;
        for (number, row) in rows.iter().enumerate() {
            let near = number.saturating_sub(AROUND)..(number + AROUND + 1).min(rows.len());
            if !is_marked[near].contains(&true) {
                same += 1;
                continue;
            }
            if same > 0 {
                entries.push(Entry::Same(std::mem::take(&mut same)));
            }
            let [before, after] = *row;
            entries.push(Entry::Row(Box::new(Row {
                before: before.map(|event| Part::of(&paired.before.all[event], paired.before)),
                after: after.map(|event| Part::of(&paired.after.all[event], paired.after)),
                marks: marked(row).into_iter().map(|change| Mark::of(&found[change].change)).collect(),
            })));
        }
        if same > 0 {
            entries.push(Entry::Same(same));
        }
        Self { beside, entries }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.beside.is_empty() && self.marks().next().is_none()
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        let rows = self.entries.iter().filter_map(|entry| match entry {
            Entry::Row(row) => Some(&**row),
            Entry::Same(_) => None,
        });
        rows.flat_map(|row| &row.marks)
    }

    pub(super) fn leave_out(&mut self, kinds: &[Kind]) {
        let is_kept = |mark: &Mark| !kinds.contains(&mark.kind);
        self.beside.retain(is_kept);
        for entry in &mut self.entries {
            if let Entry::Row(row) = entry {
                row.marks.retain(is_kept);
            }
        }
    }
}

/// The events of both sides in rows: what belongs together and is in order is in one, and the rest where it is on its side.
fn rows(paired: &Paired<'_, '_>) -> Vec<Numbers> {
    let pairs = paired.pairs.before.iter().enumerate();
    let pairs: Vec<(usize, usize)> = pairs.filter_map(|(before, after)| Some((before, (*after)?))).collect();
    let ends = (paired.before.all.len(), paired.after.all.len());
    let mut rows = Vec::with_capacity(ends.0.max(ends.1));
    let mut from = (0, 0);
    for (before, after) in longest_increasing(&pairs).into_iter().chain([ends]) {
        rows.extend((from.0..before).map(|number| [Some(number), None]));
        rows.extend((from.1..after).map(|number| [None, Some(number)]));
        if (before, after) != ends {
            rows.push([Some(before), Some(after)]);
        }
        from = (before + 1, after + 1);
    }
    rows
}

impl Part {
    fn of(event: &Event<'_>, events: &Events<'_>) -> Self {
        let kind = match event.sort {
            EventKind::Call | EventKind::ServerCall => PartKind::Call,
            EventKind::Result | EventKind::ServerResult => PartKind::Result,
            _ => PartKind::Other,
        };
        let long = || characters(event.text.chars().count());
        let details = match event.sort {
            EventKind::Call => String::new(),
            EventKind::Result if event.failed => format!("{}, failed", characters(event.content.length)),
            EventKind::Result => characters(event.content.length),
            EventKind::ServerCall | EventKind::ServerResult => "run by the provider".to_owned(),
            EventKind::Text => format!("text, {}", long()),
            EventKind::Reasoning if event.text.is_empty() => "reasoning".to_owned(),
            EventKind::Reasoning => format!("reasoning, {}", long()),
            EventKind::Media if event.owner.is_some() => "medium in the result".to_owned(),
            EventKind::Media => "medium".to_owned(),
            EventKind::Part => "part that this version does not know".to_owned(),
        };
        let call =
            event.owner.filter(|_| event.sort == EventKind::Result).map_or(event, |call| &events.all[call]);
        let named =
            |text: &Option<Cow<'_, str>>| text.as_deref().map(|text| Line::from(shorten(text).into_owned()));
        let is_tool = kind != PartKind::Other;
        let speaker = match event.speaker {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "model",
            Role::Tool => "tool",
            Role::Unknown => "unknown role",
        };
        Self {
            message: event.message,
            speaker,
            kind,
            name: is_tool.then(|| named(&call.name).unwrap_or_else(|| Line::from("?"))),
            id: named(&call.id).filter(|_| is_tool),
            details: Line::from(details),
        }
    }
}
