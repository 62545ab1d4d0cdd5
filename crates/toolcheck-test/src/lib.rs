//! Test helpers for code that builds, converts or stores tool-calling conversations.
//!
//! Checks a request body that your code would send:
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
//! If it is not clean, the test fails with the output of `toolcheck lint`: the place, the API's error and how to fix it.
//! [`Check::assert_findings`] asserts that a body has certain findings.
//!
//! A property test: for any conversation, the request is clean and nothing is lost:
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
//!     fn the_request_is_clean(request in transcripts("openai-chat")) {
//!         let sent = adapt(&request);
//!         check(&sent).format("openai-chat").target("portable").assert_clean();
//!         let read = |body| conversation(body, "openai-chat");
//!         prop_assert_eq!(read(&sent), read(&request));
//!     }
//! }
//! # the_request_is_clean();
//! ```
//!
//! - [`check()`] checks one body; [`Check`] has the options, and [`Checked`] is the report, which can be used in snapshots.
//! - [`corpus`] runs a directory of cases, each with an expectation file, like `toolcheck test`.
//! - [`Conversation`] is a conversation without a wire format: [`mod@write`] writes it in each, and [`conversation()`] reads
//!   it from each, so that two bodies can be compared.
#![cfg_attr(
    feature = "proptest",
    doc = "- [`strategies`] generates conversations, and faults to plant in them."
)]
//!
//! `examples/responses-to-chat` is a complete crate with such tests.
//!
//! The module `strategies` needs the feature `proptest`, which is on by default.

mod check;
mod config;
mod conversation;
pub mod corpus;
mod expected;
#[cfg(feature = "proptest")]
pub mod strategies;
pub mod write;

pub use check::{Body, Check, Checked, check};
pub use conversation::conversation;
pub use expected::{ActualFinding, Change, Difference, Expected, Place};
pub use toolcheck_core::Error;
pub use toolcheck_core::conversation::{Assistant, Call, Conversation, Feature, Reasoning, ToolOutput, Turn};

/// [`check`](crate::check()) with a literal, written as in [`serde_json::json!`].
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

/// The examples of the guide run as doctests.
#[cfg(all(doctest, feature = "proptest"))]
#[doc = include_str!("../../../docs/test-helper.md")]
struct Page;
