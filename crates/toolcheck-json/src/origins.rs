//! Where the parts of a text come from that was made of another one.
//!
//! A recording of HTTP traffic holds the bodies of requests inside YAML strings, base64 or compressed data. It is opened
//! to a *made text* of JSON Lines, and [`Origins`] says for each part of that text where it is in the file.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::encoded::put_on_one_line;
use crate::{Decoded, Document, NodeId, Position, Span, locate};

/// A text with the place of each of its bytes in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapped {
    text: Vec<u8>,
    runs: Vec<Run>,
}

/// Some consecutive bytes of a text, up to the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    start: u32,
    /// Where it starts in the file.
    source: u32,
    /// The number of bytes in the file that all of it stands for; [`SAME`] if they are the same bytes, one by one.
    length: u32,
}

/// The length of a run with the bytes of the file.
const SAME: u32 = u32::MAX;

impl Run {
    /// The bytes of the file for the byte at `at` of the text.
    fn source_of(self, at: u32) -> Range<usize> {
        let (start, length) = match self.length {
            SAME => (self.source + (at - self.start), 1),
            length => (self.source, length),
        };
        start as usize..start as usize + length as usize
    }

    /// The run without its first bytes, at another place.
    fn moved(self, skipped: u32, to: u32) -> Self {
        let source = if self.length == SAME { self.source + skipped } else { self.source };
        Self { start: to, source, length: self.length }
    }
}

/// The largest text or file. Larger ones are not mapped.
const MOST_BYTES: usize = u32::MAX as usize - 1;

impl Mapped {
    /// Bytes of the file, which start at `source` in it.
    pub fn same(bytes: &[u8], source: usize) -> Self {
        let mut mapped = Self::default();
        mapped.push_same(bytes, source);
        mapped
    }

    /// The text of a document in which these strings, in the order of the text, are replaced by what they say. Line ends
    /// become spaces, so that everything stays on its line: in JSON, they are only white space.
    ///
    /// ```
    /// use toolcheck_json::Document;
    /// use toolcheck_json::origins::Mapped;
    ///
    /// let document = Document::read(br#"{"messages": "[{\"role\": \"user\"}]"}"#);
    /// let string = document.root().get("messages").expect("the key is there");
    /// let opened = Mapped::expanded(&document, &[string.id()]);
    /// assert_eq!(opened.text(), br#"{"messages": [{"role": "user"}]}"#);
    /// // The name of the role, with its quotes.
    /// assert_eq!(opened.source_of(23..29), Some(26..34));
    /// ```
    pub fn expanded(document: &Document<'_>, strings: &[NodeId]) -> Self {
        Self::rewritten(document, strings, Self::push_said)
    }

    /// The same for bytes whose strings at these places have been decoded.
    pub(crate) fn replaced<'d, 's: 'd>(
        bytes: &[u8],
        strings: impl Iterator<Item = (Span, &'d Decoded<'s>)>,
    ) -> Self {
        Self::with_strings(bytes, strings, Self::push_said)
    }

    fn push_said(&mut self, decoded: &Decoded<'_>) {
        for run in decoded.runs() {
            let (text, place) = (&decoded.text().as_bytes()[run.text], run.place.range());
            if text.len() == place.len() {
                self.push_same(text, place.start);
            } else {
                self.push_whole(text, place);
            }
        }
    }

    /// The same, with what a function writes of each string.
    pub fn rewritten(
        document: &Document<'_>,
        strings: &[NodeId],
        write: impl Fn(&mut Self, &Decoded<'_>),
    ) -> Self {
        let strings = strings.iter().filter_map(|id| {
            let value = document.value(*id);
            let span = value.span();
            Some((span, Decoded::new(value.as_json_str()?, span.start)))
        });
        Self::with_strings(document.bytes(), strings, write)
    }

    fn with_strings<'s>(
        bytes: &[u8],
        strings: impl Iterator<Item = (Span, impl Borrow<Decoded<'s>>)>,
        write: impl Fn(&mut Self, &Decoded<'_>),
    ) -> Self {
        let mut mapped = Self { text: Vec::with_capacity(bytes.len()), runs: Vec::with_capacity(64) };
        let mut at = 0;
        for (span, decoded) in strings {
            let span = span.range();
            mapped.push_same(&bytes[at..span.start], at);
            let from = mapped.text.len();
            write(&mut mapped, decoded.borrow());
            put_on_one_line(&mut mapped.text[from..]);
            at = span.end;
        }
        mapped.push_same(&bytes[at..], at);
        mapped
    }

    /// A text that as a whole stands for bytes of the file.
    pub fn whole(text: Vec<u8>, source: Range<usize>) -> Self {
        let mut mapped = Self { text, runs: Vec::new() };
        if !mapped.text.is_empty() {
            mapped.start_run(0, source.start, length_of(&source));
        }
        mapped
    }

    /// Adds bytes of the file, which start at `source` in it.
    pub fn push_same(&mut self, bytes: &[u8], source: usize) {
        if bytes.is_empty() {
            return;
        }
        let at = self.text.len();
        let continues = self.runs.last().is_some_and(|run| {
            run.length == SAME && run.source as usize + (at - run.start as usize) == source
        });
        if !continues {
            self.start_run(at, source, SAME);
        }
        self.text.extend_from_slice(bytes);
    }

    /// Adds bytes that together stand for bytes of the file.
    pub fn push_whole(&mut self, bytes: &[u8], source: Range<usize>) {
        if bytes.is_empty() {
            return;
        }
        let length = length_of(&source);
        let continues =
            self.runs.last().is_some_and(|run| run.length == length && run.source as usize == source.start);
        if !continues {
            self.start_run(self.text.len(), source.start, length);
        }
        self.text.extend_from_slice(bytes);
    }

    /// Adds a part of another text.
    pub fn push_part(&mut self, other: &Self, range: Range<usize>) {
        let range = range.start.min(other.text.len())..range.end.min(other.text.len());
        if range.is_empty() {
            return;
        }
        let at = self.text.len();
        let first = other.run_at(range.start);
        for (number, run) in other.runs.iter().enumerate().skip(first) {
            if run.start as usize >= range.end {
                break;
            }
            let skipped = (range.start as u32).saturating_sub(run.start);
            let to = at + (run.start + skipped) as usize - range.start;
            let moved = run.moved(if number == first { skipped } else { 0 }, to as u32);
            self.runs.push(moved);
        }
        self.text.extend_from_slice(&other.text[range]);
    }

    /// This text, whose places are those in another one, with the places of the file that the other one is from.
    pub fn through(&self, outer: &Self) -> Self {
        let mut mapped = Self::default();
        for (number, run) in self.runs.iter().enumerate() {
            let end = self.runs.get(number + 1).map_or(self.text.len(), |next| next.start as usize);
            let text = &self.text[run.start as usize..end];
            let source = run.source as usize;
            if run.length == SAME {
                mapped.push_part(outer, source..source + text.len());
            } else {
                let source = outer.source_of(source..source + run.length as usize);
                mapped.push_whole(text, source.unwrap_or(0..0));
            }
        }
        mapped
    }

    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The bytes of the file for a range of the text.
    pub fn source_of(&self, range: Range<usize>) -> Option<Range<usize>> {
        source_of(&self.runs, range)
    }

    /// Whether a byte of the text is the very byte at its place in the file.
    pub fn is_same(&self, at: usize) -> bool {
        self.runs.get(self.run_at(at)).is_some_and(|run| run.length == SAME)
    }

    fn start_run(&mut self, at: usize, source: usize, length: u32) {
        let bounded = |offset: usize| offset.min(MOST_BYTES) as u32;
        self.runs.push(Run { start: bounded(at), source: bounded(source), length });
    }

    /// The index of the run that holds this byte.
    fn run_at(&self, at: usize) -> usize {
        self.runs.partition_point(|run| run.start as usize <= at).saturating_sub(1)
    }
}

fn length_of(source: &Range<usize>) -> u32 {
    source.len().min(MOST_BYTES) as u32
}

/// The bytes of the file for a range of a text with these runs; `None` if there are none.
fn source_of(runs: &[Run], range: Range<usize>) -> Option<Range<usize>> {
    let run_at = |at: usize| {
        let number = runs.partition_point(|run| run.start as usize <= at);
        runs.get(number.saturating_sub(1))
    };
    let first = run_at(range.start)?;
    let start = first.source_of((range.start as u32).max(first.start));
    let last = range.end.saturating_sub(1).max(range.start);
    let last_run = run_at(last)?;
    let end = last_run.source_of((last as u32).max(last_run.start));
    if range.is_empty() {
        return Some(start.start..start.start);
    }
    Some(start.start.min(end.start)..start.end.max(end.end))
}

/// What a part of a made text is in the file, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// Its name in the file, such as `interactions[3].request.body`.
    pub label: String,
    /// The member of an archive that it is in.
    pub member: Option<String>,
    /// The status of the response, if it is known.
    pub status: Option<u16>,
}

impl Origin {
    /// A part with this name.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), member: None, status: None }
    }

    /// A value in the part by name: its JSON Pointer, after the member and the name of the part.
    pub fn name_of(&self, pointer: &str) -> String {
        let parts = [self.member.as_deref().unwrap_or_default(), &self.label, pointer];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// A part of a made text.
#[derive(Debug, Clone)]
struct Piece {
    /// Its bytes in the made text.
    made: Range<usize>,
    /// The JSON Pointer of its value in the record.
    pointer: Cow<'static, str>,
    origin: Arc<Origin>,
    /// Its runs, whose offsets are those of the made text.
    runs: Range<usize>,
}

/// Where the parts of a made text come from.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    pieces: Vec<Piece>,
    runs: Vec<Run>,
}

/// A place of the made text in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<'o> {
    /// What it is in.
    pub origin: &'o Arc<Origin>,
    /// The JSON Pointer in the record of the value that the part holds.
    pub pointer: &'o str,
    /// The bytes of the file.
    pub source: Range<usize>,
}

impl Origins {
    /// The place in the file of some bytes of the made text, which are in the first part that they meet, or the one
    /// after them; `None` if there are no parts.
    pub fn locate(&self, made: Range<usize>) -> Option<Located<'_>> {
        let number = self.pieces.partition_point(|piece| piece.made.end <= made.start);
        let piece = self.pieces.get(number).or(self.pieces.last())?;
        let start = made.start.clamp(piece.made.start, piece.made.end);
        let range = start..made.end.clamp(start, piece.made.end);
        let source = source_of(&self.runs[piece.runs.clone()], range)?;
        Some(Located { origin: &piece.origin, pointer: &piece.pointer, source })
    }

    /// For tests: each byte of the made text that is the same byte in the file, with its place there.
    pub fn same_bytes(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pieces.iter().flat_map(|piece| {
            let runs = &self.runs[piece.runs.clone()];
            runs.iter().enumerate().filter(|(_, run)| run.length == SAME).flat_map(|(number, run)| {
                let end = runs.get(number + 1).map_or(piece.made.end, |next| next.start as usize);
                (run.start as usize..end).map(|at| (at, run.source_of(at as u32).start))
            })
        })
    }
}

/// A file whose contents became a made text.
#[derive(Debug)]
pub struct Opened {
    /// The id of the kind of file.
    pub id: &'static str,
    /// The name of that kind, for people.
    pub name: &'static str,
    /// What is in it, as JSON Lines.
    pub text: Vec<u8>,
    /// Where each part of the text is in the file.
    pub origins: Origins,
    /// The number of exchanges in the text.
    pub exchanges: usize,
    /// What is not in the text.
    pub left_out: Vec<LeftOut>,
    /// Where the file stops making sense, if it does.
    pub broken_at: Option<usize>,
    /// What in it should be read and is not, if there is something.
    pub unread: Option<Unread>,
    /// How its values, or some of them, are written, if that is not JSON.
    pub notation: Option<Notation>,
    /// The members of an archive, to which the origins then lead instead of to the file.
    pub unpacked: Option<Unpacked>,
    /// What in it can only be read by a program that was built with more features.
    pub not_built: Option<NotBuilt>,
    /// Whether it is a table: its rows are training data.
    pub is_table: bool,
}

/// Something in a file that should be read and is not: calling the file clean would be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What it is, as a sentence.
    pub what: String,
    /// Where it begins in the text that the origins lead to.
    pub at: usize,
    /// What is there, if it is known.
    pub origin: Option<Arc<Origin>>,
    /// What to do, if there is something.
    pub advice: Option<String>,
}

/// How the values of a file are written that are not JSON, and were read nevertheless or were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    /// What they are, as a message says it.
    pub what: String,
    /// Where the first of them begins.
    pub at: usize,
    /// What is said there.
    pub caption: &'static str,
    /// What to do.
    pub advice: &'static str,
}

/// Something that this build can't read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotBuilt {
    /// What it is, such as "YAML".
    pub what: &'static str,
    /// How to read it nevertheless.
    pub advice: &'static str,
}

impl NotBuilt {
    /// This can't be read; `advice` says what to do.
    pub const fn new(what: &'static str, advice: &'static str) -> Self {
        Self { what, advice }
    }
}

impl Opened {
    /// The positions in the file, or in the members of an archive, of offsets that the origins lead to. `file` is the text
    /// of the file.
    pub fn locate(&self, file: &[u8], offsets: &[usize]) -> Vec<Position> {
        let Some(unpacked) = &self.unpacked else { return locate(file, offsets) };
        let starts: Vec<usize> = offsets.iter().map(|at| unpacked.start_of(*at)).collect();
        let places = locate(&unpacked.text, offsets).into_iter().zip(locate(&unpacked.text, &starts));
        // A member starts at the start of a line.
        let inside = |(at, start): (Position, Position)| Position { line: at.line - start.line + 1, ..at };
        places.map(inside).collect()
    }

    /// Whether the file is none of the kind that it was opened as.
    pub fn is_other(&self) -> bool {
        self.exchanges == 0 && self.unread.is_some() && self.left_out.is_empty()
    }

    /// The text that the origins lead to. `file` is the text of the file.
    pub fn source<'o>(&'o self, file: &'o [u8]) -> &'o [u8] {
        self.unpacked.as_ref().map_or(file, |unpacked| &unpacked.text)
    }
}

/// The members of an archive, one after the other.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// Their texts, each at the start of a line.
    pub text: Vec<u8>,
    /// Where each of them starts.
    starts: Vec<usize>,
}

impl Unpacked {
    /// Adds a member, and returns where it starts.
    pub fn add(&mut self, text: &[u8]) -> usize {
        let start = self.text.len();
        self.starts.push(start);
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        start
    }

    /// Where the member with this byte starts.
    pub fn start_of(&self, at: usize) -> usize {
        let number = self.starts.partition_point(|start| *start <= at);
        number.checked_sub(1).map_or(0, |number| self.starts[number])
    }
}

/// Something in a file that is not read, with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// What one of them is.
    pub one: &'static str,
    /// What they are.
    pub what: &'static str,
    /// How many there are.
    pub count: usize,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, if self.count == 1 { self.one } else { self.what })
    }
}

/// A made text while it is written.
#[derive(Debug, Default)]
pub struct Builder {
    made: Mapped,
    origins: Origins,
}

impl Builder {
    /// The number of bytes so far.
    pub fn len(&self) -> usize {
        self.made.text.len()
    }

    /// Whether there is no text yet.
    pub fn is_empty(&self) -> bool {
        self.made.text.is_empty()
    }

    /// Adds text that comes from nowhere.
    pub fn glue(&mut self, text: &str) {
        self.made.text.extend_from_slice(text.as_bytes());
    }

    /// Adds the value at `pointer` in the record. Its text is JSON, in which line breaks are only whitespace: they
    /// become spaces, so that the record stays one line.
    pub fn value(&mut self, pointer: impl Into<Cow<'static, str>>, origin: Arc<Origin>, value: &Mapped) {
        let (at, first) = (self.made.text.len(), self.made.runs.len());
        self.made.push_part(value, 0..value.text.len());
        put_on_one_line(&mut self.made.text[at..]);
        let (made, runs) = (at..self.made.text.len(), first..self.made.runs.len());
        self.origins.pieces.push(Piece { made, pointer: pointer.into(), origin, runs });
    }

    /// The text and its origins.
    pub fn finish(mut self) -> (Vec<u8>, Origins) {
        self.origins.runs = self.made.runs;
        (self.made.text, self.origins)
    }
}
