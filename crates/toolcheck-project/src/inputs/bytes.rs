//! The text of an input, read piece by piece, and unpacked where it is compressed.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::Deref;

use memchr::{memchr_iter, memrchr};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Input, Source};
use crate::Progress;

/// How many bytes a piece has, or one line where that is longer.
const PIECE: usize = 128 << 10;
/// How many bytes of compressed data are asked for at a time.
const STEP: usize = 256 << 10;
/// How much room the first bytes of a file get: most files have no more.
const FIRST_ROOM: usize = 16 << 10;
/// How much more room a long text gets at a time: room that is written to takes memory, used or not.
const MOST_MORE_ROOM: usize = 16 << 20;
/// The longest text that can be read as one: a span counts up to 4 GiB, and one byte more tells that it is longer.
const LONGEST: u64 = u32::MAX as u64 + 2;

/// How gzip's data begin (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// How Zstandard's data begin (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes that have been read, with room for more, so that the memory of one piece serves a later one.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// What has been read, and behind it room that has been written to before.
    room: Vec<u8>,
    filled: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.room[..self.filled]
    }
}

impl Buffer {
    /// Reads some bytes more, up to `wanted` in all; whether there were any.
    fn read_on(&mut self, source: &mut dyn Read, wanted: usize) -> io::Result<bool> {
        if self.filled == self.room.len() {
            let more = self.filled.clamp(FIRST_ROOM, MOST_MORE_ROOM);
            self.room.resize((self.filled + more).min(wanted.max(self.filled + FIRST_ROOM)), 0);
        }
        loop {
            match source.read(&mut self.room[self.filled..]) {
                Ok(count) => {
                    self.filled += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Moves what stands behind `end` into `other`.
    fn split_into(&mut self, end: usize, other: &mut Self) {
        let rest = &self.room[end..self.filled];
        if other.room.len() < rest.len() {
            other.room.resize(rest.len(), 0);
        }
        other.room[..rest.len()].copy_from_slice(rest);
        other.filled = rest.len();
        self.filled = end;
    }

    fn into_bytes(mut self) -> Vec<u8> {
        self.room.truncate(self.filled);
        self.room
    }
}

/// The text of an input, unpacked.
pub struct Text<'p> {
    source: Box<dyn Read + Send + 'p>,
    /// What has been read and not been given out.
    buffer: Buffer,
    is_ended: bool,
}

impl<'p> Text<'p> {
    /// Opens an input. Compressed data are recognised by their first bytes, whatever the name: no JSON begins like them. They
    /// may become `max_unpacked` bytes.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub fn open(input: &Input, max_unpacked: u64, progress: Progress<'p>) -> io::Result<Self> {
        let source: Box<dyn Read + Send> = match &input.source {
            Source::Stdin => Box::new(io::stdin()),
            Source::File(path) => Box::new(File::open(path)?),
        };
        let mut source = Watched { source, progress };
        let mut first = Vec::new();
        (&mut source).take(ZSTD.len() as u64).read_to_end(&mut first)?;
        let is_gzip = first.starts_with(&GZIP);
        let is_zstd = first.starts_with(&ZSTD);
        let source = Cursor::new(first).chain(source);
        let unpacked = |name, source| Unpacked { name, left: max_unpacked, most: max_unpacked, source };
        let source: Box<dyn Read + Send + 'p> = if is_gzip {
            let source = BufReader::with_capacity(STEP, source);
            Box::new(unpacked(
                "gzip",
                Box::new(flate2::bufread::MultiGzDecoder::new(source)) as Box<dyn Read + Send>,
            ))
        } else if is_zstd {
            let source = BufReader::with_capacity(STEP, source);
            let frames = ZstdFrames { source, decoder: FrameDecoder::new(), is_inside: false };
            Box::new(unpacked("zstd", Box::new(frames)))
        } else {
            Box::new(source)
        };
        Ok(Self { source, buffer: Buffer::default(), is_ended: false })
    }

    /// Reads on to a piece at least, and to so many lines that are not blank. Gives what there is then, and whether it is
    /// everything.
    pub(crate) fn head(&mut self, lines: usize) -> io::Result<(&[u8], bool)> {
        self.fill(PIECE)?;
        while !self.is_ended && count_lines(&self.buffer, lines) < lines {
            self.fill(self.buffer.len() * 2)?;
        }
        Ok((&self.buffer, self.is_ended))
    }

    /// The next lines, whole; `None` at the end. What is read behind them goes into the room of an earlier piece.
    pub(crate) fn piece(&mut self, mut room: Buffer) -> io::Result<Option<Buffer>> {
        let mut wanted = PIECE;
        loop {
            self.fill(wanted)?;
            if self.buffer.is_empty() {
                return Ok(None);
            }
            if self.is_ended && self.buffer.len() <= PIECE {
                return Ok(Some(std::mem::take(&mut self.buffer)));
            }
            // What was read ahead goes out in pieces too.
            let end = memrchr(b'\n', &self.buffer[..wanted.min(self.buffer.len())]).map(|at| at + 1);
            if let Some(end) = end {
                self.buffer.split_into(end, &mut room);
                return Ok(Some(std::mem::replace(&mut self.buffer, room)));
            }
            if self.is_ended && self.buffer.len() <= wanted {
                return Ok(Some(std::mem::take(&mut self.buffer)));
            }
            wanted *= 2;
        }
    }

    /// The rest of the text.
    ///
    /// # Errors
    ///
    /// The input cannot be read or unpacked.
    pub fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.buffer).into_bytes();
        if !self.is_ended {
            (&mut self.source).take(LONGEST.saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
            self.is_ended = true;
        }
        Ok(bytes)
    }

    /// Reads until there are so many bytes, or the end.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while !self.is_ended && self.buffer.len() < wanted {
            self.is_ended = !self.buffer.read_on(&mut self.source, wanted)?;
        }
        Ok(())
    }
}

/// How many lines that are not blank end in the text, counted up to `most`.
fn count_lines(text: &[u8], most: usize) -> usize {
    let (mut count, mut start) = (0, 0);
    for end in memchr_iter(b'\n', text) {
        count += usize::from(!text[start..end].iter().all(u8::is_ascii_whitespace));
        start = end + 1;
        if count == most {
            break;
        }
    }
    count
}

/// A source whose progress is reported.
struct Watched<'p> {
    source: Box<dyn Read + Send>,
    progress: Progress<'p>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        (self.progress)(count as u64);
        Ok(count)
    }
}

/// Data that are unpacked while they are read. A few kilobytes can become any number, so there is a limit.
struct Unpacked<'p> {
    name: &'static str,
    left: u64,
    most: u64,
    source: Box<dyn Read + Send + 'p>,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let name = self.name;
        let count = self.source.read(buffer).map_err(|error| {
            let message = if is_end(&error) {
                format!("its {name} data are cut off")
            } else {
                format!("its {name} data can't be unpacked: {error}")
            };
            io::Error::new(error.kind(), message)
        })?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let message = format!("its {name} data become more than {} bytes (--max-unpacked)", self.most);
            io::Error::new(io::ErrorKind::FileTooLarge, message)
        })?;
        Ok(count)
    }
}

/// Whether the data ended too early, in whatever the unpacker wraps that.
fn is_end(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let system = error.downcast_ref::<io::Error>();
        if system.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof) {
            return true;
        }
        // An error of the system shows what it wraps as its own cause.
        cause = match system.and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}

/// Zstandard's frames that follow each other; those that may be skipped hold nothing.
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
                    return Err(io::Error::other("their checksum is another one"));
                }
                continue;
            }
            return self.decoder.read(buffer);
        }
    }
}
