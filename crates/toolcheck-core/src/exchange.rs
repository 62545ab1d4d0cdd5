//! Exchanges: requests with their responses, in chronological order.
//!
//! `{"request": {...}, "response": {...}}`, alone, in an array, or one per line.

use toolcheck_json::Value;

use crate::formats;

/// A request and its response.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Exchange<'d, 's> {
    /// The request body.
    pub request: Value<'d, 's>,
    /// The response; `None` if there was none.
    pub response: Option<Value<'d, 's>>,
}

/// The number of elements of an array to check for exchanges.
const LOOKED_AT: usize = 16;

/// The exchanges in a document; `None` if there are none. An element of the array that is not an exchange is returned
/// as a request, so that it is not silently skipped.
#[must_use]
pub fn exchanges<'d, 's>(root: Value<'d, 's>) -> Option<Vec<Exchange<'d, 's>>> {
    if !root.is_array() {
        return exchange(root).map(|exchange| vec![exchange]);
    }
    root.elements().take(LOOKED_AT).find_map(exchange)?;
    let none = |value| Exchange { request: value, response: None };
    Some(root.elements().map(|value| exchange(value).unwrap_or(none(value))).collect())
}

fn exchange<'d, 's>(value: Value<'d, 's>) -> Option<Exchange<'d, 's>> {
    let request = value.get("request").filter(|request| request.is_object() || request.is_array())?;
    // Logs also have keys with these names, next to messages of their own or with other contents.
    let is_known = |value| formats::ALL.iter().any(|format| (format.sniff)(value) > 0);
    if is_known(value) || !is_known(request) {
        return None;
    }
    let response = value.get("response").filter(|response| !response.is_null());
    Some(Exchange { request, response })
}
