//! `toolcheck server`: the language server, for editors.

use std::io::{BufReader, IsTerminal, Write, stdin};

use anyhow::{Context, Result};

use crate::{Status, screen};

pub(crate) fn run(out: &mut dyn Write) -> Result<Status> {
    if stdin().is_terminal() {
        screen::message(
            "note",
            "an editor starts this language server; see docs/editors.md for the settings",
        );
    }
    let served = toolcheck_server::serve(BufReader::new(stdin()), out);
    // The protocol asks for 1 if it was told to exit before it was told to shut down.
    let was_shut_down = served.context("the connection to the editor")?;
    Ok(if was_shut_down { Status::Clean } else { Status::Findings })
}
