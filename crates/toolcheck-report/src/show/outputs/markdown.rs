use std::io;

use super::Output;
use crate::Style;
use crate::outputs::markdown::{MOST, code, inline};
use crate::show::{Line, Mark, Marks, Outline, Row, RowKind};
use crate::summary::Summary;
use toolcheck_core::text::{Counted, bounded};

pub(super) static OUTPUT: Output = Output {
    id: "markdown",
    summary: "a table for an issue or a pull request comment",
    is_request: false,
    write,
};

/// The maximum number of characters of a message.
const LONGEST: usize = 300;

fn write(outline: &Outline, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut text =
        format!("### {}\n\n{}\n", code(&bounded(outline.path(), LONGEST)), inline(&outline.reading()));
    let mut left_out = 0;
    for section in &outline.sections {
        let mut rows = vec![String::from("\n")];
        rows.extend(section.left_out.words().map(|words| format!("⋮ {}\n\n", inline(&words))));
        if outline.total > 1 {
            rows.push(format!("#### {}\n\n", inline(&section.heading(outline.total))));
        }
        rows.extend(
            section.marks.shown.iter().map(|mark| format!("- line {}, {}\n", mark.line, of_mark(mark))),
        );
        if !section.marks.is_empty() {
            rows.push(format!(
                "{}\n",
                more(&section.marks).map(|more| format!("- {more}\n")).unwrap_or_default()
            ));
        }
        if !section.lines.is_empty() {
            rows.push("| # | role | content | findings |\n| ---: | --- | --- | --- |\n".to_owned());
        }
        rows.extend(section.lines.iter().map(|line| match line {
            Line::Row(row) => of_row(row),
            Line::Fold(fold) => format!("| | | ⋮ {} | |\n", inline(&fold.words())),
        }));
        for row in rows {
            // Once something did not fit, nothing may follow, or the output would seem complete.
            if left_out > 0 || text.len() + row.len() > MOST {
                left_out += 1;
            } else {
                text.push_str(&row);
            }
        }
    }
    let mut paragraph = |words: &str| text.push_str(&format!("\n{words}\n"));
    if left_out > 0 {
        paragraph(&format!("... and {}.", Counted(left_out, "more line")));
    }
    if let Some(words) = outline.left_out.words() {
        paragraph(&format!("⋮ {}", inline(&words)));
    }
    if !style.is_quiet {
        paragraph(&Summary(&outline.report).to_string());
    }
    if let Some(more) = outline.more() {
        paragraph(&format!("More: {}", code(&more)));
    }
    out.write_all(text.as_bytes())
}

fn of_row(row: &Row) -> String {
    let number = row.number.filter(|_| row.is_first).map(|number| number.to_string()).unwrap_or_default();
    let speaker = if row.is_first { inline(&row.speaker) } else { String::new() };
    let details = inline(&row.details());
    let pair = row.pair.map(|pair| format!("**{pair}** ")).unwrap_or_default();
    let tool = |arrow: &str| {
        let id = row.id.as_deref().map(|id| format!(" {}", code(id))).unwrap_or_default();
        let details = if details.is_empty() { String::new() } else { format!(", {details}") };
        format!("{arrow} {pair}{}{id}{details}", code(&row.title))
    };
    let mut content = match row.kind {
        RowKind::Call => tool("→"),
        RowKind::Result => tool("←"),
        RowKind::Other if details.is_empty() => inline(&row.title),
        RowKind::Other => format!("{}, {details}", inline(&row.title)),
    };
    content.extend(row.beginning.as_ref().map(|beginning| format!("<br>“{}”", code(beginning))));
    let found: Vec<String> = row.marks.shown.iter().map(of_mark).chain(more(&row.marks)).collect();
    format!("| {number} | {speaker} | {content} | {} |\n", found.join("<br>"))
}

fn of_mark(mark: &Mark) -> String {
    let message = inline(&bounded(&mark.message, LONGEST));
    if mark.is_label {
        return message;
    }
    format!("**{}** [{}]({}): {message}", mark.level, mark.rule_id(), mark.url())
}

fn more(marks: &Marks) -> Option<String> {
    (marks.more > 0).then(|| format!("and {}", Counted(marks.more, "more finding")))
}
