//! The HTTP server.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderName, HeaderValue, ORIGIN};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::sync::oneshot;

use crate::models;
use crate::provider::{self, Answer};
use crate::script::script;
use crate::seen::{self, Exchange, Run, State};

pub(crate) type Body = BoxBody<Bytes, io::Error>;

/// Where a client asks what was seen.
const ADMIN: &str = "/_toolcheck/";

/// Serves until it is told to stop.
pub(crate) async fn serve(listener: TcpListener, state: Arc<State>, stopped: oneshot::Receiver<()>) {
    let mut stopped = pin!(stopped);
    accept(listener, &mut stopped, |stream| {
        let state = Arc::clone(&state);
        let service = service_fn(move |request| {
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(respond(request, &state).await) }
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // A client that goes away is no fault, and neither is a stream that is cut off on purpose.
        tokio::spawn(async move {
            let _ = connection.await;
        });
    })
    .await;
}

/// Takes connections until it is told to stop.
pub(crate) async fn accept(
    listener: TcpListener,
    stopped: &mut Pin<&mut oneshot::Receiver<()>>,
    serve: impl Fn(tokio::net::TcpStream),
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.as_mut() => return,
        };
        // The system may be short of something for a moment.
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        serve(stream);
    }
}

/// The time in seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

async fn respond(request: Request<Incoming>, state: &State) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    if let Some(name) = path.strip_prefix(ADMIN) {
        // A page in a browser has no business here.
        return if parts.headers.contains_key(ORIGIN) {
            refuse(StatusCode::FORBIDDEN, None)
        } else {
            admin((&parts.method, name), body, state).await
        };
    }
    if let Some(about) = models::answer(&parts.method, path) {
        return json_of(about.to_string());
    }
    if parts.method != Method::POST {
        state.miss(parts.method.as_str(), path);
        return refuse(StatusCode::NOT_FOUND, None);
    }
    let Ok(body) = Limited::new(body, state.most_body).collect().await else {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, None);
    };
    let body = body.to_bytes();
    let query = parts.uri.query().unwrap_or_default();
    let (request, raw) = seen::read(&body);
    let (attempt, given) = state.attempt(&body);
    let asked = provider::Request { path, query, body: &body, json: &request, attempt, given: &given };
    let Some(answer) = state.provider().answer(asked) else {
        state.miss(parts.method.as_str(), path);
        return refuse(StatusCode::NOT_FOUND, None);
    };
    if let Some(turn) = answer.once {
        state.give(turn);
    }
    let size = body.len() + answer.body.len() + answer.frames.iter().flatten().map(Vec::len).sum::<usize>();
    let exchange = Exchange {
        path: path.to_owned(),
        format: answer.format,
        request,
        raw,
        response: answer.record.clone(),
        status: answer.status,
        refused: answer.refused.clone(),
        retry_after: answer.retry_after,
        opaque: answer.opaque.clone(),
        against: None,
        time: now(),
    };
    state.keep(exchange, size);
    write(answer)
}

/// What a test asks for and sets: `report`, `exchanges`, `script` and `reset`.
async fn admin((method, name): (&Method, &str), body: Incoming, state: &State) -> Response<Body> {
    let (kind, body) = match (method, name) {
        (_, "report") => ("application/json", state.look(Run::report).to_string()),
        (_, "exchanges") => ("application/x-ndjson", state.look(Run::json_lines)),
        (&Method::POST, "script") => {
            let Ok(body) = Limited::new(body, state.most_body).collect().await else {
                return refuse(StatusCode::PAYLOAD_TOO_LARGE, None);
            };
            let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
            match script(&text) {
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
    let mut response = Response::new(whole(body.into_bytes()));
    response.headers_mut().insert("content-type", HeaderValue::from_static(kind));
    response
}

/// A response that is JSON.
fn json_of(text: String) -> Response<Body> {
    let mut response = Response::new(whole(text.into_bytes()));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    response
}

/// What is not about a conversation.
pub(crate) fn refuse(status: StatusCode, reason: Option<&str>) -> Response<Body> {
    let reason = reason.or(status.canonical_reason()).unwrap_or("error");
    let text = json!({"error": {"message": reason}});
    let mut response = Response::new(whole(text.to_string().into_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
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
