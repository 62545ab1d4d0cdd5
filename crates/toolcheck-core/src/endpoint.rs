//! What the address of a request says about its body.

use crate::formats::{self, Format};
use crate::target::{self, Target};

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

impl Call {
    /// The name in machine-readable outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Llm => "llm",
            Self::NotRead => "not-read",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }
}

/// The last steps of paths whose requests are not conversations, although their bodies may look like one: they cache,
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

/// Hosts of LLM APIs, and those in one of these domains, with the targets that they are. From the references of the APIs.
const LLM_HOSTS: [(&str, &[&str]); 30] = [
    ("-aiplatform.googleapis.com", &["vertex-gemini"]),
    ("127.0.0.1:11434", &["ollama", "ollama-openai"]),
    ("ai-gateway.vercel.sh", &["vercel-gateway"]),
    ("aiplatform.googleapis.com", &["vertex-gemini"]),
    ("api.anthropic.com", &["anthropic"]),
    ("api.cerebras.ai", &["cerebras"]),
    ("api.cohere.ai", &["cohere"]),
    ("api.cohere.com", &["cohere"]),
    ("api.deepseek.com", &["deepseek"]),
    ("api.fireworks.ai", &["fireworks"]),
    ("api.githubcopilot.com", &["github-copilot"]),
    ("api.groq.com", &["groq"]),
    ("api.minimax.io", &["minimax"]),
    ("api.minimaxi.com", &["minimax"]),
    ("api.mistral.ai", &["mistral"]),
    ("api.moonshot.ai", &["moonshot"]),
    ("api.moonshot.cn", &["moonshot"]),
    ("api.openai.com", &["openai-chat", "openai-responses"]),
    ("api.perplexity.ai", &[]),
    ("api.together.xyz", &[]),
    ("api.x.ai", &["xai"]),
    ("api.z.ai", &["zai"]),
    ("cloud.databricks.com", &["databricks"]),
    ("dashscope-intl.aliyuncs.com", &["dashscope"]),
    ("dashscope.aliyuncs.com", &["dashscope"]),
    ("generativelanguage.googleapis.com", &["gemini"]),
    ("localhost:11434", &["ollama", "ollama-openai"]),
    ("openai.azure.com", &["azure-openai"]),
    ("openrouter.ai", &["openrouter"]),
    ("services.ai.azure.com", &["azure-openai"]),
];

/// What the address of a request says about it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Endpoint {
    /// What the requests to it are.
    pub call: Call,
    /// The format of the requests, if they are to an LLM; `None` if the address does not say, or if it may be one of several.
    pub format: Option<&'static Format>,
    /// The API behind it; `None` if the host is not known, or has no target for this format.
    pub target: Option<&'static Target>,
}

impl Endpoint {
    /// What an address, or the path of one, says. An API has more than one format at different paths.
    #[must_use]
    pub fn of(url: &str) -> Self {
        let call = call(url);
        if !matches!(call, Call::Llm | Call::Unknown) {
            return Self { call, format: None, target: None };
        }
        let path = path_of(url);
        let ends_with =
            |end: &&str| path.strip_suffix(end).is_some_and(|before| before.ends_with(['/', ':']));
        let fitting: Vec<&Format> =
            formats::ALL.iter().copied().filter(|format| format.paths.iter().any(ends_with)).collect();
        let is_fitting = |id: Option<&str>| fitting.iter().any(|format| Some(format.id) == id);
        let candidates = host_of(url).map_or(&[][..], targets_of).iter().filter_map(|id| target::find(id));
        let target = candidates.into_iter().find(|target| is_fitting(target.format.as_deref()));
        let format = match (target, &fitting[..]) {
            (Some(target), _) => target.format.as_deref().and_then(formats::find),
            (None, [format]) => Some(*format),
            (None, _) => None,
        };
        Self { call, format, target }
    }
}

/// What the requests to an address, or to the path of one, are.
#[must_use]
pub fn call(url: &str) -> Call {
    let path = path_of(url);
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

/// An address without its query.
fn path_of(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/')
}

/// The host of an address, with its port.
fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    Some(authority.rsplit('@').next().unwrap_or(authority))
}

/// What requests to a host are.
fn by_host(url: &str) -> Call {
    if host_of(url).is_some_and(|host| entry(host).is_some()) { Call::Llm } else { Call::Unknown }
}

/// The targets of a host.
fn targets_of(host: &str) -> &'static [&'static str] {
    entry(host).map_or(&[], |(_, targets)| targets)
}

fn entry(host: &str) -> Option<&'static (&'static str, &'static [&'static str])> {
    let name = host.split(':').next().unwrap_or(host);
    LLM_HOSTS.iter().find(|(domain, _)| {
        let host = if domain.contains(':') { host } else { name };
        let before = host.strip_suffix(domain);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.') || domain.starts_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::{Call, Endpoint, LLM_HOSTS, call};
    use crate::target;

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
    #[test]
    fn an_address_names_the_format_and_the_target() {
        let says = |url| {
            let Endpoint { format, target, .. } = Endpoint::of(url);
            (format.map_or("-", |format| format.id), target.map_or("-", |target| &*target.id))
        };
        assert_eq!(says("https://api.openai.com/v1/chat/completions"), ("openai-chat", "openai-chat"));
        assert_eq!(says("https://api.openai.com/v1/responses?x=1"), ("openai-responses", "openai-responses"));
        assert_eq!(says("https://api.openai.com/v1/completions"), ("-", "-"));
        assert_eq!(says("https://api.anthropic.com/v1/messages"), ("anthropic", "anthropic"));
        // Its API for clients of OpenAI has no target.
        assert_eq!(says("https://api.anthropic.com/v1/chat/completions"), ("-", "-"));
        assert_eq!(says("https://api.mistral.ai/v1/chat/completions"), ("mistral", "mistral"));
        assert_eq!(
            says("https://user:key@x.openai.azure.com:443/openai/deployments/d/chat/completions").1,
            "azure-openai"
        );
        assert_eq!(says("http://localhost:11434/api/chat"), ("ollama", "ollama"));
        assert_eq!(says("http://localhost:11434/v1/chat/completions"), ("openai-chat", "ollama-openai"));
        assert_eq!(
            says("https://us-central1-aiplatform.googleapis.com/v1/p/m:generateContent").1,
            "vertex-gemini"
        );
        assert_eq!(says("https://bedrock.example.com/model/a.b/converse"), ("bedrock-converse", "-"));
        assert_eq!(says("https://bedrock.example.com/model/a.b/invoke"), ("-", "-"));
        assert_eq!(says("https://gateway.example.com/v1/messages"), ("anthropic", "-"));
        // Two formats have this path.
        assert_eq!(says("https://gateway.example.com/v1/chat/completions"), ("-", "-"));
        // And any shop may have this one.
        assert_eq!(says("https://shop.example.com/api/chat"), ("ollama", "-"));
        assert_eq!(Endpoint::of("https://shop.example.com/api/chat").call, Call::Unknown);
        assert_eq!(says("https://gateway.example.com/v1/messages/count_tokens"), ("-", "-"));
        assert_eq!(says("https://evil-openrouter.ai/api/v1/chat/completions"), ("-", "-"));
        assert_eq!(says(""), ("-", "-"));
    }

    #[test]
    fn the_targets_of_hosts_exist() {
        assert!(LLM_HOSTS.is_sorted());
        for id in LLM_HOSTS.iter().flat_map(|(_, targets)| *targets) {
            assert!(target::find(id).is_some(), "{id}");
        }
    }
}
