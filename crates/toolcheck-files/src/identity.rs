//! Whether two paths lead to one file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::place::{destination, folder};

/// What a path leads to, through symbolic and hard links. Equal for two paths to one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity(Kind);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    /// A file that exists, by its device and its number there.
    #[cfg(unix)]
    Node(u64, u64),
    /// A file that does not exist yet; on other systems than Unix, any file, so hard links are not seen there.
    Path(PathBuf),
}

impl Identity {
    /// The identity of the file that a path leads to, or would create.
    pub fn of(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(metadata) = fs::metadata(path) {
            use std::os::unix::fs::MetadataExt as _;
            return Self(Kind::Node(metadata.dev(), metadata.ino()));
        }
        let path = destination(path).unwrap_or_else(|_| path.to_owned());
        let real = fs::canonicalize(&path).or_else(|_| {
            let name = path.file_name().unwrap_or_default();
            fs::canonicalize(folder(&path)).map(|folder| folder.join(name))
        });
        Self(Kind::Path(real.unwrap_or(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "").expect("written");
        fs::write(path("b"), "").expect("written");
        fs::create_dir(path("below")).expect("created");
        let of = |name: &str| Identity::of(&path(name));
        assert_eq!(of("a"), of("below/../a"));
        assert_ne!(of("a"), of("b"));
        assert_eq!(of("new"), of("below/../new"));
        assert_ne!(of("new"), of("newer"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", path("link")).expect("linked");
            std::os::unix::fs::symlink("new", path("dangling")).expect("linked");
            fs::hard_link(path("a"), path("hard")).expect("linked");
            assert_eq!((of("link"), of("hard")), (of("a"), of("a")));
            assert_eq!(of("dangling"), of("new"));
        }
    }
}
