//! SQLite databases in which agents keep their sessions.

use super::Container;
use crate::needs::Needs;
#[cfg(feature = "sqlite")]
use sessions::read;

#[cfg(feature = "sqlite")]
mod sessions;

pub(super) static CONTAINER: Container =
    Container { id: "sqlite", name: "SQLite store of an agent", needs: Needs::Sqlite, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SQLite format 3\0")
}

#[cfg(not(feature = "sqlite"))]
fn read(_: &[u8], _: crate::Limits) -> Option<crate::Opened> {
    None
}
