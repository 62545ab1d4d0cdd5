#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;

fn tempdir() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// More than a buffer holds, so that there are several writes.
fn long() -> Vec<u8> {
    (0..100_000u32).flat_map(u32::to_le_bytes).collect()
}

fn fill(out: &mut dyn Write) -> io::Result<()> {
    long().chunks(1000).try_for_each(|chunk| out.write_all(chunk))
}

/// Writes a file, and lets the step of this number fail. Returns the steps and the result.
fn write_failing(path: &Path, existing: Existing, fails: usize) -> (Vec<Step>, io::Result<()>) {
    let steps = Cell::new(Vec::new());
    let result = write_to(path, existing, fill, &|step| {
        let mut seen = steps.take();
        seen.push(step);
        let count = seen.len();
        steps.set(seen);
        if count > fails { Err(io::Error::from(ErrorKind::StorageFull)) } else { Ok(()) }
    });
    (steps.take(), result)
}

#[test]
fn an_error_at_any_step_leaves_the_old_file() {
    let folder = tempdir();
    let path = folder.path().join("a.json");
    for existing in [Existing::Replaced, Existing::Kept] {
        let _ = fs::remove_file(&path);
        let (steps, result) = write_failing(&path, existing, usize::MAX);
        result.unwrap();
        assert!(steps.iter().filter(|step| **step == Step::Write).count() > 5, "{steps:?}");
        assert_eq!(steps.last(), Some(&Step::Rename));
        for fails in 0..steps.len() {
            let before = if existing == Existing::Replaced {
                fs::write(&path, "old").unwrap();
                BTreeSet::from(["a.json".to_owned()])
            } else {
                let _ = fs::remove_file(&path);
                BTreeSet::new()
            };
            let (seen, result) = write_failing(&path, existing, fails);
            assert_eq!(result.unwrap_err().kind(), ErrorKind::StorageFull);
            // A buffer tries once more to write what it holds.
            assert_eq!(seen[..=fails], steps[..=fails]);
            assert_eq!(names(folder.path()), before, "{seen:?}");
            if existing == Existing::Replaced {
                assert_eq!(fs::read(&path).unwrap(), b"old");
            }
        }
    }
}

#[test]
fn an_error_of_the_source_leaves_the_old_file() {
    let folder = tempdir();
    let path = folder.path().join("a.json");
    fs::write(&path, "old").unwrap();
    let result = write(&path, |out| {
        out.write_all(&long())?;
        Err(io::Error::other("no more"))
    });
    assert_eq!(result.unwrap_err().to_string(), "no more");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()).len(), 1);
    // A panic leaves nothing behind either.
    let panicked = std::panic::catch_unwind(|| write(&path, |_| panic!("in the middle")));
    assert!(panicked.is_err());
    assert_eq!(names(folder.path()).len(), 1);
}

#[test]
fn a_file_is_created_or_replaced() {
    let folder = tempdir();
    let path = folder.path().join("a.json");
    write(&path, fill).unwrap();
    assert_eq!(fs::read(&path).unwrap(), long());
    write(&path, |out| out.write_all(b"short")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"short");
    assert_eq!(create(&path, b"other").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"short");
    create(&folder.path().join("b.json"), b"other").unwrap();
    assert_eq!(names(folder.path()), BTreeSet::from(["a.json".to_owned(), "b.json".to_owned()]));
    let error = write(&folder.path().join("none/a.json"), fill).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(write(folder.path(), fill).is_err());
}

#[test]
fn a_change_in_between_is_not_lost() {
    let folder = tempdir();
    let path = folder.path().join("a.json");
    replace(&path, None, b"one").unwrap();
    let error = replace(&path, None, b"two").unwrap_err();
    assert!(error.to_string().contains("another program has changed it"), "{error}");
    replace(&path, Some(b"one"), b"two").unwrap();
    assert!(replace(&path, Some(b"one"), b"three").is_err());
    assert_eq!(fs::read(&path).unwrap(), b"two");
    fs::remove_file(&path).unwrap();
    assert!(replace(&path, Some(b"two"), b"three").is_err());
    assert_eq!(names(folder.path()), BTreeSet::new());
    let large = vec![0; MAX_BYTES as usize + 1];
    assert_eq!(replace(&path, None, &large).unwrap_err().kind(), ErrorKind::FileTooLarge);
}

#[test]
fn of_many_writers_none_is_lost_silently() {
    let folder = tempdir();
    let path = folder.path().join("count");
    let add = |_| {
        // A writer that is told that the file has changed reads it again.
        loop {
            let seen = read(&path).ok();
            let text = String::from_utf8(seen.clone().unwrap_or_default()).unwrap();
            let count: usize = if text.is_empty() { 0 } else { text.parse().unwrap() };
            if replace(&path, seen.as_deref(), (count + 1).to_string().as_bytes()).is_ok() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(add));
        }
    });
    assert_eq!(fs::read(&path).unwrap(), b"100");
    assert_eq!(names(folder.path()).len(), 1);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn permissions_stay_and_new_files_have_the_usual_ones() {
        let folder = tempdir();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("usual"), "").unwrap();
        write(&path("new"), fill).unwrap();
        assert_eq!(mode(&path("new")), mode(&path("usual")));
        for wanted in [0o600, 0o640, 0o755, 0o666] {
            fs::set_permissions(path("new"), PermissionsExt::from_mode(wanted)).unwrap();
            write(&path("new"), fill).unwrap();
            assert_eq!(mode(&path("new")), wanted);
        }
        let owner = |name: &str| fs::metadata(path(name)).map(|file| (file.uid(), file.gid())).unwrap();
        // Only root can make such a file, and only root can keep its owner.
        if std::os::unix::fs::chown(path("usual"), Some(12), Some(34)).is_ok() {
            write(&path("usual"), fill).unwrap();
            assert_eq!(owner("usual"), (12, 34));
        }
        fs::set_permissions(path("new"), PermissionsExt::from_mode(0o444)).unwrap();
        // Root may write to it.
        let may_write = File::options().write(true).open(path("new")).is_ok();
        assert_eq!(write(&path("new"), |out| out.write_all(b"x")).is_ok(), may_write);
        assert_eq!(fs::read(path("new")).unwrap().len() == 1, may_write);
    }

    #[test]
    fn links_stay() {
        let folder = tempdir();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("below")).unwrap();
        fs::write(path("below/target"), "old").unwrap();
        symlink("below/target", path("one")).unwrap();
        symlink("one", path("two")).unwrap();
        fs::hard_link(path("below/target"), path("hard")).unwrap();
        write(&path("two"), |out| out.write_all(b"new")).unwrap();
        for name in ["one", "two"] {
            assert!(fs::symlink_metadata(path(name)).unwrap().is_symlink(), "{name}");
        }
        assert_eq!(fs::read(path("below/target")).unwrap(), b"new");
        assert_eq!(fs::read(path("hard")).unwrap(), b"old");
        // A link may name what is to be created.
        symlink("below/created", path("dangling")).unwrap();
        assert_eq!(create(&path("dangling"), b"x").unwrap_err().kind(), ErrorKind::AlreadyExists);
        replace(&path("dangling"), None, b"new").unwrap();
        assert_eq!(fs::read(path("below/created")).unwrap(), b"new");
        symlink("round", path("round")).unwrap();
        assert!(write(&path("round"), fill).is_err());
        assert_eq!(names(&path("below")).len(), 2);
    }

    #[test]
    fn pipes_and_devices_are_written_to() {
        let folder = tempdir();
        write(Path::new("/dev/null"), fill).unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write(&pipe, fill).unwrap();
        assert_eq!(reader.join().unwrap(), long());
        if Path::new("/dev/full").exists() {
            let error = write(Path::new("/dev/full"), fill).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
        }
    }

    #[test]
    fn only_files_are_read() {
        let folder = tempdir();
        let path = |name: &str| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        let refused: [(PathBuf, &str); 4] = [
            (path("pipe"), "a pipe"),
            (path("socket"), "a socket"),
            (PathBuf::from("/dev/zero"), "a device"),
            (path("."), "a folder"),
        ];
        for (path, kind) in refused {
            let wanted = format!("it is {kind}, not a file");
            assert_eq!(read(&path).unwrap_err().to_string(), wanted);
            assert_eq!(crate::check(&path).unwrap_err().to_string(), wanted);
            if kind != "a pipe" {
                assert_eq!(crate::read_named(&path).unwrap_err().to_string(), wanted);
            }
            assert!(replace(&path, None, b"x").is_err());
        }
        let writer = std::thread::spawn({
            let pipe = path("pipe");
            move || fs::write(pipe, "text").unwrap()
        });
        assert_eq!(crate::read_named(&path("pipe")).unwrap(), b"text");
        writer.join().unwrap();
        let sparse = File::create(path("large")).unwrap();
        sparse.set_len(MAX_BYTES).unwrap();
        assert_eq!(read(&path("large")).unwrap().len() as u64, MAX_BYTES);
        sparse.set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(read(&path("large")).unwrap_err().to_string(), "it is larger than 64 MiB");
        assert_eq!(crate::check(&path("large")).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
