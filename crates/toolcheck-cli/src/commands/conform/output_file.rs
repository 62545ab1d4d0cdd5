//! A file with the report so far, so that a run that is killed leaves one.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use toolcheck_core::text::reason;
use toolcheck_project::printable;

/// How often a report is written at most.
const OFTEN: Duration = Duration::from_secs(1);
/// How many times as long as writing it last took: a long report is written less often.
const SHARE: u32 = 20;

/// A file that is replaced as a whole.
pub(super) struct ReportFile<'f> {
    path: &'f Path,
    /// When it is to be written again.
    due: Option<Instant>,
}

impl<'f> ReportFile<'f> {
    pub(super) fn new(path: &'f Path) -> Self {
        Self { path, due: None }
    }

    pub(super) fn is_due(&self) -> bool {
        self.due.is_none_or(|due| due <= Instant::now())
    }

    pub(super) fn write(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let start = Instant::now();
        toolcheck_files::write(self.path, |out| write(out))
            .map_err(|error| anyhow!("cannot write {}: {}", printable(self.path), reason(&error)))?;
        self.due = Some(Instant::now() + OFTEN.max(start.elapsed() * SHARE));
        Ok(())
    }
}
