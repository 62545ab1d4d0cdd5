//! Converts byte offsets to lines and columns.

/// A line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1. A line ends after `\n`.
    pub line: u64,
    /// The column, from 1, counted in characters.
    pub column: u64,
}

/// The positions of `offsets` in `bytes`, in the order of `offsets`.
///
/// One pass over the text, whatever the number of offsets: ten thousand findings in one line cost no more
/// than one. An offset beyond the end is the end. In invalid UTF-8, every byte that is not a
/// continuation byte counts as a column.
pub fn locate(bytes: &[u8], offsets: &[usize]) -> Vec<Position> {
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|&index| offsets[index]);
    let mut positions = vec![Position { line: 1, column: 1 }; offsets.len()];
    let (mut at, mut line, mut column) = (0, 1, 1);
    for index in order {
        let offset = offsets[index].min(bytes.len());
        let passed = &bytes[at..offset];
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            line += memchr::memchr_iter(b'\n', passed).count() as u64;
            column = 1 + characters(&passed[last + 1..]);
        } else {
            column += characters(passed);
        }
        at = offset;
        positions[index] = Position { line, column };
    }
    positions
}

/// The number of characters that begin in `bytes`.
fn characters(bytes: &[u8]) -> u64 {
    // Sums of chunks that fit into a `u8`, so that the compiler can vectorise them.
    let begins = |byte: &u8| u8::from(byte & 0xC0 != 0x80);
    bytes.chunks(192).map(|chunk| u64::from(chunk.iter().map(begins).sum::<u8>())).sum()
}
