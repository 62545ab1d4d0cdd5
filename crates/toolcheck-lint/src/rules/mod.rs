//! The rules, one file each, and beside each its page in Markdown, which is its manual and its test.
//!
//! To add a rule, add both files, a line here, and its id to the list in `toolcheck-core`.

mod abandoned_call;
pub(crate) mod altered_arguments;
mod altered_reasoning;
mod arguments_schema_mismatch;
pub(crate) mod blank_line;
mod blank_text;
mod completion_after_failure;
mod conflicting_parameters;
mod detached_reasoning;
mod dropped_reasoning;
mod dropped_text;
mod dropped_tool_call;
mod duplicate_item_id;
mod duplicate_key;
mod duplicate_tool_call_id;
mod duplicate_tool_definition;
mod duplicate_tool_result;
mod empty_content;
mod empty_tool_calls;
mod empty_tool_list;
mod endless_loop;
mod first_message_role;
mod foreign_shape;
mod ignored_retry_after;
pub(crate) mod invalid_arguments_json;
mod invalid_cache_mark;
mod invalid_result_content;
mod invalid_tool_name;
mod invalid_tool_schema;
mod invalid_utf8;
mod invalid_value;
mod invalid_weight;
mod late_tool_result;
mod lone_surrogate;
mod malformed_item_id;
pub(crate) mod malformed_json;
mod malformed_server_call_id;
mod malformed_text_call;
mod malformed_tool_call_id;
mod media_type_mismatch;
mod merged_assistant_turns;
mod mismatched_result_kind;
pub(crate) mod misplaced_event;
mod misplaced_media;
mod misplaced_message;
mod misplaced_prefix;
mod misplaced_reasoning;
mod misplaced_tool_result;
mod missing_assistant_message;
mod missing_container;
pub(crate) mod missing_field;
mod missing_parameter;
pub(crate) mod missing_reasoning;
mod missing_tool_call_id;
mod missing_tool_definitions;
mod mixed_content;
mod mixed_tool_protocols;
pub(crate) mod modified_reasoning;
mod orphan_server_result;
mod orphan_tool_result;
mod oversized_command;
mod oversized_content;
mod parallel_calls_in_serial_protocol;
mod policy_violation;
mod ran_unfinished_arguments;
mod reordered_tool_results;
mod repeated_failing_call;
mod result_schema_mismatch;
mod retried_refusal;
mod reused_tool_call_id;
mod shell_file_write;
mod split_assistant_turn;
mod split_tool_results;
mod swapped_results;
mod template_doubles;
mod template_loses;
mod template_misbinds;
mod template_prints_none;
mod template_refuses;
mod template_untrained;
mod too_many_tools;
mod tool_name_mismatch;
mod trailing_assistant;
mod trailing_white_space;
mod unanswered_server_call;
mod unanswered_tool_call;
mod undeclared_server_tool;
mod unheard_tool_error;
mod unknown_content_type;
mod unknown_field;
mod unknown_role;
mod unknown_tool;
mod unknown_tool_reference;
pub(crate) mod unread_content;
pub(crate) mod unrecognised_format;
mod unresolved_reference;
mod unsigned_reasoning;
mod unsupported_media;
mod wrong_arguments_type;
mod wrong_type;

use toolcheck_core::RuleId;
use toolcheck_core::shape::{Demand, ObjectView};

use crate::category::Category;
use crate::rule::Rule;
use crate::view::shape::usual_rule;

/// All rules, by id.
pub static ALL: &[&Rule] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The rule of this id.
pub fn get(id: RuleId) -> &'static Rule {
    ALL[id.number()]
}

/// The rule whose id is written so; `None` if there is none.
pub fn find(id: &str) -> Option<&'static Rule> {
    RuleId::find(id).map(get)
}

/// The rules of a category, by id.
pub fn of(category: Category) -> impl Iterator<Item = &'static Rule> {
    ALL.iter().copied().filter(move |rule| rule.category == category)
}

/// The id of the rule that reports requests that do not meet what a shape asks of this object.
pub fn of_demand(object: ObjectView<'_>, demand: &Demand<'_>) -> RuleId {
    let is_of_type = object.by().is_some_and(|by| by == demand.key);
    demand.rule.unwrap_or_else(|| usual_rule(demand.fault, is_of_type, object.name() == "request"))
}
