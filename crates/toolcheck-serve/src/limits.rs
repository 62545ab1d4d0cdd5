//! How much is held at a time: bodies that come in, and checks that run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use tokio::sync::Semaphore;

/// How many bytes of bodies are held at a time. A client that is sent away tries again.
const MOST_HELD: usize = 512 << 20;
/// The largest body that is checked where the network is served: it takes less than a thread costs.
const SMALL: usize = 16 << 10;
/// The smallest body that is checked alone: its check may take a hundred times its size.
const LARGE: usize = 1 << 20;
/// How much of a body that is too large is still read, and dropped: most clients read no answer before all is sent.
const MOST_DROPPED: usize = 256 << 20;
pub(crate) const THREADS: usize = 4;

/// How much is held at a time.
#[derive(Debug)]
pub(crate) struct BodyLimiter {
    pub(crate) most_body: usize,
    held: AtomicUsize,
    large: Semaphore,
}

/// A body, as long as it is held.
#[derive(Debug)]
pub(crate) struct BufferedBody {
    pub(crate) bytes: Vec<u8>,
    counted: usize,
    limiter: Arc<BodyLimiter>,
}

impl BodyLimiter {
    pub(crate) fn new(most_body: usize) -> Self {
        Self { most_body, held: AtomicUsize::new(0), large: Semaphore::new(1) }
    }

    /// Receives a body, as far as there is room for it.
    pub(crate) async fn receive(self: &Arc<Self>, mut body: Incoming) -> Result<BufferedBody, StatusCode> {
        let said = body.size_hint().lower();
        if said > self.most_body as u64 {
            drop_rest(body).await;
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let mut held = BufferedBody { bytes: Vec::new(), counted: 0, limiter: Arc::clone(self) };
        while let Some(frame) = body.frame().await {
            // A client that goes away has sent nothing that could be checked.
            let Ok(frame) = frame else { return Err(StatusCode::BAD_REQUEST) };
            let Some(data) = frame.data_ref() else { continue };
            if held.bytes.len() + data.len() > self.most_body {
                drop_rest(body).await;
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            if !held.count(data.len()) {
                return Err(StatusCode::SERVICE_UNAVAILABLE);
            }
            if held.bytes.is_empty() {
                // What is said is not believed beyond what a check costs anyway.
                held.bytes.reserve_exact((said as usize).min(LARGE).max(data.len()));
            }
            held.bytes.extend_from_slice(data);
        }
        Ok(held)
    }

    /// Does work on a body of this size where it holds up nobody: a small one here, a large one alone. `None` if it
    /// panics.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        size: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if size <= SMALL {
            return Some(work());
        }
        // The semaphore is never closed.
        let _alone = if size >= LARGE { self.large.acquire().await.ok() } else { None };
        tokio::task::spawn_blocking(work).await.ok()
    }
}

/// Reads the rest of a body that is too large, as far as is bearable.
async fn drop_rest(mut body: Incoming) {
    let mut left = MOST_DROPPED;
    while let Some(Ok(frame)) = body.frame().await {
        let Some(less) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
        left = less;
    }
}

impl BufferedBody {
    /// Counts more bytes, if there is room for them.
    fn count(&mut self, bytes: usize) -> bool {
        let before = self.limiter.held.fetch_add(bytes, Ordering::Relaxed);
        self.counted += bytes;
        before + bytes <= MOST_HELD
    }
}

impl Drop for BufferedBody {
    fn drop(&mut self) {
        self.limiter.held.fetch_sub(self.counted, Ordering::Relaxed);
    }
}
