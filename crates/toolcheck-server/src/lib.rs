//! The language server of toolcheck.
//!
//! ```
//! use std::io::Cursor;
//!
//! let messages = [
//!     r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}"#,
//!     r#"{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}"#,
//!     r#"{"jsonrpc": "2.0", "method": "exit"}"#,
//! ];
//! let input: String =
//!     messages.iter().map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len())).collect();
//! let mut output = Vec::new();
//! let was_shut_down = toolcheck_server::serve(Cursor::new(input), &mut output)?;
//! assert!(was_shut_down);
//! assert!(String::from_utf8_lossy(&output).contains("definitionProvider"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! - A file of JSON Lines in which each line stands for itself is linted line by line: an edit costs as much as its line.
//! - Any other file is linted as a whole: a small one at every key, a large one when it has been quiet for a moment, on
//!   another thread, while requests are answered.
//! - Files are linted as `toolcheck lint` does, with the closest configuration. A file that is not a transcript has no
//!   diagnostics.

mod actions;
mod diagnostics;
mod document;
mod drafts;
mod folding;
mod hover;
mod links;
mod navigate;
mod pulls;
mod rows;
mod server;
mod settings;
mod sites;
mod sweep;
mod symbols;
mod text;
mod transport;

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, after, bounded, never, select, unbounded};
use lsp_types::Uri;
use toolcheck_lint::FileReport;

use crate::document::Job;
use crate::server::{Phase, Server};
use crate::transport::Incoming;

/// The number of messages that are read ahead.
const AHEAD: usize = 64;

/// Speaks the language server protocol until it is told to exit, or the input ends. Returns whether it was told to shut
/// down before, as the protocol demands.
///
/// # Errors
///
/// The output can't be written, or the input is not framed as the protocol demands.
pub fn serve(input: impl BufRead + Send + 'static, out: &mut dyn Write) -> io::Result<bool> {
    let (jobs, to_do) = unbounded();
    let (done, reports) = unbounded();
    // Both end with their channels, and the reader with the input at the latest.
    thread::spawn(move || work(&to_do, &done));
    let (read, messages) = bounded(AHEAD);
    thread::spawn(move || read_all(input, &read));
    let (swept, answers) = unbounded();
    let mut server = Server::new(out, jobs, swept);
    loop {
        let due =
            server.next_due().map_or_else(never, |at| after(at.saturating_duration_since(Instant::now())));
        select! {
            recv(messages) -> message => match message {
                Ok(Ok(Incoming::Message(message))) => server.take(message)?,
                Ok(Ok(Incoming::Malformed(code, why))) => server.refuse(code, &why)?,
                Ok(Err(error)) => return Err(error),
                Err(_) => return Ok(server.phase == Phase::ShutDown),
            },
            recv(reports) -> report => if let Ok((uri, round, report)) = report {
                server.finish(&uri, round, report)?;
            },
            recv(answers) -> answer => if let Ok(answer) = answer {
                server.finish_sweep(answer)?;
            },
            recv(due) -> _ => server.start_due(),
        }
        if let Phase::Ended(was_shut_down) = server.phase {
            return Ok(was_shut_down);
        }
    }
}

fn read_all(mut input: impl BufRead, messages: &Sender<io::Result<Incoming>>) {
    while let Some(message) = transport::read(&mut input).transpose() {
        let is_last = message.is_err();
        if messages.send(message).is_err() || is_last {
            return;
        }
    }
}

/// Lints whole files. Of several versions of one, only the last is of interest. Without a report, there was a fault of
/// ours.
fn work(jobs: &Receiver<Job>, done: &Sender<(Uri, i32, Option<FileReport>)>) {
    let mut waiting: Vec<Job> = Vec::new();
    loop {
        if waiting.is_empty() {
            let Ok(job) = jobs.recv() else { return };
            waiting.push(job);
        }
        for job in jobs.try_iter() {
            waiting.retain(|other| other.uri != job.uri);
            waiting.push(job);
        }
        let Job { uri, round, bytes, settings, was_transcript } = waiting.remove(0);
        // A fault of ours must not silence all other files, and must not look like a file without findings.
        let report = catch_unwind(AssertUnwindSafe(|| settings.lint(&bytes, was_transcript))).ok();
        if done.send((uri, round, report)).is_err() {
            return;
        }
    }
}
