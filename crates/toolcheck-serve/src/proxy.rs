//! A proxy that checks each request on its way to an API.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, http};
use serde_json::{Value as Json, json};
use toolcheck_core::formats;
use toolcheck_lint::TargetRef;
use toolcheck_lint::server_state::{ServerState, StoredAfterResponse};

use crate::answer::{Answer, Refused};
use crate::body;
use crate::content::Content;
use crate::http::{Body, about_itself, agent, encoding, encoding_in, now, refuse, turned_away, write};
use crate::limits::BodyLimiter;
use crate::listener::Listener;
use crate::origin_check::{Purpose, leads_out};
use crate::provider::{Provider, Strictness, keep};
use crate::received;
use crate::route::plain_path;
use crate::secrets::{secrets, without};
use crate::seen::Exchange;
use crate::state::{Listening, Watch, listening_setters, note};
use crate::upstream::Upstream;

/// Headers that are about a connection and not about what is sent over it.
const OF_A_CONNECTION: [&str; 9] = [
    "connection",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What a proxy is made of.
#[derive(Debug, Clone)]
#[must_use]
pub struct ProxyBuilder {
    upstream: Upstream,
    provider: Provider,
    against: Option<Provider>,
    refuses: bool,
    listening: Listening,
    on_unchecked: OnUnchecked,
}

/// What is called with each new path of a request that is passed on unchecked.
#[derive(Clone, Default)]
struct OnUnchecked(Option<Arc<Teller>>);

type Teller = dyn Fn(&str) + Send + Sync;

impl fmt::Debug for OnUnchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnUnchecked")
    }
}

/// A proxy that listens on the loopback interface until it is finished or dropped.
#[derive(Debug)]
pub struct Proxy {
    listener: Listener,
    state: Arc<State>,
}

/// What has passed a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Passed {
    /// How many requests with a conversation there were.
    pub requests: usize,
    /// How many of them the API refuses.
    pub refused: usize,
    /// How many of them the other API would refuse.
    pub refused_against: usize,
    /// How many of them were passed on and have no response.
    pub unanswered: usize,
    /// How many others with a body were passed on unchecked, because their path asks for no conversation.
    pub unchecked: usize,
    /// The methods and paths of these: each once, in the order in which they came first, and the first hundred.
    pub unchecked_paths: Vec<String>,
}

#[derive(Debug)]
struct State {
    builder: ProxyBuilder,
    limiter: Arc<BodyLimiter>,
    /// What later requests may refer to.
    server: ServerState,
    requests: AtomicUsize,
    refused: AtomicUsize,
    refused_against: AtomicUsize,
    unanswered: AtomicUsize,
    unchecked: AtomicUsize,
    unchecked_paths: Mutex<Vec<String>>,
}

impl ProxyBuilder {
    /// Checks requests against a target. Without one, it is the one of each request's format.
    pub fn target(mut self, target: impl Into<TargetRef>) -> Self {
        self.provider.targets = vec![target.into()];
        self
    }

    /// Also says what this target would refuse.
    pub fn against(mut self, target: impl Into<TargetRef>) -> Self {
        let strictness = self.provider.strictness;
        let targets = vec![target.into()];
        self.against = Some(Provider { targets, takes_all: true, strictness, ..Provider::default() });
        self
    }

    /// How much must be known of a refusal.
    pub fn strictness(mut self, strictness: Strictness) -> Self {
        self.provider.strictness = strictness;
        if let Some(against) = &mut self.against {
            against.strictness = strictness;
        }
        self
    }

    /// Answers a request that the API would refuse itself, and does not pass it on.
    pub fn refuse(mut self, refuses: bool) -> Self {
        self.refuses = refuses;
        self
    }

    listening_setters!();

    /// Calls a function with the method and the path of a request with a body that is passed on unchecked, the first time
    /// that they come.
    pub fn on_unchecked(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_unchecked = OnUnchecked(Some(Arc::new(tell)));
        self
    }

    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The port is taken, or the system refuses.
    pub fn start(self) -> io::Result<Proxy> {
        let Listening { port, most_body, .. } = self.listening;
        let zero = AtomicUsize::default;
        let limiter = Arc::new(BodyLimiter::new(most_body));
        let state = Arc::new(State {
            builder: self,
            limiter,
            server: ServerState::default(),
            requests: zero(),
            refused: zero(),
            refused_against: zero(),
            unanswered: zero(),
            unchecked: zero(),
            unchecked_paths: Mutex::default(),
        });
        let listener = Listener::start("toolcheck-proxy", port, Arc::clone(&state), respond)?;
        Ok(Proxy { listener, state })
    }
}

impl Proxy {
    /// A proxy in front of a server.
    pub fn builder(upstream: Upstream) -> ProxyBuilder {
        ProxyBuilder {
            upstream,
            provider: Provider { takes_all: true, ..Provider::default() },
            against: None,
            refuses: false,
            listening: Listening::default(),
            on_unchecked: OnUnchecked::default(),
        }
    }

    /// The address to give to a client in place of the API's.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Stops it, and says what has passed.
    pub fn finish(mut self) -> Passed {
        self.listener.stop();
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let State { requests, refused, refused_against, unanswered, unchecked, .. } = &*self.state;
        Passed {
            requests: count(requests),
            refused: count(refused),
            refused_against: count(refused_against),
            unanswered: count(unanswered),
            unchecked: count(unchecked),
            unchecked_paths: self.state.unchecked_paths().clone(),
        }
    }
}

impl State {
    fn unchecked_paths(&self) -> MutexGuard<'_, Vec<String>> {
        // A path is added as a whole.
        self.unchecked_paths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request with a body that is passed on unchecked.
    fn leave_unchecked(&self, parts: &http::request::Parts) {
        self.unchecked.fetch_add(1, Ordering::Relaxed);
        let mut paths = self.unchecked_paths();
        let new = note(&mut paths, parts.method.as_str(), parts.uri.path());
        if let (Some(new), OnUnchecked(Some(tell))) = (new, &self.builder.on_unchecked) {
            tell(new);
        }
    }
}

async fn respond(request: Request<Incoming>, state: Arc<State>) -> Response<Body> {
    let state = &state;
    let builder = &state.builder;
    let (parts, body) = request.into_parts();
    if let Some(said) = about_itself("proxy", &parts) {
        return said;
    }
    if let Some((status, why)) = builder.listening.guard.refuses(&parts, Purpose::Control) {
        return refuse(status, Some(&format!("toolcheck proxy: {why}")));
    }
    // It would leave what stands before the path upstream.
    if leads_out(&parts.uri) {
        let why = "toolcheck proxy: a path with a step such as `..` is not passed on";
        return refuse(StatusCode::BAD_REQUEST, Some(why));
    }
    let mut held = match state.limiter.receive(body).await {
        Ok(held) => held,
        Err(status) => {
            if status != StatusCode::PAYLOAD_TOO_LARGE {
                return turned_away(status);
            }
            let why = format!("its body has more than {} bytes (`--max-body`)", builder.listening.most_body);
            let response = refuse(status, Some(&format!("toolcheck proxy: not passed on: {why}")));
            if let Some(checked) = Checked::new(&parts, None, state) {
                checked.keep_unanswered(state, Some(why));
            }
            return response;
        }
    };
    let size = if encoding(&parts).is_some() { usize::MAX } else { held.bytes.len() };
    let shared = Arc::clone(state);
    let work = move || {
        let checked = Checked::new(&parts, Some(&held.bytes), &shared);
        (parts, Bytes::from(std::mem::take(&mut held.bytes)), held, checked)
    };
    let Some((parts, body, held, checked)) = state.limiter.work(size, work).await else {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, None);
    };
    let Some(mut checked) = checked else {
        // Lists of models and the like are none of its business.
        if !body.is_empty() {
            state.leave_unchecked(&parts);
        }
        return pass(&parts, body, builder)
            .await
            .unwrap_or_else(|error| unreachable(&no_answer(&builder.upstream, &error)));
    };
    if let Some(answer) = checked.answer.take().filter(|_| builder.refuses) {
        checked.keep(state, answer.status, answer.content(), false, None);
        return write(answer);
    }
    let mut waiting = Waiting { checked: Some(checked), state: Arc::clone(state) };
    let passed = pass(&parts, body, builder).await;
    drop(held);
    let Some(checked) = waiting.checked.take() else {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, None);
    };
    match passed {
        Ok(response) => {
            let (head, body) = response.into_parts();
            let kept = Kept { head: head.clone(), checked, state: Arc::clone(state) };
            let most = builder.listening.most_body;
            Response::from_parts(head, Copied { body, text: Vec::new(), most, kept: Some(kept) }.boxed())
        }
        Err(error) => {
            let why = no_answer(&builder.upstream, &error);
            let response = unreachable(&why);
            checked.keep_unanswered(state, Some(why));
            response
        }
    }
}

/// Sends a request on, with all of its headers but those of the connection.
async fn pass(
    parts: &http::request::Parts,
    body: Bytes,
    builder: &ProxyBuilder,
) -> io::Result<Response<Body>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    leave_connection(request.headers_mut());
    request.headers_mut().remove(CONTENT_LENGTH);
    // What is recorded is to be read, and nothing here unpacks it.
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let mut response = builder.upstream.send(request).await?;
    leave_connection(response.headers_mut());
    Ok(response.map(|body| body.map_err(io::Error::other).boxed()))
}

fn leave_connection(headers: &mut HeaderMap) {
    // A header may name others that are about the connection too.
    let named: Vec<HeaderName> = headers
        .get_all("connection")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    named.iter().for_each(|name| drop(headers.remove(name)));
    OF_A_CONNECTION.iter().for_each(|name| drop(headers.remove(*name)));
}

/// Why a request has no response.
fn no_answer(upstream: &Upstream, error: &io::Error) -> String {
    format!("no answer from {upstream}: {error}")
}

fn unreachable(why: &str) -> Response<Body> {
    refuse(StatusCode::BAD_GATEWAY, Some(&format!("toolcheck proxy: {why}")))
}

/// A request with a conversation.
struct Checked {
    path: String,
    format: &'static str,
    request: Content,
    refused: Option<Refused>,
    against: Option<Refused>,
    /// What the API would answer, if it refuses it.
    answer: Option<Answer>,
    /// The keys that it came with, which are not recorded.
    secrets: Vec<String>,
    /// What it leaves on the server once it is answered.
    sent: Option<StoredAfterResponse>,
    /// Whether it goes on from something that the server keeps.
    goes_on: bool,
    /// Why the API has not answered.
    missed: Option<String>,
}

impl Checked {
    /// `None` if the request asks for no conversation. A body that is too large is none: nothing is known of it.
    fn new(parts: &http::request::Parts, body: Option<&[u8]>, state: &State) -> Option<Self> {
        let builder = &state.builder;
        let (path, agent) = (parts.uri.path(), agent(parts));
        // What else has a body may still be read as what is posted.
        if body.is_some_and(<[u8]>::is_empty) && !parts.method.as_str().eq_ignore_ascii_case("post") {
            return None;
        }
        // The path as it is comes first: what it says of a model counts.
        let spellings = || [false, true].into_iter().map(|splits| plain_path(path, splits));
        let asked_as = |path: String| Some((builder.provider.asked(&path, agent).ok()?, path));
        let (asked, plain) =
            std::iter::once_with(|| path.to_owned()).chain(spellings()).find_map(asked_as)?;
        let encoding = encoding(parts);
        let (encoding, most) = (encoding.as_deref(), builder.listening.most_body);
        let checked = builder.provider.check(&asked, body, encoding, most, &state.server);
        let against = builder.against.as_ref().filter(|_| body.is_some()).and_then(|other| {
            // The format is that of the path as it is, and only the target is another.
            let asked = other.asked(&plain, agent).ok()?.in_format_of(&asked);
            other.check(&asked, body, encoding, most, &state.server).refused
        });
        let (sent, goes_on) = (checked.sent(), checked.goes_on());
        // The API behind may take what is too large here.
        let refused = checked.refused.filter(|_| body.is_some());
        let count = |count: &AtomicUsize, is: bool| count.fetch_add(usize::from(is), Ordering::Relaxed);
        count(&state.requests, true);
        count(&state.refused, refused.is_some());
        count(&state.refused_against, against.is_some());
        let answer = refused.clone().map(|refused| asked.refuse(refused));
        let (path, format, request) = (path.to_owned(), asked.format.id, checked.request);
        let secrets = secrets(parts);
        Some(Self { path, format, request, refused, against, answer, secrets, sent, goes_on, missed: None })
    }

    /// Records a request that has no response: because the API gives none, or because nobody has waited for it.
    fn keep_unanswered(mut self, state: &State, why: Option<String>) {
        state.unanswered.fetch_add(usize::from(why.is_some()), Ordering::Relaxed);
        self.missed = why;
        self.keep(state, 0, Content::of(&Json::Null), true, None);
    }

    fn keep(self, state: &State, status: u16, response: Content, is_cut: bool, retry_after: Option<u64>) {
        state.builder.listening.watch.see(&Exchange {
            path: self.path,
            format: self.format,
            request: without(&self.secrets, self.request),
            opaque: Vec::new(),
            goes_on: self.goes_on,
            missed: self.missed,
            prompt: None,
            response: without(&self.secrets, response),
            is_cut,
            status,
            refused: self.refused,
            allowed: Vec::new(),
            against: self.against,
            retry_after,
            time: now(),
        });
    }
}

/// A request whose response has not begun.
struct Waiting {
    checked: Option<Checked>,
    state: Arc<State>,
}

impl Drop for Waiting {
    /// Records a request that its client has given up.
    fn drop(&mut self) {
        if let Some(checked) = self.checked.take() {
            checked.keep_unanswered(&self.state, None);
        }
    }
}

/// What is needed to record a response once it is complete.
struct Kept {
    head: http::response::Parts,
    checked: Checked,
    state: Arc<State>,
}

/// A body that is passed on frame by frame as it comes, and copied for the record.
struct Copied {
    body: Body,
    text: Vec<u8>,
    most: usize,
    kept: Option<Kept>,
}

impl Copied {
    /// Records the response, which is whole or has broken off.
    fn end(&mut self, is_cut: bool) {
        let Some(Kept { head, checked, state }) = self.kept.take() else { return };
        let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let after = header("retry-after").and_then(|after| after.trim().parse().ok());
        let value = if self.text.len() > self.most {
            json!({"error": {"message": "toolcheck proxy: the response was too large to record"}})
        } else {
            let encoding = encoding_in(&head.headers);
            match body::plain(&self.text, encoding.as_deref(), self.most) {
                Ok(text) => received::value(header("content-type").unwrap_or_default(), &text),
                // It is not in the record as what it is not.
                Err(why) => json!({"error": {"message": format!("toolcheck proxy: {}", why.message)}}),
            }
        };
        if let (Some(sent), Some(format)) = (checked.sent.clone(), formats::find(checked.format))
            && head.status.is_success()
        {
            keep(&state.server, sent, format, &value, is_cut);
        }
        checked.keep(&state, head.status.as_u16(), Content::of(&value), is_cut, after);
    }
}

impl hyper::body::Body for Copied {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            // Trailers come last, and nobody asks for more.
            Poll::Ready(Some(Ok(frame))) if frame.is_trailers() => self.end(false),
            Poll::Ready(Some(Ok(frame))) => {
                // One byte more than is kept says that it is too much.
                let limiter = (self.most + 1).saturating_sub(self.text.len());
                let data = frame.data_ref().map_or(&[][..], |data| &data[..data.len().min(limiter)]);
                self.text.extend_from_slice(data);
            }
            Poll::Ready(None) => self.end(false),
            Poll::Ready(Some(Err(_))) => self.end(true),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Copied {
    /// A client that goes away early has had a response too, and of a body of known length no end is asked for.
    fn drop(&mut self) {
        self.end(!hyper::body::Body::is_end_stream(&self.body));
    }
}
