//! Opening files that a run reads.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file for reading. A pipe is opened once it has a writer, as in `lint <(...)`, and a terminal is waited for. What
/// looks like a file and would wait for ever, such as `/proc/kmsg`, gives an error when it is read.
///
/// # Errors
///
/// It can't be opened.
pub fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    if std::fs::metadata(path)?.is_file() {
        let mut options = File::options();
        options.read(true);
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
        return options.open(path);
    }
    File::open(path)
}
