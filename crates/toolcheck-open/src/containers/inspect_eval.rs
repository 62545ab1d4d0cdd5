//! `.eval` archives of Inspect: ZIP, with a file for each sample.

use super::Container;
use crate::needs::Needs;
#[cfg(feature = "zip")]
use samples::read;

#[cfg(feature = "zip")]
mod samples;

pub(super) static CONTAINER: Container =
    Container { id: "inspect-eval", name: "Inspect log archive (.eval)", needs: Needs::Zip, sniff, read };

/// The files that an archive begins with, before its directory, which is at the end.
const FIRST: [&[u8]; 4] = [b"_journal/", b"header.json", b"samples/", b"summaries.json"];

fn sniff(bytes: &[u8]) -> bool {
    // The name of the first file, after a header of 30 bytes.
    bytes.starts_with(b"PK\x03\x04")
        && bytes.get(30..).is_some_and(|name| FIRST.iter().any(|first| name.starts_with(first)))
}

#[cfg(not(feature = "zip"))]
fn read(_: &[u8], _: crate::Limits) -> Option<crate::Opened> {
    None
}
