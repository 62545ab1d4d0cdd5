use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Style as Colors};
use toolcheck_core::Level;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Output;
use crate::Style;
use crate::outputs::{BOLD, DIM, colors_of, label_colors_of};
use crate::show::{Fold, Line, Mark, Marks, Outline, Row, RowKind, Section};
use crate::summary::Summary;
use toolcheck_core::text::{Counted, bounded, guard, shown};

pub(super) static OUTPUT: Output =
    Output { id: "text", summary: "for the terminal", is_request: false, write };

/// The minimum and maximum width of the output, in columns.
const WIDTHS: (usize, usize) = (32, 140);
/// The width from which on the columns have wider gaps.
const ROOMY: usize = 64;
/// The maximum widths of the columns of speakers and ids.
const WIDEST: (usize, usize) = (12, 17);
/// The maximum width of the column of tools: on a narrow screen, and from the width `WIDE` on.
const WIDEST_TITLE: (usize, usize) = (32, 40);
const WIDE: usize = 100;
/// The minimum width that a name, an id or a remark is cut to.
const LEAST: (usize, usize) = (8, 16);
/// The maximum number of lines of a finding's message.
const MESSAGE_LINES: usize = 3;

const PLAIN: Colors = Colors::new();
/// The colors shared by a call and its results, in turn.
const PAIRS: [AnsiColor; 4] = [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Green, AnsiColor::Blue];

fn write(outline: &Outline, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let width = style.width.clamp(WIDTHS.0, WIDTHS.1);
    let mut pen =
        Pen { out, is_colored: style.color, has_links: style.has_links, width, line: String::new(), used: 0 };
    pen.put(&start_cut(&shown(outline.path()), width), BOLD);
    let reading = outline.reading();
    if pen.used + 2 + reading.width() > width {
        pen.end()?;
        pen.put(&cut(&reading, width), DIM);
    } else {
        pen.space(2);
        pen.put(&reading, DIM);
    }
    pen.end()?;
    for section in &outline.sections {
        pen.end()?;
        if let Some(words) = section.left_out.words() {
            pen.put(&cut(&format!("⋮ {words}"), width), DIM);
            pen.end()?;
            pen.end()?;
        }
        if outline.total > 1 {
            pen.put(&cut(&section.heading(outline.total), width), BOLD);
            pen.end()?;
        }
        Columns::new(section, width).section(section, &mut pen)?;
    }
    if let Some(words) = outline.left_out.words() {
        pen.end()?;
        pen.put(&cut(&format!("⋮ {words}"), width), DIM);
        pen.end()?;
    }
    pen.end()?;
    if outline.unmarked > 0 {
        let words = format!("{} not shown here", Counted(outline.unmarked, "finding"));
        pen.put(&cut(&words, width), DIM);
        pen.end()?;
    }
    if !style.is_quiet {
        for line in textwrap::wrap(&Summary(&outline.report).to_string(), width) {
            pen.put(&line, PLAIN);
            pen.end()?;
        }
    }
    if let Some(more) = outline.more() {
        // A command that is broken into lines no longer works.
        writeln!(pen.out, "more: {more}")?;
    }
    Ok(())
}

/// Writes lines of a bounded width.
struct Pen<'o> {
    out: &'o mut dyn io::Write,
    is_colored: bool,
    has_links: bool,
    width: usize,
    line: String,
    used: usize,
}

impl Pen<'_> {
    fn put(&mut self, text: &str, colors: Colors) {
        if self.is_colored && colors != PLAIN && !text.is_empty() {
            let _ = write!(self.line, "{colors}{text}{colors:#}");
        } else {
            self.line.push_str(text);
        }
        self.used += text.width();
    }

    /// Writes the id of a rule, at most as long as the line, as a link to its page if the terminal supports links.
    fn put_rule(&mut self, mark: &Mark, colors: Colors) {
        let (start, end) = (format!("\u{1b}]8;;{}\u{1b}\\", mark.url()), "\u{1b}]8;;\u{1b}\\");
        if self.has_links {
            self.line.push_str(&start);
        }
        self.put(&cut(mark.rule_id(), self.left()), colors);
        if self.has_links {
            self.line.push_str(end);
        }
    }

    fn space(&mut self, columns: usize) {
        self.line.extend(std::iter::repeat_n(' ', columns));
        self.used += columns;
    }

    fn go_to(&mut self, column: usize) {
        self.space(column.saturating_sub(self.used));
    }

    fn left(&self) -> usize {
        self.width.saturating_sub(self.used)
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "{}", guard(self.line.trim_end()))?;
        self.line.clear();
        self.used = 0;
        Ok(())
    }
}

struct Columns {
    /// The space between two of them.
    gap: usize,
    number: usize,
    speaker: usize,
    content: usize,
    /// The width of the numbers of pairs.
    pair: usize,
    title: usize,
    id: usize,
}

impl Columns {
    fn new(section: &Section, width: usize) -> Self {
        let widest = |width: &dyn Fn(&Row) -> usize| {
            section.rows().map(|(_, row)| width(row)).max().unwrap_or_default()
        };
        let digits = |number: usize| number.to_string().len();
        let gap = if width < ROOMY { 1 } else { 2 };
        let number = widest(&|row| row.number.map_or(0, |number| digits(number as usize)));
        let speaker = widest(&|row| row.speaker.width()).min(WIDEST.0);
        let content = 2 + number + gap + speaker + gap;
        let pair = widest(&|row| row.pair.map_or(0, digits));
        let of_tools =
            |of: &dyn Fn(&Row) -> usize| widest(&|row| if row.kind == RowKind::Other { 0 } else { of(row) });
        let widest_title = if width < WIDE { WIDEST_TITLE.0 } else { WIDEST_TITLE.1 };
        let title = of_tools(&|row| row.title.width()).min(widest_title);
        let id = of_tools(&|row| row.id.as_ref().map_or(0, |id| id.width())).min(WIDEST.1);
        let room = width.saturating_sub(content + arrow(pair));
        // A shorter name with its details is more useful than a long name that leaves no room for them.
        let title = title.min(if title + 2 + id > room { LEAST.1.max(room / 2) } else { title }).min(room);
        Self { gap, number, speaker, content, pair, title, id }
    }

    fn section(&self, section: &Section, pen: &mut Pen<'_>) -> io::Result<()> {
        self.below(&section.marks, 2, pen)?;
        for line in &section.lines {
            match line {
                Line::Row(row) => self.row(row, pen)?,
                Line::Fold(fold) => self.fold(fold, pen)?,
            }
        }
        Ok(())
    }

    fn fold(&self, fold: &Fold, pen: &mut Pen<'_>) -> io::Result<()> {
        pen.space(2);
        pen.put(&cut(&format!("⋮ {}", fold.words()), pen.left()), DIM);
        pen.end()
    }

    fn row(&self, row: &Row, pen: &mut Pen<'_>) -> io::Result<()> {
        match row.marks.worst() {
            Some(level) => pen.put(sign(level), colors_of(level)),
            None if row.marks.is_empty() => pen.space(1),
            None => pen.put("·", DIM),
        }
        if row.is_first {
            let number = row.number.map(|number| number.to_string()).unwrap_or_default();
            pen.go_to(2 + self.number.saturating_sub(number.len()));
            pen.put(&number, DIM);
            pen.go_to(2 + self.number + self.gap);
            pen.put(&cut(&row.speaker, self.speaker), PLAIN);
        }
        pen.go_to(self.content);
        let beside = beside(&row.marks);
        // A rule's id is never cut; the message of a label is cut if necessary.
        let wanted = beside.map_or(0, |mark| {
            let (width, room) =
                (short(mark).width(), pen.left().saturating_sub(arrow(self.pair) + self.title));
            4 + if mark.is_label && 4 + width > room { width.min(LEAST.1) } else { width }
        });
        self.content(row, wanted, pen);
        let is_beside = pen.left() >= wanted;
        let column = self.content + arrow(self.pair) + self.title;
        if column + wanted <= pen.width && self.title > 0 {
            pen.go_to(column);
        }
        if let Some(mark) = beside.filter(|_| is_beside) {
            pen.space(2);
            self.mark(mark, pen);
        }
        pen.end()?;
        if is_beside {
            self.messages(&row.marks, beside, pen)?;
        } else {
            self.below(&row.marks, self.content, pen)?;
        }
        if let Some(beginning) = &row.beginning {
            pen.go_to(self.content + 2);
            pen.put(&cut(&format!("“{beginning}”"), pen.left()), DIM);
            pen.end()?;
        }
        Ok(())
    }

    /// Writes the content of a row, followed by `wanted` free columns if that leaves enough room.
    fn content(&self, row: &Row, wanted: usize, pen: &mut Pen<'_>) {
        let details = row.details();
        let sign = match row.kind {
            RowKind::Call => "→ ",
            RowKind::Result => "← ",
            RowKind::Other => {
                let details = if details.is_empty() { details } else { format!(", {details}") };
                pen.put(&cut(&row.title, pen.left()), PLAIN);
                pen.put(&cut(&details, pen.left()), DIM);
                return;
            }
        };
        let colors = row.pair.map_or(PLAIN, |pair| PAIRS[pair % PAIRS.len()].on_default());
        let number = row.pair.map_or_else(String::new, |pair| pair.to_string());
        let gap = if self.pair > 0 { " " } else { "" };
        pen.put(&format!("{sign}{number:>0$}{gap}", self.pair), colors);
        let title = cut(&row.title, self.title.min(pen.left()));
        pen.put(&title, colors);
        let after = pen.left();
        let padding = self.title.saturating_sub(title.width());
        let room = after.saturating_sub(padding);
        // The details are cut before the id is dropped: where ids are at fault, they are what a reader compares.
        let id = row.id.as_deref().map(|id| middle_cut(id, self.id)).unwrap_or_default();
        let column = |width: usize| if width == 0 { 0 } else { 2 + width };
        let all = column(self.id) + column(details.width());
        let fits = |width: usize| width + wanted <= room || wanted > room && width <= room;
        let least = column(LEAST.0.min(details.width()));
        let is_with_id = fits(all) || !id.is_empty() && fits(column(self.id) + least);
        let is_with_details = !details.is_empty() && (is_with_id || fits(least));
        if is_with_id && self.id > 0 {
            pen.space(padding + 2);
            pen.put(&id, DIM);
            let padding = self.id.saturating_sub(id.width());
            if is_with_details {
                pen.space(padding + 2);
                Self::details(&details, wanted, pen);
            } else {
                pen.space(padding.min(pen.left()));
            }
        } else if is_with_details {
            pen.space(padding + 2);
            Self::details(&details, wanted, pen);
        } else if wanted <= room {
            pen.space(padding);
        }
    }

    /// Writes details, cut so that `wanted` columns stay free if there are as many.
    fn details(details: &str, wanted: usize, pen: &mut Pen<'_>) {
        let kept = if wanted > pen.left() { 0 } else { wanted };
        pen.put(&cut(details, pen.left() - kept), DIM);
    }

    /// Writes a mark: its rule, or its message if it is a label.
    fn mark(&self, mark: &Mark, pen: &mut Pen<'_>) {
        if mark.is_label {
            pen.put(&cut(&format!("· {}", mark.message), pen.left()), label_colors_of(mark.level));
        } else {
            pen.put(&format!("{} ", sign(mark.level)), colors_of(mark.level));
            pen.put_rule(mark, colors_of(mark.level));
        }
    }

    /// Writes the message of the mark beside a row, and the other marks below it.
    fn messages(&self, marks: &Marks, beside: Option<&Mark>, pen: &mut Pen<'_>) -> io::Result<()> {
        if let Some(mark) = beside.filter(|mark| !mark.is_label) {
            self.message(mark, self.content + 2, pen)?;
        }
        for mark in
            marks.shown.iter().filter(|mark| !beside.is_some_and(|beside| std::ptr::eq(*mark, beside)))
        {
            self.mark_below(mark, self.content, pen)?;
        }
        self.more(marks, self.content, pen)
    }

    /// Writes all marks of a row below it, or those of a section above it.
    fn below(&self, marks: &Marks, column: usize, pen: &mut Pen<'_>) -> io::Result<()> {
        for mark in &marks.shown {
            self.mark_below(mark, column, pen)?;
        }
        self.more(marks, column, pen)
    }

    fn mark_below(&self, mark: &Mark, column: usize, pen: &mut Pen<'_>) -> io::Result<()> {
        if mark.is_label {
            return wrapped(&format!("· {}", mark.message), column, label_colors_of(mark.level), pen);
        }
        // A rule's id starts further left if it would be cut otherwise.
        let widest = pen.width.saturating_sub(2 + mark.rule_id().width());
        if column == 2 {
            pen.put(sign(mark.level), colors_of(mark.level));
            pen.go_to(column);
            pen.put_rule(mark, colors_of(mark.level));
            pen.put(&cut(&format!(", line {}", mark.line), pen.left()), DIM);
        } else {
            pen.go_to(column.min(widest));
            self.mark(mark, pen);
        }
        pen.end()?;
        self.message(mark, column + 2, pen)
    }

    fn message(&self, mark: &Mark, column: usize, pen: &mut Pen<'_>) -> io::Result<()> {
        wrapped(&mark.message, column, PLAIN, pen)
    }

    fn more(&self, marks: &Marks, column: usize, pen: &mut Pen<'_>) -> io::Result<()> {
        if marks.more == 0 {
            return Ok(());
        }
        pen.go_to(column);
        pen.put(&cut(&format!("and {}", Counted(marks.more, "more finding")), pen.left()), DIM);
        pen.end()
    }
}

/// Writes a text over as many lines as it needs, up to `MESSAGE_LINES`.
fn wrapped(text: &str, column: usize, colors: Colors, pen: &mut Pen<'_>) -> io::Result<()> {
    // On a narrow screen the text starts further left, so that it still fits.
    let column = column.min(pen.width.saturating_sub(LEAST.1));
    let width = pen.width - column;
    let indent = if text.starts_with('·') { "  " } else { "" };
    let options = textwrap::Options::new(width).subsequent_indent(indent);
    for line in textwrap::wrap(&bounded(text, width * MESSAGE_LINES), options) {
        pen.go_to(column);
        pen.put(&line, colors);
        pen.end()?;
    }
    Ok(())
}

/// The mark shown on a row's own line: its first finding, or else its first label.
fn beside(marks: &Marks) -> Option<&Mark> {
    marks.shown.iter().find(|mark| !mark.is_label).or_else(|| marks.shown.first())
}

/// A mark in one line: its rule, or its message if it is a label.
fn short(mark: &Mark) -> &str {
    if mark.is_label { &mark.message } else { mark.rule_id() }
}

/// The width of the arrow and the number of a pair.
fn arrow(pair: usize) -> usize {
    if pair == 0 { 2 } else { 2 + pair + 1 }
}

fn sign(level: Level) -> &'static str {
    match level {
        Level::Error => "✗",
        Level::Warning => "!",
    }
}

/// As much of the beginning as fits into `width` columns.
fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > width
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// As much of the end as fits into `width` columns.
fn tail(text: &str, width: usize) -> &str {
    let mut used = 0;
    let start = text.char_indices().rev().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > width
    });
    start.map_or(text, |(at, character)| &text[at + character.len_utf8()..])
}

/// At most `width` columns of a text: its beginning.
pub(crate) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    let whole = head(text, width);
    if whole.len() == text.len() || width == 0 {
        return Cow::Borrowed(whole);
    }
    Cow::Owned(format!("{}…", head(text, width - 1)))
}

/// At most `width` columns of an id: its prefix, and its end, which distinguishes it from other ids.
fn middle_cut(id: &str, width: usize) -> Cow<'_, str> {
    if head(id, width).len() == id.len() || width == 0 {
        return Cow::Borrowed(head(id, width));
    }
    let end = tail(id, width / 2);
    Cow::Owned(format!("{}…{end}", head(id, width - 1 - width / 2)))
}

/// At most `width` columns of a path: its end, since paths often have a common beginning.
fn start_cut(path: &str, width: usize) -> Cow<'_, str> {
    let whole = tail(path, width);
    if whole.len() == path.len() {
        Cow::Borrowed(whole)
    } else {
        Cow::Owned(format!("…{}", tail(path, width - 1)))
    }
}
