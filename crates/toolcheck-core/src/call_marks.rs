//! Calls in the words of a template, which no reader reads: it is only known that a text holds one.

use std::sync::LazyLock;

use toolcheck_json::JsonStr;

use crate::ir::{Body, Part, Role, Transcript};

/// What begins a call in the texts of models.
static MARKS: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
    let lines = include_str!("call_marks.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(str::as_bytes).collect()
});

/// Whether a text of a model holds a call in the words of its template.
pub fn hold_call(text: JsonStr<'_>) -> bool {
    // Most texts have none of what all of these have.
    let is_escaped = || text.is_escaped() && has(text.raw(), b"\\u00");
    if memchr::memchr3(b'<', b'[', b'{', text.raw()).is_none()
        && !has(text.raw(), b"Action:")
        && !has(text.raw(), b"```tool")
        && !is_escaped()
    {
        return false;
    }
    let text = text.decode();
    let bytes = text.as_bytes();
    let begins = |at: usize| MARKS.iter().any(|mark| bytes[at..].starts_with(mark));
    are_action(&text)
        || are_in_brackets(&text)
        || memchr::memchr3_iter(b'<', b'[', b'`', bytes).any(begins)
        || have_keys(&text)
        || text.split(">>>").skip(1).any(is_named_first)
}

/// How many texts of the model are surely calls that were not read: a mark begins a line, or they are calls in brackets.
pub(crate) fn count_unread(transcript: &Transcript<'_>) -> usize {
    let messages = (0..).zip(transcript.messages_with_parts());
    let of_model = messages.filter(|(number, (message, parts))| {
        message.role == Role::Assistant
            && !parts.iter().any(|part| matches!(part.body, Body::Call(_)))
            && transcript.details.malformed_text_calls.iter().all(|block| block.message != *number)
    });
    let is_call = |part: &&Part<'_>| matches!(part.body, Body::Text(text) if is_call(text.string));
    of_model.map(|(_, (_, parts))| parts.iter().filter(is_call).count()).sum()
}

fn is_call(text: JsonStr<'_>) -> bool {
    if memchr::memchr3(b'<', b'[', b'`', text.raw()).is_none() && !has(text.raw(), b">>>") {
        return false;
    }
    let text = text.decode();
    let begins = |line: &str| MARKS.iter().any(|mark| line.as_bytes().starts_with(mark));
    let is_given =
        || text.contains("()") || text.split_once('(').is_some_and(|(_, given)| given.contains('='));
    let is_named = |part: &str| {
        is_named_first(part) && part.split_once('\n').is_some_and(|(_, given)| given.starts_with('{'))
    };
    text.split(">>>").skip(1).any(is_named)
        || text.lines().any(|line| {
            begins(line.trim_start()) || line.split("><").skip(1).any(|rest| begins(&format!("<{rest}")))
        })
        || are_in_brackets(&text) && is_given()
}

fn has(text: &[u8], word: &[u8]) -> bool {
    toolcheck_json::contains(text, word)
}

/// Whether a text names what to call after words of its own, `Action: tide` and `Action Input: {...}`, as ToolBench has it.
/// ms-swift looks for both anywhere in the text (`swift/plugin/agent_template/base.py` of modelscope/ms-swift).
pub fn are_action(text: &str) -> bool {
    has(text.as_bytes(), b"Action:") && has(text.as_bytes(), b"Action Input:")
}

/// Whether what such a text calls has a result: `Finish` ends an attempt of ToolBench, after which the model may begin anew.
pub(crate) fn are_action_with_result(text: &str) -> bool {
    // The input may have the word too.
    let before = text.rsplit_once("\nAction Input:").map_or(text, |(before, _)| before);
    let called = before.rsplit("Action:").next().unwrap_or_default().trim_start();
    let is_of_name = |character: char| character.is_alphanumeric() || character == '_';
    are_action(text) && called.trim_start_matches('"').split(|one| !is_of_name(one)).next() != Some("Finish")
}

/// Whether a text is nothing but calls in brackets, such as `[Tides API(port="Oban")]`, as ToolACE has them.
fn are_in_brackets(text: &str) -> bool {
    let Some(inside) = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(")]")) else {
        return false;
    };
    let name = inside.split('(').next().unwrap_or_default();
    name.len() < inside.len() && !name.trim().is_empty() && !name.contains(['"', '{', '[', '\n'])
}

/// Whether a text has the keys of a call in JSON: alone, as the templates of Llama 3 have it, in a fence or behind any mark.
fn have_keys(text: &str) -> bool {
    let has_one = |keys: [&str; 2]| keys.iter().any(|key| has(text.as_bytes(), key.as_bytes()));
    has_one(["\"name\"", "\"tool_name\""]) && has_one(["\"arguments\"", "\"parameters\""])
}

/// Whether a text begins with a line that names a tool, which functionary writes behind `>>>`, or `all` for what it says
/// (`common_chat_params_init_functionary_v3_2` in `common/chat.cpp` of ggml-org/llama.cpp).
fn is_named_first(text: &str) -> bool {
    let name = text.split_once('\n').map_or("", |(name, _)| name);
    !matches!(name, "" | "all")
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}
