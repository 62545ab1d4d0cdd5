//! A client for a server that something else stands in front of, or behind.

use std::fmt;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use toolcheck_core::text::shown;

use crate::received::Received;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use toolcheck_core::Error;

/// A server by its base URL.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// The host and the port, as in the header `host`.
    authority: String,
    host: String,
    port: u16,
    /// What stands before each path; without a slash at its end.
    base: String,
    /// How it is spoken to; `None` if in plain text.
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

impl Upstream {
    /// The server at a base URL, such as `http://127.0.0.1:4000/v1`, or with the feature `tls`, `https://api.openai.com`.
    ///
    /// # Errors
    ///
    /// It is not a URL of that form.
    pub fn parse(url: &str) -> Result<Self, Error> {
        Self::trusting(url, &[])
    }

    /// The same, which also trusts the certificates in a text in PEM, besides those that the system trusts.
    ///
    /// # Errors
    ///
    /// It is not a URL of that form, or what is trusted are no certificates.
    pub fn trusting(url: &str, pem: &[u8]) -> Result<Self, Error> {
        // A password is not repeated.
        let server = url.split_once("://").map_or(url, |(_, server)| server).split('/').next();
        if server.is_some_and(|server| server.contains('@')) {
            let why =
                "a base URL has no user or password: clients send keys in the headers of their requests";
            return Err(Error::new(why));
        }
        let wrong = |why: &str| Error::new(format!("`{}` {why}", shown(url)));
        let parsed: Uri = url.parse().map_err(|_| wrong("is not a URL"))?;
        let is_tls = parsed.scheme_str() == Some("https");
        if is_tls && !cfg!(feature = "tls") {
            return Err(wrong(
                "needs TLS, which is not built in: use a released program or the feature `tls`, or put a program that \
                 speaks it in between and give its `http` address",
            ));
        }
        if !is_tls && !pem.is_empty() {
            return Err(wrong("is not an `https` URL, so it has no certificate to trust"));
        }
        if let Some(scheme) = parsed.scheme_str().filter(|scheme| !["http", "https"].contains(scheme)) {
            return Err(wrong(&format!(
                "has the scheme `{scheme}`, which is not supported: use `http` or `https`"
            )));
        }
        let Some(authority) = parsed.authority().filter(|_| parsed.scheme().is_some()) else {
            return Err(wrong("is not a URL; expected one such as http://127.0.0.1:4000"));
        };
        if parsed.query().is_some() {
            return Err(wrong("has a query, which a base URL cannot have"));
        }
        Ok(Self {
            authority: authority.as_str().to_owned(),
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            base: parsed.path().trim_end_matches('/').to_owned(),
            #[cfg(feature = "tls")]
            tls: is_tls.then(|| Tls::trusting(pem)).transpose()?,
        })
    }

    /// Sends a request whose address is a path, which comes behind that of the base URL.
    pub(crate) async fn send(&self, mut request: Request<Full<Bytes>>) -> io::Result<Response<Incoming>> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = format!("{}{path}", self.base).parse().map_err(io::Error::other)?;
        request.headers_mut().insert(HOST, HeaderValue::from_str(&self.authority).map_err(io::Error::other)?);
        let stream = tokio::net::TcpStream::connect((&*self.host, self.port)).await?;
        let _ = stream.set_nodelay(true);
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return send_over(tls.connect(&self.host, stream).await?, request).await;
        }
        send_over(stream, request).await
    }

    /// Connects, and says nothing.
    ///
    /// # Errors
    ///
    /// Nothing listens there, or it does not take the connection in time.
    pub fn reach(&self, within: Duration) -> io::Result<()> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (&*self.host, self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, within) {
                Ok(_) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Posts a body, and waits for all of the response.
    ///
    /// # Errors
    ///
    /// There is no answer in time, or it has more than `most` bytes.
    pub fn post(
        &self,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
        (within, most): (Duration, usize),
    ) -> io::Result<Received> {
        let mut request =
            Request::builder().method(Method::POST).uri(path).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(io::Error::other)?;
        let whole = async {
            let (head, body) = self.send(request).await?.into_parts();
            let body = Limited::new(body, most).collect().await.map_err(io::Error::other)?;
            let kind = head.headers.get("content-type").and_then(|kind| kind.to_str().ok());
            let kind = kind.unwrap_or_default().to_owned();
            Ok(Received { status: head.status.as_u16(), content_type: kind, body: body.to_bytes().to_vec() })
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let timed = runtime.block_on(async { tokio::time::timeout(within, whole).await });
        timed.map_err(|_| {
            io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {} s", within.as_secs()))
        })?
    }
}

async fn send_over<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    request: Request<Full<Bytes>>,
) -> io::Result<Response<Incoming>> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // It ends with the response, which reports its errors.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    sender.send_request(request).await.map_err(io::Error::other)
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "tls")]
        let is_tls = self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        let is_tls = false;
        let scheme = if is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_read_and_others_are_refused_with_a_reason() {
        let read = |url: &str| Upstream::parse(url).map(|upstream| upstream.to_string());
        assert_eq!(read("http://127.0.0.1:4000/v1/").as_deref(), Ok("http://127.0.0.1:4000/v1"));
        assert_eq!(read("http://[::1]").as_deref(), Ok("http://[::1]"));
        assert_eq!(Upstream::parse("http://[::1]:80").map(|upstream| upstream.host).as_deref(), Ok("::1"));
        for wrong in ["127.0.0.1:4000", "/v1", "", "ftp://a", "http://a?b=c", "http://me@a"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read("ftp://a").is_err_and(|error| error.to_string().contains("use `http` or `https`")));
        assert_eq!(read("http://a/@b").as_deref(), Ok("http://a/@b"));
        assert!(read("http://me:secret@a").is_err_and(|error| !error.to_string().contains("secret")));
        if cfg!(feature = "tls") {
            assert_eq!(read("https://api.example.com/v1").as_deref(), Ok("https://api.example.com/v1"));
        } else {
            assert!(read("https://api.example.com").is_err_and(|error| error.to_string().contains("TLS")));
        }
        assert!(Upstream::trusting("http://127.0.0.1:4000", b"x").is_err());
    }
}
