//! Helpers for tests of what makes, converts or stores tool-calling conversations.
//!
//! A body that your code would send, and what an API would say to it:
//!
//! ```
//! use toolcheck_test::check;
//!
//! check!({
//!     "max_tokens": 1024,
//!     "messages": [{"role": "user", "content": "Which ferry goes first?"}]
//! })
//! .format("anthropic")
//! .target("bedrock")
//! .assert_clean();
//! ```
//!
//! Where it is not clean, the test fails with the picture that `toolcheck lint` draws: the place, what the API answers,
//! and what to do. Where a finding is what you want, [`Check::assert_findings`] names it.
//!
//! Whatever conversation goes in, what comes out is clean, and nothing of it is lost:
//!
#![cfg_attr(feature = "proptest", doc = "```")]
#![cfg_attr(not(feature = "proptest"), doc = "```ignore")]
//! use proptest::prelude::*;
//! use toolcheck_test::strategies::transcripts;
//! use toolcheck_test::{check, conversation};
//!
//! # fn adapt(request: &serde_json::Value) -> serde_json::Value { request.clone() }
//! proptest! {
//!     # #[allow(unused)]
//!     fn what_is_sent_is_clean(request in transcripts("openai-chat")) {
//!         let sent = adapt(&request);
//!         check(&sent).format("openai-chat").target("portable").assert_clean();
//!         let read = |body| conversation(body, "openai-chat");
//!         prop_assert_eq!(read(&sent), read(&request));
//!     }
//! }
//! # what_is_sent_is_clean();
//! ```
//!
//! - [`check()`] checks one body; [`Check`] says how, and [`Checked`] is what was found, made for snapshots.
//! - [`corpus`] runs a directory of cases with expectations beside them; `toolcheck test` is the same.
//! - [`Conversation`] is a conversation without a wire format: [`mod@write`] writes it in each, and [`conversation()`] reads
//!   it from each, so that two bodies can be compared.
#![cfg_attr(
    feature = "proptest",
    doc = "- [`strategies`] generates conversations, and faults to plant in them."
)]
//!
//! `examples/responses-to-chat` is a whole crate that is tested so.
//!
//! The feature `proptest`, which is on by default, is what `strategies` needs.

mod check;
mod config;
mod conversation;
pub mod corpus;
mod error;
mod expected;
#[cfg(feature = "proptest")]
pub mod strategies;
pub mod write;

pub use check::{Body, Check, Checked, check};
pub use conversation::conversation;
pub use error::Error;
pub use expected::{Change, Difference, Expected, Found, Place};
pub use toolcheck_core::conversation::{Assistant, Call, Conversation, Feature, Reasoning, ToolOutput, Turn};

/// [`check`](crate::check()) of a literal, written as in [`serde_json::json!`].
///
/// ```
/// use toolcheck_test::check;
///
/// let question = "Which ferry goes first?";
/// check!({"messages": [{"role": "user", "content": question}]}).assert_clean();
/// ```
#[macro_export]
macro_rules! check {
    ($($json:tt)+) => {
        $crate::check($crate::__json!($($json)+))
    };
}

#[doc(hidden)]
pub use serde_json::json as __json;

/// The code of the page is run too.
#[cfg(all(doctest, feature = "proptest"))]
#[doc = include_str!("../../../docs/test-helper.md")]
struct Page;
