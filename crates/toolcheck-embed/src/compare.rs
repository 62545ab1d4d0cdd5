//! What a change to a conversation lost.

use std::io;

use toolcheck_core::diff::Kind;
use toolcheck_core::diff::files::{File, Report, compare, expanded};
use toolcheck_core::text::shown;
use toolcheck_core::{Format, InputFormat, formats};
use toolcheck_json::origins::Mapped;
use toolcheck_json::origins::Opened;
use toolcheck_open::{FileFormat, Limits};
use toolcheck_report::Style;
use toolcheck_report::diff::{Compare, Compared, Output};

use crate::open::open;
use toolcheck_core::Error;

/// One of two texts that are compared.
#[derive(Debug, Clone)]
#[must_use]
pub struct Side {
    name: String,
    bytes: Vec<u8>,
    format: Option<FileFormat>,
    format_option: Option<&'static str>,
}

impl Side {
    /// A text with its name.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), format: None, format_option: None }
    }

    /// What it is read as; by default it is detected.
    pub fn format(mut self, format: Option<FileFormat>) -> Self {
        self.format = format;
        self
    }

    /// The name of the option with which a user names the format, for the error if it can't be detected.
    pub fn format_option(mut self, name: &'static str) -> Self {
        self.format_option = Some(name);
        self
    }
}

/// Two texts that were compared.
///
/// ```
/// use toolcheck_embed::{Comparison, Side};
///
/// let before = br#"{"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}"#;
/// let after = br#"{"messages": [{"role": "user", "content": "hello"}]}"#;
/// let comparison = Comparison::new(Side::new("before", *before), Side::new("after", *after), None)?;
/// assert_eq!(comparison.report().changes.len(), 1);
/// # Ok::<(), toolcheck_embed::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Comparison {
    before: Read,
    after: Read,
    report: Report,
    allowed: usize,
}

#[derive(Debug)]
struct Read {
    name: String,
    bytes: Vec<u8>,
    format: &'static str,
    /// What is in it, if it is a recording or an archive.
    opened: Option<Opened>,
    unread: usize,
}

impl Comparison {
    /// Compares two texts. `bound_as` is the format that decides whether results belong to calls by id or by position, on
    /// both sides; by default each one's own.
    ///
    /// # Errors
    ///
    /// If one of them is not JSON, or there is no conversation in it.
    pub fn new(before: Side, after: Side, bound_as: Option<&Format>) -> Result<Self, Error> {
        let opened = [&before, &after].map(opened);
        let id = |side: &Side| side.format.map(FileFormat::id);
        let expanded = [(&before, &opened[0]), (&after, &opened[1])].map(|(side, opened)| match opened {
            Some(_) => None,
            None => expanded(&side.bytes, side.format.and_then(FileFormat::input)),
        });
        let is_same = before.bytes == after.bytes && id(&before) == id(&after);
        // What is broken is read as what it has become.
        let as_after = |error| {
            let is_open = !is_same && before.format.is_none() && opened[0].is_none();
            let other =
                if is_open { read(&after, opened[1].as_ref(), expanded[1].as_ref()).ok() } else { None };
            let format = other.and_then(|other| formats::find(other.format)).map(InputFormat::from);
            format.and_then(|format| File::read(&before.bytes, Some(format)).ok()).ok_or(error)
        };
        let first = read(&before, opened[0].as_ref(), expanded[0].as_ref()).or_else(as_after)?;
        let second =
            if is_same { None } else { Some(read(&after, opened[1].as_ref(), expanded[1].as_ref())?) };
        let files = [&first, second.as_ref().unwrap_or(&first)];
        let report = compare(files[0], files[1], bound_as);
        let known = files.map(|file| (file.format, file.unread));
        let [before_opened, after_opened] = opened;
        let read = |side: Side, opened, (format, unread)| Read {
            name: side.name,
            bytes: side.bytes,
            format,
            opened,
            unread,
        };
        Ok(Self {
            before: read(before, before_opened, known[0]),
            after: read(after, after_opened, known[1]),
            report,
            allowed: 0,
        })
    }

    /// Leaves out changes of these kinds.
    pub fn allow(mut self, kinds: &[Kind]) -> Self {
        self.allowed += self.report.allow(kinds);
        self
    }

    /// What changed.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The parts of each text that could not be read, with its name.
    pub fn unread(&self) -> impl Iterator<Item = (&str, usize)> {
        let sides = [&self.before, &self.after].into_iter();
        sides.map(|side| (side.name.as_str(), side.unread)).filter(|(_, unread)| *unread > 0)
    }

    /// What of a recording or an archive is not compared, with its name.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, String)> {
        let sides = [&self.before, &self.after].into_iter();
        sides.filter_map(|side| {
            let left_out = side.opened.iter().flat_map(|opened| &opened.left_out);
            let left_out: Vec<String> = left_out.map(ToString::to_string).collect();
            (!left_out.is_empty()).then(|| (side.name.as_str(), left_out.join(", ")))
        })
    }

    /// What the outputs of [`toolcheck_report::diff`] write; with values of the texts only if they are to be shown.
    pub fn compared(&self, shows_values: bool) -> Compared<'_> {
        Compared {
            before: self.before.compare(shows_values),
            after: self.after.compare(shows_values),
            report: &self.report,
            allowed: self.allowed,
        }
    }

    /// What changed, as an output of [`toolcheck_report::diff`] writes it.
    ///
    /// # Errors
    ///
    /// If the output can't be written.
    pub fn write(
        &self,
        output: &Output,
        style: &Style,
        shows_values: bool,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        (output.write)(&self.compared(shows_values), style, out)
    }
}

impl Read {
    fn compare(&self, shows_values: bool) -> Compare<'_> {
        let text = || match &self.opened {
            Some(opened) => opened.source(&self.bytes),
            None => &self.bytes[..],
        };
        Compare { name: &self.name, format: self.format, text: shows_values.then(text) }
    }
}

/// Opens a recording or an archive, as the kind that the user named if there is one.
fn opened(side: &Side) -> Option<Opened> {
    match side.format {
        Some(FileFormat::Input(_)) => None,
        format => open(&side.bytes, format.and_then(FileFormat::container), Limits::default()),
    }
}

fn read<'s>(
    side: &'s Side,
    opened: Option<&'s Opened>,
    expanded: Option<&'s Mapped>,
) -> Result<File<'s>, Error> {
    let format = side.format.and_then(FileFormat::input);
    let file = match (opened, expanded) {
        (Some(opened), _) => File::read_opened(&side.bytes, opened),
        (None, Some(expanded)) => File::read_expanded(&side.bytes, expanded, format),
        (None, None) => File::read(&side.bytes, format),
    };
    file.map_err(|error| {
        let is_open = side.format.is_none() && opened.is_none();
        let option = side.format_option.filter(|_| is_open && !error.to_string().starts_with("malformed"));
        let hint = option.map(|option| format!("; {option} names one")).unwrap_or_default();
        Error::new(format!("{}: {error}{hint}", shown(&side.name)))
    })
}
