//! Calls in the words of a template, which no reader reads: it is only known that a text holds one.

use std::sync::LazyLock;

use toolcheck_json::{Document, JsonStr};

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
        || are_json(&text)
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// Whether a text names what to call after words of its own, `Action: tide` and `Action Input: {...}`, as ToolBench has it.
/// ms-swift looks for both anywhere in the text (`swift/plugin/agent_template/base.py` of modelscope/ms-swift).
pub fn are_action(text: &str) -> bool {
    has(text.as_bytes(), b"Action:") && has(text.as_bytes(), b"Action Input:")
}

/// Whether a text is nothing but calls in brackets, such as `[Tides API(port="Oban")]`, as ToolACE has them.
fn are_in_brackets(text: &str) -> bool {
    let Some(inside) = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(")]")) else {
        return false;
    };
    let name = inside.split('(').next().unwrap_or_default();
    name.len() < inside.len() && !name.trim().is_empty() && !name.contains(['"', '{', '[', '\n'])
}

/// Whether a text is nothing but a call or a list of calls in JSON, as the templates of Llama 3 have it.
fn are_json(text: &str) -> bool {
    if !text.trim_start().starts_with(['{', '[']) {
        return false;
    }
    let document = Document::read(text.as_bytes());
    let root = document.root();
    let call = root.elements().next().unwrap_or(root);
    call.get_str("name").is_some() && call.get_any(&["arguments", "parameters"]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_words_are_known_and_prose_is_not_one() {
        let holds = |text: &str| {
            let json = serde_json::to_string(text).unwrap();
            let document = Document::read(json.as_bytes());
            hold_call(document.root().as_json_str().unwrap())
        };
        type Cases = std::collections::BTreeMap<String, Vec<String>>;
        let cases: Cases = serde_json::from_str(include_str!("call_marks.json")).unwrap();
        for (kind, text) in cases.iter().flat_map(|(kind, texts)| texts.iter().map(move |text| (kind, text)))
        {
            assert_eq!(holds(text), kind == "calls", "{text}");
        }
    }
}
