//! `toolcheck serve`: a mock of the APIs that refuses what they refuse.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};

use anyhow::{Context, Result, anyhow};
use serde_json::json;
use toolcheck_config::Overrides;
use toolcheck_core::text::{Counted, line, reason};
use toolcheck_lint::ChatTemplate;
use toolcheck_project::{ConfigOptions, Configs, Input, Resolver, printable};
use toolcheck_serve::{Builder, Comparison, Difference, Exchange, MockProvider, Recording, Refused, Turn};

use super::shapes;
use crate::args::ServeArgs;
use crate::{Status, screen, signals};

pub(crate) fn run(args: &ServeArgs, out: &mut dyn Write) -> Result<Status> {
    let builder = builder(args)?;
    if let Some(path) = &args.against {
        return compare(&builder, path, out);
    }
    let provider = builder
        .start()
        .map_err(|error| anyhow!("cannot listen on port {}: {}", args.port, reason(&error)))?;
    let url = provider.url();
    let control = provider.control_url();
    let address = |name: &str| format!("{control}/{name}");
    let ready = json!({
        "url": url, "control": control, "report": address("report"), "exchanges": address("exchanges"),
    });
    writeln!(out, "{ready}")?;
    out.flush()?;
    wait(args.listen.keep_running);
    let seen = provider.finish();
    let refused = seen.refused().count() + seen.refused_not_listed;
    let mut told = format!("{}, {refused} refused", Counted(seen.requests(), "request"));
    if !seen.unexpected.is_empty() {
        let _ =
            write!(told, "; requests to {} that no mocked API has", Counted(seen.unexpected.len(), "path"));
    }
    let missed = seen.missed().count();
    if missed > 0 {
        let _ = write!(told, ", {missed} not in the recording");
    }
    if seen.not_kept > 0 {
        let _ =
            write!(told, "; {} not in the report, because it is full", Counted(seen.not_kept, "exchange"));
    }
    screen::message("note", &told);
    let is_clean = refused == 0 && missed == 0 && seen.unexpected.is_empty();
    Ok(if is_clean { Status::Clean } else { Status::Findings })
}

fn builder(args: &ServeArgs) -> Result<Builder> {
    let mut builder = MockProvider::builder()
        .port(args.port)
        .max_body(args.listen.max_body)
        .strictness(args.strict)
        .turns(args.script.as_deref().map(read_script).transpose()?.unwrap_or_default());
    for name in &args.target {
        builder = builder.own_target(shapes::load(name)?);
    }
    if let Some(path) = &args.template {
        builder = builder.template(read_template(path)?);
    }
    if let Some(path) = &args.replay {
        builder = builder.replay(read_recording(path)?);
    }
    for rule in &args.allow {
        builder = builder.allow(rule)?;
    }
    builder = args.listen.allow_host.iter().fold(builder, Builder::allow_host);
    builder = args.listen.allow_origin.iter().fold(builder, Builder::allow_origin);
    let record = args.listen.record.as_deref().map(create).transpose()?.map(Mutex::new);
    Ok(builder.on_exchange(move |exchange| {
        say(exchange);
        if let Some(file) = &record {
            keep(file, exchange);
        }
    }))
}

fn read_script(path: &Path) -> Result<Vec<Turn>> {
    let text = toolcheck_files::text(read(path)?)
        .map_err(|error| anyhow!("cannot read {}: {}", printable(path), reason(&error)))?;
    toolcheck_serve::script(&text).map_err(|error| anyhow!("{}:{error}", printable(path)))
}

fn read_template(path: &Path) -> Result<Arc<ChatTemplate>> {
    let mut overrides = Overrides::default();
    overrides.read_as.template = Some(path.to_owned());
    let configs = Configs::new(&ConfigOptions::Isolated)?;
    let mut resolver = Resolver::new(overrides, Arc::new(configs))?;
    let settings = resolver.resolve(&Input::file(path));
    let unread =
        || anyhow!("{}", resolver.errors().iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
    settings.and_then(|settings| settings.template).ok_or_else(unread)
}

fn read_recording(path: &Path) -> Result<Recording> {
    Recording::read(&read(path)?).with_context(|| printable(path))
}

/// The bytes of a file that the user named.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    toolcheck_files::read_named(path)
        .map_err(|error| anyhow!("cannot read {}: {}", printable(path), reason(&error)))
}

/// Says where the mock and an API differ.
fn compare(builder: &Builder, path: &Path, out: &mut dyn Write) -> Result<Status> {
    let recording = read_recording(path)?;
    let Comparison { taken, refused, left_out, differences, .. } = builder.compare(&recording);
    for Difference { number, path, mock, status, text, .. } in &differences {
        let api = match text {
            Some(text) => format!("{status}: {}", line(text)),
            None => status.to_string(),
        };
        let mock = match mock {
            Some(Refused { status, rule, place, message, text, .. }) => {
                let said =
                    text.as_ref().map_or_else(String::new, |text| format!("\n  mock says: {}", line(text)));
                format!("{status}: {rule} at {place}: {}{said}", line(message))
            }
            None => "200".to_owned(),
        };
        writeln!(out, "exchange {number}, {}\n  API:  {api}\n  mock: {mock}", line(path))?;
    }
    let differ = match differences.len() {
        1 => "1 differs".to_owned(),
        many => format!("{many} differ"),
    };
    let exchanges = Counted(recording.exchanges(), "exchange");
    writeln!(
        out,
        "{exchanges}: {taken} accepted by both, {refused} refused by both, {differ}, {left_out} not compared"
    )?;
    Ok(if differences.is_empty() { Status::Clean } else { Status::Findings })
}

/// A new file: nothing that is there is lost.
pub(super) fn create(path: &Path) -> Result<File> {
    toolcheck_files::create_log(path)
        .map_err(|error| anyhow!("cannot create {}: {}", printable(path), reason(&error)))
}

/// Says on the standard error why a request was refused, or would have been.
fn say(exchange: &Exchange) {
    exchange.refused.iter().for_each(|refused| tell("refused", exchange, refused));
    exchange.allowed.iter().for_each(|refused| tell("allowed", exchange, refused));
    if let Some(missed) = &exchange.missed {
        screen::message("not recorded", &line(&format!("{}: {missed}", exchange.path)));
    }
}

pub(super) fn tell(who: &str, exchange: &Exchange, refused: &Refused) {
    let place = if refused.place.is_empty() { "the body" } else { &refused.place };
    let message =
        format!("{} {}: {} at {place}: {}", exchange.path, refused.status, refused.rule, refused.message);
    screen::message(who, &line(&message));
}

pub(super) fn keep(file: &Mutex<File>, exchange: &Exchange) {
    let text = exchange.json_line() + "\n";
    let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Err(error) = file.write_all(text.as_bytes()) {
        screen::message("error", &format!("cannot record an exchange: {}", reason(&error)));
    }
}

/// Whether the standard input is the null device, as a shell gives it to what runs in the background.
fn is_without_input() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let device = |path| std::fs::metadata(path).ok().map(|file| file.rdev());
        device("/dev/stdin").is_some_and(|input| Some(input) == device("/dev/null"))
    }
    #[cfg(not(unix))]
    false
}

/// Waits for a signal, or until the standard input closes.
pub(super) fn wait(keeps_running: bool) {
    if !keeps_running && is_without_input() {
        let why = "it ends at once, because it has no standard input, as in the background of a script; \
            `--keep-running` keeps it until it is stopped";
        screen::message("note", why);
    }
    let (end, ended) = mpsc::channel();
    signals::tell(end.clone());
    let closed = end.clone();
    std::thread::spawn(move || {
        // A standard input that cannot be read is a closed one.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        if !keeps_running {
            let _ = closed.send(());
        }
    });
    let _ = ended.recv();
}
