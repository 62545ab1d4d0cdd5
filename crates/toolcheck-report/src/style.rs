//! How a report is written.

/// What the reader's screen can do.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Whether to write colours.
    pub color: bool,
    /// Whether it follows the hyperlinks of terminals (OSC 8).
    pub has_links: bool,
    /// How many columns there are.
    pub width: usize,
    /// Whether to show the lines that a finding speaks of.
    pub has_excerpts: bool,
    /// Whether to leave out the summary.
    pub is_quiet: bool,
    /// Whether outputs for people end with the counts of the rules.
    pub with_statistics: bool,
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
        }
    }
}
