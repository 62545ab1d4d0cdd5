//! Exchanges: requests with their responses, in chronological order.
//!
//! `{"request": {...}, "response": {...}}`, alone, in an array, or one per line.

mod timing;

use toolcheck_json::Value;

use crate::formats::{self, Format};
use crate::names::words;
use crate::unsupported;

/// A request and its response.
#[derive(Debug, Clone, Copy)]
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
    root.elements().take(LOOKED_AT).find_map(exchange)?;
    let none = |value| Exchange::of_request(value);
    Some(root.elements().map(|value| exchange(value).unwrap_or_else(|| none(value))).collect())
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
    is_known(body) || body.is_object() && unsupported::is_meant_as_request(body)
}

fn is_known(value: Value<'_, '_>) -> bool {
    let knows = |format: &Format| (format.sniff)(value) > 0;
    // Most requests, of other formats too, look a little like those of Chat Completions.
    knows(&formats::openai_chat::FORMAT) || formats::ALL.iter().any(|format| knows(format))
}

fn exchange<'d, 's>(value: Value<'d, 's>) -> Option<Exchange<'d, 's>> {
    let request = value.get("request").filter(|request| request.is_object() || request.is_array())?;
    // Some logs keep the body beside the method and the headers. Code Assist has that of Gemini beside the project.
    let body = request
        .get_any(&["body", "request"])
        .filter(|body| body.is_object() && is_known(*body) && !is_known(request));
    // A `path` may lead to a file, except beside a body.
    let own = body.and_then(|_| request.get_any(&["url", "uri", "path"]));
    let url = value.get_any(&["url", "path"]).or(own);
    let request = body.unwrap_or(request);
    let status = status_of(value);
    // Logs also have keys with these names, next to messages of their own or with other contents.
    if is_known(value) || !(is_known(request) || status.is_some() && is_request(request)) {
        return None;
    }
    let response = value.get("response").filter(|response| !response.is_null());
    Some(Exchange {
        request,
        response,
        status,
        url,
        retry_after: timing::retry_after(value),
        time: timing::time(value),
        // Vertex says when it has processed a line, and Bedrock numbers them.
        is_of_batch: value.get_any(&["processed_time", "recordId"]).is_some(),
        // As the proxy writes it.
        is_cut: value.get("cut").and_then(Value::as_bool) == Some(true),
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
