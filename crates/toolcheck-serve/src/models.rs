//! What clients ask of models before they talk to one. Nothing of it is judged.

use hyper::Method;
use serde_json::{Value as Json, json};

/// The tokens that a model takes, for clients that ask.
const TOKENS: u64 = 128_000;

/// The answer about a model, or the list of them; `None` if that is not what is asked for.
pub(crate) fn answer(method: &Method, path: &str) -> Option<Json> {
    let path = path.trim_end_matches('/');
    if *method == Method::POST {
        return path.ends_with("/api/show").then(shown);
    }
    if *method != Method::GET {
        return None;
    }
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
        "id": id, "object": "model", "created": 1_767_225_600, "owned_by": "toolcheck",
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
        let get = |path: &str| answer(&Method::GET, path);
        let google = get("/v1beta/models/gemini-3-pro").unwrap_or_default();
        assert_eq!(
            (&google["name"], &google["inputTokenLimit"]),
            (&json!("models/gemini-3-pro"), &json!(TOKENS))
        );
        assert_eq!(get("/v1/models/gpt-5").unwrap_or_default()["id"], "gpt-5");
        assert_eq!(get("/any/v1/models").unwrap_or_default()["data"][0]["object"], "model");
        assert_eq!(get("/v1beta/models").unwrap_or_default()["models"][0]["name"], "models/model");
        let shown = answer(&Method::POST, "/api/show").unwrap_or_default();
        assert_eq!(shown["model_info"]["llama.context_length"], TOKENS);
        assert_eq!(get("/v1/messages"), None);
        assert_eq!(answer(&Method::POST, "/v1/models"), None);
        assert_eq!(answer(&Method::DELETE, "/v1/models"), None);
    }
}
