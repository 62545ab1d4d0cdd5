//! The text of an input, read in pieces, and decompressed if needed.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::Deref;

use memchr::{memchr_iter, memrchr};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Input, Source};
use crate::Progress;

/// The maximum size of a piece in bytes, unless a single line is longer.
const PIECE: usize = 128 << 10;
/// The number of bytes of compressed data to read at a time.
const STEP: usize = 256 << 10;
/// The initial size of a buffer, and its minimum growth: most files are not larger.
const MIN_GROWTH: usize = 16 << 10;
/// The maximum growth of a buffer at a time: its memory is written to, and so taken, whether it is used or not.
const MAX_GROWTH: usize = 16 << 20;
/// The maximum number of bytes to read as a whole: spans count up to 4 GiB, and one more byte shows that a text is
/// longer.
const MAX_WHOLE: u64 = u32::MAX as u64 + 2;

/// The first bytes of gzip data (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The first bytes of Zstandard data (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes that have been read, and spare memory, so that a later piece can reuse it.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// The bytes that have been read, followed by spare memory.
    memory: Vec<u8>,
    /// The number of bytes that have been read.
    filled: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.filled]
    }
}

impl Buffer {
    /// Reads more bytes, up to `wanted` in total, and returns whether there were any.
    fn read_more(&mut self, source: &mut dyn Read, wanted: usize) -> io::Result<bool> {
        if self.filled == self.memory.len() {
            let more = self.filled.clamp(MIN_GROWTH, MAX_GROWTH);
            self.memory.resize((self.filled + more).min(wanted.max(self.filled + MIN_GROWTH)), 0);
        }
        loop {
            match source.read(&mut self.memory[self.filled..]) {
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
            other.memory.resize(rest.len(), 0);
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

/// The text of an input, decompressed.
pub struct Text<'p> {
    source: Box<dyn Read + Send + 'p>,
    /// The bytes that have been read but not returned yet.
    buffer: Buffer,
    is_ended: bool,
}

impl<'p> Text<'p> {
    /// Opens an input. Compressed data is recognised by its first bytes, regardless of the name: no JSON starts with
    /// them. It may decompress to `max_unpacked` bytes at most.
    ///
    /// # Errors
    ///
    /// The input can't be read.
    pub fn open(input: &Input, max_unpacked: u64, progress: Progress<'p>) -> io::Result<Self> {
        let source: Box<dyn Read + Send> = match &input.source {
            Source::Stdin => Box::new(io::stdin()),
            Source::File(path) => Box::new(File::open(path)?),
        };
        let mut source = ProgressReader { source, progress };
        let mut first = Vec::new();
        (&mut source).take(ZSTD.len() as u64).read_to_end(&mut first)?;
        let is_gzip = first.starts_with(&GZIP);
        let is_zstd = first.starts_with(&ZSTD);
        let source = Cursor::new(first).chain(source);
        let decompressor =
            |name, source| Decompressor { name, left: max_unpacked, limit: max_unpacked, source };
        let source: Box<dyn Read + Send + 'p> = if is_gzip {
            let source = BufReader::with_capacity(STEP, source);
            Box::new(decompressor(
                "gzip",
                Box::new(flate2::bufread::MultiGzDecoder::new(source)) as Box<dyn Read + Send>,
            ))
        } else if is_zstd {
            let source = BufReader::with_capacity(STEP, source);
            let frames = ZstdFrames { source, decoder: FrameDecoder::new(), is_inside: false };
            Box::new(decompressor("zstd", Box::new(frames)))
        } else {
            Box::new(source)
        };
        Ok(Self { source, buffer: Buffer::default(), is_ended: false })
    }

    /// Reads at least one piece, and at least this many lines that are not blank. Returns all that has been read, and
    /// whether that is the whole text.
    pub(crate) fn head(&mut self, lines: usize) -> io::Result<(&[u8], bool)> {
        self.fill(PIECE)?;
        while !self.is_ended && count_lines(&self.buffer, lines) < lines {
            self.fill(self.buffer.len() * 2)?;
        }
        Ok((&self.buffer, self.is_ended))
    }

    /// The next complete lines; `None` at the end. Bytes that were read after them go into `spare`, the buffer of an
    /// earlier piece.
    pub(crate) fn piece(&mut self, mut spare: Buffer) -> io::Result<Option<Buffer>> {
        let mut wanted = PIECE;
        loop {
            self.fill(wanted)?;
            if self.buffer.is_empty() {
                return Ok(None);
            }
            if self.is_ended && self.buffer.len() <= PIECE {
                return Ok(Some(std::mem::take(&mut self.buffer)));
            }
            // Bytes that were read ahead are returned in pieces too.
            let end = memrchr(b'\n', &self.buffer[..wanted.min(self.buffer.len())]).map(|at| at + 1);
            if let Some(end) = end {
                self.buffer.split_into(end, &mut spare);
                return Ok(Some(std::mem::replace(&mut self.buffer, spare)));
            }
            if self.is_ended && self.buffer.len() <= wanted {
                return Ok(Some(std::mem::take(&mut self.buffer)));
            }
            wanted *= 2;
        }
    }

    /// Reads the rest of the text.
    ///
    /// # Errors
    ///
    /// The input can't be read or decompressed.
    pub fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.buffer).into_bytes();
        if !self.is_ended {
            (&mut self.source).take(MAX_WHOLE.saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
            self.is_ended = true;
        }
        Ok(bytes)
    }

    /// Reads until there are this many bytes, or to the end.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while !self.is_ended && self.buffer.len() < wanted {
            self.is_ended = !self.buffer.read_more(&mut self.source, wanted)?;
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

/// A reader that reports its progress.
struct ProgressReader<'p> {
    source: Box<dyn Read + Send>,
    progress: Progress<'p>,
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        (self.progress)(count as u64);
        Ok(count)
    }
}

/// A reader that decompresses, up to a limit: a few kilobytes can expand to any size.
struct Decompressor<'p> {
    name: &'static str,
    left: u64,
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
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let message = format!(
                "its {name} data is larger than {} bytes after decompression (--max-unpacked)",
                self.limit
            );
            io::Error::new(io::ErrorKind::FileTooLarge, message)
        })?;
        Ok(count)
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

/// Consecutive Zstandard frames; skippable frames contain no text.
struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    is_inside: bool,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_inside {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                match self.decoder.init(&mut self.source) {
                    Ok(()) => self.is_inside = true,
                    Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                        length,
                        ..
                    })) => {
                        let length = u64::from(length);
                        if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                            return Err(io::ErrorKind::UnexpectedEof.into());
                        }
                        continue;
                    }
                    Err(error) => return Err(io::Error::other(error)),
                }
            }
            while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
                let missing = buffer.len() - self.decoder.can_collect();
                let strategy = BlockDecodingStrategy::UptoBytes(missing);
                self.decoder.decode_blocks(&mut self.source, strategy).map_err(io::Error::other)?;
            }
            if self.decoder.is_finished() && self.decoder.can_collect() == 0 {
                self.is_inside = false;
                let written = self.decoder.get_checksum_from_data();
                if written.is_some() && written != self.decoder.get_calculated_checksum() {
                    return Err(io::Error::other("checksum mismatch"));
                }
                continue;
            }
            return self.decoder.read(buffer);
        }
    }
}
