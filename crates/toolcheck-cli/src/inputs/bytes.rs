//! The bytes of an input, unpacked where they are compressed.

use std::error::Error;
use std::fs;
use std::io::{self, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::{Input, Source};

/// How many bytes a compressed input may become: a few kilobytes of it can become any number.
const MOST_UNPACKED: u64 = 1 << 30;

/// How gzip's data begin (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// How Zstandard's data begin (RFC 8878).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Reads an input. What is compressed is told by its first bytes, whatever its name: no JSON begins like them.
pub(crate) fn read(input: &Input) -> io::Result<Vec<u8>> {
    let bytes = match &input.source {
        Source::Stdin => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            bytes
        }
        Source::File(path) => fs::read(path)?,
    };
    if bytes.starts_with(&GZIP) {
        let mut packed = flate2::bufread::MultiGzDecoder::new(&*bytes);
        let mut unpacked = Vec::new();
        add(&mut packed, &mut unpacked).map_err(|error| broken("gzip", error))?;
        Ok(unpacked)
    } else if bytes.starts_with(&ZSTD) {
        unpack_zstd(&bytes).map_err(|error| broken("zstd", error))
    } else {
        Ok(bytes)
    }
}

/// Unpacks what is there, up to the limit.
fn add(packed: &mut dyn Read, unpacked: &mut Vec<u8>) -> io::Result<()> {
    packed.take(MOST_UNPACKED + 1 - unpacked.len() as u64).read_to_end(unpacked)?;
    if unpacked.len() as u64 > MOST_UNPACKED {
        let message = format!("they become more than {MOST_UNPACKED} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

/// Unpacks frames that follow each other; those that may be skipped hold nothing.
fn unpack_zstd(mut rest: &[u8]) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    let mut decoder = FrameDecoder::new();
    while !rest.is_empty() {
        match StreamingDecoder::new_with_decoder(&mut rest, &mut decoder) {
            Ok(mut frame) => add(&mut frame, &mut unpacked)?,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                rest = rest.get(length as usize..).ok_or(io::ErrorKind::UnexpectedEof)?;
                continue;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        let (written, counted) = (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
        if written.is_some() && written != counted {
            return Err(io::Error::other("their checksum is another one"));
        }
    }
    Ok(unpacked)
}

fn broken(name: &str, error: io::Error) -> io::Error {
    let message = if is_end(&error) {
        format!("its {name} data are cut off")
    } else {
        format!("its {name} data can't be unpacked: {error}")
    };
    io::Error::new(error.kind(), message)
}

/// Whether the data ended too early, in whatever the unpacker wraps that.
fn is_end(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
        {
            return true;
        }
        // An error of the system shows what it wraps as its own cause.
        cause = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    false
}
