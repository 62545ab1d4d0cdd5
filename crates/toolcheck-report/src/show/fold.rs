//! Leaves out the middle of a long conversation.

use super::rows::{Row, RowKind};
use toolcheck_core::text::Counted;

#[derive(Debug)]
pub(crate) enum Line {
    Row(Row),
    /// A placeholder for rows that are left out.
    Fold(Fold),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fold {
    messages: usize,
    calls: usize,
    results: usize,
    others: usize,
    marked: usize,
    /// The number of rows that are in an earlier request too.
    known: usize,
}

/// The maximum number of rows of a conversation that is shown whole.
const ROWS_SHOWN: usize = 120;
/// The number of rows shown at the beginning and at the end of a longer one.
const ENDS_SHOWN: usize = 20;
/// The maximum number of marked rows shown of a longer one.
const MARKED_SHOWN: usize = 100;
/// The minimum number of rows to replace with a line that counts them.
const LEAST_FOLDED: usize = 3;

/// The lines of a conversation. Marked rows are shown with their neighbours, wherever they are.
pub(super) fn fold(rows: Vec<Row>, shows_all: bool) -> Vec<Line> {
    if shows_all {
        return rows.into_iter().map(Line::Row).collect();
    }
    let is_long = rows.len() > ROWS_SHOWN;
    let is_at_an_end = |number: usize| number < ENDS_SHOWN || number + ENDS_SHOWN >= rows.len();
    let mut is_shown: Vec<bool> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| !row.is_known && (!is_long || is_at_an_end(number)))
        .collect();
    let mut marked = 0;
    let mut first = 0;
    for number in 0..rows.len() {
        if rows[number].is_first {
            first = number;
        }
        if rows[number].marks.is_empty() || marked == MARKED_SHOWN {
            continue;
        }
        marked += 1;
        is_shown[first] = true;
        let around = number.saturating_sub(1)..(number + 2).min(rows.len());
        is_shown[around].fill(true);
    }
    show_small_gaps(&mut is_shown);
    let mut lines = Vec::new();
    let mut open = Fold::default();
    for (mut row, is_shown) in rows.into_iter().zip(is_shown) {
        if is_shown {
            if open != Fold::default() {
                lines.push(Line::Fold(std::mem::take(&mut open)));
                // The rest of a message shows its role again.
                row.is_first = true;
            }
            lines.push(Line::Row(row));
        } else {
            open.add(&row);
        }
    }
    if open != Fold::default() {
        lines.push(Line::Fold(open));
    }
    lines
}

/// Shows gaps that are too small to be worth a line that counts their rows.
fn show_small_gaps(is_shown: &mut [bool]) {
    let mut start = 0;
    while start < is_shown.len() {
        let length = is_shown[start..].iter().take_while(|is_shown| !**is_shown).count();
        if length < LEAST_FOLDED {
            is_shown[start..start + length].fill(true);
        }
        start += length + 1;
    }
}

impl Fold {
    fn add(&mut self, row: &Row) {
        self.messages += usize::from(row.is_first && row.number.is_some());
        match row.kind {
            RowKind::Call => self.calls += 1,
            RowKind::Result => self.results += 1,
            RowKind::Other => self.others += 1,
        }
        self.marked += usize::from(!row.marks.is_empty());
        self.known += usize::from(row.is_known);
    }

    /// The rows that are left out, in words.
    pub(crate) fn words(&self) -> String {
        let mut counts = Vec::new();
        let mut count = |number, noun| {
            if number > 0 {
                counts.push(Counted(number, noun).to_string());
            }
        };
        count(self.messages, "message");
        count(self.calls, "call");
        count(self.results, "result");
        if counts.is_empty() {
            counts.push(Counted(self.others, "part").to_string());
        }
        let mut words = counts.join(", ");
        if self.known == self.calls + self.results + self.others {
            words.push_str(" sent before");
        }
        if self.marked > 0 {
            words.push_str(&format!(", including {}", Counted(self.marked, "marked line")));
        }
        words
    }
}
