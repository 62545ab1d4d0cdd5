//! What llama.cpp finds out about a template before it renders a request with it.

use toolcheck_json::Document;

use crate::convert::{Changes, RenderMode};
use crate::input::{Arguments, Input};
use crate::jinja::ast::Ast;
use crate::render;

/// What a template reads. Seen in `common/jinja/caps.cpp` and `common/chat.cpp` of llama.cpp in November 2026.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Abilities {
    /// A first message of the system.
    pub(crate) reads_system: bool,
    /// Messages of developers, which are not renamed then.
    pub(crate) reads_developer: bool,
    /// Arguments that are an object.
    pub(crate) reads_objects: bool,
    /// Content that is a text.
    pub(crate) reads_texts: bool,
    /// Content that is a list of parts.
    pub(crate) reads_parts: bool,
}

/// A word that is in no template.
const WORD: &str = "Quoxling";

const USER: &str = r#"{"role": "user", "content": "Hello"}"#;
const SYSTEM: &str = r#"{"role": "system", "content": "Quoxling"}"#;
const CALL: &str = r#"{"role": "assistant", "content": "", "tool_calls": [{"id": "call00001", "type": "function",
    "function": {"name": "tool1", "arguments": {"arg": "Quoxling"}}}]},
    {"role": "tool", "content": "Done", "tool_call_id": "call00001"},
    {"role": "assistant", "content": "It is done"}"#;
const TOOLS: &str = r#"[{"type": "function", "function": {"name": "tool1", "description": "A tool",
    "parameters": {"type": "object", "properties": {"arg": {"type": "string", "description": "A word"}}, "required": ["arg"]}}}]"#;

impl Abilities {
    /// Tries a template with these special tokens.
    pub(crate) fn of(ast: &Ast, source: &str, tokens: &[(String, String)]) -> Self {
        let prompt = |messages: &str, tools: &str| {
            let body = format!(r#"{{"messages": [{messages}], "tools": {tools}}}"#);
            let body = Document::read(body.as_bytes());
            let input = Input { arguments: Arguments::AsGiven, ..Input::of_request(body.root())? };
            let trial = RenderMode { traces: false, changes: &Changes::new(), most_messages: usize::MAX };
            render::rendered(ast, &input, tokens, &trial, None).ok().map(|traced| traced.prompt.text)
        };
        let has_word = |prompt: Option<String>| prompt.is_some_and(|prompt| prompt.contains(WORD));
        let reads_texts = prompt(USER, "[]").is_some();
        let with_system = prompt(&format!("{SYSTEM}, {USER}"), "[]");
        Self {
            // Of a template that refuses everything, nothing is known.
            reads_system: has_word(with_system) || !reads_texts,
            reads_developer: source.contains("<|channel|>"),
            reads_objects: has_word(prompt(&format!("{USER}, {CALL}, {USER}"), TOOLS)),
            reads_texts,
            reads_parts: ast.goes_through_content(),
        }
    }
}
