use std::fmt::Write as _;
use std::io;

use toolcheck_core::Level;

use super::{Output, repository_path};
use crate::Style;
use crate::markup::{Piece, pieces};
use crate::summary::{Summary, statistics};
use toolcheck_core::text::bounded;
use toolcheck_lint::Finding;
use toolcheck_lint::report::{FileReport, Report};

pub(super) static OUTPUT: Output =
    Output::new("markdown", "tables for a pull request comment or a job summary", write);

/// The number of bytes after which the rest is only counted: a comment on GitHub can have 65,536 characters.
pub(crate) const MOST: usize = 60_000;
/// The maximum number of characters of each text.
const LONGEST: usize = 500;

fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut text = String::from("## toolcheck\n");
    if !style.is_quiet {
        let _ = write!(text, "\n{}\n", Summary(report));
    }
    if style.with_statistics {
        let counts = statistics(report);
        if !counts.is_empty() {
            text.push_str("\n| rule | findings |\n| --- | --- |\n");
        }
        for count in counts {
            let _ = writeln!(text, "| {} | {} |", count.rule, count.levels());
        }
    }
    // At most half of the output is the list of files.
    let mut unnamed = 0;
    let mut is_first = true;
    for file in report.files.iter().filter(|file| !file.findings.is_empty()) {
        if std::mem::take(&mut is_first) {
            text.push_str("\n| file | errors | warnings |\n| --- | --- | --- |\n");
        }
        let (errors, warnings) = (file.count(Level::Error), file.count(Level::Warning));
        let row = format!("| {} | {errors} | {warnings} |\n", name(file));
        if text.len() + row.len() > MOST / 2 {
            unnamed += 1;
        } else {
            text.push_str(&row);
        }
    }
    if unnamed > 0 {
        let _ = write!(text, "\n... and {unnamed} more files with findings.\n");
    }
    let mut left_out = 0;
    for file in &report.files {
        let mut is_first = true;
        for finding in &file.findings {
            let mut rows = row(finding);
            if std::mem::take(&mut is_first) {
                let head = "| place | level | rule | what is wrong | what to do |\n| --- | --- | --- | --- | --- |\n";
                rows = format!("\n### {}\n\n{head}{rows}", name(file));
            }
            // Once something did not fit, nothing may follow, or the output would seem complete.
            if left_out > 0 || text.len() + rows.len() > MOST {
                left_out += 1;
            } else {
                text.push_str(&rows);
            }
        }
    }
    if left_out > 0 {
        let _ = write!(text, "\n... and {left_out} more findings.\n");
    }
    out.write_all(text.as_bytes())
}

fn name(file: &FileReport) -> String {
    code(&bounded(&repository_path(&file.path), LONGEST))
}

fn row(finding: &Finding) -> String {
    let mut wrong = inline(&bounded(&finding.placed_message(), LONGEST));
    if let Some(answer) = finding.provider_sentence() {
        wrong.push_str("<br>");
        wrong.push_str(&inline(&bounded(&answer, LONGEST)));
    }
    let help = finding.help.as_ref().map(|help| inline(&bounded(help, LONGEST))).unwrap_or_default();
    format!(
        "| {}:{} | {} | [{}]({}) | {wrong} | {help} |\n",
        finding.spot.start.line,
        finding.spot.start.column,
        finding.level,
        finding.rule,
        finding.url()
    )
}

/// A text, with the parts in backticks as code.
pub(crate) fn inline(text: &str) -> String {
    let mut written = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Plain(text) => escape(text, false, &mut written),
            Piece::Code(text) => written.push_str(&code(text)),
        }
    }
    written
}

/// A text as code. In tags, because a backtick in the text would close backticks.
pub(crate) fn code(text: &str) -> String {
    let mut written = String::from("<code>");
    escape(text, true, &mut written);
    written.push_str("</code>");
    written
}

/// Writes a text so that nothing in it is read as Markdown or HTML: a character reference never is.
fn escape(text: &str, is_code: bool, out: &mut String) {
    for (at, character) in text.char_indices() {
        let rest = &text[at..];
        let is_special = match character {
            // Inside a word it is not markup, and names often contain it.
            '_' => !is_inside_word(text, at),
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' | '"' => true,
            // An address becomes a link by itself.
            ':' => rest.starts_with("://"),
            '.' => at > 0 && text.as_bytes()[at - 1].eq_ignore_ascii_case(&b'w'),
            '@' | '#' => true,
            _ => false,
        };
        // In code nobody is mentioned and no issue is linked; a character reference would not prevent that.
        let is_mention = matches!(character, '@' | '#') && !is_code;
        if is_mention {
            out.push_str("<code>");
        }
        if is_special {
            let _ = write!(out, "&#{};", u32::from(character));
        } else {
            out.push(character);
        }
        if is_mention {
            out.push_str("</code>");
        }
    }
}

/// Whether the one-byte character at `at` is between two letters or digits.
fn is_inside_word(text: &str, at: usize) -> bool {
    let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    is_letter(text[..at].chars().next_back()) && is_letter(text[at + 1..].chars().next())
}
