//! What is read: conversations that are made here, and inputs with too much of one thing.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};

use crate::root;

/// The messages of a conversation with this many calls, two per turn, that no tool reports. Its ids begin with the number
/// `start`, and have the length that Mistral's API requires.
pub(super) fn messages(start: usize, calls: usize) -> Vec<Json> {
    let mut messages = vec![json!({"role": "system", "content": "You help the customers of an airline."})];
    for turn in 0..calls / 2 {
        let call = |number: usize| {
            let arguments = format!("{{\"reservation\": \"R{number}\", \"note\": \"window seat, no meal\"}}");
            json!({"id": format!("c{:08}", start + number), "type": "function",
                   "function": {"name": "look_up_reservation", "arguments": arguments}})
        };
        let result = |number: usize| {
            let content =
                format!("Reservation R{number}: two passengers, economy, paid by card.\nStatus: open.");
            json!({"role": "tool", "tool_call_id": format!("c{:08}", start + number), "content": content})
        };
        messages.push(json!({"role": "user", "content": format!("What about my bookings of day {turn}?")}));
        messages.push(
            json!({"role": "assistant", "content": null, "tool_calls": [call(2 * turn), call(2 * turn + 1)]}),
        );
        messages.extend([result(2 * turn), result(2 * turn + 1)]);
        messages.push(
            json!({"role": "assistant", "content": "Both bookings are open and paid. Shall I change them?"}),
        );
    }
    messages.push(json!({"role": "user", "content": "Thank you."}));
    messages
}

/// The folder of the generated files.
pub(super) fn folder() -> Result<PathBuf> {
    let folder = root().join("target/bench");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Writes the lines repeatedly, until the file has at least this many bytes.
pub(super) fn repeated(path: &Path, lines: &[u8], bytes: u64) -> Result<()> {
    ensure!(!lines.is_empty(), "nothing to repeat");
    let mut file = BufWriter::new(File::create(path).with_context(|| path.display().to_string())?);
    let mut written = 0;
    while written < bytes {
        file.write_all(lines)?;
        written += lines.len() as u64;
    }
    Ok(file.flush()?)
}

/// Generated conversations, one per line.
pub(super) fn generated() -> Vec<u8> {
    let line = |number: usize| format!("{}\n", json!({"messages": messages(number * 100, 40)}));
    (0..100).map(line).collect::<String>().into_bytes()
}

/// Recorded conversations of tau-bench, one per line, if they are next to the checkout.
pub(super) fn recorded() -> Result<Option<Vec<u8>>> {
    let path = "../shared/data/transcripts/tau-bench/historical_trajectories_gpt-4o-airline.json";
    let Ok(bytes) = fs::read(root().join(path)) else { return Ok(None) };
    let trajectories: Vec<Json> = serde_json::from_slice(&bytes)?;
    let line = |row: &Json| format!("{}\n", json!({"messages": row["traj"]}));
    Ok(Some(trajectories.iter().map(line).collect::<String>().into_bytes()))
}

/// An input with a huge number of one thing.
pub(super) struct Huge {
    pub(super) what: &'static str,
    /// The numbers that are tried.
    pub(super) counts: [usize; 2],
    /// Writes the input.
    pub(super) write: fn(usize, &mut dyn Write) -> std::io::Result<()>,
}

/// All huge inputs.
pub(super) static HUGE: &[Huge] = &[
    Huge {
        what: "calls in one conversation",
        counts: [10_000, 100_000],
        write: |count, file| write!(file, "{}", json!({"messages": messages(0, count)})),
    },
    Huge { what: "results of one call", counts: [10_000, 100_000], write: results_of_one_call },
    Huge {
        what: "messages",
        counts: [100_000, 1_000_000],
        write: |count, file| {
            write!(file, "{{\"messages\": [")?;
            for number in 0..count / 2 {
                let comma = if number > 0 { "," } else { "" };
                write!(file, "{comma}{{\"role\": \"user\", \"content\": \"and {number}?\"}},")?;
                write!(file, "{{\"role\": \"assistant\", \"content\": \"One more.\"}}")?;
            }
            write!(file, ",{{\"role\": \"user\", \"content\": \"Thanks.\"}}]}}")
        },
    },
    Huge {
        what: "nested arrays",
        counts: [10_000, 100_000],
        write: |count, file| {
            let (open, close) = ("[".repeat(count), "]".repeat(count));
            write!(
                file,
                "{{\"messages\": [{{\"role\": \"user\", \"content\": \"hi\"}}], \"deep\": {open}{close}}}"
            )
        },
    },
    Huge {
        what: "bytes in one text",
        counts: [100_000_000, 1_000_000_000],
        write: |count, file| {
            write!(file, "{{\"messages\": [{{\"role\": \"user\", \"content\": \"")?;
            let line =
                [b"Neither more nor less than a line of text. ".repeat(24).as_slice(), b"\\n"].concat();
            for _ in 0..count / line.len() {
                file.write_all(&line)?;
            }
            write!(file, "\"}}]}}")
        },
    },
    Huge {
        what: "repeated keys",
        counts: [100_000, 1_000_000],
        write: |count, file| {
            write!(file, "{{\"messages\": [{{\"role\": \"user\", \"content\": \"hi\"")?;
            for number in 0..count {
                write!(file, ", \"again\": {number}")?;
            }
            write!(file, "}}]}}")
        },
    },
    Huge {
        what: "problems in one line",
        counts: [1_000, 10_000],
        write: |count, file| {
            // Calls without results.
            let lone = messages(0, 2 * count).into_iter().filter(|message| message["role"] != "tool");
            write!(file, "{}", json!({"messages": lone.collect::<Vec<_>>()}))
        },
    },
];

fn results_of_one_call(count: usize, file: &mut dyn Write) -> std::io::Result<()> {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "wait", "arguments": "{}"}});
    write!(file, "{{\"messages\": [{{\"role\": \"user\", \"content\": \"Wait.\"}},")?;
    write!(file, "{}", json!({"role": "assistant", "content": null, "tool_calls": [call]}))?;
    for number in 0..count {
        let content = format!("{number} s");
        write!(file, ",{}", json!({"role": "tool", "tool_call_id": "call_1", "content": content}))?;
    }
    write!(file, "]}}")
}

/// Writes a huge input to a file.
pub(super) fn huge(path: &Path, huge: &Huge, count: usize) -> Result<()> {
    let mut file = BufWriter::new(File::create(path).with_context(|| path.display().to_string())?);
    (huge.write)(count, &mut file)?;
    Ok(file.flush()?)
}
