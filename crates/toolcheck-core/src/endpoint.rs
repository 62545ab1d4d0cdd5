//! What the address of a request says about its body.

use toolcheck_json::percent_decoded;

use crate::formats::{self, Format};
use crate::names::{names, words};
use crate::route::Route;
use crate::tables;
use crate::targets::{self, Target};

names! {
    /// What the requests to an address are.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Purpose {
        /// A conversation with an LLM, in a format that is read if the request is as it should be.
        Llm = "llm",
        /// A conversation with an LLM in a shape that no format reads, although it may look like one that is read.
        NotRead = "not-read",
        /// No conversation, although the body may look like one.
        Other = "other",
        /// The address does not say.
        Unknown = "unknown",
    }
    /// The name in machine-readable outputs.
    as_str
}

/// The ends of paths whose requests are not conversations, although their bodies may look like one: they cache,
/// embed or count messages, make images and sounds, or record what an agent did.
const OTHER_CALLS: [&str; 21] = words(
    "cachedContents classifications count-tokens count-tokens:rawPredict count_tokens edits embed embeddings \
    fim/completions generations input_tokens moderations ocr predict rerank speech tokenize traces/ingest transcriptions translations \
    variations",
);

/// The same after the colon in paths of Google.
const OTHER_METHODS: [&str; 5] =
    ["batchEmbedContents", "countTokens", "embedContent", "predict", "predictLongRunning"];

/// The last steps of paths whose requests are conversations that no format reads.
const NOT_READ: [&str; 1] = ["submit_tool_outputs"];

/// The ends of paths whose requests are conversations with an LLM, in formats that are not read.
const LLM_CALLS: [&str; 2] = ["v1/complete", "v1/completions"];

/// The last steps of paths of Bedrock, after `/model/ID`, whose requests are in the format of the model.
const MODEL_CALLS: [&str; 2] = ["invoke", "invoke-with-response-stream"];

/// Parts of the ids of models on Bedrock that converse with nobody.
const OTHER_MODELS: [&str; 2] = ["embed", "rerank"];

/// Hosts of LLM APIs that no target stands for. From the references of the APIs, and for Code Assist from
/// `google-gemini/gemini-cli`, `packages/core/src/code_assist/server.ts`.
const OTHER_HOSTS: [&str; 4] =
    ["api.perplexity.ai", "api.together.xyz", "ark.cn-beijing.volces.com", "cloudcode-pa.googleapis.com"];

/// What the address of a request says about it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Endpoint {
    /// What the requests to it are.
    pub purpose: Purpose,
    /// The format of the requests, if they are to an LLM; `None` if the address does not say, or if it may be one of several.
    pub format: Option<&'static Format>,
    /// The API behind it; `None` if the host is not known, or has no target for this format.
    pub target: Option<&'static Target>,
    /// Of a host that has no target for this format, whether it certainly is another API than the format's own.
    pub stranger: Option<bool>,
}

impl Endpoint {
    /// What an address, or the path of one, says. An API has more than one format at different paths.
    pub fn of(url: &str) -> Self {
        let purpose = purpose(url);
        if !matches!(purpose, Purpose::Llm | Purpose::Unknown) {
            return Self { purpose, format: None, target: None, stranger: None };
        }
        let fitting: Vec<&Format> = formats_of(url).collect();
        let is_fitting = |id: Option<&str>| fitting.iter().any(|format| Some(format.id) == id);
        let host = host_of(url);
        let mut candidates = host.map_or(&[][..], targets_of).iter().filter_map(|id| targets::find(id));
        let own = candidates.clone().find(|target| is_fitting(target.format.as_deref()));
        let format = match (own, &fitting[..]) {
            (Some(target), _) => target.format.as_deref().and_then(formats::find),
            (None, [format]) => Some(*format),
            (None, _) => None,
        };
        // What only is compatible with other APIs has its own rules in each of their formats.
        let target = own.or_else(|| candidates.find(|target| target.is_compatible_only));
        let stranger = host.filter(|_| target.is_none()).map(has_no_target);
        Self { purpose, format, target, stranger }
    }
}

/// The model that the path of an address names. A deployment is none.
pub fn model_of(url: &str) -> Option<String> {
    let path = path_of(url);
    let of_call = || {
        let (start, call) = path.rsplit_once('/')?;
        let (before, model) = start.rsplit_once('/')?;
        (MODEL_CALLS.contains(&call) && before.ends_with("/model")).then_some(model)
    };
    let model = of_path(path).find_map(|(_, _, model)| model).or_else(of_call)?;
    Some(percent_decoded(model).into_owned())
}

/// What the requests to an address, or to the path of one, are.
pub fn purpose(url: &str) -> Purpose {
    let path = path_of(url);
    let mut steps = path.rsplit('/');
    let last = steps.next().unwrap_or(path);
    let (model, before) = (steps.next().unwrap_or_default(), steps.next());
    let is_whole = |before: &str| before.is_empty() || before.ends_with('/');
    let ends_with = |end: &&str| path.strip_suffix(*end).is_some_and(is_whole);
    let is_of_model = before == Some("model");
    let has_route = || of_path(path).any(|(_, route, _)| !route.is_common);
    match last {
        _ if last.rsplit_once(':').is_some_and(|(_, method)| OTHER_METHODS.contains(&method)) => {
            Purpose::Other
        }
        _ if OTHER_CALLS.iter().any(ends_with) => Purpose::Other,
        // https://developers.cloudflare.com/workers-ai: tools have no type, and the answer is in `result`.
        _ if path.contains("/ai/run/@") => Purpose::NotRead,
        _ if NOT_READ.contains(&last) => Purpose::NotRead,
        _ if is_of_model && OTHER_MODELS.iter().any(|part| model.contains(part)) => Purpose::Other,
        _ if is_of_model && MODEL_CALLS.contains(&last) => Purpose::Llm,
        _ if has_route() || LLM_CALLS.iter().any(ends_with) => Purpose::Llm,
        _ if host_of(url).is_some_and(|host| !targets_of(host).is_empty() || has_no_target(host)) => {
            Purpose::Llm
        }
        _ => Purpose::Unknown,
    }
}

/// The formats that the requests to an address may be in; none if the address does not say.
pub fn formats_of(url: &str) -> impl Iterator<Item = &'static Format> {
    of_path(path_of(url)).filter(|(_, route, _)| !route.is_shared).map(|(format, ..)| format)
}

/// The formats of the requests to a path, without its query, each with the route and the model that the path names.
pub fn of_path(path: &str) -> impl Iterator<Item = (&'static Format, &'static Route, Option<&str>)> {
    formats::ALL.iter().filter_map(move |format| {
        let mut routes = format.routes.iter();
        routes.find_map(|route| Some((*format, route, route.model_of(path)?)))
    })
}

/// An address without its query.
fn path_of(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/')
}

fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    Some(authority.rsplit('@').next().unwrap_or(authority))
}

/// Whether a host serves an LLM API that no target stands for.
fn has_no_target(host: &str) -> bool {
    let bare = without_port(host);
    OTHER_HOSTS.iter().any(|domain| is_in((host, bare), domain))
}

fn targets_of(host: &str) -> &'static [&'static str] {
    let host = (host, without_port(host));
    tables::HOSTS.iter().find(|(domain, _)| is_in(host, domain)).map_or(&[], |(_, targets)| targets)
}

fn without_port(host: &str) -> &str {
    host.split(':').next().unwrap_or(host)
}

/// Whether a host, as it is and without its port, is one of a domain.
fn is_in((host, bare): (&str, &str), domain: &str) -> bool {
    let before = bare.strip_suffix(domain).or_else(|| host.strip_suffix(domain));
    before.is_some_and(|before| before.is_empty() || before.ends_with('.') || domain.starts_with('-'))
}
