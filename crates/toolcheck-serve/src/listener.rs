//! A thread that serves connections on the loopback interface.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

use crate::http::Body;
use crate::limits::THREADS;

/// A server, until it is stopped or dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Starts to serve on a port, in a thread of this name; 0 is any port that is free.
    pub(crate) fn start<S, F>(
        name: &str,
        port: u16,
        state: Arc<S>,
        respond: impl Fn(Request<Incoming>, Arc<S>) -> F + Copy + Send + 'static,
    ) -> io::Result<Self>
    where
        S: Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = runtime()?;
        let serve = move || runtime.block_on(serve(listener, state, stopped, respond));
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(serve)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn stop(&mut self) {
        // The thread may have ended by itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What serves the network on one thread, and checks large bodies on others.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_io().enable_time().max_blocking_threads(THREADS).build()
}

/// Serves connections until it is told to stop.
async fn serve<S, F>(
    listener: TcpListener,
    state: Arc<S>,
    stopped: oneshot::Receiver<()>,
    respond: impl Fn(Request<Incoming>, Arc<S>) -> F + Copy + Send + 'static,
) where
    S: Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut stopped = pin!(stopped);
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
        let state = Arc::clone(&state);
        let service = service_fn(move |request| {
            let response = respond(request, Arc::clone(&state));
            async move { Ok::<_, Infallible>(response.await) }
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // A client that goes away is not a fault, and neither is a stream that is cut off on purpose.
        tokio::spawn(async move {
            let _ = connection.await;
        });
    }
}
