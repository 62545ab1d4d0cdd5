//! The pieces of a long file, which threads lint at the same time.

use std::io;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::inputs::{Buffer, Piece, Text};

/// What is linted before the findings are put in order.
pub(crate) struct Rounds;

impl Rounds {
    /// The average number of pieces of each thread.
    const PIECES: usize = 16;

    pub(crate) fn size() -> Range<usize> {
        0..rayon::current_num_threads() * Self::PIECES
    }
}

/// The pieces of a text, handed out to threads.
pub(crate) struct Pieces<'p> {
    text: Text<'p>,
    taken: usize,
    /// The buffers of earlier pieces, for reuse.
    pub(crate) free: Vec<Buffer>,
    /// The result of reading, once there are no more pieces.
    pub(crate) end: Option<io::Result<()>>,
}

impl<'p> Pieces<'p> {
    pub(crate) fn new(text: Text<'p>) -> Self {
        Self { text, taken: 0, free: Vec::new(), end: None }
    }

    pub(crate) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
        // A thread that panicked has either taken a piece or not: the state is consistent.
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&mut self) -> Option<(usize, Piece)> {
        if self.end.is_some() {
            return None;
        }
        match self.text.piece(self.free.pop().unwrap_or_default()) {
            Ok(Some(piece)) => {
                self.taken += 1;
                return Some((self.taken, piece));
            }
            Ok(None) => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(error)),
        }
        None
    }
}

#[derive(Default)]
pub(crate) struct TooLong {
    /// The number of the first one, from 1.
    first: Option<u64>,
    /// How many there are after the first one.
    others: usize,
}

impl TooLong {
    pub(crate) fn add(&mut self, line: u64) {
        match self.first {
            None => self.first = Some(line),
            Some(_) => self.others += 1,
        }
    }

    /// Fails if there was such a line. What was found in the other lines is kept.
    pub(crate) fn end(&self, most: u64) -> io::Result<()> {
        let Some(line) = self.first else { return Ok(()) };
        let which = match self.others {
            0 => format!("line {line} is"),
            others => format!("line {line} and {others} more are"),
        };
        let message =
            format!("{which} larger than {most} bytes and not read: raise the limit with --max-document");
        Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
    }
}
