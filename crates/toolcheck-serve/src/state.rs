//! What the threads of a mock share.

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolcheck_core::text::bounded;
use toolcheck_lint::server_state::ServerState;

use crate::limits::BodyLimiter;
use crate::origin_check::{self, Guard};
use crate::provider::Provider;
use crate::script::Turn;
use crate::seen::{Exchange, MockLog};
use crate::stored::Stored;

/// How many bytes of exchanges are kept, as they are held. Later ones are answered, and counted.
const MOST_KEPT: usize = 32 << 20;

/// The most paths that are kept of those that nothing is known of, and their length.
const MOST_MISSED: usize = 100;
const LONGEST_PATH: usize = 200;

/// The most different requests whose attempts are counted.
const MOST_COUNTED: usize = 100_000;

/// The most refusals that are kept of exchanges that are not.
const MOST_REFUSED: usize = 1000;

/// What the threads of a mock share.
#[derive(Debug)]
pub(crate) struct State {
    provider: Mutex<Arc<Provider>>,
    pub(crate) guard: Guard,
    pub(crate) limiter: Arc<BodyLimiter>,
    /// What stands in the control addresses.
    pub(crate) token: String,
    kept: Mutex<Kept>,
    /// What later requests may refer to.
    server: Mutex<Arc<ServerState>>,
    /// What of it clients ask for again.
    stored: Mutex<Stored>,
    most_kept: usize,
    watch: Watch,
}

#[derive(Debug, Default)]
struct Kept {
    /// How often each request was answered, by its hash.
    attempts: HashMap<u64, u32>,
    /// The numbers of the turns that are given once, and were.
    given: Vec<usize>,
    run: MockLog,
    bytes: usize,
}

/// What is called with each exchange.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Arc<Watcher>>);

type Watcher = dyn Fn(&Exchange) + Send + Sync;

impl Watch {
    pub(crate) fn new(watch: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(crate) fn see(&self, exchange: &Exchange) {
        if let Some(watch) = &self.0 {
            watch(exchange);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(..)" } else { "Watch" })
    }
}

/// Where a server listens, whom it lets in, and who sees what it answers.
#[derive(Debug, Clone)]
pub(crate) struct Listening {
    pub(crate) port: u16,
    pub(crate) most_body: usize,
    pub(crate) guard: Guard,
    pub(crate) watch: Watch,
}

impl Default for Listening {
    fn default() -> Self {
        Self { port: 0, most_body: 64 << 20, guard: Guard::default(), watch: Watch::default() }
    }
}

/// Declares the methods of a builder that set its `listening`.
macro_rules! listening_setters {
    () => {
        /// The port; 0, the default, is any that is free.
        pub fn port(mut self, port: u16) -> Self {
            self.listening.port = port;
            self
        }

        /// The limit of the body of a request in bytes, and of what a proxy records of a response.
        pub fn max_body(mut self, bytes: usize) -> Self {
            self.listening.most_body = bytes;
            self
        }

        /// Lets requests in that name this host too, without a port. Those that name the loopback interface always are.
        pub fn allow_host(mut self, host: impl AsRef<str>) -> Self {
            self.listening.guard.allow_host(host.as_ref().to_owned());
            self
        }

        /// Lets requests of web pages of this origin in, such as `https://app.example`. Without that, pages of this machine may
        /// talk to a mock, but not see what others have sent, and those of others to nothing.
        pub fn allow_origin(mut self, origin: impl AsRef<str>) -> Self {
            self.listening.guard.allow_origin(origin.as_ref().to_owned());
            self
        }

        /// Calls a function with each exchange, once it is answered. A proxy adds the refusal that was answered or is to be
        /// expected; its other refusal is that of the other API.
        pub fn on_exchange(mut self, watch: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
            self.listening.watch = Watch::new(watch);
            self
        }
    };
}
pub(crate) use listening_setters;

impl State {
    pub(crate) fn new(provider: Provider, listening: Listening, most_kept: Option<usize>) -> Self {
        let Listening { guard, watch, most_body, .. } = listening;
        let most_kept = most_kept.unwrap_or(MOST_KEPT);
        let (provider, limiter) = (Mutex::new(Arc::new(provider)), Arc::new(BodyLimiter::new(most_body)));
        let server = Mutex::new(Arc::new(ServerState::of_server()));
        Self {
            provider,
            guard,
            limiter,
            token: origin_check::token(),
            kept: Mutex::default(),
            server,
            stored: Mutex::default(),
            most_kept,
            watch,
        }
    }

    /// The responses and conversations that clients ask for again.
    pub(crate) fn stored(&self) -> MutexGuard<'_, Stored> {
        // What is kept is only ever incomplete.
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What later requests may refer to.
    pub(crate) fn server(&self) -> Arc<ServerState> {
        Arc::clone(&self.server.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What answers the next request.
    pub(crate) fn provider(&self) -> Arc<Provider> {
        // A provider is replaced as a whole.
        Arc::clone(&self.provider.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has the model say other turns from now on.
    pub(crate) fn follow(&self, script: Vec<Turn>) {
        let mut provider = self.provider.lock().unwrap_or_else(PoisonError::into_inner);
        *provider = Arc::new(Provider { script, ..Provider::clone(&provider) });
        drop(provider);
        self.kept().given.clear();
    }

    /// Chooses a turn, by how often the same request was answered before and by the turns that are given once, and were.
    /// Of two requests at the same time, one is the first.
    pub(crate) fn choose<T>(
        &self,
        body: &[u8],
        choose: impl FnOnce(u32, &[usize]) -> (T, Option<usize>),
    ) -> T {
        let mut kept = self.kept();
        let key = kept.attempts.hasher().hash_one(body);
        let attempt = if kept.attempts.len() >= MOST_COUNTED && !kept.attempts.contains_key(&key) {
            0
        } else {
            let attempts = kept.attempts.entry(key).or_default();
            *attempts += 1;
            *attempts - 1
        };
        let (chosen, once) = choose(attempt, &kept.given);
        kept.given.extend(once);
        chosen
    }

    /// Notes a path that nothing is known of.
    pub(crate) fn miss(&self, method: &str, path: &str) {
        note(&mut self.kept().run.not_found, method, path);
    }

    /// Notes a path of an API that the mock was not asked to be.
    pub(crate) fn wonder(&self, method: &str, path: &str) {
        note(&mut self.kept().run.unexpected, method, path);
    }

    pub(crate) fn forget(&self) {
        *self.kept() = Kept::default();
        *self.stored() = Stored::default();
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(ServerState::of_server());
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // An exchange is added as a whole, so a panic in another thread leaves the list valid.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn keep(&self, exchange: Exchange) {
        self.watch.see(&exchange);
        let bytes = exchange.bytes();
        let mut kept = self.kept();
        if kept.bytes + bytes <= self.most_kept {
            kept.bytes += bytes;
            kept.run.exchanges.push(exchange);
            return;
        }
        let run = &mut kept.run;
        run.not_kept += 1;
        if let Some(refused) = exchange.refused {
            if run.refused_not_kept.len() < MOST_REFUSED {
                run.refused_not_kept.push(refused);
            } else {
                run.refused_not_listed += 1;
            }
        }
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&MockLog) -> T) -> T {
        look(&self.kept().run)
    }

    /// What was seen, which is forgotten.
    pub(crate) fn take(&self) -> MockLog {
        std::mem::take(&mut *self.kept()).run
    }
}

/// Adds a path to a list in which each is once, and returns it if it is new there.
pub(crate) fn note<'l>(list: &'l mut Vec<String>, method: &str, path: &str) -> Option<&'l str> {
    let line = bounded(&format!("{method} {path}"), LONGEST_PATH);
    if list.len() >= MOST_MISSED || list.contains(&line) {
        return None;
    }
    list.push(line);
    list.last().map(String::as_str)
}
