//! A client that is started anew for each run, and told by its environment what to do.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, anyhow};
use toolcheck_conform::Outcome;
use toolcheck_core::text::{bounded, reason};
use toolcheck_project::printable;

use super::client::{Answer, SHOWN, Task, too_long};
use super::process::{Process, check_status};

/// The status of a client that has no way to run a scenario, as for the test drivers of Automake.
const SKIPPED: i32 = 77;
/// The most bytes that are kept of what a client prints: the last ones.
const KEPT: usize = 1 << 20;
/// The most bytes that are shown of what it says of an error: the last lines.
const OF_ERROR: usize = 2000;
/// How long is waited for a stream that something else holds open.
const STREAM: Duration = Duration::from_secs(1);

/// Starts a command for a run, and waits until it has ended. The first time, it must be a program.
pub(super) fn run(command: &str, timeout: Duration, is_first: bool, task: &Task<'_>) -> Result<Answer> {
    let mut process = Process::start(command, |command| set(command, task))?;
    let out = Process::end_of(process.stdout(), KEPT);
    let err = Process::end_of(process.stderr(), KEPT);
    let status = process.wait(timeout);
    let text = |end: std::sync::mpsc::Receiver<Vec<u8>>| {
        let bytes = end.recv_timeout(STREAM).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    };
    let (out, err) = (text(out), text(err));
    let Some(status) = status else { return Ok(Answer::Broke(too_long(timeout))) };
    if is_first {
        check_status(status, &bounded(last_lines(&err, OF_ERROR), OF_ERROR))?;
    }
    Ok(match status.code() {
        Some(0) => Answer::Ended(Outcome::done(out)),
        Some(SKIPPED) => {
            let why = if err.is_empty() { out } else { err };
            Answer::Skipped(bounded(last_lines(&why, SHOWN), SHOWN))
        }
        Some(code) if err.is_empty() => Answer::Ended(Outcome::error(format!("it ended with status {code}"))),
        Some(_) => Answer::Ended(Outcome::error(said_of_error(&err, task.record)?)),
        None => Answer::Broke("a signal ended it".to_owned()),
    })
}

fn set(command: &mut Command, task: &Task<'_>) {
    let url = task.url;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let own = [
        ("TOOLCHECK_BASE_URL", url),
        ("TOOLCHECK_SCENARIO", &task.scenario.id),
        ("TOOLCHECK_FORMAT", task.format),
        ("TOOLCHECK_STREAM", if task.is_streamed { "true" } else { "false" }),
        ("TOOLCHECK_PROMPT", &task.scenario.prompt),
    ];
    let needs = task.scenario.needs();
    command.envs(own).env("TOOLCHECK_NEEDS", needs.join(" "));
    command.env("TOOLCHECK_THEN_TOOLS", if task.scenario.withdraws_tools { "false" } else { "true" });
    let optional = [
        ("TOOLCHECK_THEN", task.scenario.then.clone()),
        ("TOOLCHECK_THEN_FORMAT", task.scenario.then_format(task.format).map(str::to_owned)),
        ("TOOLCHECK_MAX_TURNS", task.scenario.max_turns.map(|turns| turns.to_string())),
    ];
    for (name, value) in optional {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    for (name, path) in BASE_URLS {
        command.env(name, format!("{url}{path}"));
    }
    // A proxy of the user's has no business between a client and the mock, and a key of theirs must not be sent.
    command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    command
        .envs(KEYS.split(' ').map(|name| (name, "unused")))
        .env_remove("AWS_SESSION_TOKEN")
        .env_remove("AWS_PROFILE");
    command.env("AWS_REGION", "us-east-1").env("AWS_DEFAULT_REGION", "us-east-1");
}

/// The variables from which SDKs read where to send requests, and what is behind the address.
const BASE_URLS: [(&str, &str); 9] = [
    ("OPENAI_BASE_URL", "/v1"),
    ("OPENAI_API_BASE", "/v1"),
    ("ANTHROPIC_BASE_URL", ""),
    ("GOOGLE_GEMINI_BASE_URL", ""),
    ("GEMINI_BASE_URL", ""),
    ("OLLAMA_HOST", ""),
    ("MISTRAL_BASE_URL", ""),
    ("CO_API_URL", ""),
    ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ""),
];

/// The variables from which SDKs read keys, without which most of them do not start.
const KEYS: &str = "OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY GOOGLE_API_KEY MISTRAL_API_KEY CO_API_KEY \
    COHERE_API_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY";

/// The end of what a client says of an error, and where all of it is.
fn said_of_error(err: &str, record: Option<&Path>) -> Result<String> {
    let shown = last_lines(err, OF_ERROR);
    if shown.len() == err.len() {
        return Ok(err.to_owned());
    }
    let whole = match record {
        None => "`--record DIRECTORY` keeps all of it".to_owned(),
        Some(path) => {
            toolcheck_files::write(path, |out| out.write_all(err.as_bytes()))
                .map_err(|error| anyhow!("cannot write {}: {}", printable(path), reason(&error)))?;
            format!("all of it is in {}", printable(path))
        }
    };
    Ok(format!("(the last lines; {whole})\n{shown}"))
}

/// The last lines that are together not longer than so many bytes; of one that is longer, its end.
fn last_lines(text: &str, most: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(most));
    let end = &text[from..];
    if from == 0 || text[..from].ends_with('\n') {
        return end;
    }
    end.split_once('\n').map_or(end, |(_, lines)| lines)
}
