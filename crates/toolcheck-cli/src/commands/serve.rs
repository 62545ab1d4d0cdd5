//! `toolcheck serve`: a mock of the APIs that refuses what they refuse.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow};
use serde_json::json;
use toolcheck_core::text::{Counted, line, reason, shown};
use toolcheck_serve::{Builder, Exchange, MockProvider, Turn};

use super::shapes;
use crate::args::ServeArgs;
use crate::{Status, screen};

pub(crate) fn run(args: &ServeArgs, out: &mut dyn Write) -> Result<Status> {
    let provider = builder(args)?
        .start()
        .map_err(|error| anyhow!("cannot listen on port {}: {}", args.port, reason(&error)))?;
    let url = provider.url();
    let admin = |name: &str| format!("{url}/_toolcheck/{name}");
    let ready = json!({"url": url, "report": admin("report"), "exchanges": admin("exchanges")});
    writeln!(out, "{ready}")?;
    out.flush()?;
    wait(args.keep_running);
    let seen = provider.finish();
    let refused = seen.refused().count();
    let requests = Counted(seen.exchanges.len() + seen.not_kept, "request");
    screen::message("note", &format!("{requests}, {refused} refused"));
    Ok(if refused == 0 { Status::Clean } else { Status::Findings })
}

fn builder(args: &ServeArgs) -> Result<Builder> {
    let mut builder = MockProvider::builder()
        .port(args.port)
        .max_body(args.max_body)
        .strictness(args.strict.into())
        .turns(args.script.as_deref().map(read_script).transpose()?.unwrap_or_default());
    if let Some(name) = &args.target {
        builder = builder.own_target(shapes::load(name)?);
    }
    let record = args.record.as_deref().map(create).transpose()?.map(Mutex::new);
    Ok(builder.on_exchange(move |exchange| {
        say(exchange);
        if let Some(file) = &record {
            keep(file, exchange);
        }
    }))
}

fn read_script(path: &Path) -> Result<Vec<Turn>> {
    let name = shown(&path.display().to_string());
    let read = toolcheck_files::read_named(path).and_then(toolcheck_files::text);
    let text = read.map_err(|error| anyhow!("cannot read {name}: {}", reason(&error)))?;
    toolcheck_serve::script(&text).with_context(|| name)
}

/// A new file: nothing that is there is lost.
pub(super) fn create(path: &Path) -> Result<File> {
    let name = || shown(&path.display().to_string());
    toolcheck_files::create_log(path).map_err(|error| anyhow!("cannot create {}: {}", name(), reason(&error)))
}

/// Says on the standard error why a request was refused.
fn say(exchange: &Exchange) {
    let Some(refused) = &exchange.refused else { return };
    let place = if refused.place.is_empty() { "the body" } else { &refused.place };
    let message =
        format!("{} {}: {} at {place}: {}", exchange.path, refused.status, refused.rule, refused.message);
    screen::message("refused", &line(&message));
}

pub(super) fn keep(file: &Mutex<File>, exchange: &Exchange) {
    let text = exchange.json_line() + "\n";
    let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Err(error) = file.write_all(text.as_bytes()) {
        screen::message("error", &format!("cannot record an exchange: {}", reason(&error)));
    }
}

/// Waits until the standard input closes.
pub(super) fn wait(keeps_running: bool) {
    // A standard input that cannot be read is a closed one.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    if keeps_running {
        loop {
            std::thread::park();
        }
    }
}
