//! Adapters and gateways: what comes out of one in another format is held against what went in.
//!
//! A [`TestConversation`] is a conversation as data. It is [written](bodies) in the format before, the adapter answers with a body in
//! the format after, and that body is linted and compared with the one before. [`examine`](fn@examine) does this for many conversations, and
//! makes the smallest conversation that still shows each fault.

pub mod bodies;
mod conversation;
mod examine;
mod faults;
mod generate;
mod reasons;
mod shrink;

pub use bodies::BodyKind;
pub use conversation::{TestCall, TestConversation, TestTurn, conversations};
pub use examine::{Answer, CaseReport, Examination, Plan, Question, ReducedFault, examine};
pub use faults::{AdapterFault, Gravity, Origin, Translation};
pub use generate::generated;
pub use shrink::{shrink, steps};
