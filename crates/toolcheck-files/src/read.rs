//! Bounded reads of files that hold settings.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum size of a file that holds settings: it may be a link to `/dev/zero`.
pub const MAX_BYTES: u64 = 1 << 26;

/// Reads a file that holds settings, such as a configuration. Fails if it can't be read, is not a regular file, or has
/// more than [`MAX_BYTES`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(open(path)?)
}

/// Reads a file that the user has named on the command line: it may also be a pipe, as in `--files-from <(...)`. Fails
/// if it can't be read, is neither a regular file nor a pipe, has more than [`MAX_BYTES`], or is a named pipe that
/// nothing writes to.
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    if !is_pipe(&fs::metadata(path)?) {
        return read(path);
    }
    // A pipe without a name has the writer that it was made with. On Linux it has no path of its own either.
    let is_named = !path.starts_with("/dev/fd") && fs::canonicalize(path).is_ok();
    if is_named { read_pipe(path) } else { read_limited(File::open(path)?) }
}

/// How long a named pipe may have no writer.
const LONGEST_WITHOUT_WRITER: Duration = Duration::from_secs(5);

/// Reads a named pipe. To open it is to wait for its writer, and there may be none.
fn read_pipe(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = options().open(path)?;
    let (mut bytes, mut has_writer, start) = (Vec::new(), false, Instant::now());
    loop {
        let left = (MAX_BYTES + 1).saturating_sub(bytes.len() as u64);
        match file.by_ref().take(left).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() as u64 > MAX_BYTES => return Err(too_large()),
            Ok(_) if has_writer || !bytes.is_empty() => return Ok(bytes),
            Ok(_) if start.elapsed() > LONGEST_WITHOUT_WRITER => {
                return Err(io::Error::new(ErrorKind::TimedOut, "it is a pipe that nothing writes to"));
            }
            Ok(_) => {}
            // There is a writer that has not written yet.
            Err(error) if error.kind() == ErrorKind::WouldBlock => has_writer = true,
            Err(error) => return Err(error),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads the rest of a source, such as the standard input. Fails if it can't be read, or has more than [`MAX_BYTES`].
pub fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

/// The text of bytes that were read. Fails if they are not UTF-8.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Checks that a file can be read as a whole: for a library that opens it. Fails if it is not a regular file, or has
/// more than [`MAX_BYTES`].
pub fn check(path: &Path) -> io::Result<()> {
    check_file(&fs::metadata(path)?)
}

fn open(path: &Path) -> io::Result<File> {
    // To open a pipe is to wait for its writer, and to open a device may do something. If another program puts one in
    // place of the file just now, `O_NONBLOCK` opens it without waiting. It means nothing for a regular file.
    check(path)?;
    let file = options().open(path)?;
    check_file(&file.metadata()?)?;
    Ok(file)
}

/// How a file is opened without waiting for another program.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}

fn check_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return if metadata.len() > MAX_BYTES { Err(too_large()) } else { Ok(()) };
    }
    let (kind, what) = match metadata {
        metadata if metadata.is_dir() => (ErrorKind::IsADirectory, "a folder"),
        metadata if is_pipe(metadata) => (ErrorKind::InvalidInput, "a pipe"),
        metadata if is_socket(metadata) => (ErrorKind::InvalidInput, "a socket"),
        _ => (ErrorKind::InvalidInput, "a device"),
    };
    Err(io::Error::new(kind, format!("it is {what}, not a file")))
}

fn too_large() -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {} MiB", MAX_BYTES >> 20))
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(unix)]
fn is_socket(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_socket(_: &Metadata) -> bool {
    false
}
