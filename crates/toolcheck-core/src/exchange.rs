//! Exchanges: requests with their responses, in chronological order.
//!
//! `{"request": {...}, "response": {...}}`, alone, in an array, or one per line.

mod timing;

use toolcheck_json::Value;

use crate::endpoint::{self, Purpose};
use crate::formats::{self, Format, openai_responses};
use crate::ir::{Named, Place};
use crate::names::words;
use crate::shape::formats_with_keys;
use crate::targets::{self, Target};
use crate::{response, unsupported};

/// A request and its response.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exchange<'d, 's> {
    /// The request body.
    pub request: Value<'d, 's>,
    /// The response; `None` if there was none.
    pub response: Option<Value<'d, 's>>,
    /// The status of the response, if it is known.
    pub status: Option<u16>,
    /// The address of the request or its path, if it is known.
    pub url: Option<Value<'d, 's>>,
    /// How many seconds the response asks to wait before the next request.
    pub retry_after: Option<f64>,
    /// When the exchange took place, in seconds since 1970.
    pub time: Option<f64>,
    /// Whether it is a line of a batch, from which none of the others goes on.
    pub is_of_batch: bool,
    /// Whether the record says that the response broke off.
    pub is_cut: bool,
    /// The conversation on the server that the request puts messages into, which no model answers.
    pub put_into: Option<Named<'s>>,
    /// Whether it only fetches what the server keeps: its response is no model's.
    pub is_fetch: bool,
}

impl<'d, 's> Exchange<'d, 's> {
    /// Whether its status says that the API took the request.
    pub fn is_accepted(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// A request of which nothing else is known.
    fn of_request(request: Value<'d, 's>) -> Self {
        Self {
            request,
            response: None,
            status: None,
            url: None,
            retry_after: None,
            time: None,
            is_of_batch: false,
            is_cut: false,
            put_into: None,
            is_fetch: false,
        }
    }
}

/// The number of elements of an array to check for exchanges.
const LOOKED_AT: usize = 16;

/// The exchanges in a document; `None` if there are none. An element of the array that is not an exchange is returned
/// as a request, so that it is not silently skipped.
pub fn exchanges<'d, 's>(root: Value<'d, 's>) -> Option<Vec<Exchange<'d, 's>>> {
    if !root.is_array() {
        return exchange(root).map(|exchange| vec![exchange]);
    }
    // What only fetches something may stand among anything.
    let mut first = root.elements().take(LOOKED_AT).filter_map(exchange);
    first.find(|exchange| !exchange.is_fetch)?;
    Some(root.elements().map(|value| exchange(value).unwrap_or(Exchange::of_request(value))).collect())
}

/// The keys under which logs have what they send.
const SENT: [&str; 6] = words("body data json kwargs params payload");

/// Whether a value can only be the body of a request: it has a model and another setting beside its messages, no key that an
/// API does not know, and stands in a list or under a key that says so. What a span has for its input is what an agent was
/// given.
pub fn is_body(value: Value<'_, '_>) -> bool {
    let is_sent = value.key_text().is_none_or(|key| SENT.contains(&&*key));
    let has_settings = is_sent && value.has_text("model") && value.members().nth(2).is_some();
    let knows = |format: &str| {
        let shape = targets::find(format).and_then(Target::shape);
        shape.is_some_and(|shape| shape.knows_keys(value))
    };
    has_settings && is_known(value) && formats_with_keys(value).into_iter().any(knows)
}

/// Whether a value is an array of bodies.
pub fn are_bodies(root: Value<'_, '_>) -> bool {
    let mut first = root.elements().take(LOOKED_AT);
    root.is_array() && first.clone().any(is_body) && first.all(is_known) && !is_known(root)
}

/// The response in a record that has no request, such as a stream that was recorded by itself, also as a text. Gemini CLI
/// keeps the replies of a test with the `method` that was called.
pub fn response_alone<'d, 's>(root: Value<'d, 's>) -> Option<Value<'d, 's>> {
    // The first is the name of a line in the result of a batch of Gemini.
    const BESIDE: [&str; 14] = words(
        "key response status status_code statusCode method url path time timestamp startedDateTime \
        recorded_at headers response_headers",
    );
    let is_stream = |response: Value<'_, '_>| {
        let text = response.as_str();
        text.is_some_and(|text| {
            ["data:", "event:", "{"].iter().any(|start| text.trim_start().starts_with(start))
        })
    };
    let is_one =
        |response: &Value<'_, '_>| response.is_object() || response.is_array() || is_stream(*response);
    let response = root.get("response").filter(is_one)?;
    let is_other = |member: Value<'_, '_>| !BESIDE.iter().any(|key| member.has_key(key));
    (!root.members().any(is_other)).then_some(response)
}

/// Whether a body is a request to an LLM, in a format that is read or meant to be.
pub fn is_request(body: Value<'_, '_>) -> bool {
    is_known(body)
        || body.is_object()
            && (unsupported::is_meant_as_request(body) || unsupported::misnamed_list(body).is_some())
}

/// The format of the messages that requests put into conversations on a server.
pub static PUT: &Format = &openai_responses::FORMAT;

/// The messages that a request puts into a conversation on the server, at `/conversations` or `/conversations/ID/items`; the
/// request itself if it only makes one. From the reference of OpenAI's API:
/// <https://platform.openai.com/docs/api-reference/conversations/create-items>.
pub fn put_items<'d, 's>(url: &str, request: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let path = url.split(['?', '#']).next()?;
    let mut steps = path.rsplit('/').filter(|step| *step != "items").take(2);
    let is_of_it = |key: Value<'_, '_>| ["items", "metadata", "include"].iter().any(|own| key.has_key(own));
    if !steps.any(|step| step == "conversations") || !request.is_object() || !request.members().all(is_of_it)
    {
        return None;
    }
    let items = request.get("items").filter(|items| items.elements().next().is_some());
    items.map_or(Some(request), |items| Some(items).filter(|items| (PUT.sniff)(*items) > 0))
}

/// The conversation that a request to Mistral's API for them is of, by its address; empty for one that begins it. From
/// <https://docs.mistral.ai/api/endpoint/beta/conversations>.
pub fn conversation_at(url: &str) -> Option<String> {
    let (host, path) = url.split_once("://")?.1.split_once('/')?;
    let rest = path.strip_prefix("v1/conversations").filter(|_| host == "api.mistral.ai")?;
    rest.trim_start_matches('/').split(['/', '?', '#']).next().map(str::to_owned)
}

/// The id of the conversation that a response of that API is of, or its stream.
pub fn conversation_id(response: Value<'_, '_>) -> Option<String> {
    let first = response.elements().next().unwrap_or(response);
    let id = first.get("data").unwrap_or(first).get_any(&["conversation_id", "conversationId"]);
    Some(id?.as_str()?.into())
}

/// The name of the conversation that a request puts messages into, which the response has if the path has none.
fn put_into<'s>(url: Value<'_, 's>, response: Option<Value<'_, 's>>) -> Option<Named<'s>> {
    let text = url.as_str()?;
    let id = text.split_once("/conversations/").map(|(_, id)| id.split(['/', '?']).next().unwrap_or(id));
    match id {
        Some(id) => Some(Named { text: id.to_owned().into(), place: Place::of(url), instead: None }),
        None => Named::of(response::unwrapped(response?).get("id")?),
    }
}

fn is_known(value: Value<'_, '_>) -> bool {
    let knows = |format: &Format| (format.sniff)(value) > 0;
    // Most requests, of other formats too, look a little like those of Chat Completions.
    knows(&formats::openai_chat::FORMAT) || formats::ALL.iter().any(|format| knows(format))
}

fn exchange<'d, 's>(value: Value<'d, 's>) -> Option<Exchange<'d, 's>> {
    let request = value.get("request").filter(|request| request.is_object() || request.is_array())?;
    // Some logs keep the body beside the method and the headers. Code Assist has that of Gemini beside the project.
    let inner = request.get_any(&["body", "request"]).filter(|body| body.is_object() && !is_known(request));
    let address = || request.get_any(&["url", "uri", "path"]);
    let body = inner.filter(|body| is_known(*body));
    // A `path` may lead to a file, except beside a body.
    let url = value.get_any(&["url", "path"]).or_else(|| inner.and_then(|_| address()));
    let method = request.get_str("method").or_else(|| value.get_str("method"));
    if inner.is_none() && method.is_some_and(|method| method == "GET") && !is_known(request) {
        let url = url.or_else(address);
        return Some(Exchange { url, is_fetch: true, ..Exchange::of_request(request) })
            .filter(|it| it.url.is_some());
    }
    let status = status_of(value);
    let items = url.and_then(|url| put_items(&url.as_str()?, inner.unwrap_or(request)));
    let request = body.unwrap_or(request);
    if let Some((items, url)) = items.filter(|items| items.is_array()).zip(url) {
        let put_into = put_into(url, value.get("response"));
        return Some(Exchange { status, url: Some(url), put_into, ..Exchange::of_request(items) });
    }
    let response = value.get("response").filter(|response| !response.is_null());
    // Logs also have keys with these names, next to messages of their own or with other contents.
    let is_answered = || response.is_some_and(|response| !response::formats_of(response).is_empty());
    let is_sent = || url.and_then(Value::as_str).is_some_and(|url| endpoint::purpose(&url) == Purpose::Llm);
    let is_misspelt = || {
        let list = unsupported::misnamed_list(request).and_then(Value::key_text);
        list.is_some_and(|key| unsupported::is_misspelt_list(&key))
    };
    let is_meant =
        || is_request(request) && (status.is_some() || is_answered() || is_sent() || is_misspelt());
    if is_known(value) || !(is_known(request) || is_meant()) {
        return None;
    }
    Some(Exchange {
        response,
        status,
        url,
        retry_after: timing::retry_after(value),
        time: timing::time(value),
        // Vertex says when it has processed a line, and Bedrock numbers them.
        is_of_batch: value.get_any(&["processed_time", "recordId"]).is_some(),
        // As the proxy writes it.
        is_cut: value.is_true("cut"),
        ..Exchange::of_request(request)
    })
}

/// The status of an HTTP response, beside it or in it.
fn status_of(exchange: Value<'_, '_>) -> Option<u16> {
    let names = ["status", "status_code", "statusCode"];
    let inside = || exchange.get("response").and_then(|response| response.get_any(&names));
    status(exchange.get_any(&names).or_else(inside)?)
}

/// An HTTP status that a recorder wrote as a number, as a text, or beside its message as PHP-VCR does.
pub fn status(value: Value<'_, '_>) -> Option<u16> {
    let value = value.get("code").unwrap_or(value);
    let status = match value.as_str() {
        Some(text) => text.parse().ok()?,
        None => u16::try_from(value.as_u64()?).ok()?,
    };
    (100..600).contains(&status).then_some(status)
}
