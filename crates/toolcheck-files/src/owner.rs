//! Whose a file is.

use std::path::Path;

/// Users whose settings hold for this process without its user having named them.
#[derive(Debug, Clone)]
pub struct Trusted {
    #[cfg(unix)]
    users: Vec<u32>,
}

/// The owner of a file, as a number.
pub type Owner = u32;

impl Trusted {
    /// The user of this process, root, the user who has become root with `sudo`, and the owner of the current folder: in
    /// a container, the files of a project often belong to a user of the machine around it.
    pub fn new() -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let user = rustix::process::geteuid().as_raw();
            let sudo = std::env::var("SUDO_UID").ok().filter(|_| user == ROOT).and_then(|id| id.parse().ok());
            let here = std::fs::metadata(".").ok().map(|folder| folder.uid());
            Self { users: [Some(ROOT), Some(user), sudo, here].into_iter().flatten().collect() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// The owner of a file who is none of these; `None` if its owner is, or is not known. The owner of a link counts too:
    /// who makes one chooses the settings. On other systems than Unix, all owners are trusted.
    pub fn stranger(&self, file: &Path) -> Option<Owner> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let owners = [std::fs::symlink_metadata(file), std::fs::metadata(file)];
            let mut owners = owners.into_iter().flatten().map(|metadata| metadata.uid());
            owners.find(|owner| !self.users.contains(owner))
        }
        #[cfg(not(unix))]
        {
            let _ = file;
            None
        }
    }
}

impl Default for Trusted {
    fn default() -> Self {
        Self::new()
    }
}

/// Who can read and write everything anyway.
#[cfg(unix)]
const ROOT: u32 = 0;

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_nobody_known_has_a_stranger() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a");
        std::fs::write(&file, "").expect("written");
        let owner = std::fs::metadata(&file).expect("it is there").uid();
        assert_eq!(Trusted::new().stranger(&file), None);
        let others = Trusted { users: vec![owner.wrapping_add(1)] };
        assert_eq!(others.stranger(&file), Some(owner));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("a", &link).expect("linked");
        assert_eq!(others.stranger(&link), Some(owner));
        assert_eq!(others.stranger(&folder.path().join("none")), None);
    }
}
