//! Calls between `<tool_call>` tags, as Hermes and Qwen write them: JSON, or Qwen3-Coder's tags.
//!
//! Sources: the function-calling repository of Hermes (`NousResearch/Hermes-Function-Calling`), the chat templates of
//! Qwen2.5, Qwen3 and Qwen3-Coder, and the parsers `hermes` and `qwen3_coder` of vLLM.

use toolcheck_json::{Document, SyntaxErrorKind};

use super::{Answers, Block, Malformation, Protocol, trimmed, up_to};

pub(super) static PROTOCOL: Protocol = Protocol {
    id: "hermes",
    name: "Hermes",
    is_serial: false,
    may_hold: |raw| toolcheck_json::contains(raw, OPENING.as_bytes()),
    block_at,
    teaches: |text| text.contains("<tools>") && text.contains(OPENING),
    is_taught_by_user: false,
    reminder: None,
    answers: |text| Answers {
        is_answer: text.trim_start().starts_with("<tool_response>"),
        ..Answers::default()
    },
    interruption: None,
};

const OPENING: &str = "<tool_call>";
const CLOSING: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const PARAMETER: &str = "<parameter=";

fn block_at(text: &str, at: usize) -> Option<Block> {
    let rest = text[at..].strip_prefix(OPENING)?;
    let start = at + OPENING.len();
    let opening = at..start;
    let beginning = rest.trim_start();
    // Other models write other things between the same tags. Those are not read.
    let is_json = beginning.starts_with('{');
    if !is_json && !beginning.starts_with(FUNCTION) {
        return None;
    }
    let mut block = Block { whole: at..text.len(), opening, name: None, arguments: Vec::new(), fault: None };
    let Some(inside) = up_to(text, start, CLOSING) else {
        block.fault = Some((Malformation::Unclosed, block.opening.clone()));
        return Some(block);
    };
    block.whole.end = inside.end + CLOSING.len();
    let inside = trimmed(text, inside);
    if is_json {
        read_json(inside.start, &text[inside.clone()], &mut block);
    } else {
        read_tags(text, inside.start, inside.end, &mut block);
    }
    Some(block)
}

/// Reads a call in JSON that begins at `first`.
fn read_json(first: usize, json: &str, block: &mut Block) {
    let document = Document::read(json.as_bytes());
    let in_text = |span: toolcheck_json::Span| first + span.start as usize..first + span.end as usize;
    // The usual reader is Python, which accepts numbers that are not valid JSON, and lone surrogates.
    let breaks = |kind: SyntaxErrorKind| !kind.is_in_text() && kind != SyntaxErrorKind::NotANumber;
    if let Some(fault) = document.faults().iter().find(|fault| breaks(fault.kind)) {
        block.fault = Some((Malformation::Json(fault.kind), in_text(fault.span)));
    }
    let root = document.root();
    let name = root.get("name").and_then(|name| Some((name.as_str()?.into_owned(), in_text(name.span()))));
    block.name = name.filter(|(name, _)| !name.is_empty());
    if block.name.is_none() && block.fault.is_none() {
        block.fault = Some((Malformation::Nameless, in_text(root.span())));
    }
    let arguments = root.get("arguments").into_iter().flat_map(|arguments| arguments.members());
    block.arguments = arguments
        .filter_map(|member| Some((member.key_text()?.into_owned(), in_text(member.span()))))
        .collect();
}

/// Reads a call in tags: `<function=NAME>`, with a `<parameter=NAME>` inside for each argument.
fn read_tags(text: &str, start: usize, end: usize, block: &mut Block) {
    let inside = &text[..end];
    let Some(name) = up_to(inside, start + FUNCTION.len(), ">") else {
        block.fault = Some((Malformation::Nameless, start..end));
        return;
    };
    let mut at = name.end + 1;
    if name.is_empty() {
        block.fault = Some((Malformation::Nameless, start..at));
        return;
    }
    block.name = Some((text[name.clone()].to_owned(), name));
    while let Some(before) = up_to(inside, at, PARAMETER) {
        let Some(name) = up_to(inside, before.end + PARAMETER.len(), ">") else { break };
        let opening = before.end..name.end + 1;
        let Some(value) = up_to(inside, opening.end, "</parameter>") else {
            block.fault = Some((Malformation::UnclosedParameter, opening));
            return;
        };
        at = value.end;
        block.arguments.push((text[name].to_owned(), trimmed(text, value)));
    }
}
