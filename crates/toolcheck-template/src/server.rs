//! How servers give messages to a template, and what llama.cpp finds out about it before.

use toolcheck_json::{Document, Value as Json};

use crate::input::{Arguments, Input};

/// A server that prepares messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    /// vLLM, and whether the template goes through parts.
    Vllm { reads_parts: bool },
    /// llama.cpp, and what it found out about the template.
    LlamaCpp(Abilities),
}

impl Server {
    /// How it gives arguments to the template.
    pub(crate) fn arguments(self) -> Arguments {
        match self {
            Self::LlamaCpp(Abilities { reads_objects: false, .. }) => Arguments::AsGiven,
            _ => Arguments::Parsed,
        }
    }

    /// Whether it puts the text of a first message before that of the next.
    pub(crate) fn merges(self, first: Json<'_, '_>) -> bool {
        let Self::LlamaCpp(Abilities { reads_system: false, reads_developer, .. }) = self else {
            return false;
        };
        let role = first.get_str("role");
        role.as_deref() == Some("system") || role.as_deref() == Some("developer") && !reads_developer
    }

    /// The form in which it gives the content of a message of this role to the template.
    pub(crate) fn form(self, role: &str) -> Form {
        match self {
            Self::Vllm { reads_parts } if reads_parts && role != "tool" => Form::Parts,
            Self::LlamaCpp(Abilities { reads_parts: true, reads_texts: true, .. }) => Form::AsGiven,
            Self::LlamaCpp(Abilities { reads_parts: true, .. }) => Form::Parts,
            _ => Form::Text,
        }
    }
}

/// The form of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Parts,
    AsGiven,
}

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
    /// Tries a template, which may go through parts, with requests of which `render` makes the prompts.
    pub(crate) fn of(source: &str, reads_parts: bool, render: impl Fn(&Input<'_>) -> Option<String>) -> Self {
        let prompt = |messages: &str, tools: &str| {
            let body = format!(r#"{{"messages": [{messages}], "tools": {tools}}}"#);
            let body = Document::read(body.as_bytes());
            let input = Input { arguments: Arguments::AsGiven, ..Input::of_request(body.root())? };
            render(&input)
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
            reads_parts,
        }
    }
}
