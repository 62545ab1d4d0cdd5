//! How much may still be made of a file.

use std::cell::Cell;

use crate::Limits;
use crate::reason::Reason;

/// How many bytes each byte of a file may become by being written anew: aliases may make it much more. The places of what
/// is written are counted too, so a small file without aliases may reach a third of this.
const MOST_RATIO: usize = 32;
/// What may be written of any file, however small.
const MODEST: usize = 16 << 20;

/// How much may still be made of a file. What is made and then dropped counts too: it costs as much.
#[derive(Debug)]
pub(crate) struct Budget {
    written: Cell<usize>,
    #[cfg_attr(
        not(any(test, feature = "compress", feature = "zip")),
        expect(dead_code, reason = "nothing is decompressed")
    )]
    unpacked: Cell<usize>,
}

impl Budget {
    /// What may be made of a file of this many bytes.
    pub(crate) fn of_file(bytes: usize, limits: Limits) -> Self {
        let written = bytes.saturating_mul(MOST_RATIO).saturating_add(MODEST);
        Self::new(written.min(limits.most_bytes), limits.most_bytes)
    }

    pub(crate) fn new(written: usize, unpacked: usize) -> Self {
        Self { written: Cell::new(written), unpacked: Cell::new(unpacked) }
    }

    /// Whether so many bytes may still be written.
    pub(crate) fn fits(&self, count: usize) -> Result<(), Reason> {
        if count > self.written.get() { Err(Reason::TooLarge) } else { Ok(()) }
    }

    /// Takes the room for bytes that are copied from the file or written.
    pub(crate) fn write(&self, count: usize) -> Result<(), Reason> {
        let rest = self.written.get().checked_sub(count).ok_or(Reason::TooLarge)?;
        self.written.set(rest);
        Ok(())
    }

    /// Takes the room for bytes that were decompressed. Once there is none, nothing more is.
    #[cfg(any(feature = "compress", feature = "zip"))]
    pub(crate) fn unpack(&self, count: usize) -> Result<(), Reason> {
        let rest = self.unpacked.replace(0).checked_sub(count).ok_or(Reason::TooLarge)?;
        self.unpacked.set(rest);
        Ok(())
    }

    /// How many bytes may still be decompressed.
    #[cfg(any(feature = "compress", feature = "zip"))]
    pub(crate) fn room(&self) -> usize {
        self.unpacked.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_has_more_room_than_a_small_one_and_no_more_than_the_limit() {
        let room = |bytes, most| {
            let budget = Budget::of_file(bytes, Limits::new(most));
            (budget.written.get(), budget.unpacked.get())
        };
        assert_eq!(room(0, 1 << 30), (MODEST, 1 << 30));
        assert_eq!(room(1 << 20, 1 << 30), (48 << 20, 1 << 30));
        assert_eq!(room(1 << 20, 1_000), (1_000, 1_000));
        let budget = Budget::new(10, 10);
        assert!(budget.write(11).is_err() && budget.write(10).is_ok() && budget.write(1).is_err());
    }
}
