//! The HTTP server.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_ENCODING, EXPECT, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode, http};
use serde_json::{Value as Json, json};
use toolcheck_core::formats;
use toolcheck_core::targets::Target;

use crate::answer::Answer;
use crate::body;
use crate::cors::Page;
use crate::model_endpoints::{self, Question};
use crate::origin_check::Purpose;
use crate::provider::{Asked, Provider, Unserved};
use crate::route::lacking;
use crate::script::script;
use crate::seen::{Exchange, MockLog};
use crate::state::State;
use crate::stored::Wanted;
use crate::stored::entries::Entries;

pub(crate) type Body = BoxBody<Bytes, io::Error>;

/// Where programs ask what was seen. A token follows, and then what they ask for.
pub(crate) const CONTROL: &str = "/_toolcheck/";

/// The time in seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

pub(crate) async fn respond(request: Request<Incoming>, state: Arc<State>) -> Response<Body> {
    let state = &state;
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    if let Some(said) = about_itself("serve", &parts) {
        return said;
    }
    let control = path.strip_prefix(CONTROL);
    let purpose = if control.is_some() { Purpose::Control } else { Purpose::Mock };
    if let Some((status, why)) = state.guard.refuses(&parts, purpose) {
        return refuse(status, Some(&format!("toolcheck serve: {why}")));
    }
    let mut steered = None;
    if let Some(rest) = control {
        let Some((_, name)) = rest.split_once('/').filter(|(token, _)| *token == state.token) else {
            let why = "toolcheck serve: unknown address; use one that was printed at start";
            return refuse(StatusCode::NOT_FOUND, Some(why));
        };
        steered = Some(name.to_owned());
    }
    // Only from here on a page has been let in.
    let page = Page::of(&parts.headers);
    if let Some(said) = page.as_ref().and_then(|page| page.preflight(&parts)) {
        return said.map(|()| whole(Vec::new()));
    }
    let response = match steered {
        Some(name) => steer((&parts.method, &name), body, state).await,
        None => talk(parts, body, state).await,
    };
    match page {
        Some(page) => page.lets_read(response),
        None => response,
    }
}

/// The answer to a request that is for an API.
async fn talk(parts: http::request::Parts, body: Incoming, state: &Arc<State>) -> Response<Body> {
    let path = parts.uri.path();
    let length = hyper::body::Body::size_hint(&body).exact().unwrap_or_default();
    let provider = state.provider();
    let apis = provider.at_hand(agent(&parts));
    let models = apis.iter().find_map(|api| api.models.as_ref());
    let question = Question { method: &parts.method, path, length, models };
    if let Some(about) = model_endpoints::answer(question) {
        // What is sent is read, so that the connection goes on.
        let _ = state.limiter.receive(body).await;
        return json_of(about.to_string());
    }
    let mut round = None;
    if let Some(asks) = Entries::of(&parts.method, path).filter(|_| provider.keeps_entries(&apis)) {
        if !asks.is_round() {
            let held = match state.limiter.receive(body).await {
                Ok(held) => held,
                Err(status) => return turned_away(status),
            };
            let body = serde_json::from_slice(&held.bytes).unwrap_or_default();
            let told = state.stored().told(&asks, &body);
            return write(told.unwrap_or_else(|| Asked::of_entries().missing()));
        }
        round = Some(asks);
    }
    // Other APIs have conversations of their own at the same paths.
    let format = |api: &&Target| api.format.as_deref().and_then(formats::find);
    let keeps = |api: &&Target| format(api).is_none_or(|format| format.keeps_responses);
    let is_kept = apis.is_empty() || apis.iter().any(keeps);
    if let Some(wanted) = Wanted::of(&parts.method, path).filter(|_| is_kept && round.is_none()) {
        let held = match state.limiter.receive(body).await {
            Ok(held) => held,
            Err(status) => return turned_away(status),
        };
        let body = serde_json::from_slice(&held.bytes).unwrap_or_default();
        let query = parts.uri.query().unwrap_or_default();
        return write(state.stored().answer(wanted, query, &body, &state.server()));
    }
    let missed = || {
        state.miss(parts.method.as_str(), path);
        let told = lacking(path).map(|told| format!("toolcheck serve: there is no {path}: {told}"));
        refuse(StatusCode::NOT_FOUND, told.as_deref())
    };
    if parts.method != Method::POST {
        return missed();
    }
    let asked = match provider.asked(path, agent(&parts)) {
        _ if round.is_some() => Asked::of_entries(),
        Ok(asked) => asked,
        Err(Unserved::Unknown) => return missed(),
        Err(Unserved::Unexpected(answer)) => {
            state.wonder(parts.method.as_str(), path);
            return write(*answer);
        }
    };
    let held = match state.limiter.receive(body).await {
        Ok(held) => Some(held),
        // As large as it is, it is a request that is refused.
        Err(StatusCode::PAYLOAD_TOO_LARGE) => None,
        Err(status) => return turned_away(status),
    };
    let shared = Arc::clone(state);
    // What is encoded may be much larger.
    let size = if encoding(&parts).is_some() {
        usize::MAX
    } else {
        held.as_ref().map_or(0, |held| held.bytes.len())
    };
    let work = move || {
        let body = held.as_ref().map(|held| &*held.bytes);
        answer(&shared, &provider, (&asked, round.as_ref()), &parts, body)
    };
    let answered = state.limiter.work(size, work).await;
    answered.map_or_else(|| refuse(StatusCode::INTERNAL_SERVER_ERROR, None), write)
}

/// Checks a request, and keeps the exchange. `None` is a body that is too large.
fn answer(
    state: &State,
    provider: &Provider,
    (asked, asks): (&Asked, Option<&Entries>),
    parts: &http::request::Parts,
    body: Option<&[u8]>,
) -> Answer {
    let server = state.server();
    let encoding = encoding(parts);
    let most = state.limiter.most_body;
    let begin = |asks, request: &Json| state.stored().round(asks, request);
    let sent = asks
        .and_then(|asks| body::json(body?, encoding.as_deref(), most).map(|sent| (begin(asks, &sent), sent)));
    let (mut checked, body) = match &sent {
        Some((round, sent)) => provider.check_round(asked, round, sent, &server),
        None => (provider.check(asked, body, encoding.as_deref(), most, &server), body.map(Cow::Borrowed)),
    };
    let body = body.as_deref();
    let query = parts.uri.query().unwrap_or_default();
    let answer = provider.answer(asked, &checked, (query, &server), |turn| {
        state.choose(body.unwrap_or_default(), |attempt, given| {
            let chosen = turn(attempt, given);
            (chosen, chosen.filter(|at| provider.is_once(*at)))
        })
    });
    match (&answer.stored, sent) {
        (Some(response), Some((round, sent))) => state.stored().go_on(round, &sent, response),
        (Some(response), None) => state.stored().keep(&checked.request.json(), response),
        (None, _) => {}
    }
    let (goes_on, prompt) = (checked.goes_on(), checked.take_prompt());
    state.keep(Exchange {
        path: parts.uri.path().to_owned(),
        format: asked.format.id,
        request: checked.request,
        response: answer.content(),
        status: answer.status,
        refused: answer.refused.clone(),
        allowed: checked.allowed,
        against: None,
        retry_after: answer.retry_after,
        is_cut: answer.is_cut,
        opaque: answer.opaque.clone(),
        goes_on,
        missed: answer.missed.clone(),
        prompt,
        time: now(),
    });
    answer
}

/// How a body is encoded, in the words of the headers.
pub(crate) fn encoding(parts: &http::request::Parts) -> Option<String> {
    encoding_in(&parts.headers)
}

/// The same of the headers of a response.
pub(crate) fn encoding_in(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(CONTENT_ENCODING).iter();
    let named: Vec<&str> = all.map(|value| value.to_str().unwrap_or("?")).collect();
    (!named.is_empty()).then(|| named.join(","))
}

pub(crate) fn agent(parts: &http::request::Parts) -> &str {
    parts.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default()
}

/// What a test asks for and sets: `report`, `exchanges`, `script` and `reset`.
async fn steer((method, name): (&Method, &str), body: Incoming, state: &Arc<State>) -> Response<Body> {
    let shared = Arc::clone(state);
    let (kind, body) = match (method, name) {
        // They may be long.
        (_, "report") => {
            let report =
                state.limiter.work(usize::MAX, move || shared.look(MockLog::report).to_string()).await;
            ("application/json", report.unwrap_or_default())
        }
        (_, "exchanges") => {
            let lines = state.limiter.work(usize::MAX, move || shared.look(MockLog::json_lines)).await;
            ("application/x-ndjson", lines.unwrap_or_default())
        }
        (&Method::POST, "script") => {
            let body = match state.limiter.receive(body).await {
                Ok(body) => body,
                Err(status) => return turned_away(status),
            };
            match script(&String::from_utf8_lossy(&body.bytes)) {
                Ok(turns) => state.follow(turns),
                Err(error) => return refuse(StatusCode::BAD_REQUEST, Some(&error.to_string())),
            }
            ("application/json", json!({"ok": true}).to_string())
        }
        (&Method::POST, "reset") => {
            state.forget();
            ("application/json", json!({"ok": true}).to_string())
        }
        _ => return refuse(StatusCode::NOT_FOUND, None),
    };
    response_of(kind, body)
}

/// The answer to a body that is not received.
pub(crate) fn turned_away(status: StatusCode) -> Response<Body> {
    let mut response = refuse(status, None);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
    }
    response
}

/// The answer to a request that is about the server and not about a path of it.
pub(crate) fn about_itself(command: &str, parts: &http::request::Parts) -> Option<Response<Body>> {
    match (&parts.method, parts.uri.path()) {
        // What a client sends to a proxy of the usual kind.
        (&Method::CONNECT, _) => {
            let why = format!(
                "toolcheck {command}: this is not a proxy for `HTTPS_PROXY`: give its address to the client as its base URL"
            );
            Some(refuse(StatusCode::METHOD_NOT_ALLOWED, Some(&why)))
        }
        (&Method::OPTIONS, "*") => {
            let mut response = Response::new(whole(Vec::new()));
            *response.status_mut() = StatusCode::NO_CONTENT;
            response.headers_mut().insert("allow", HeaderValue::from_static("GET, POST, OPTIONS"));
            Some(response)
        }
        // It would tell the headers of a request, among them its key.
        (&Method::TRACE, _) => Some(refuse(StatusCode::METHOD_NOT_ALLOWED, None)),
        _ if expects_more(parts) => Some(refuse(StatusCode::EXPECTATION_FAILED, None)),
        _ => None,
    }
}

/// Whether a request expects something that no server knows (RFC 9110, 10.1.1).
fn expects_more(parts: &http::request::Parts) -> bool {
    let all = parts.headers.get_all(EXPECT).iter();
    let named = all.flat_map(|value| value.to_str().unwrap_or("?").split(','));
    named.map(str::trim).any(|one| !one.is_empty() && !one.eq_ignore_ascii_case("100-continue"))
}

fn response_of(kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(whole(text.into_bytes()));
    response.headers_mut().insert("content-type", HeaderValue::from_static(kind));
    response
}

fn json_of(text: String) -> Response<Body> {
    response_of("application/json", text)
}

/// What is not about a conversation.
pub(crate) fn refuse(status: StatusCode, reason: Option<&str>) -> Response<Body> {
    let reason = reason.or(status.canonical_reason()).unwrap_or("error");
    let mut response = json_of(json!({"error": {"message": reason}}).to_string());
    *response.status_mut() = status;
    // What was sent may not have been read.
    response.headers_mut().insert("connection", HeaderValue::from_static("close"));
    response
}

fn whole(bytes: Vec<u8>) -> Body {
    Full::new(Bytes::from(bytes)).map_err(|never| match never {}).boxed()
}

pub(crate) fn write(answer: Answer) -> Response<Body> {
    let body = match answer.frames {
        None => whole(answer.body),
        Some(frames) => Frames { left: frames.into_iter(), is_cut: answer.is_cut, is_writing: false }.boxed(),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// A body whose frames are sent one by one.
struct Frames {
    left: std::vec::IntoIter<Vec<u8>>,
    /// Whether the connection is closed after the last one.
    is_cut: bool,
    /// Whether the last frame is still to be written.
    is_writing: bool,
}

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        // A frame is written before the next one is given.
        self.is_writing = !self.is_writing;
        if !self.is_writing {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(match self.left.next() {
            Some(frame) => Some(Ok(Frame::data(Bytes::from(frame)))),
            None if std::mem::take(&mut self.is_cut) => {
                Some(Err(io::Error::new(io::ErrorKind::ConnectionReset, "the stream is cut off")))
            }
            None => None,
        })
    }
}
