//! What changes are about, in words.

use super::super::events::{Event, Events};
use crate::ir::Role;
use crate::text::shorten;

/// What to call a call: by its tool and its id.
pub(super) fn title(event: &Event<'_>) -> String {
    let name = event.name.as_deref().unwrap_or("?");
    match event.id.as_deref() {
        Some(id) => format!("`{}` (`{}`)", shorten(name), shorten(id)),
        None => format!("`{}`", shorten(name)),
    }
}

/// What to call a result: by its call, if it has one.
pub(super) fn result_title(result: &Event<'_>, events: &Events<'_>) -> String {
    format!("result of {}", title(result.owner.map_or(result, |call| &events.all[call])))
}

pub(super) fn text_title(event: &Event<'_>) -> String {
    format!("text of {}, {}", speaker(event), characters(event.text.chars().count()))
}

pub(super) fn speaker(event: &Event<'_>) -> &'static str {
    match event.speaker {
        Role::System => "the system",
        Role::User => "the user",
        Role::Assistant => "the model",
        Role::Tool => "a tool",
        Role::Unknown => "an unknown role",
    }
}

pub(super) fn moved(before: &Event<'_>, after: &Event<'_>) -> String {
    format!("from {} to {}", speaker(before), speaker(after))
}

pub(in crate::diff) fn characters(count: usize) -> String {
    format!("{count} character{}", if count == 1 { "" } else { "s" })
}

pub(super) fn lengths(before: usize, after: usize) -> String {
    format!("{before} to {}", characters(after))
}
