//! The rules: one file each, whose documentation is its manual page and its test.
//!
//! Adding a rule is a file and two lines here.

mod blank_text;
mod detached_reasoning;
mod duplicate_key;
mod duplicate_tool_call_id;
mod duplicate_tool_result;
mod empty_content;
mod empty_tool_calls;
mod first_message_role;
mod invalid_utf8;
mod late_tool_result;
mod lone_surrogate;
mod malformed_json;
mod malformed_tool_call_id;
mod mismatched_result_kind;
mod misplaced_tool_result;
mod missing_reasoning;
mod missing_tool_call_id;
mod missing_tool_definitions;
mod orphan_tool_result;
mod reordered_tool_results;
mod reused_tool_call_id;
mod split_assistant_turn;
mod split_tool_results;
mod tool_name_mismatch;
mod trailing_assistant;
mod unanswered_tool_call;
mod unknown_role;
mod unrecognised_format;
mod unsigned_reasoning;

use crate::rule::Rule;

/// All rules, by id.
pub static ALL: &[&Rule] = &[
    &blank_text::RULE,
    &detached_reasoning::RULE,
    &duplicate_key::RULE,
    &duplicate_tool_call_id::RULE,
    &duplicate_tool_result::RULE,
    &empty_content::RULE,
    &empty_tool_calls::RULE,
    &first_message_role::RULE,
    &invalid_utf8::RULE,
    &late_tool_result::RULE,
    &lone_surrogate::RULE,
    &malformed_json::RULE,
    &malformed_tool_call_id::RULE,
    &mismatched_result_kind::RULE,
    &misplaced_tool_result::RULE,
    &missing_reasoning::RULE,
    &missing_tool_call_id::RULE,
    &missing_tool_definitions::RULE,
    &orphan_tool_result::RULE,
    &reordered_tool_results::RULE,
    &reused_tool_call_id::RULE,
    &split_assistant_turn::RULE,
    &split_tool_results::RULE,
    &tool_name_mismatch::RULE,
    &trailing_assistant::RULE,
    &unanswered_tool_call::RULE,
    &unknown_role::RULE,
    &unrecognised_format::RULE,
    &unsigned_reasoning::RULE,
];

/// The rule of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.id == id)
}
