//! Opening files that a run reads.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::read::options;

/// Opens a file for reading. A pipe is opened once it has a writer, as in `lint <(...)`, and a terminal is waited for.
/// What looks like a file and would wait for ever, such as `/proc/kmsg`, gives an error when it is read. Fails if it
/// can't be opened.
pub fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() { options().open(path) } else { File::open(path) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn only_what_is_no_file_is_waited_for() {
        let waits = |path: &str| {
            let file = open(Path::new(path)).expect("it can be opened");
            let said = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()));
            let said = said.expect("the system describes it");
            let flags = said.lines().find_map(|line| line.strip_prefix("flags:")).expect("it has flags");
            u32::from_str_radix(flags.trim(), 8).expect("they are octal") & libc::O_NONBLOCK.unsigned_abs()
                == 0
        };
        assert!(!waits("Cargo.toml"));
        assert!(waits("/dev/null"));
    }
}
