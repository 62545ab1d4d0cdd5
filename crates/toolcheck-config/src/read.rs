//! Bounded reading of small files.

use std::io::{self, Read};

/// The most bytes that a file may have that a configuration is or names: it may name `/dev/zero`.
const MOST_BYTES: u64 = 1 << 26;

/// The bytes of a configuration, or of a file that one names.
///
/// # Errors
///
/// It cannot be read, or has more than 64 MiB.
pub fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("it has more than {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}
