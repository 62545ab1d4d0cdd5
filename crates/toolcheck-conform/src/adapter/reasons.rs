//! The reason to stop that a response gives.

use serde_json::Value as Json;
use toolcheck_core::reply::Stop;

use super::bodies::{self, BodyKind};
use super::conversation::TestConversation;
use super::faults::{AdapterFault, Translation};

/// A response that says that the model was done, though it called tools or had no more tokens: who reads that ends the run,
/// or takes half an answer for a whole one.
pub(super) fn fault(
    conversation: &TestConversation,
    kind: BodyKind,
    translation: &Translation,
    after: &Json,
) -> Option<AdapterFault> {
    let reply = bodies::reply(conversation)?;
    let is_cut = reply.stop == Stop::Length;
    if kind == BodyKind::Request || reply.said.calls.is_empty() && !is_cut {
        return None;
    }
    let write = |stop| translation.to.write_reply(&reply.clone().with_stop(stop));
    // Not every format has words of its own for both.
    let (key, due, end) = difference(&write(reply.stop), &write(Stop::End), "")?;
    let mut told = Vec::new();
    values(after, &key, &mut told);
    if told.contains(&&due) || !told.contains(&&end) {
        return None;
    }
    let what = if is_cut { "has no more tokens" } else { "calls tools" };
    let message = format!("the model {what}, but `{key}` is {end} and not {due}");
    Some(AdapterFault::of_comparison("stop-changed", message))
}

/// The first texts in which two values differ, with their key.
fn difference(one: &Json, other: &Json, key: &str) -> Option<(String, Json, Json)> {
    match (one, other) {
        (Json::Object(own), Json::Object(others)) => {
            own.iter().find_map(|(key, value)| difference(value, others.get(key)?, key))
        }
        (Json::Array(own), Json::Array(others)) => {
            own.iter().zip(others).find_map(|(one, other)| difference(one, other, key))
        }
        (Json::String(_), Json::String(_)) if one != other => {
            Some((key.to_owned(), one.clone(), other.clone()))
        }
        _ => None,
    }
}

/// The values under a key, wherever it is.
fn values<'v>(value: &'v Json, key: &str, found: &mut Vec<&'v Json>) {
    match value {
        Json::Array(elements) => elements.iter().for_each(|element| values(element, key, found)),
        Json::Object(members) => {
            found.extend(members.get(key));
            members.values().for_each(|member| values(member, key, found));
        }
        _ => {}
    }
}
