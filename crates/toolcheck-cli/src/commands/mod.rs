//! The subcommands.

pub(crate) mod completions;
pub(crate) mod explain;
mod explain_error;
pub(crate) mod init;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod man;
mod settings;
pub(crate) mod shapes;
pub(crate) mod show;
pub(crate) mod test;

use serde_json::{Value, json};
use toolcheck_core::target::Refusal;

/// A refusal as JSON, with the target or the rule that it belongs to.
fn refusal_json(refusal: &Refusal, key: &str, owner: &str) -> Value {
    json!({
        key: owner, "case": refusal.case, "status": refusal.status, "text": refusal.text,
        "level": refusal.level().as_str(), "evidence": refusal.evidence.to_string(),
        "sources": refusal.sources, "seen": refusal.seen, "doubt": refusal.doubt,
    })
}
