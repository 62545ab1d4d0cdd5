use std::fmt;
use std::io;
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style as Colors};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    Severity, SourceCode, SourceSpan, SpanContents,
};
use toolcheck_core::Level;
use toolcheck_json::{Document, Span};

use super::Output;
use crate::Style;
use crate::excerpt::{excerpt, raw};
use crate::style::wrapping;
use crate::summary;
use toolcheck_core::text::{Line, bounded, guard, shown, visible};
use toolcheck_lint::Finding;
use toolcheck_lint::report::{FileReport, Report};

pub(crate) static OUTPUT: Output = Output::new(
    "full",
    "for people: each finding with an excerpt, what the target answers and how to fix it",
    write,
)
.needing_source()
.showing_fixes();

/// The columns to the left of the text: a line number, a bar and the spaces around them.
const MARGIN: usize = 10;
/// The minimum and maximum width of the output, in columns.
const WIDTHS: (usize, usize) = (40, 120);
/// The maximum length of a JSON Pointer without an excerpt, in characters.
const LONGEST_POINTER: usize = 400;
/// The maximum number of labels shown for a finding.
const LABELS_SHOWN: usize = 8;

fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let width = style.width.clamp(WIDTHS.0, WIDTHS.1);
    let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(width)
        .with_links(style.has_links)
        // Ids, addresses and commands must stay whole, so that they can be copied.
        .with_word_separator(textwrap::WordSeparator::AsciiSpace)
        .with_word_splitter(textwrap::WordSplitter::NoHyphenation);
    for file in &report.files {
        let mut record: Option<(usize, Document<'_>)> = None;
        let mut before: Option<&Finding> = None;
        for finding in &file.findings {
            // One provider error may cover all the calls of a turn: it is printed once.
            let is_repeated = before.replace(finding).is_some_and(|before| {
                before.rule == finding.rule
                    && before.provider_error.is_some()
                    && before.provider_error == finding.provider_error
            });
            if !style.has_excerpts {
                let is_linked = style.has_links;
                let shown = FindingDiagnostic {
                    is_linked,
                    ..FindingDiagnostic::without_excerpts(finding, is_repeated)
                };
                write_without_excerpts(&handler, &shown, file, width, style.color, out)?;
                continue;
            }
            // A record is parsed again for its excerpts, once for all its findings.
            let start = finding.spot.record_bytes.start;
            if record.as_ref().is_none_or(|(known, _)| *known != start) {
                let bytes = file.source().get(finding.spot.record_bytes.clone()).unwrap_or_default();
                record = Some((start, Document::read(bytes)));
            }
            let Some((_, document)) = &record else { continue };
            let shown = FindingDiagnostic::new(file, finding, document, width);
            let shown = FindingDiagnostic { is_linked: style.has_links, is_repeated, ..shown };
            let mut text = String::new();
            handler
                .clone()
                .with_footer(format!("more: toolcheck explain {}", finding.rule))
                .render_report(&mut text, &shown)
                .map_err(io::Error::other)?;
            write_trimmed(&text, out)?;
            writeln!(out)?;
        }
    }
    summary::close(report, style, Some(style.width), out)
}

fn write_trimmed(text: &str, out: &mut dyn io::Write) -> io::Result<()> {
    text.lines().try_for_each(|line| writeln!(out, "{}", guard(line.trim_end())))
}

/// Writes a finding with its places, but without lines of the file.
fn write_without_excerpts(
    handler: &GraphicalReportHandler,
    diagnostic: &FindingDiagnostic<'_>,
    file: &FileReport,
    width: usize,
    is_colored: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let finding = diagnostic.finding;
    let mut text = String::new();
    handler.render_report(&mut text, diagnostic).map_err(io::Error::other)?;
    write_trimmed(&text, out)?;
    let mut line = |title: &str, text: &str, colors: Colors| {
        let indent = " ".repeat(title.len() + 3);
        // A place is followed by others.
        let hanging = if title == "help:" { "" } else { "    " };
        let options = wrapping(width.saturating_sub(title.len() + 3)).subsequent_indent(hanging);
        for (number, line) in textwrap::wrap(text, options).iter().enumerate() {
            match (number, is_colored) {
                (0, true) => writeln!(out, "  {colors}{title}{colors:#} {line}")?,
                (0, false) => writeln!(out, "{}", guard(&format!("  {title} {line}")))?,
                _ => writeln!(out, "{}", guard(&format!("{indent}{line}")))?,
            }
        }
        io::Result::Ok(())
    };
    let own = &finding.spot;
    let labels = finding.labels.iter().take(LABELS_SHOWN).map(|label| (&label.spot, &*label.message));
    for (number, (spot, caption)) in std::iter::once((own, &*finding.caption)).chain(labels).enumerate() {
        let title = if number == 0 { "-->" } else { "   " };
        let pointer = bounded(&spot.name(), LONGEST_POINTER);
        let pointer = if pointer.is_empty() { pointer } else { format!(" at {pointer}") };
        let place = format!("{}:{}:{}{pointer}", shown(&file.path), spot.start.line, spot.start.column);
        let place = if caption.is_empty() { place } else { format!("{place}: {caption}") };
        line(title, &place, AnsiColor::Cyan.on_default())?;
    }
    if let Some(help) = &finding.help {
        line("help:", help, AnsiColor::Cyan.on_default())?;
    }
    writeln!(out, "\n  more: toolcheck explain {}\n", finding.rule)
}

#[derive(Debug)]
struct FindingDiagnostic<'f> {
    finding: &'f Finding,
    excerpts: Excerpts,
    labels: Vec<LabeledSpan>,
    answer: Option<ProviderSentence>,
    is_linked: bool,
    /// Whether the finding before it has the same provider error.
    is_repeated: bool,
    has_excerpts: bool,
}

/// The sentence printed instead of a repeated one.
static SAME_AS_ABOVE: LazyLock<ProviderSentence> =
    LazyLock::new(|| ProviderSentence("same answer as above".into()));

/// The sentence below the message: the target's error or the harm done.
#[derive(Debug)]
struct ProviderSentence(Line);

impl fmt::Display for ProviderSentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProviderSentence {}

impl<'f> FindingDiagnostic<'f> {
    fn without_excerpts(finding: &'f Finding, is_repeated: bool) -> Self {
        let answer = finding.provider_sentence().map(ProviderSentence);
        let (excerpts, labels) = (Excerpts::default(), Vec::new());
        Self { finding, excerpts, labels, answer, is_linked: false, is_repeated, has_excerpts: false }
    }

    fn new(file: &FileReport, finding: &'f Finding, document: &Document<'_>, width: usize) -> Self {
        let names: Vec<&str> =
            [&finding.tool_call_id, &finding.tool_name].into_iter().flatten().map(|name| &**name).collect();
        // In the order of the file.
        let own = &finding.spot;
        let mut places = vec![(own, &*finding.caption, true)];
        let labels = finding.labels.iter().take(LABELS_SHOWN);
        places.extend(labels.map(|label| (&label.spot, &*label.message, false)));
        toolcheck_json::sort_by_position(&mut places, |(spot, ..)| spot.bytes.start);
        let mut excerpts = Excerpts::default();
        let mut labels = Vec::new();
        // Another record is parsed once for all consecutive places in it.
        let mut other: Option<(usize, Document<'_>)> = None;
        for (spot, caption, is_primary) in places {
            let base = spot.record_bytes.start;
            let span = Span::new((spot.bytes.start - base) as u32, (spot.bytes.end - base) as u32);
            if base != finding.spot.record_bytes.start
                && other.as_ref().is_none_or(|(known, _)| *known != base)
            {
                let bytes = file.source().get(spot.record_bytes.clone()).unwrap_or_default();
                other = Some((base, Document::read(bytes)));
            }
            let document = match &other {
                Some((known, other)) if *known == base => other,
                _ => document,
            };
            let room = (width.saturating_sub(MARGIN), caption.chars().count());
            let shown = if spot.origin.is_some() {
                // The line of the file is not JSON by itself.
                let line = file.source().get(spot.record_bytes.clone()).unwrap_or_default();
                raw(line, span, room.0)
            } else {
                excerpt(document, spot.node, span, &names, room)
            };
            let offset = excerpts.text.len();
            let span = SourceSpan::new((offset + shown.focus.start).into(), shown.focus.len());
            let caption = (!caption.is_empty()).then(|| caption.to_owned());
            labels.push(if is_primary {
                LabeledSpan::new_primary_with_span(caption, span)
            } else {
                LabeledSpan::new_with_span(caption, span)
            });
            excerpts.text.push_str(&shown.text);
            excerpts.blocks.push(Block {
                start: offset,
                end: excerpts.text.len(),
                name: header(&file.path, &spot.name(), width),
                line: (spot.start.line - 1) as usize,
                column: (spot.start.column - 1) as usize,
            });
            excerpts.text.push('\n');
        }
        let answer = finding.provider_sentence().map(ProviderSentence);
        Self { finding, excerpts, labels, answer, is_linked: false, is_repeated: false, has_excerpts: true }
    }
}

/// The heading of an excerpt, before the line and column.
fn header(path: &str, pointer: &str, width: usize) -> String {
    let path = shown(path);
    let room = width.saturating_sub(path.chars().count() + 26);
    let pointer: Vec<char> = pointer.chars().flat_map(visible).collect();
    if pointer.is_empty() {
        return path;
    }
    let shown: String = if pointer.len() <= room {
        pointer.into_iter().collect()
    } else {
        std::iter::once('\u{2026}')
            .chain(pointer[pointer.len() - room.max(8).min(pointer.len())..].iter().copied())
            .collect()
    };
    format!("{shown} in {path}")
}

impl fmt::Display for FindingDiagnostic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.finding.message)
    }
}

impl std::error::Error for FindingDiagnostic<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let answer = if self.is_repeated { Some(&*SAME_AS_ABOVE) } else { self.answer.as_ref() };
        answer.map(|answer| answer as &(dyn std::error::Error + 'static))
    }
}

impl Diagnostic for FindingDiagnostic<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let mark = summary::mark(self.finding);
        Some(Box::new(format!("{}[{}]{mark}", self.finding.level, self.finding.rule)))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.finding.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        // Without excerpts the help is written after the places.
        let help = self.finding.help.as_ref().filter(|_| self.has_excerpts);
        help.map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        // On a terminal the rule id becomes a link; elsewhere the address would only take up space.
        self.is_linked.then(|| Box::new(self.finding.url()) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.has_excerpts.then_some(&self.excerpts as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.has_excerpts.then(|| Box::new(self.labels.iter().cloned()) as Box<_>)
    }
}

/// The excerpts of a finding as one text, of which miette reads one line at a time.
#[derive(Debug, Default)]
struct Excerpts {
    text: String,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    start: usize,
    end: usize,
    name: String,
    line: usize,
    column: usize,
}

impl SourceCode for Excerpts {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        // Each line is a separate excerpt, so a span over two lines is not a place in the file.
        let block = self.blocks.iter().find(|block| block.start <= start && end <= block.end);
        let block = block.ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            block.name.clone(),
            &self.text.as_bytes()[block.start..block.end],
            SourceSpan::new(block.start.into(), block.end - block.start),
            block.line,
            block.column,
            1,
        )))
    }
}
