//! Writes that happen as a whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::pending::Pending;
use crate::place::{destination, folder, is_descriptor};
use crate::read::{MAX_BYTES, read};

/// How often, and how long each time, to wait for another program that is replacing a file.
const TRIES: usize = 200;
const WAIT: Duration = Duration::from_millis(50);

/// Writes a file with what `fill` writes, in place of an existing one.
///
/// A temporary file beside it is filled, synced and renamed, so that an error, a full disk or a signal leaves the old
/// file as it was. The new file has the permissions of the old one, and its owner where that is allowed. If the path is
/// a symbolic link, its target is replaced and the link stays; other hard links keep the old content. A pipe or a
/// device is written to directly. Fails if `fill` fails, the file or its folder can't be written, or the file is
/// protected from writing.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let path = destination(path)?;
    write_to(&path, Existing::Replaced, fill, &|_| Ok(()))
}

/// Creates a file. Fails if the file exists ([`ErrorKind::AlreadyExists`]), or can't be written.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_to(path, Existing::Kept, |out| out.write_all(bytes), &|_| Ok(()))
}

/// Creates an empty file, to which a program appends as long as it runs. It may hold what nobody else should read, so
/// where the system has owners of files, only the owner may. Fails if the file exists ([`ErrorKind::AlreadyExists`]),
/// or can't be created.
pub fn create_log(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.append(true).create_new(true).open(path)
}

/// Replaces a file that was read before, so that no change of another program in between is lost. `seen` is what was
/// read; `None` if there was no file. Fails if the file is not as it was seen, would become too large to be read again,
/// or can't be written.
pub fn replace(path: &Path, seen: Option<&[u8]>, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("it would be larger than {} MiB", MAX_BYTES >> 20);
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    let path = destination(path)?;
    let _lock = lock(folder(&path));
    let now = match read(&path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if now.as_deref() != seen {
        return Err(changed());
    }
    let existing = if seen.is_some() { Existing::Replaced } else { Existing::Kept };
    let written = write_to(&path, existing, |out| out.write_all(bytes), &|_| Ok(()));
    written.map_err(|error| if error.kind() == ErrorKind::AlreadyExists { changed() } else { error })
}

fn changed() -> io::Error {
    io::Error::other("another program has changed it since it was read: run again")
}

/// Locks the folder of a file against other runs of [`replace`] in it: the file itself is another one after each rename.
///
/// Without the lock, the comparison has to be enough: on systems and disks that can't do that, and if something else
/// holds it for long, such as `flock . make`, which may have started this program.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    for _ in 0..TRIES {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::Error(_)) => return None,
            Err(TryLockError::WouldBlock) => sleep(WAIT),
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq)]
enum Existing {
    Replaced,
    Kept,
}

/// What is done to write a file. Tests let each of these fail.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Create,
    Write,
    Sync,
    Rename,
}

/// Writes a file. `before` is asked before each step.
fn write_to(
    path: &Path,
    existing: Existing,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    before: &dyn Fn(Step) -> io::Result<()>,
) -> io::Result<()> {
    let old = match fs::metadata(path) {
        Ok(metadata) if existing == Existing::Replaced => Some(metadata),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => None,
    };
    if old.as_ref().is_some_and(|old| !old.is_file()) || is_descriptor(path) {
        let mut out = BufWriter::new(File::create(path)?);
        fill(&mut out)?;
        return out.flush();
    }
    if old.is_some() {
        // A rename would also replace a file that is protected from writing.
        File::options().write(true).open(path)?;
    }
    before(Step::Create)?;
    let pending = Pending::new(folder(path))?;
    let mut out = BufWriter::new(Checked { file: pending.file()?, before });
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(old) = old {
        keep_permissions(pending.file()?, &old)?;
    }
    before(Step::Sync)?;
    pending.file()?.sync_all()?;
    before(Step::Rename)?;
    pending.rename(path, existing == Existing::Replaced)?;
    // So that the new name survives a crash of the system too. The file is written, even if its folder can't be synced.
    #[cfg(unix)]
    let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

fn keep_permissions(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Only root may give a file away, and others only to a group of theirs.
            let _ = fchown(file, Some(old.uid()), Some(old.gid()))
                .or_else(|_| fchown(file, None, Some(old.gid())));
        }
    }
    file.set_permissions(old.permissions())
}

/// A file whose writes tests can let fail.
struct Checked<'f> {
    file: &'f File,
    before: &'f dyn Fn(Step) -> io::Result<()>,
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.before)(Step::Write)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests;
