//! Who may ask: programs of this machine, and no page that a browser shows.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{StatusCode, Uri};
use toolcheck_core::text::{bounded, shown};

use crate::route::plain_path;

/// The most characters of a name that are repeated.
const LONGEST: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To talk to a model that is none: a page of this machine may do that.
    Mock,
    /// To see or to change what a mock has seen, or to reach an API behind a proxy.
    Control,
}

/// Who may ask beyond the programs of this machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Guard {
    pub(crate) fn allow_host(&mut self, host: String) {
        self.hosts.push(host);
    }

    pub(crate) fn allow_origin(&mut self, origin: String) {
        self.origins.push(origin);
    }

    /// Why a request is not for us, if it is not: a page whose name was made to lead here sends its own name as the host,
    /// and every page sends its origin.
    pub(crate) fn refuses(&self, parts: &Parts, purpose: Purpose) -> Option<(StatusCode, String)> {
        let named = |name: &str| shown(&bounded(name, LONGEST)).to_string();
        let said = parts.headers.get_all(HOST).iter().map(text);
        let hosts: Vec<&str> = said.chain(parts.uri.authority().map(|own| own.as_str())).collect();
        if let Some(host) = hosts.iter().find(|host| !self.knows_host(host)) {
            let why = format!("the host `{}` is not this machine; allow it with `--allow-host`", named(host));
            return Some((StatusCode::MISDIRECTED_REQUEST, why));
        }
        if hosts.is_empty() {
            return Some((StatusCode::BAD_REQUEST, "the header `host` is missing".to_owned()));
        }
        let mut origins = parts.headers.get_all(ORIGIN).iter().map(text).peekable();
        if origins.peek().is_none() && is_of_other_page(&parts.headers) {
            return Some((StatusCode::FORBIDDEN, "web pages must not request this".to_owned()));
        }
        let origin = origins.find(|origin| !self.knows_origin(origin, purpose))?;
        let why = format!("the origin `{}` is not allowed; allow it with `--allow-origin`", named(origin));
        Some((StatusCode::FORBIDDEN, why))
    }

    fn knows_host(&self, authority: &str) -> bool {
        let host = host_of(authority);
        let is_listed = self
            .hosts
            .iter()
            .any(|own| own.eq_ignore_ascii_case(host) || own.eq_ignore_ascii_case(authority));
        is_listed || is_loopback(host)
    }

    fn knows_origin(&self, origin: &str, purpose: Purpose) -> bool {
        let is_own = || {
            let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
            is_loopback(host_of(authority))
        };
        self.origins.iter().any(|own| own.eq_ignore_ascii_case(origin))
            || purpose == Purpose::Mock && is_own()
    }
}

fn text(value: &HeaderValue) -> &str {
    value.to_str().unwrap_or("?")
}

/// Whether a browser says that it asks for the page of another site. What a page loads without CORS has no origin.
fn is_of_other_page(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(text);
    site.is_some_and(|site| !matches!(site, "none" | "same-origin"))
}

fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn is_loopback(host: &str) -> bool {
    let six = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|own| own.is_loopback())
        || six.is_some_and(|six| six.parse::<Ipv6Addr>().is_ok_and(|own| own.is_loopback()))
}

/// Whether a path leads out of where it starts: with a step such as `..`, however it is written.
pub(crate) fn leads_out(uri: &Uri) -> bool {
    plain_path(uri.path(), true).split('/').any(|step| step == ".." || step == ".")
}

/// What a control address has in it that nobody can guess.
pub(crate) fn token() -> String {
    // The keys come from the system's source of chance, and a hash tells nothing of them.
    let parts = [RandomState::new(), RandomState::new()].map(|state| state.hash_one("toolcheck"));
    format!("{:016x}{:016x}", parts[0], parts[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        assert_eq!(token().len(), 32);
        assert_ne!(token(), token());
    }
}
