//! Options for how a report is written.

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

    /// Whether to write colors.
    pub fn color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// Whether the terminal supports hyperlinks.
    pub fn has_links(mut self, has_links: bool) -> Self {
        self.has_links = has_links;
        self
    }

    /// The width of the terminal, in columns.
    pub fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// Whether to show excerpts of the linted files.
    pub fn has_excerpts(mut self, has_excerpts: bool) -> Self {
        self.has_excerpts = has_excerpts;
        self
    }

    /// Whether to leave out the summary.
    pub fn is_quiet(mut self, is_quiet: bool) -> Self {
        self.is_quiet = is_quiet;
        self
    }

    /// Whether outputs for people end with the number of findings per rule.
    pub fn with_statistics(mut self, with_statistics: bool) -> Self {
        self.with_statistics = with_statistics;
        self
    }

    /// The options with which `toolcheck fix` reads the files in the same way, each after a space.
    pub fn fix_options(mut self, fix_options: &'static str) -> Self {
        self.fix_options = fix_options;
        self
    }
}

/// How prose is wrapped: at spaces, without hyphens.
pub(crate) fn wrapping(width: usize) -> textwrap::Options<'static> {
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
