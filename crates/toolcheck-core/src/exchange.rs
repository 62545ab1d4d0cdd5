//! Exchanges: requests together with what the model answered to each, in order of time.
//!
//! `{"request": {...}, "response": {...}}`, alone, in an array, or one a line.

use toolcheck_json::Value;

/// A request and its response.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'d, 's> {
    /// The body that was sent.
    pub request: Value<'d, 's>,
    /// What came back; `None` where nothing did.
    pub response: Option<Value<'d, 's>>,
}

/// The exchanges that a document holds; `None` where it holds none.
#[must_use]
pub fn exchanges<'d, 's>(root: Value<'d, 's>) -> Option<Vec<Exchange<'d, 's>>> {
    if root.is_array() {
        // A list of messages or items is told by its first element.
        exchange(root.elements().next()?)?;
        return Some(root.elements().filter_map(exchange).collect());
    }
    exchange(root).map(|exchange| vec![exchange])
}

fn exchange<'d, 's>(value: Value<'d, 's>) -> Option<Exchange<'d, 's>> {
    let request = value.get("request").filter(|request| request.is_object() || request.is_array())?;
    let response = value.get("response")?;
    Some(Exchange { request, response: Some(response).filter(|response| !response.is_null()) })
}

/// The values of a document that are to be read as requests: those of its exchanges, or the document itself.
#[must_use]
pub fn requests<'d, 's>(root: Value<'d, 's>) -> Vec<Value<'d, 's>> {
    match exchanges(root) {
        Some(exchanges) => exchanges.into_iter().map(|exchange| exchange.request).collect(),
        None => vec![root],
    }
}
