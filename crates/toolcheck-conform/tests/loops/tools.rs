//! The tools of the loop.

use serde_json::{Map, Value as Json};

/// What stands in a text for half of a character, which a Rust string can't hold.
pub(crate) const HALF: &str = "\u{FFFD}";
/// A red square of one pixel, as base64.
pub(crate) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// Runs a tool: what it returns, and whether it failed.
pub(crate) fn run(tool: &str, arguments: Option<&Map<String, Json>>) -> (String, bool) {
    let Some(arguments) = arguments else {
        return ("The arguments are not a JSON object; the tool was not run.".to_owned(), true);
    };
    let text = arguments.get("text").and_then(Json::as_str);
    match (tool, text) {
        ("fail", _) => ("TOOL FAILED".to_owned(), true),
        ("none", _) => ("nothing to say".to_owned(), false),
        ("empty", _) => (String::new(), false),
        ("huge", _) => ("All work and no \u{1F600}\n".repeat(2 << 16), false),
        ("surrogate", _) => (format!("half {HALF} of it"), false),
        ("image", _) => (IMAGE.to_owned(), false),
        ("optional", text) if text.is_some() || arguments.is_empty() => {
            (format!("got {}", text.unwrap_or("DEFAULT")), false)
        }
        ("echo" | "slow", Some(text)) => (format!("got {text}"), false),
        ("echo" | "slow" | "optional", _) => ("The argument `text` is missing.".to_owned(), true),
        _ => (format!("There is no tool `{tool}`."), true),
    }
}
