//! Columns and tables of Arrow, from any library that has its PyCapsule interface.

mod cells;
mod checks;
mod encoding;
mod rows;
mod shown;
mod table;

pub(crate) use rows::{ROWS_AT_ONCE, Rows};
pub(crate) use table::{Table, Verdicts, findings};
