//! How servers give messages to a template, and what llama.cpp finds out about it before.

use std::borrow::Cow;
use std::collections::HashMap;

use toolcheck_json::{Document, Value as Json};

use crate::input::{Arguments, Input};
use crate::jinja::llama_cpp::Engine;

/// A server that prepares messages.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    /// vLLM, and whether the template goes through parts.
    Vllm { reads_parts: bool },
    /// llama.cpp, and what it found out about the template.
    LlamaCpp(Abilities),
    /// llama.cpp while it finds that out: messages are given as they are.
    LlamaCppTries,
}

impl Server {
    /// Whose Jinja it uses.
    pub(crate) fn engine(self) -> Engine {
        match self {
            Self::Vllm { .. } => Engine::Python,
            Self::LlamaCpp(_) | Self::LlamaCppTries => {
                Engine::LlamaCpp { tries: matches!(self, Self::LlamaCppTries) }
            }
        }
    }

    /// How it gives arguments to the template.
    pub(crate) fn arguments(self) -> Arguments {
        match self {
            Self::LlamaCpp(Abilities { reads_objects: false, .. }) | Self::LlamaCppTries => {
                Arguments::AsGiven
            }
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
            Self::LlamaCpp(Abilities { family: Family::Ministral, .. })
                if role == "system" || role == "assistant" =>
            {
                Form::Parts
            }
            Self::LlamaCpp(Abilities { reads_parts: true, reads_texts: true, .. }) => Form::AsGiven,
            Self::LlamaCpp(Abilities { reads_parts: true, .. }) => Form::Parts,
            _ => Form::Text,
        }
    }

    /// The keys under which it gives the reasoning of a message to the template.
    pub(crate) fn reasoning(self) -> &'static [&'static str] {
        match self {
            Self::Vllm { .. } => &["reasoning", "reasoning_content"],
            Self::LlamaCpp(Abilities { family: Family::Thinking { .. }, .. }) => {
                &["reasoning_content", "thinking"]
            }
            Self::LlamaCpp(Abilities { family: Family::Ministral, .. }) => &[],
            _ => &["reasoning_content"],
        }
    }

    /// Whether it gives the template no text of a message that has reasoning and calls.
    pub(crate) fn leaves_out_text(self, message: Json<'_, '_>) -> bool {
        matches!(self, Self::LlamaCpp(Abilities { family: Family::Thinking { without_text: true }, .. }))
            && message.get("reasoning_content").is_some_and(|reasoning| reasoning.as_str().is_some())
            && message.get("tool_calls").is_some_and(|calls| calls.children().next().is_some())
    }

    /// How many messages, from the first, become one for the template: a call, its results, and the answer after them.
    pub(crate) fn joins(self, messages: &[Json<'_, '_>]) -> usize {
        let has_role = |message: &Json<'_, '_>, role| message.is("role", role);
        let has_calls = |message: &Json<'_, '_>| {
            message.get("tool_calls").is_some_and(|calls| calls.children().next().is_some())
        };
        let is_joined = matches!(self, Self::LlamaCpp(Abilities { family: Family::JoinsTurns, .. }));
        let [call, others @ ..] = messages else { return 1 };
        if !is_joined || !has_role(call, "assistant") || !has_calls(call) {
            return 1;
        }
        let results = others.iter().take_while(|message| has_role(message, "tool")).count();
        let is_answer = |message: &Json<'_, '_>| {
            let content = message.get("content");
            let is_said = |content: Json<'_, '_>| {
                content.children().next().is_some() || content.as_str().is_some_and(|text| !text.is_empty())
            };
            has_role(message, "assistant") && !has_calls(message) && content.is_some_and(is_said)
        };
        1 + results + usize::from(others.get(results).is_some_and(is_answer))
    }

    /// The messages in the order in which it gives them to the template.
    pub(crate) fn ordered<'d>(self, messages: Json<'d, 'd>) -> Vec<Json<'d, 'd>> {
        let mut ordered: Vec<Json<'_, '_>> = messages.children().collect();
        if !matches!(self, Self::LlamaCpp(Abilities { family: Family::SortsResults, .. })) {
            return ordered;
        }
        let id = |value: Json<'_, '_>, key: &str| value.get_str(key).map(Cow::into_owned);
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut at = 0;
        while let Some(message) = ordered.get(at) {
            let calls = message.get("tool_calls").into_iter().flat_map(Json::children);
            let calls: Vec<_> =
                calls.enumerate().filter_map(|(at, call)| Some((id(call, "id")?, at))).collect();
            if !calls.is_empty() {
                places = calls.into_iter().collect();
            }
            let has_role = |message: &Json<'_, '_>, role| message.is("role", role);
            let run = ordered[at..].iter().take_while(|own| has_role(own, "tool") || has_role(own, "user"));
            let end = at + run.count();
            let results: Vec<usize> = (at..end).filter(|at| has_role(&ordered[*at], "tool")).collect();
            let mut sorted: Vec<_> = results.iter().map(|at| ordered[*at]).collect();
            sorted.sort_by_key(|own| {
                id(*own, "tool_call_id").and_then(|id| places.get(&id).copied()).unwrap_or(0)
            });
            for (at, own) in results.into_iter().zip(sorted) {
                ordered[at] = own;
            }
            at = end.max(at + 1);
        }
        ordered
    }
}

/// Templates for which llama.cpp changes messages: the functions of `common/parsers`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Family {
    Other,
    /// Reasoning becomes a part of the content.
    Ministral,
    /// Reasoning has a second key, perhaps in the place of the text beside calls.
    Thinking {
        without_text: bool,
    },
    /// Results are sorted as their calls are.
    SortsResults,
    /// A call, its results and the answer become one message, without the text beside the call.
    JoinsTurns,
}

impl Family {
    fn of(source: &str) -> Self {
        let has = |word: &str| source.contains(word);
        if ["[SYSTEM_PROMPT]", "[TOOL_CALLS]", "[ARGS]"].into_iter().all(has) && !has("[CALL_ID]") {
            return Self::Ministral;
        }
        if has("<|channel|>") {
            return Self::Thinking { without_text: true };
        }
        let has_list = has("<|tool_list_start|>");
        if has_list && has("<|tool_list_end|>") || has("List of tools: [") && !has_list {
            return Self::Thinking { without_text: false };
        }
        if has("dsml_token") && has("DSML") && has("tool_calls") && !has("function_calls") {
            return Self::SortsResults;
        }
        if has("'<|tool_call>call:'") && !has("{#- OpenAI Chat Completions:") {
            return Self::JoinsTurns;
        }
        Self::Other
    }
}

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
    pub(crate) family: Family,
}

/// A word that is in no template.
const WORD: &str = "Quoxling";

const USER: &str = r#"{"role": "user", "content": "Hello"}"#;
const SYSTEM: &str = r#"{"role": "system", "content": "Quoxling"}"#;
const SYSTEM_IN_PARTS: &str = r#"{"role": "system", "content": [{"type": "text", "text": "Quoxling"}]}"#;
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
        let text = prompt(USER, "[]");
        let reads_texts = text.is_some_and(|text| !reads_parts || text.contains("Hello"));
        let reads_system = |system: &str| has_word(prompt(&format!("{system}, {USER}"), "[]"));
        Self {
            // Of a template that refuses everything, nothing is known.
            reads_system: !reads_texts || reads_system(SYSTEM) || reads_system(SYSTEM_IN_PARTS),
            reads_developer: source.contains("<|channel|>"),
            reads_objects: has_word(prompt(&format!("{USER}, {CALL}, {USER}"), TOOLS)),
            reads_texts,
            reads_parts,
            family: Family::of(source),
        }
    }
}
