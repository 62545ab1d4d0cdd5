//! What the address of a request says about its body.

/// What the requests to an address are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Call {
    /// A conversation with an LLM, in a format that is read if the request is as it should be.
    Llm,
    /// A conversation with an LLM in a shape that no format reads, although it may look like one that is read.
    NotRead,
    /// No conversation, although the body may look like one.
    Other,
    /// The address does not say.
    Unknown,
}

/// The last steps of paths whose requests are no conversations, although their bodies may look like one: they cache,
/// embed or count messages, or make images and sounds.
const OTHER_CALLS: [&str; 16] = [
    "cachedContents",
    "classifications",
    "count_tokens",
    "edits",
    "embed",
    "embeddings",
    "generations",
    "moderations",
    "ocr",
    "predict",
    "rerank",
    "speech",
    "tokenize",
    "transcriptions",
    "translations",
    "variations",
];

/// The same after the colon in paths of Google.
const OTHER_METHODS: [&str; 5] =
    ["batchEmbedContents", "countTokens", "embedContent", "predict", "predictLongRunning"];

/// The last steps of paths whose requests are conversations that no format reads.
const NOT_READ: [&str; 2] = ["interactions", "submit_tool_outputs"];

/// The ends of paths whose requests are conversations with an LLM.
const LLM_CALLS: [&str; 5] =
    ["chat/completions", "v1/complete", "v1/completions", "v1/messages", "v1/responses"];

/// The same after the colon in paths of Google.
const LLM_METHODS: [&str; 4] = ["generateContent", "rawPredict", "streamGenerateContent", "streamRawPredict"];

/// The last steps of paths of Bedrock, after `/model/ID`.
const MODEL_CALLS: [&str; 4] = ["converse", "converse-stream", "invoke", "invoke-with-response-stream"];

/// Parts of the ids of models on Bedrock that converse with nobody.
const OTHER_MODELS: [&str; 2] = ["embed", "rerank"];

/// Hosts of LLM APIs; those that are in one of these domains are such too.
const LLM_HOSTS: [&str; 16] = [
    "api.anthropic.com",
    "api.cerebras.ai",
    "api.cohere.ai",
    "api.cohere.com",
    "api.deepseek.com",
    "api.fireworks.ai",
    "api.groq.com",
    "api.mistral.ai",
    "api.moonshot.ai",
    "api.openai.com",
    "api.perplexity.ai",
    "api.together.xyz",
    "api.x.ai",
    "generativelanguage.googleapis.com",
    "openai.azure.com",
    "openrouter.ai",
];

/// What the requests to an address, or to the path of one, are.
#[must_use]
pub fn call(url: &str) -> Call {
    let path = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
    let mut steps = path.rsplit('/');
    let last = steps.next().unwrap_or(path);
    if let Some((_, method)) = last.rsplit_once(':') {
        return match method {
            _ if OTHER_METHODS.contains(&method) => Call::Other,
            _ if LLM_METHODS.contains(&method) => Call::Llm,
            _ => by_host(url),
        };
    }
    let (model, before) = (steps.next().unwrap_or_default(), steps.next());
    if before == Some("model") && MODEL_CALLS.contains(&last) {
        return if OTHER_MODELS.iter().any(|part| model.contains(part)) { Call::Other } else { Call::Llm };
    }
    let ends_with = |end: &&str| path.strip_suffix(end).is_some_and(|before| before.ends_with('/'));
    match last {
        _ if OTHER_CALLS.contains(&last) => Call::Other,
        _ if NOT_READ.contains(&last) => Call::NotRead,
        _ if LLM_CALLS.iter().any(ends_with) => Call::Llm,
        _ => by_host(url),
    }
}

/// What requests to a host are.
fn by_host(url: &str) -> Call {
    let Some((_, rest)) = url.split_once("://") else { return Call::Unknown };
    let host = rest.split(['/', ':', '?', '#']).next().unwrap_or(rest);
    let is_in = |domain: &&str| {
        host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    if LLM_HOSTS.iter().any(is_in) { Call::Llm } else { Call::Unknown }
}

#[cfg(test)]
mod tests {
    use super::{Call, call};

    #[test]
    fn the_last_step_of_the_path_counts() {
        assert_eq!(call("https://api.example.com/v1/embeddings?x=/chat"), Call::Other);
        assert_eq!(call("/v1beta/models/m:countTokens"), Call::Other);
        assert_eq!(call("https://api.example.com/v1beta/interactions/"), Call::NotRead);
        assert_eq!(call("https://api.example.com/v1/chat/completions"), Call::Llm);
        assert_eq!(call("/v1beta/models/m:generateContent"), Call::Llm);
        assert_eq!(call(""), Call::Unknown);
    }

    #[test]
    fn a_word_that_others_use_too_is_not_enough() {
        assert_eq!(call("https://chat.example.com/channels/7/messages"), Call::Unknown);
        assert_eq!(call("https://api.example.com/v1/messages"), Call::Llm);
        assert_eq!(call("https://api.example.com/myv1/messages"), Call::Unknown);
        assert_eq!(call("https://api.example.com/chain/invoke"), Call::Unknown);
        assert_eq!(call("https://bedrock.example.com/model/a.b-v1%3A0/invoke"), Call::Llm);
        assert_eq!(call("https://bedrock.example.com/model/a.embed-text/invoke"), Call::Other);
    }

    #[test]
    fn the_hosts_of_llm_apis_are_known() {
        assert_eq!(call("https://api.cohere.com/v1/chat"), Call::Llm);
        assert_eq!(call("https://x.openai.azure.com:443/openai/deployments/d/extensions"), Call::Llm);
        assert_eq!(call("https://api.openai.com.example.com/v1/chat"), Call::Unknown);
        assert_eq!(call("https://notapi.openai.com/v1/chat"), Call::Unknown);
    }
}
