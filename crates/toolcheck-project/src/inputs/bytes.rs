//! The text of an input, read in pieces, and decompressed if needed.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;
use memchr::{memchr, memchr_iter, memrchr};
use toolcheck_core::unsupported;
use toolcheck_open::{Container, ZstdFrames, is_gzip, is_zstd};

use super::{Input, Source};
use crate::Progress;
use crate::options::Limits;

/// The largest window of Zstandard data, which is held in memory: as much as `zstd` itself takes without being asked for
/// more.
const MOST_WINDOW: u64 = 128 << 20;
/// How many bytes one byte of compressed data may become, where that is more than [`MODEST`]. Logs that repeat themselves
/// reach some hundreds.
const MOST_RATIO: u64 = 10_000;
/// The size after decompression that is never too much for what is compressed.
const MODEST: u64 = 256 << 20;
/// The size at which the head of a file ends, if half of it is blank.
const BLANK_HEAD: usize = 1 << 20;
/// The maximum size of a piece in bytes, unless a single line is longer.
const PIECE: usize = 128 << 10;
/// The number of bytes of compressed data to read at a time.
const STEP: usize = 256 << 10;
/// The initial size of a buffer, and its minimum growth: most files are not larger.
const MIN_GROWTH: usize = 16 << 10;
/// The maximum growth of a buffer at a time: its memory is written to, and so taken, whether it is used or not.
const MAX_GROWTH: usize = 16 << 20;

/// How many bytes tell whether data is compressed.
const MAGIC: u64 = 4;
/// The first byte of gzip data.
const GZIP: u8 = 0x1f;

/// Bytes that have been read, and spare memory, so that a later piece can reuse it.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// The bytes that have been read, followed by spare memory.
    memory: Vec<u8>,
    filled: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.filled]
    }
}

impl Buffer {
    /// A buffer for the first piece of a file of this size, and for the read that finds its end.
    fn for_bytes(size: u64) -> Self {
        let size = usize::try_from(size).map_or(PIECE, |size| size.saturating_add(1).min(PIECE));
        Self { memory: vec![0; size], filled: 0 }
    }

    /// Makes room for this many bytes in total. New memory is empty already, and need not be cleared as that which grows.
    fn grow_to(&mut self, size: usize) {
        if size > self.memory.len() {
            let mut memory = vec![0; size];
            memory[..self.filled].copy_from_slice(self);
            self.memory = memory;
        }
    }

    /// Reads more bytes, up to `wanted` in total, and returns whether there were any.
    fn read_more(&mut self, source: &mut dyn Read, wanted: usize) -> io::Result<bool> {
        if self.filled == self.memory.len() {
            let more = self.filled.clamp(MIN_GROWTH, MAX_GROWTH);
            let size = (self.filled + more).min(wanted.max(self.filled + MIN_GROWTH));
            self.memory.try_reserve(size - self.filled)?;
            self.memory.resize(size, 0);
        }
        let end = self.memory.len().min(wanted);
        loop {
            match source.read(&mut self.memory[self.filled..end]) {
                Ok(count) => {
                    self.filled += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves the bytes after `end` into `other`.
    fn split_into(&mut self, end: usize, other: &mut Self) {
        let rest = &self.memory[end..self.filled];
        if other.memory.len() < rest.len() {
            // Most of the next piece is still to come.
            other.memory.resize(rest.len().max(self.memory.len().min(PIECE)), 0);
        }
        other.memory[..rest.len()].copy_from_slice(rest);
        other.filled = rest.len();
        self.filled = end;
    }

    fn into_bytes(mut self) -> Vec<u8> {
        self.memory.truncate(self.filled);
        self.memory
    }
}

/// Whether a file starts like those that hold requests inside something else, also like recordings of a kind that is not
/// known. One that can't be read may be one, so that it is not silently skipped.
pub(super) fn may_be_opened(path: &Path) -> bool {
    let sniff = || -> io::Result<bool> {
        let mut text = Text::of_file(path, Limits::default(), &|_| {})?;
        let (start, _) = text.head(1)?;
        let container = toolcheck_open::sniff(start);
        Ok(container.map_or_else(|| unsupported::is_recording(start), Container::is_looked_for))
    };
    sniff().unwrap_or(true)
}

/// Why a file in a folder is no input, although it may hold transcripts, by its start: it is Parquet, Arrow or SQLite.
pub(super) fn why_no_input(path: &Path) -> Option<String> {
    let mut text = Text::of_file(path, Limits::default(), &|_| {}).ok()?;
    let start = text.start().ok()?;
    let name = unsupported::of_table(start)?.name;
    let is_read = toolcheck_open::sniff(start).is_some_and(Container::is_built);
    let why = if is_read { "is read only if you name it" } else { "this build of toolcheck can't read" };
    Some(format!("this is {name}, which {why}"))
}

/// A part of a text of JSON Lines.
pub(crate) enum Piece {
    Lines(Buffer),
    /// One line that is larger than a document may be: its bytes, which were skipped.
    TooLong(usize),
}

/// The text of an input, decompressed.
pub struct Text<'p> {
    source: Box<dyn Read + Send + 'p>,
    /// The bytes that have been read but not returned yet.
    buffer: Buffer,
    is_ended: bool,
    /// Why no more can be read, which is said once what was read before is returned.
    failed: Option<io::Error>,
    max_document: u64,
    is_compressed: bool,
    /// How many bytes the text of a file has; 0 if that is not known.
    size: usize,
}

impl<'p> Text<'p> {
    /// Opens an input, as [`Text::new`] does with a source. Fails if the input can't be read.
    pub fn open(input: &Input, limits: Limits, progress: Progress<'p>) -> io::Result<Self> {
        match &input.source {
            Source::Stdin => Self::new(io::stdin(), limits, progress),
            Source::File(path) => Self::of_file(path, limits, progress),
        }
    }

    fn of_file(path: &Path, limits: Limits, progress: Progress<'p>) -> io::Result<Self> {
        let file = toolcheck_files::open(path)?;
        let size = file.metadata().map_or(0, |file| file.len());
        let mut text = Self::new(file, limits, progress)?;
        text.buffer = Buffer::for_bytes(size);
        if !text.is_compressed {
            text.size = usize::try_from(size).unwrap_or(usize::MAX);
        }
        Ok(text)
    }

    /// The text of a source that is open already, such as bytes in memory. Compressed data is recognised by its first
    /// bytes, regardless of a name: no JSON starts with them. Fails if the source can't be read.
    pub fn new(source: impl Read + Send + 'p, limits: Limits, progress: Progress<'p>) -> io::Result<Self> {
        let source: Box<dyn Read + Send + 'p> = Box::new(source);
        let packed = Arc::new(AtomicU64::new(0));
        let mut source = ProgressReader { source, progress, count: Arc::clone(&packed) };
        let mut first = Vec::new();
        (&mut source).take(MAGIC).read_to_end(&mut first)?;
        let is_gzip = is_gzip(&first);
        let is_zstd = is_zstd(&first);
        let source = Cursor::new(first).chain(source);
        let decompressor =
            |name, source| Decompressor { name, unpacked: 0, packed, limit: limits.unpacked, source };
        let source: Box<dyn Read + Send + 'p> = if is_gzip {
            let source = BufReader::with_capacity(STEP, source);
            Box::new(decompressor(
                "gzip",
                Box::new(GzipMembers { member: Some(GzDecoder::new(source)) }) as Box<dyn Read + Send + 'p>,
            ))
        } else if is_zstd {
            let source = BufReader::with_capacity(STEP, source);
            let frames = ZstdFrames::new(source, MOST_WINDOW);
            Box::new(decompressor("zstd", Box::new(frames)))
        } else {
            Box::new(source)
        };
        Ok(Self {
            source,
            buffer: Buffer::default(),
            is_ended: false,
            failed: None,
            max_document: limits.document,
            is_compressed: is_gzip || is_zstd,
            size: 0,
        })
    }

    /// Whether its source is compressed.
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    pub(crate) fn start(&mut self) -> io::Result<&[u8]> {
        self.fill(PIECE)?;
        Ok(&self.buffer)
    }

    /// Reads at least one piece, and at least this many lines that are not blank. Returns all that has been read, and
    /// whether that is the whole text.
    pub(crate) fn head(&mut self, lines: usize) -> io::Result<(&[u8], bool)> {
        self.fill(PIECE)?;
        while !self.is_ended && self.failed.is_none() && count_lines(&self.buffer, lines) < lines {
            // Blank lines are no reason to hold more and more of them.
            if self.buffer.len() >= BLANK_HEAD && blank_bytes(&self.buffer) > self.buffer.len() / 2 {
                break;
            }
            self.check_document(self.buffer.len())?;
            self.fill(self.buffer.len() * 2)?;
        }
        Ok((&self.buffer, self.is_ended))
    }

    /// The next complete lines; `None` at the end. Bytes that were read after them go into `spare`, the buffer of an
    /// earlier piece.
    pub(crate) fn piece(&mut self, mut spare: Buffer) -> io::Result<Option<Piece>> {
        let mut wanted = PIECE;
        loop {
            self.fill(wanted)?;
            let most = usize::try_from(self.max_document).unwrap_or(usize::MAX);
            let is_long = self.buffer.len() > most;
            if is_long && memchr(b'\n', &self.buffer[..most]).is_none() {
                return self.skip_line().map(|bytes| Some(Piece::TooLong(bytes)));
            }
            if self.buffer.is_empty() {
                return self.failed.take().map_or(Ok(None), Err);
            }
            if self.is_ended && self.buffer.len() <= PIECE.min(most) {
                return Ok(Some(Piece::Lines(std::mem::take(&mut self.buffer))));
            }
            // Bytes that were read ahead are returned in pieces too.
            let end = memrchr(b'\n', &self.buffer[..wanted.min(self.buffer.len())]).map(|at| at + 1);
            if let Some(end) = end {
                self.buffer.split_into(end, &mut spare);
                return Ok(Some(Piece::Lines(std::mem::replace(&mut self.buffer, spare))));
            }
            if self.is_ended && self.buffer.len() <= wanted {
                return Ok(Some(Piece::Lines(std::mem::take(&mut self.buffer))));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            wanted *= 2;
        }
    }

    /// Skips a line without holding it, and returns its length in bytes.
    fn skip_line(&mut self) -> io::Result<usize> {
        let mut skipped = 0;
        loop {
            if let Some(end) = memchr(b'\n', &self.buffer) {
                let mut rest = Buffer::default();
                self.buffer.split_into(end + 1, &mut rest);
                self.buffer = rest;
                return Ok(skipped + end + 1);
            }
            skipped += self.buffer.len();
            self.buffer.filled = 0;
            self.fill(PIECE)?;
            if self.buffer.is_empty() {
                return Ok(skipped);
            }
        }
    }

    /// Reads the rest of the text. Fails if the input can't be read or decompressed.
    pub fn rest(&mut self) -> io::Result<Vec<u8>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if !self.is_ended {
            // One more byte shows that a text is longer, and finds the end of one that is not.
            let most = usize::try_from(self.max_document).unwrap_or(usize::MAX).saturating_add(1);
            self.buffer.grow_to(self.size.saturating_add(1).min(most));
            self.fill(most)?;
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            self.is_ended = true;
        }
        self.check_document(self.buffer.len())?;
        Ok(std::mem::take(&mut self.buffer).into_bytes())
    }

    /// Fails if a document has more bytes than one may have.
    fn check_document(&self, bytes: usize) -> io::Result<()> {
        if bytes as u64 <= self.max_document {
            return Ok(());
        }
        let message = format!(
            "a document, a line or an agent's log is read at once, and is larger than {} bytes: raise the limit with \
             --max-document, or write a list of requests as JSON Lines",
            self.max_document
        );
        Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
    }

    /// Reads until there are this many bytes, or to the end.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while !self.is_ended && self.failed.is_none() && self.buffer.len() < wanted {
            match self.buffer.read_more(&mut self.source, wanted) {
                Ok(more) => self.is_ended = !more,
                // What compressed data says before a fault is read all the same.
                Err(error) if self.is_compressed && !self.buffer.is_empty() => self.failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The number of complete lines in the text that are not blank, counted up to `limit`.
fn count_lines(text: &[u8], limit: usize) -> usize {
    let (mut count, mut start) = (0, 0);
    for end in memchr_iter(b'\n', text) {
        count += usize::from(!text[start..end].iter().all(u8::is_ascii_whitespace));
        start = end + 1;
        if count == limit {
            break;
        }
    }
    count
}

fn blank_bytes(text: &[u8]) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| line.iter().all(u8::is_ascii_whitespace)).map(<[u8]>::len).sum()
}

struct ProgressReader<'p> {
    source: Box<dyn Read + Send + 'p>,
    progress: Progress<'p>,
    count: Arc<AtomicU64>,
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer);
        let count = read.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(error.kind(), "it has nothing to read yet"),
            _ => error,
        })?;
        (self.progress)(count as u64);
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// A reader that decompresses, up to a limit: a few kilobytes can expand to any size.
struct Decompressor<'p> {
    name: &'static str,
    /// The number of bytes so far, before and after.
    packed: Arc<AtomicU64>,
    unpacked: u64,
    limit: u64,
    source: Box<dyn Read + Send + 'p>,
}

impl Read for Decompressor<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let name = self.name;
        let count = self.source.read(buffer).map_err(|error| {
            let message = if is_end(&error) {
                format!("its {name} data is cut off")
            } else {
                format!("its {name} data can't be decompressed: {error}")
            };
            io::Error::new(error.kind(), message)
        })?;
        self.unpacked = self.unpacked.saturating_add(count as u64);
        let packed = self.packed.load(Ordering::Relaxed);
        let message = if self.unpacked > self.limit {
            let limit = self.limit;
            format!("its {name} data is larger than {limit} bytes after decompression (--max-unpacked)")
        } else if self.unpacked > MODEST && self.unpacked / MOST_RATIO > packed {
            format!("its {name} data becomes more than {MOST_RATIO} times as large: decompress it first")
        } else {
            return Ok(count);
        };
        Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
    }
}

/// The members of gzip data one after another. Zeros may pad the last one (question 8 of gzip.org's FAQ).
struct GzipMembers<R> {
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.member = self.member.take().map_or(Ok(None), |member| next_member(member.into_inner()))?;
        }
        Ok(0)
    }
}

/// What follows a member: another one, or zeros up to the end.
fn next_member<R: BufRead>(mut rest: R) -> io::Result<Option<GzDecoder<R>>> {
    let mut is_padded = false;
    loop {
        let bytes = rest.fill_buf()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        match bytes.first() {
            None => return Ok(None),
            Some(0) => is_padded = true,
            Some(first) if *first == GZIP && !is_padded => return Ok(Some(GzDecoder::new(rest))),
            Some(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "other bytes follow it")),
        }
        rest.consume(zeros);
    }
}

/// Whether the data ended too early. The decompressors wrap that error in their own.
fn is_end(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let system = error.downcast_ref::<io::Error>();
        if system.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof) {
            return true;
        }
        // The `source` of an `io::Error` skips the error that it wraps.
        cause = match system.and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}
