//! Helpers for tests of what makes, converts or stores tool-calling conversations.
//!
//! - [`corpus`] runs a directory of cases with expectations beside them; `toolcheck test` is the same.
//! - [`Conversation`] is a conversation without a wire format: [`mod@write`] writes it in each, [`Conversation::of`] folds
//!   what was read back, so that two readings can be compared.
//! - [`strategies`] generates conversations, and faults to plant in them.

mod conversation;
pub mod corpus;
mod expected;
#[cfg(feature = "proptest")]
pub mod strategies;
pub mod write;

pub use conversation::{Answer, Call, Conversation, Turn};
pub use expected::{Change, Difference, Expected, Found, Place};
