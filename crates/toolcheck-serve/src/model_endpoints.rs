//! What clients ask for besides conversations. Nothing of it is judged.

use hyper::Method;
use serde_json::{Value as Json, json};
use toolcheck_core::targets::{self, ModelsBody};
use toolcheck_core::{Format, formats};

/// The tokens that a model takes, for clients that ask.
const TOKENS: u64 = 128_000;
/// The number of bytes of a request that count as a token.
const BYTES_A_TOKEN: u64 = 4;
/// The time at which everything was made, in seconds since 1970.
const CREATED: u64 = 1_767_225_600;

/// A question about something else than a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'q> {
    pub(crate) method: &'q Method,
    pub(crate) path: &'q str,
    /// The length of its body, in bytes.
    pub(crate) length: u64,
    /// How the API describes its models, if that is known.
    pub(crate) models: Option<&'q ModelsBody>,
}

/// The answer to a question: about a model, or the tokens of a request; `None` if it asks for something else.
pub(crate) fn answer(question: Question<'_>) -> Option<Json> {
    let path = question.path.trim_end_matches('/');
    match *question.method {
        Method::POST => posted(path, question.length / BYTES_A_TOKEN + 1),
        Method::GET => about_models(path, question.models),
        _ => None,
    }
}

/// The answer to what is posted, for a body of this many tokens.
fn posted(path: &str, tokens: u64) -> Option<Json> {
    if path.ends_with("/api/show") {
        return Some(shown());
    }
    if ["/messages/count_tokens", "/models/count-tokens:rawPredict"].iter().any(|end| path.ends_with(end)) {
        return Some(json!({"input_tokens": tokens}));
    }
    if path.ends_with("/count-tokens") && path.contains("/model/") {
        return Some(json!({"inputTokens": tokens}));
    }
    if path.ends_with("/responses/input_tokens") {
        return Some(json!({"object": "response.input_tokens", "input_tokens": tokens}));
    }
    path.ends_with(":countTokens").then(|| json!({"totalTokens": tokens}))
}

/// The answer about a model, or the list of them, as this API describes them.
fn about_models(path: &str, models: Option<&ModelsBody>) -> Option<Json> {
    let (before, last) = path.rsplit_once('/')?;
    if last == "tags" && before.ends_with("/api") {
        return Some(json!({"models": [{"name": "model", "model": "model"}]}));
    }
    let before = if last == "models" { before } else { before.strip_suffix("/models")? };
    // An API may have its conversations below its models.
    let is_above = |format: &&&Format| {
        let base = format.routes.first().and_then(|route| route.base.strip_suffix("/models"));
        base.is_some_and(|base| !base.is_empty() && before.ends_with(base))
    };
    let own = || targets::find(formats::ALL.iter().find(is_above)?.id)?.models.as_ref();
    let models = models.or_else(own);
    Some(match (last, models) {
        ("models", Some(models)) => models.list(&["model"]),
        ("models", None) => json!({
            "object": "list", "data": [of_others("model")], "has_more": false, "first_id": "model", "last_id": "model"
        }),
        (id, Some(models)) => models.entry(id),
        (id, None) => of_others(id),
    })
}

/// A model as OpenAI and Anthropic describe it: each reads its own keys.
fn of_others(id: &str) -> Json {
    json!({
        "id": id, "object": "model", "created": CREATED, "owned_by": "toolcheck",
        "type": "model", "display_name": id, "created_at": "2026-01-01T00:00:00Z"
    })
}

/// A model as Ollama describes it.
fn shown() -> Json {
    json!({
        "details": {"format": "gguf", "family": "llama", "families": ["llama"], "parameter_size": "8B"},
        "model_info": {"general.architecture": "llama", "llama.context_length": TOKENS},
        "capabilities": ["completion", "tools"]
    })
}
