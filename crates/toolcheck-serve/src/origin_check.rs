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
    use hyper::Request;

    use super::*;

    fn answer(guard: &Guard, headers: &[(&str, &str)], purpose: Purpose) -> u16 {
        let mut request = Request::builder().uri("/v1/messages");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap_or_default().into_parts();
        guard.refuses(&parts, purpose).map_or(200, |(status, _)| status.as_u16())
    }

    #[test]
    fn only_this_machine_is_the_host() {
        let mut guard = Guard::default();
        guard.allow_host("mock".to_owned());
        let host = |host: &str| answer(&guard, &[("host", host)], Purpose::Mock);
        let hosts = "127.0.0.1 127.0.0.1:80 127.9.9.9:1 LOCALHOST:8080 [::1]:3 [::1] mock:9 Mock";
        for own in hosts.split(' ') {
            assert_eq!(host(own), 200, "{own}");
        }
        let others = "evil.example 127.0.0.1.evil.example localhost.evil.example:80 10.0.0.1 [::2] ::1";
        for other in others.split(' ').chain([""]) {
            assert_eq!(host(other), 421, "{other}");
        }
        assert_eq!(answer(&guard, &[], Purpose::Mock), 400);
        assert_eq!(answer(&guard, &[("host", "localhost"), ("host", "evil.example")], Purpose::Mock), 421);
    }

    #[test]
    fn pages_are_refused_unless_they_are_listed() {
        let mut guard = Guard::default();
        guard.allow_origin("https://app.example".to_owned());
        let origin =
            |origin: &str, purpose| answer(&guard, &[("host", "localhost"), ("origin", origin)], purpose);
        for (page, mock, control) in [
            ("https://app.example", 200, 200),
            ("http://localhost:3000", 200, 403),
            ("http://127.0.0.1", 200, 403),
            ("http://evil.example", 403, 403),
            ("http://localhost.evil.example", 403, 403),
            ("null", 403, 403),
        ] {
            assert_eq!(
                (origin(page, Purpose::Mock), origin(page, Purpose::Control)),
                (mock, control),
                "{page}"
            );
        }
        let site =
            |site: &str| answer(&guard, &[("host", "localhost"), ("sec-fetch-site", site)], Purpose::Control);
        assert_eq!((site("cross-site"), site("same-site"), site("none")), (403, 403, 200));
    }

    #[test]
    fn a_path_that_leads_up_is_seen() {
        let out = |path: &str| leads_out(&path.parse().unwrap_or_default());
        let paths = "/../x /a/.. /%2e%2E/x /a/.%2e/b /./x /a%2F..%2Fb /a/%5c..%5cb /x;/..;/b \
            /a/.;p=1/b /%252e%252e/b /a/%2e.%3Bx/b";
        for path in paths.split(' ') {
            assert!(out(path), "{path}");
        }
        for path in
            ["/", "/v1/models/a..b", "/v1/models/gemini-2.5:generateContent", "/.well-known/x", "/a?b=/../c"]
        {
            assert!(!out(path), "{path}");
        }
    }

    #[test]
    fn tokens_differ() {
        assert_eq!(token().len(), 32);
        assert_ne!(token(), token());
    }
}
