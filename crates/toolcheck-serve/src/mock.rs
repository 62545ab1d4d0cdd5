//! The mock as a library.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value as Json, json};
use tokio::sync::oneshot;
use toolcheck_core::Level;
use toolcheck_core::suggest;
use toolcheck_core::target;
use toolcheck_core::text::{Counted, shown};
use toolcheck_lint::{FileReport, Options, TargetRef, lint};

use crate::http;
use crate::provider::{Provider, Refused, Strictness};
use crate::script::{Error, Turn};

/// The default limit of a body in bytes.
const MOST_BODY: usize = 64 << 20;
/// How many bytes of exchanges are kept. Later ones are answered, and counted.
const MOST_KEPT: usize = 256 << 20;

/// What a mock is made of.
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    provider: Provider,
    port: u16,
    most_body: usize,
    checks_on_drop: bool,
    watch: Watch,
}

/// What is called with each exchange.
#[derive(Clone, Default)]
struct Watch(Option<Arc<Watcher>>);

type Watcher = dyn Fn(&Exchange) + Send + Sync;

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(..)" } else { "Watch" })
    }
}

/// A mock that listens on the loopback interface until it is finished or dropped.
///
/// A mock that is dropped asserts that the run was conformant, as [`Run::assert_conformant`] does: a refused request fails
/// the test even if the client has swallowed the refusal. [`Builder::check_on_drop`] turns that off, and so does
/// [`MockProvider::finish`].
#[derive(Debug)]
pub struct MockProvider {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    checks_on_drop: bool,
}

/// What a mock has seen.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Run {
    /// The exchanges, in the order in which they were answered.
    pub exchanges: Vec<Exchange>,
    /// How many exchanges were answered and not kept.
    pub not_kept: usize,
}

/// A request and what was answered.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exchange {
    /// The path.
    pub path: String,
    /// The request; a string if it is not JSON.
    pub request: Json,
    /// The response: its body, or the events of its stream.
    pub response: Json,
    /// The status.
    pub status: u16,
    /// Why it was refused.
    pub refused: Option<Refused>,
}

/// What the threads of a mock share.
#[derive(Debug)]
pub(crate) struct State {
    provider: Mutex<Arc<Provider>>,
    pub(crate) most_body: usize,
    kept: Mutex<Kept>,
    watch: Watch,
}

#[derive(Debug, Default)]
struct Kept {
    exchanges: Vec<Exchange>,
    bytes: usize,
    not_kept: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            provider: Provider::default(),
            port: 0,
            most_body: MOST_BODY,
            checks_on_drop: true,
            watch: Watch::default(),
        }
    }
}

impl Builder {
    /// Checks requests against a built-in target. Without one, it is the one of each request's format.
    ///
    /// # Errors
    ///
    /// There is no such target.
    pub fn target(self, name: &str) -> Result<Self, Error> {
        let Some(found) = target::named(name) else {
            let nearest = suggest::similar(name, target::names()).name();
            let hint = nearest.map_or_else(String::new, |nearest| format!("; is it `{nearest}`?"));
            return Err(Error(format!("there is no target `{}`{hint}", shown(name))));
        };
        Ok(self.own_target(found))
    }

    /// Checks requests against a target of your own.
    pub fn own_target(mut self, target: impl Into<TargetRef>) -> Self {
        self.provider.target = Some(target.into());
        self
    }

    /// How much must be known of a refusal.
    pub fn strictness(mut self, strictness: Strictness) -> Self {
        self.provider.strictness = strictness;
        self
    }

    /// Adds a turn to what the model says. Which turn comes next is read from the history of each request, so that a
    /// request that is sent again gets the same answer.
    pub fn turn(mut self, turn: Turn) -> Self {
        self.provider.script.push(turn);
        self
    }

    /// Adds turns to what the model says.
    pub fn turns(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.provider.script.extend(turns);
        self
    }

    /// The port; 0, the default, is any that is free.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The limit of a body in bytes.
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.most_body = bytes;
        self
    }

    /// Whether dropping the mock asserts that the run was conformant; the default is that it does.
    pub fn check_on_drop(mut self, checks: bool) -> Self {
        self.checks_on_drop = checks;
        self
    }

    /// Calls a function with each exchange, once it is answered.
    pub fn on_exchange(mut self, watch: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        self.watch = Watch(Some(Arc::new(watch)));
        self
    }

    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The port is taken, or the system refuses.
    pub fn start(self) -> io::Result<MockProvider> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, self.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            provider: Mutex::new(Arc::new(self.provider)),
            most_body: self.most_body,
            kept: Mutex::default(),
            watch: self.watch,
        });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let shared = Arc::clone(&state);
        let serve = move || runtime.block_on(http::serve(listener, shared, stopped));
        let thread = std::thread::Builder::new().name("toolcheck-serve".to_owned()).spawn(serve)?;
        let checks_on_drop = self.checks_on_drop;
        Ok(MockProvider { address, state, stop: Some(stop), thread: Some(thread), checks_on_drop })
    }
}

impl MockProvider {
    /// A mock of which nothing is set.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The address to give to a client in place of the API's.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it has seen so far.
    #[must_use]
    pub fn run(&self) -> Run {
        self.state.run()
    }

    /// Stops it, and returns what it has seen.
    #[must_use]
    pub fn finish(mut self) -> Run {
        self.checks_on_drop = false;
        self.stop();
        self.state.run()
    }

    fn stop(&mut self) {
        // The thread may have ended by itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        self.stop();
        // A second panic would end the program.
        if self.checks_on_drop && !std::thread::panicking() {
            self.state.run().assert_conformant();
        }
    }
}

impl State {
    /// What answers the next request.
    pub(crate) fn provider(&self) -> Arc<Provider> {
        // A provider is replaced as a whole.
        Arc::clone(&self.provider.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has the model say other turns from now on.
    pub(crate) fn follow(&self, script: Vec<Turn>) {
        let mut provider = self.provider.lock().unwrap_or_else(PoisonError::into_inner);
        *provider = Arc::new(Provider { script, ..Provider::clone(&provider) });
    }

    /// Forgets what was seen.
    pub(crate) fn forget(&self) {
        *self.kept() = Kept::default();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // An exchange is added as a whole, so a panic in another thread leaves the list valid.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an exchange whose bodies have this many bytes.
    pub(crate) fn keep(&self, exchange: Exchange, bytes: usize) {
        if let Some(watch) = &self.watch.0 {
            watch(&exchange);
        }
        let mut kept = self.kept();
        if kept.bytes + bytes > MOST_KEPT {
            kept.not_kept += 1;
            return;
        }
        kept.bytes += bytes;
        kept.exchanges.push(exchange);
    }

    pub(crate) fn run(&self) -> Run {
        let kept = self.kept();
        Run { exchanges: kept.exchanges.clone(), not_kept: kept.not_kept }
    }
}

impl Exchange {
    /// The exchange as a record that `toolcheck lint` reads, without a line break.
    #[must_use]
    pub fn json_line(&self) -> String {
        let Self { path, request, response, status, .. } = self;
        json!({"request": request, "response": response, "status": status, "path": path}).to_string()
    }
}

impl Run {
    /// The requests that were refused.
    pub fn refused(&self) -> impl Iterator<Item = &Refused> {
        self.exchanges.iter().filter_map(|exchange| exchange.refused.as_ref())
    }

    /// The exchanges as JSON Lines, as `toolcheck lint` reads them.
    #[must_use]
    pub fn json_lines(&self) -> String {
        self.exchanges.iter().map(|exchange| exchange.json_line() + "\n").collect()
    }

    /// What the linter finds in the exchanges: in each request, and between a response and the next request.
    #[must_use]
    pub fn lint(&self) -> FileReport {
        lint("exchanges.jsonl", self.json_lines().as_bytes(), &Options::new())
    }

    /// What was refused, as JSON.
    #[must_use]
    pub fn report(&self) -> Json {
        let refused = |refused: &Refused| {
            let Refused { rule, message, place, text, status } = refused;
            json!({"rule": rule, "message": message, "place": place, "text": text, "status": status})
        };
        json!({
            "version": 1,
            "requests": self.exchanges.len() + self.not_kept,
            "refused": self.refused().map(refused).collect::<Vec<_>>()
        })
    }

    /// Fails if a request was refused, or if the linter finds an error between the requests: even where a client has
    /// swallowed the refusal.
    ///
    /// # Panics
    ///
    /// There is such a request; the message has what is wrong with each, and what the API says.
    #[track_caller]
    pub fn assert_conformant(&self) {
        if self.exchanges.is_empty() {
            return;
        }
        let told: Vec<&str> = self.refused().map(|refused| &*refused.rule).collect();
        let refused = self.refused().map(|refused| {
            let Refused { rule, message, place, text, status } = refused;
            let text = text.as_ref().map_or_else(String::new, |text| format!("\n  the API says: {text}"));
            format!("refused with {status}: {rule} at {place}: {message}{text}")
        });
        let report = self.lint();
        let errors = report.findings.iter().filter(|finding| finding.level == Level::Error);
        let found = errors
            .filter(|finding| !told.contains(&finding.rule))
            .map(|finding| format!("{}: {}", finding.rule, finding.message));
        let all: Vec<String> = refused.chain(found).collect();
        assert!(all.is_empty(), "{}:\n{}", Counted(all.len(), "fault"), all.join("\n"));
    }
}
