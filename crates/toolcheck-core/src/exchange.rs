//! Exchanges: requests together with what the model answered to each, in order of time.
//!
//! `{"request": {...}, "response": {...}}`, alone, in an array, or one a line.

use toolcheck_json::Value;

use crate::formats;

/// A request and its response.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Exchange<'d, 's> {
    /// The body that was sent.
    pub request: Value<'d, 's>,
    /// What came back; `None` where nothing did.
    pub response: Option<Value<'d, 's>>,
}

/// How many elements of an array are looked at to see whether it holds exchanges.
const LOOKED_AT: usize = 16;

/// The exchanges that a document holds; `None` where it holds none. What stands among exchanges and is none is given as
/// a request, so that nobody takes it for read.
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
    // Logs have keys of these names too, beside messages of their own or with something else in them.
    let is_known = |value| formats::ALL.iter().any(|format| (format.sniff)(value) > 0);
    if is_known(value) || !is_known(request) {
        return None;
    }
    let response = value.get("response").filter(|response| !response.is_null());
    Some(Exchange { request, response })
}
