//! Bounded reading of small files.

use std::io::{self, Read};

/// The maximum size of a configuration, or of a file that one names: it may name `/dev/zero`.
const MAX_BYTES: u64 = 1 << 26;

/// Reads the bytes of a configuration, or of a file that one names.
///
/// # Errors
///
/// The source can't be read, or has more than 64 MiB.
pub fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("it is larger than {MAX_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}
