//! Options for how a report is written.

use toolcheck_core::setters;

/// How to write a report, and what the reader's terminal supports.
///
/// ```
/// use toolcheck_report::Style;
///
/// let style = Style::new().color(true).width(120);
/// assert!(style.color && style.has_excerpts);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
#[must_use]
pub struct Style {
    /// Whether to write colors.
    pub color: bool,
    /// Whether the terminal supports hyperlinks (OSC 8).
    pub has_links: bool,
    /// The width of the terminal, in columns.
    pub width: usize,
    /// Whether to show excerpts of the linted files.
    pub has_excerpts: bool,
    /// Whether to leave out the summary.
    pub is_quiet: bool,
    /// Whether outputs for people end with the number of findings per rule.
    pub with_statistics: bool,
    /// The options with which `toolcheck fix` reads the files in the same way, each after a space.
    pub fix_options: &'static str,
}

impl Style {
    /// The default style: no colors, 80 columns, with excerpts.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        color: bool,
        has_links: bool,
        width: usize,
        has_excerpts: bool,
        is_quiet: bool,
        with_statistics: bool,
        fix_options: &'static str,
    }
}

/// How prose is wrapped: at spaces, without hyphens.
pub fn wrapping(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

impl Default for Style {
    fn default() -> Self {
        Self {
            color: false,
            has_links: false,
            width: 80,
            has_excerpts: true,
            is_quiet: false,
            with_statistics: false,
            fix_options: "",
        }
    }
}
