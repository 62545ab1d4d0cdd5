//! Zstandard data.

use std::fmt;
use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The number of bytes that a frame starts with to be known.
const MAGIC: usize = 4;

/// The text of consecutive Zstandard frames; skippable frames contain none.
pub struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    is_inside: bool,
    most_window: u64,
}

impl<R> ZstdFrames<R> {
    /// Reads the frames of a source, none of which may need a larger window than this: it is held in memory.
    pub fn new(source: R, most_window: u64) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_inside: false, most_window }
    }
}

impl<R> fmt::Debug for ZstdFrames<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZstdFrames").field("is_inside", &self.is_inside).finish_non_exhaustive()
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_inside {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                // A decoder that is used again has a smaller limit of its own.
                self.decoder = FrameDecoder::new();
                let mut header = Header { source: &mut self.source, seen: Vec::new() };
                let begun = self.decoder.init(&mut header);
                let window = window_size(&header.seen);
                match begun {
                    Ok(()) if window > self.most_window => {
                        let message = format!(
                            "it needs a window of {window} bytes; at most {} are used",
                            self.most_window
                        );
                        return Err(io::Error::other(message));
                    }
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

/// Passes the header of a frame on, and keeps it: the decoder doesn't tell how large the window is.
struct Header<R> {
    source: R,
    seen: Vec<u8>,
}

impl<R: Read> Read for Header<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.seen.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// The size of the window by a frame's header (RFC 8878, 3.1.1.1); 0 if the header is not whole.
fn window_size(header: &[u8]) -> u64 {
    let Some((descriptor, rest)) = header.get(MAGIC..).and_then(<[u8]>::split_first) else { return 0 };
    let is_single_segment = descriptor >> 5 & 1 == 1;
    if !is_single_segment {
        let Some(window) = rest.first() else { return 0 };
        let base = 1u64 << (10 + u64::from(window >> 3));
        return base + base / 8 * u64::from(window & 7);
    }
    // The window is as large as the content, whose size stands behind the dictionary's id.
    let id = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = 1 << (descriptor >> 6);
    let Some(size) = rest.get(id..id + size) else { return 0 };
    let number = size.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    // Two bytes count from 256.
    if size.len() == 2 { number + 256 } else { number }
}
