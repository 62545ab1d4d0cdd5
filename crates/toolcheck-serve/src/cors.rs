//! What a browser asks before a page may talk to another origin, and what it must hear before the page may read the
//! answer (<https://fetch.spec.whatwg.org/#http-cors-protocol>).

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderMap,
    HeaderName, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

/// A page that asks, which the guard has let in.
#[derive(Debug)]
pub(crate) struct Page {
    origin: HeaderValue,
}

impl Page {
    /// `None` if it is a program that asks.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none())?;
        Some(Self { origin: origin.clone() })
    }

    /// The answer to the question whether a page may ask something; `None` if it asks that something itself.
    pub(crate) fn preflight(&self, parts: &Parts) -> Option<Response<()>> {
        let asks =
            parts.method == Method::OPTIONS && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if !asks {
            return None;
        }
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
        // Each SDK has headers of its own, and none of them is kept.
        if let Some(wanted) = parts.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        // A page of the internet that asks a program of this machine.
        if parts.headers.contains_key("access-control-request-private-network") {
            let name = HeaderName::from_static("access-control-allow-private-network");
            headers.insert(name, HeaderValue::from_static("true"));
        }
        Some(self.lets_read(response))
    }

    /// Lets the page read a response, with its headers.
    pub(crate) fn lets_read<B>(&self, mut response: Response<B>) -> Response<B> {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
        headers.append(VARY, HeaderValue::from_static("origin"));
        response
    }
}
