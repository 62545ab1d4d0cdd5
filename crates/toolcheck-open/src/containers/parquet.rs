//! Data sets in Parquet, a format for tables.

use super::Container;
use crate::needs::Needs;
#[cfg(feature = "parquet")]
use rows::read;

#[cfg(feature = "parquet")]
mod rows;

pub(super) static CONTAINER: Container =
    Container { id: "parquet", name: "Parquet file", needs: Needs::Parquet, sniff, read };

fn sniff(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1")
}

#[cfg(not(feature = "parquet"))]
fn read(_: &[u8], _: crate::Limits) -> Option<crate::Opened> {
    None
}
