//! The client under test: a command that answers lines of JSON.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::{Value as Json, json};
use toolcheck_conform::{Outcome, Scenario};
use toolcheck_core::text::bounded;

use super::process::{Process, ProcessOutput, piped, reap};
use crate::args::ConformArgs;

pub(super) struct Task<'t> {
    pub(super) scenario: &'t Scenario,
    pub(super) format: &'static str,
    pub(super) is_streamed: bool,
    pub(super) url: &'t str,
    /// Where all that it says of an error is kept, if it is long.
    pub(super) record: Option<&'t Path>,
}

pub(super) enum Answer {
    Ended(Outcome),
    Skipped(String),
    Broke(String),
}

/// Why there is no answer.
pub(super) enum Broken {
    /// The client ended.
    Ended,
    /// It took longer than this, and wrote an object that is no answer, if any.
    Late(Duration, Option<String>),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => f.write_str("it ended without an answer"),
            Self::Late(limit, None) => f.write_str(&too_long(*limit)),
            Self::Late(limit, Some(wrote)) => {
                write!(f, "{}; it wrote an object that is no answer: {wrote}", too_long(*limit))
            }
        }
    }
}

/// A command that is started when there is something to do, and again after it broke.
pub(super) struct Client {
    command: String,
    limits: Limits,
    session: Option<Session>,
    /// In how many runs it has ended, or written only what is no answer, as long as it has finished none.
    ended: Option<u32>,
}

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) run: Duration,
    /// Until it says that it is ready, or has done its first run.
    pub(super) start: Duration,
}

impl Limits {
    pub(super) fn of(args: &ConformArgs) -> Self {
        let run = Duration::from_secs(args.timeout);
        Self { run, start: args.start_timeout.map_or(run, Duration::from_secs) }
    }
}

/// A client that is running. What it reads is closed first.
struct Session {
    tasks: Sender<String>,
    said: Receiver<ProcessOutput>,
    /// When it was started, as long as it has said nothing.
    started: Option<Instant>,
    process: Process,
}

/// After how many runs a client that has never answered is not started again.
const MOST_ENDED: u32 = 3;
/// The most characters that are shown of what is no answer.
pub(super) const SHOWN: usize = 200;

impl Client {
    pub(super) fn new(command: &str, limits: Limits) -> Result<Self> {
        let mut client = Self { command: command.to_owned(), limits, session: None, ended: Some(0) };
        client.session = Some(client.start()?);
        Ok(client)
    }

    fn start(&self) -> Result<Session> {
        let mut process = Process::start(&self.command, piped)?;
        let mut input = process.input()?;
        // Only what may be an answer is kept.
        let (own, said) = process.lines(|line| line.trim_ascii_start().starts_with(b"{"))?;
        let (tasks, lines) = channel::<String>();
        // A client that reads nothing would block whoever writes.
        std::thread::spawn(move || {
            for line in lines {
                if writeln!(input, "{line}").and_then(|()| input.flush()).is_err() {
                    let _ = own.send(ProcessOutput::Ended);
                    return;
                }
            }
        });
        Ok(Session { tasks, said, started: Some(Instant::now()), process })
    }

    pub(super) fn run(&mut self, task: &Task<'_>) -> Result<Answer> {
        let line = json!({
            "scenario": task.scenario.id, "base_url": task.url, "format": task.format, "stream": task.is_streamed,
            "prompt": task.scenario.prompt, "then": task.scenario.then, "needs": task.scenario.needs(),
            "max_turns": task.scenario.max_turns, "then_format": task.scenario.then_format(task.format),
            "then_tools": !task.scenario.withdraws_tools,
        });
        let broken = match self.ask(&line, answer)? {
            Ok(answer) => {
                self.ended = None;
                return Ok(answer);
            }
            Err(broken) => broken,
        };
        if !matches!(broken, Broken::Late(_, None)) {
            self.ended = self.ended.map(|ended| ended + 1);
        }
        match broken {
            broken if self.ended != Some(MOST_ENDED) => Ok(Answer::Broke(broken.to_string())),
            Broken::Late(_, Some(line)) => {
                Err(anyhow!("the client has answered none of the first {MOST_ENDED} runs; it wrote {line}"))
            }
            _ => Err(anyhow!("the client ended in each of the first {MOST_ENDED} runs without an answer")),
        }
    }

    /// Writes a line and waits for one that is an answer; the error inside is how it broke.
    pub(super) fn ask<A>(
        &mut self,
        line: &Json,
        read: impl Fn(&str) -> Option<A>,
    ) -> Result<Result<A, Broken>> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.start()?,
        };
        let mut limit = self.limits.run;
        let mut until = Instant::now() + limit;
        if let Some(started) = session.started.filter(|started| *started + self.limits.start > until) {
            limit = self.limits.start;
            until = started + limit;
        }
        // Who reads no more is heard of below.
        let _ = session.tasks.send(line.to_string());
        let mut other = None;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let said = match session.said.recv_timeout(left) {
                // A client that says something all the time has no more time than others.
                Ok(said) if !left.is_zero() => Some(said),
                Ok(_) | Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(ProcessOutput::Ended),
            };
            let line = match said {
                Some(ProcessOutput::Line(line)) => line,
                Some(ProcessOutput::Ended) => {
                    if session.started.is_some() {
                        // It is told that there is nothing more to do.
                        drop(session.tasks);
                        session.process.check_started()?;
                    }
                    return Ok(Err(Broken::Ended));
                }
                None => {
                    let wrote = other.map(|line: String| bounded(line.trim(), SHOWN));
                    return Ok(Err(Broken::Late(limit, wrote)));
                }
            };
            // Frameworks print to the standard output too.
            if let Some(answer) = read(&line) {
                reap();
                session.started = None;
                self.session = Some(session);
                return Ok(Ok(answer));
            }
            // It says so once: it has not begun with the run before.
            if session.started.is_some() && is_ready(&line) {
                session.started = None;
                limit = self.limits.run;
                until = Instant::now() + limit;
            } else {
                other = other.or(Some(line));
            }
        }
    }
}

/// What is said of a run that takes too long.
pub(super) fn too_long(timeout: Duration) -> String {
    format!("no answer in {} s", timeout.as_secs())
}

/// Whether a line says that the client has started.
fn is_ready(line: &str) -> bool {
    let said: Option<Json> = serde_json::from_str(line.trim()).ok();
    said.is_some_and(|said| said.get("ready") == Some(&Json::Bool(true)))
}

/// The answer in a line; `None` if the line is something else.
fn answer(line: &str) -> Option<Answer> {
    let answer: Json = serde_json::from_str(line.trim()).ok()?;
    let outcome = answer.get("outcome")?.as_str()?;
    let text = answer.get("text").and_then(Json::as_str).unwrap_or_default();
    let ended = |outcome: &str, text: &str| match outcome {
        "done" => Some(Outcome::done(text)),
        "error" => Some(Outcome::error(text)),
        _ => None,
    };
    let first = answer.get("first").and_then(|first| {
        ended(first.get("outcome")?.as_str()?, first.get("text").and_then(Json::as_str).unwrap_or_default())
    });
    if let Some(last) = ended(outcome, text) {
        return Some(Answer::Ended(match first {
            Some(first) => last.after(first),
            None => last,
        }));
    }
    Some(match outcome {
        "skip" => Answer::Skipped(bounded(text, SHOWN)),
        other => Answer::Broke(format!(
            "`{}` is not an outcome: use `done`, `error` or `skip`",
            bounded(other, SHOWN)
        )),
    })
}
