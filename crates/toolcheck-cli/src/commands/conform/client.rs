//! The client under test: a command that answers lines of JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::{Value as Json, json};
use toolcheck_conform::{Outcome, Scenario};
use toolcheck_core::text::{bounded, reason};

/// What the client is asked to do.
pub(super) struct Task<'t> {
    pub(super) scenario: &'t Scenario,
    pub(super) format: &'static str,
    pub(super) is_streamed: bool,
    pub(super) url: &'t str,
}

/// What it answers.
pub(super) enum Answer {
    Ended(Outcome),
    Skipped(String),
    Broke(String),
}

/// A command that is started when there is something to do, and again after it broke.
pub(super) struct Client {
    command: String,
    timeout: Duration,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

/// The longest line of an answer in bytes.
const LONGEST: u64 = 16 << 20;
const ENDED: &str = "it ended without an answer";
/// The most characters that are shown of what is no answer.
const SHOWN: usize = 200;

impl Client {
    pub(super) fn new(command: &str, timeout: Duration) -> Result<Self> {
        let mut client = Self { command: command.to_owned(), timeout, process: None };
        client.process = Some(client.start()?);
        Ok(client)
    }

    fn start(&self) -> Result<Process> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut command = Command::new(shell);
        command.args([flag, &self.command]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| anyhow!("cannot start the client: {}", reason(&error)))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(anyhow!("the client has no standard streams"));
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                match output.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                    Ok(1..) if sender.send(String::from_utf8_lossy(&line).into_owned()).is_ok() => {}
                    _ => return,
                }
            }
        });
        Ok(Process { child, input, lines })
    }

    /// Has the client run a scenario.
    pub(super) fn run(&mut self, task: &Task<'_>) -> Result<Answer> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.start()?,
        };
        let line = json!({
            "scenario": task.scenario.id, "base_url": task.url, "format": task.format, "stream": task.is_streamed,
            "prompt": task.scenario.prompt, "then": task.scenario.then, "needs": task.scenario.needs(),
            "max_turns": task.scenario.max_turns, "then_format": task.scenario.then_format(task.format),
            "then_tools": !task.scenario.withdraws_tools,
        });
        let sent = writeln!(process.input, "{line}").and_then(|()| process.input.flush());
        if sent.is_err() {
            return Ok(Answer::Broke(ENDED.to_owned()));
        }
        let until = Instant::now() + self.timeout;
        loop {
            let answer = match process.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => answer(&line),
                Err(RecvTimeoutError::Timeout) => {
                    return Ok(Answer::Broke(format!("no answer in {} s", self.timeout.as_secs())));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Answer::Broke(ENDED.to_owned()));
                }
            };
            // Frameworks print to the standard output too.
            if let Some(answer) = answer {
                self.process = Some(process);
                return Ok(answer);
            }
        }
    }
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
        other => {
            Answer::Broke(format!("`{}` is no outcome: use `done`, `error` or `skip`", bounded(other, SHOWN)))
        }
    })
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
