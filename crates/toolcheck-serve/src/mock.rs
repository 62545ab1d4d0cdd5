//! The mock as a library.

use std::io;
use std::sync::Arc;

use toolcheck_core::Error;
use toolcheck_core::suggest::unknown;
use toolcheck_core::targets;
use toolcheck_lint::{ChatTemplate, TargetRef, rules};

use crate::comparison::Comparison;
use crate::http;
use crate::listener::Listener;
use crate::provider::{Provider, Strictness};
use crate::recording::Recording;
use crate::script::Turn;
use crate::seen::{Exchange, MockLog};
use crate::state::{Listening, State, Watch, listening_setters};

/// What a mock is made of.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Builder {
    provider: Provider,
    most_kept: Option<usize>,
    leaves_unchecked_on_drop: bool,
    listening: Listening,
}

/// A mock that listens on the loopback interface until it is finished or dropped.
///
/// A mock that is dropped asserts that the run was conformant, as [`MockLog::assert_conformant`] does: a refused request fails
/// the test even if the client has swallowed the refusal. [`Builder::check_on_drop`] turns that off, and so does
/// [`MockProvider::finish`].
#[derive(Debug)]
pub struct MockProvider {
    listener: Listener,
    state: Arc<State>,
    checks_on_drop: bool,
}

impl Builder {
    /// Checks requests against a built-in target, and is no other API: a conversation that is sent to the path of another
    /// one is answered with 404 and is a fault of the run. Several targets are several APIs. Without any, a request is
    /// checked against the one of its path.
    ///
    /// # Errors
    ///
    /// There is no such target.
    pub fn target(self, name: &str) -> Result<Self, Error> {
        let Some(found) = targets::named(name) else {
            return Err(Error::new(unknown("target", name, targets::names())));
        };
        Ok(self.own_target(found))
    }

    /// The same with a target of your own. One without a format is asked about any request.
    pub fn own_target(mut self, target: impl Into<TargetRef>) -> Self {
        self.provider.targets.push(target.into());
        self
    }

    /// Answers requests that are refused because of this rule only, and notes it in the exchange. A body that is not JSON
    /// object is refused whatever is allowed.
    ///
    /// # Errors
    ///
    /// There is no such rule.
    pub fn allow(mut self, rule: &str) -> Result<Self, Error> {
        let Some(found) = rules::find(rule) else {
            let ids = rules::ALL.iter().map(|rule| rule.id.as_str());
            return Err(Error::new(unknown("rule", rule, ids)));
        };
        self.provider.allowed.push(found.id);
        Ok(self)
    }

    listening_setters!();

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

    /// Refuses what the chat template of the model refuses, and records the prompts.
    pub fn template(mut self, template: impl Into<Arc<ChatTemplate>>) -> Self {
        self.provider.template = Some(template.into());
        self
    }

    /// Answers as an API has: with the recorded response to a request that says the same. Other requests are answered with 404,
    /// and are a fault of the run. There is no script then.
    pub fn replay(mut self, recording: Recording) -> Self {
        self.provider.recording = Some(Arc::new(recording));
        self
    }

    /// Adds turns to what the model says.
    pub fn turns(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.provider.script.extend(turns);
        self
    }

    /// How many bytes of exchanges are kept; 32 MiB, if it is not said. Later ones are answered, shown to
    /// [`Builder::on_exchange`] and counted.
    pub fn max_kept(mut self, bytes: usize) -> Self {
        self.most_kept = Some(bytes);
        self
    }

    /// Whether dropping the mock asserts that the run was conformant; the default is that it does.
    pub fn check_on_drop(mut self, checks: bool) -> Self {
        self.leaves_unchecked_on_drop = !checks;
        self
    }

    /// Holds what the mock would answer to the requests of a recording against what the API has answered.
    pub fn compare(&self, recording: &Recording) -> Comparison {
        self.provider.compare(recording)
    }

    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The port is taken, or the system refuses.
    pub fn start(self) -> io::Result<MockProvider> {
        let port = self.listening.port;
        let state = Arc::new(State::new(self.provider, self.listening, self.most_kept));
        let listener = Listener::start("toolcheck-serve", port, Arc::clone(&state), http::respond)?;
        Ok(MockProvider { listener, state, checks_on_drop: !self.leaves_unchecked_on_drop })
    }
}

impl MockProvider {
    /// A mock of which nothing is set.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The address to give to a client in place of the API's.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Where programs ask what it has seen, as [`MockProvider::run`] does: `report`, `exchanges`, `script` and `reset` stand
    /// below it. It can't be guessed.
    pub fn control_url(&self) -> String {
        format!("{}{}{}", self.url(), http::CONTROL, self.state.token)
    }

    /// What it has seen so far.
    pub fn run(&self) -> MockLog {
        self.state.look(MockLog::clone)
    }

    /// Has the model say these turns from now on.
    pub fn follow(&self, turns: impl IntoIterator<Item = Turn>) {
        self.state.follow(turns.into_iter().collect());
    }

    /// What it has seen so far, which it forgets.
    pub fn take(&self) -> MockLog {
        self.state.take()
    }

    /// Stops it, and returns what it has seen.
    pub fn finish(mut self) -> MockLog {
        self.checks_on_drop = false;
        self.listener.stop();
        self.state.take()
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        self.listener.stop();
        // A second panic would end the program.
        if self.checks_on_drop && !std::thread::panicking() {
            self.state.take().assert_conformant();
        }
    }
}
