//! A program that ends in the middle of a write. Alone in a file, because it ends the writes of the whole process.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use std::io::ErrorKind;

#[test]
fn unfinished_writes_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().count();
    let path = folder.path().join("a");
    std::fs::write(&path, "old").unwrap();
    let result = toolcheck_files::write(&path, |out| {
        out.write_all(b"new")?;
        assert_eq!(files(), 2);
        drop(toolcheck_files::remove_unfinished());
        assert_eq!(files(), 1);
        Ok(())
    });
    assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(files(), 1);
}
