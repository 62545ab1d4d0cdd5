//! The lines of an outline that a fix has changed.

use std::ops::Range;

use toolcheck_core::Level;

use super::{Line, Mark, Section};

const CHANGED: &str = "changed by `toolcheck fix`";

/// The places to mark for some changed bytes: each row in them, or the place itself if no row begins there.
pub(super) fn places(sections: &[Section], changed: &[Range<usize>]) -> Vec<(Range<usize>, Mark)> {
    let mut rows: Vec<Range<usize>> = Vec::new();
    for section in sections {
        let in_file = |at: u32| section.record_start + at as usize;
        let shown = section.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(in_file(row.span.start)..in_file(row.span.end)),
            Line::Fold(_) => None,
        });
        rows.extend(shown);
    }
    toolcheck_json::sort_by_positions(&mut rows, |row| (row.start, row.end));
    let mut places = Vec::new();
    for bytes in changed {
        let first = rows.partition_point(|row| row.start < bytes.start);
        let inside = rows[first..].iter().take_while(|row| row.start < bytes.end);
        // Of two brackets that are alike, either may count as the new one: most of a row is enough.
        let is_mostly_in = |row: &&Range<usize>| 2 * (row.end.min(bytes.end) - row.start) >= row.len();
        let inside: Vec<_> = inside.filter(is_mostly_in).collect();
        match inside.is_empty() {
            true => places.push((bytes.start..bytes.start, mark())),
            false => places.extend(inside.into_iter().map(|row| (row.clone(), mark()))),
        }
    }
    places
}

/// It belongs to no finding.
fn mark() -> Mark {
    let message = CHANGED.to_owned();
    Mark { finding: usize::MAX, rule: None, level: Level::Warning, message, is_label: true, line: 0 }
}
