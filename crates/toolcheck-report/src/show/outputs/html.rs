use std::collections::HashSet;
use std::io;

use toolcheck_core::Level;

use super::Output;
use crate::Style;
use crate::markup::{Escaped, start_page, write_message};
use crate::show::{Line, Mark, Marks, Outline, Row, RowKind, Section};
use crate::summary::Summary;
use toolcheck_core::text::{Counted, shown};

pub(super) static OUTPUT: Output =
    Output { id: "html", summary: "a self-contained web page", is_request: false, write };

/// The maximum number of characters of a message.
const LONGEST: usize = 500;
/// The maximum number of findings listed above the outline.
const LISTED: usize = 50;
/// The number of colors for pairs, used in turn.
const COLORS: usize = 4;

fn write(outline: &Outline, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let path = shown(outline.path());
    let path = Escaped(&path);
    start_page(&format!("{} - toolcheck", shown(outline.path())), "", out)?;
    writeln!(out, "<header>")?;
    writeln!(out, "<h1><code>{path}</code></h1>\n<p class=\"quiet\">{}</p>", Escaped(&outline.reading()))?;
    if !style.is_quiet {
        let worst = if outline.report.count(Level::Error) > 0 {
            " error"
        } else if outline.has_findings() {
            " warning"
        } else {
            " clean"
        };
        writeln!(out, "<p class=\"summary{worst}\">{}</p>", Summary(&outline.report))?;
    }
    contents(outline, out)?;
    writeln!(out, "</header>\n<main>")?;
    let findings = outline.marks().filter(|mark| !mark.is_label).map(|mark| mark.finding).collect();
    for section in &outline.sections {
        if let Some(words) = section.left_out.words() {
            writeln!(out, "<p class=\"fold\">{}</p>", Escaped(&words))?;
        }
        SectionWriter::new(section, &findings).section(section, outline.total, out)?;
    }
    if let Some(words) = outline.left_out.words() {
        writeln!(out, "<p class=\"fold\">{}</p>", Escaped(&words))?;
    }
    writeln!(out, "</main>")?;
    if let Some(more) = outline.more() {
        writeln!(out, "<footer><p>More: <code>{}</code></p></footer>", Escaped(&more))?;
    }
    writeln!(out, "</body>\n</html>")
}

/// Writes the findings of the outline, each with a link to its place.
fn contents(outline: &Outline, out: &mut dyn io::Write) -> io::Result<()> {
    let mut marks = outline.marks().filter(|mark| !mark.is_label).peekable();
    if marks.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "<nav aria-label=\"Findings\">\n<ul>")?;
    for mark in marks.by_ref().take(LISTED) {
        write!(
            out,
            "<li class=\"{}\"><a href=\"#finding-{}\">{}</a> <span class=\"quiet\">line {}</span> ",
            mark.level,
            mark.finding,
            mark.rule_id(),
            mark.line
        )?;
        write_message(&mark.message, LONGEST, out)?;
        writeln!(out, "</li>")?;
    }
    let rest = marks.count() + outline.unmarked;
    if rest > 0 {
        writeln!(out, "<li>and {}</li>", Counted(rest, "more finding"))?;
    }
    writeln!(out, "</ul>\n</nav>")
}

/// Writes a section, with links between its parts.
struct SectionWriter<'p> {
    section: usize,
    calls: HashSet<usize>,
    results: HashSet<usize>,
    /// The findings of the whole outline that have a mark; one may refer to another section.
    findings: &'p HashSet<usize>,
    /// The ids used so far: a call may have several results.
    named: HashSet<String>,
}

impl<'p> SectionWriter<'p> {
    fn new(section: &Section, findings: &'p HashSet<usize>) -> Self {
        let of = |kind: RowKind| {
            section.rows().filter(move |(_, row)| row.kind == kind).filter_map(|(_, row)| row.pair).collect()
        };
        Self {
            section: section.number,
            calls: of(RowKind::Call),
            results: of(RowKind::Result),
            findings,
            named: HashSet::new(),
        }
    }

    fn section(&mut self, section: &Section, total: usize, out: &mut dyn io::Write) -> io::Result<()> {
        let title = if total > 1 { section.heading(total) } else { "Messages".to_owned() };
        let class = if total > 1 { "" } else { " class=\"unseen\"" };
        let id = format!("section-{}", section.number);
        writeln!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\"{class}>{}</h2>", Escaped(&title))?;
        self.marks(&section.marks, out)?;
        writeln!(out, "<ol class=\"messages\" role=\"list\">")?;
        let mut is_open = false;
        let close = |is_open: &mut bool, out: &mut dyn io::Write| {
            if std::mem::take(is_open) { writeln!(out, "</ul>\n</li>") } else { Ok(()) }
        };
        for line in &section.lines {
            match line {
                Line::Row(row) => {
                    if row.is_first || !is_open {
                        close(&mut is_open, out)?;
                        open_message(row, out)?;
                        is_open = true;
                    }
                    self.row(row, out)?;
                }
                Line::Fold(fold) => {
                    close(&mut is_open, out)?;
                    writeln!(out, "<li class=\"fold\">{}</li>", Escaped(&fold.words()))?;
                }
            }
        }
        close(&mut is_open, out)?;
        writeln!(out, "</ol>\n</section>")
    }

    /// Writes a call, a result or another part of a message.
    fn row(&mut self, row: &Row, out: &mut dyn io::Write) -> io::Result<()> {
        let level = match row.marks.worst() {
            Some(level) => format!(" {level}"),
            None if row.marks.is_empty() => String::new(),
            None => " touched".to_owned(),
        };
        write!(out, "<li class=\"part{level}\"")?;
        if let Some(pair) = row.pair {
            let name = self.name(row.kind, pair);
            if self.named.insert(name.clone()) {
                write!(out, " id=\"{name}\"")?;
            }
        }
        write!(out, ">")?;
        match row.kind {
            RowKind::Call => self.tool(row, ("→", "calls"), out)?,
            RowKind::Result => self.tool(row, ("←", "result of"), out)?,
            RowKind::Other => write!(out, "{}", Escaped(&row.title))?,
        }
        let details = row.details();
        if !details.is_empty() {
            let comma = if row.kind == RowKind::Other { "," } else { "" };
            write!(out, "{comma} <span class=\"details quiet\">{}</span>", Escaped(&details))?;
        }
        if let Some(beginning) = &row.beginning {
            write!(out, "<blockquote>{}</blockquote>", Escaped(beginning))?;
        }
        self.marks(&row.marks, out)?;
        writeln!(out, "</li>")
    }

    fn name(&self, kind: RowKind, pair: usize) -> String {
        let word = if kind == RowKind::Call { "call" } else { "result" };
        format!("{word}-{}-{pair}", self.section)
    }

    fn tool(&self, row: &Row, (arrow, words): (&str, &str), out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "<span aria-hidden=\"true\">{arrow}</span><span class=\"unseen\">{words}</span> ")?;
        if let Some(pair) = row.pair {
            let class = format!("pair pair-{}", pair % COLORS);
            let (other, others, title) = match row.kind {
                RowKind::Call => (RowKind::Result, &self.results, "to its result"),
                _ => (RowKind::Call, &self.calls, "to its call"),
            };
            if others.contains(&pair) {
                let name = self.name(other, pair);
                write!(out, "<a class=\"{class}\" href=\"#{name}\" title=\"{title}\">{pair}</a> ")?;
            } else {
                write!(out, "<span class=\"{class}\">{pair}</span> ")?;
            }
        }
        write!(out, "<code class=\"tool\">{}</code>", Escaped(&row.title))?;
        if let Some(id) = &row.id {
            write!(out, " <code class=\"id\">{}</code>", Escaped(id))?;
        }
        Ok(())
    }

    fn marks(&self, marks: &Marks, out: &mut dyn io::Write) -> io::Result<()> {
        for mark in &marks.shown {
            let Mark { level, finding, .. } = mark;
            let rule = mark.rule_id();
            if mark.is_label {
                write!(out, "<p class=\"label {level}\">")?;
                write_message(&mark.message, LONGEST, out)?;
                if self.findings.contains(finding) {
                    write!(out, " <a href=\"#finding-{finding}\">{rule}</a>")?;
                }
            } else {
                let url = mark.url();
                write!(
                    out,
                    "<p class=\"finding {level}\" id=\"finding-{finding}\"><strong>{level}</strong> \
                     <a href=\"{url}\" rel=\"noreferrer\">{rule}</a> "
                )?;
                write_message(&mark.message, LONGEST, out)?;
            }
            writeln!(out, "</p>")?;
        }
        if marks.more > 0 {
            writeln!(out, "<p class=\"quiet\">and {}</p>", Counted(marks.more, "more finding"))?;
        }
        Ok(())
    }
}

fn open_message(row: &Row, out: &mut dyn io::Write) -> io::Result<()> {
    let class = if row.number.is_none() { " beside" } else { "" };
    write!(out, "<li class=\"message{class}\"><div class=\"head\">")?;
    if let Some(number) = row.number {
        write!(out, "<span class=\"number\">{number}</span> ")?;
    }
    writeln!(out, "<span class=\"who\">{}</span></div>\n<ul role=\"list\">", Escaped(&row.speaker))
}
