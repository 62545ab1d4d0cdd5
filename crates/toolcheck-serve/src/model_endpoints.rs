//! What clients ask for besides conversations. Nothing of it is judged.

use hyper::Method;
use serde_json::{Value as Json, json};

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
}

/// The answer to a question: about a model, or the tokens of a request; `None` if it asks for something else.
pub(crate) fn answer(question: Question<'_>) -> Option<Json> {
    let path = question.path.trim_end_matches('/');
    match *question.method {
        Method::POST => posted(path, question.length / BYTES_A_TOKEN + 1),
        Method::GET => about_models(path),
        _ => None,
    }
}

/// The answer to what is posted, for a body of this many tokens.
fn posted(path: &str, tokens: u64) -> Option<Json> {
    if path.ends_with("/api/show") {
        return Some(shown());
    }
    if path.ends_with("/messages/count_tokens") {
        return Some(json!({"input_tokens": tokens}));
    }
    if path.ends_with("/responses/input_tokens") {
        return Some(json!({"object": "response.input_tokens", "input_tokens": tokens}));
    }
    path.ends_with(":countTokens").then(|| json!({"totalTokens": tokens}))
}

/// The answer about a model, or the list of them.
fn about_models(path: &str) -> Option<Json> {
    let (before, last) = path.rsplit_once('/')?;
    if last == "models" {
        return Some(list(&["model"], before.ends_with("/v1beta")));
    }
    if last == "tags" && before.ends_with("/api") {
        return Some(json!({"models": [{"name": "model", "model": "model"}]}));
    }
    let before = before.strip_suffix("/models")?;
    Some(if before.ends_with("/v1beta") { of_google(last) } else { of_others(last) })
}

/// A list, with the keys of all who have one.
fn list(ids: &[&str], is_google: bool) -> Json {
    if is_google {
        return json!({"models": ids.iter().map(|id| of_google(id)).collect::<Vec<_>>()});
    }
    let models: Vec<Json> = ids.iter().map(|id| of_others(id)).collect();
    json!({"object": "list", "data": models, "has_more": false, "first_id": ids.first(), "last_id": ids.last()})
}

fn of_google(id: &str) -> Json {
    json!({
        "name": format!("models/{id}"), "version": "001", "displayName": id,
        "inputTokenLimit": TOKENS, "outputTokenLimit": TOKENS,
        "supportedGenerationMethods": ["generateContent", "countTokens"]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_described_as_each_api_does() {
        let ask = |method: &Method, path: &str| answer(Question { method, path, length: 400 });
        let get = |path: &str| ask(&Method::GET, path);
        let google = get("/v1beta/models/gemini-3-pro").unwrap_or_default();
        assert_eq!(
            (&google["name"], &google["inputTokenLimit"]),
            (&json!("models/gemini-3-pro"), &json!(TOKENS))
        );
        assert_eq!(get("/v1/models/gpt-5").unwrap_or_default()["id"], "gpt-5");
        assert_eq!(get("/any/v1/models").unwrap_or_default()["data"][0]["object"], "model");
        assert_eq!(get("/v1beta/models").unwrap_or_default()["models"][0]["name"], "models/model");
        let shown = ask(&Method::POST, "/api/show").unwrap_or_default();
        assert_eq!(shown["model_info"]["llama.context_length"], TOKENS);
        assert_eq!(get("/v1/messages"), None);
        assert_eq!(ask(&Method::POST, "/v1/models"), None);
        assert_eq!(ask(&Method::DELETE, "/v1/models"), None);
    }
    #[test]
    fn tokens_are_counted() {
        let post =
            |path: &str| answer(Question { method: &Method::POST, path, length: 400 }).unwrap_or_default();
        assert_eq!(post("/v1/messages/count_tokens")["input_tokens"], 101);
        assert_eq!(post("/v1/responses/input_tokens")["input_tokens"], 101);
        assert_eq!(post("/v1beta/models/gemini-3-pro:countTokens")["totalTokens"], 101);
    }
}
