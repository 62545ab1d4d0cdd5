//! `toolcheck diff`: what a change to a conversation lost.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use toolcheck_core::diff::files::{File, Report, compare};
use toolcheck_core::formats::{self, Format};
use toolcheck_core::text::{Counted, name_of, shown};
use toolcheck_json::origins::Opened;
use toolcheck_open::FileFormat;
use toolcheck_project::{Input, Limits};
use toolcheck_report::diff::{Compare, Compared};

use super::shapes;
use crate::args::DiffArgs;
use crate::{Status, screen};

pub(crate) fn run(args: &DiffArgs, out: &mut dyn Write) -> Result<Status> {
    let target = args.target.as_deref().map(shapes::load).transpose()?;
    let bound_as = target.as_ref().and_then(|target| formats::find(target.format.as_deref()?));
    match (&args.pairs, &args.before, &args.after) {
        (Some(list), ..) => run_pairs(args, list, bound_as, out),
        (None, Some(before), Some(after)) => {
            if [before, after].into_iter().all(|path| path == Path::new("-")) {
                bail!("only one of the two files can be the standard input");
            }
            let pair = Pair::read(args, before, after, bound_as)?;
            (args.output_format.write)(&pair.compared(args), &screen::style(args.color), out)?;
            Ok(pair.status(args))
        }
        _ => bail!("two files are needed"),
    }
}

/// Compares the pairs of a list.
fn run_pairs(
    args: &DiffArgs,
    list: &Path,
    bound_as: Option<&'static Format>,
    out: &mut dyn Write,
) -> Result<Status> {
    let text = Input::file(list).read()?;
    let mut pairs = Vec::new();
    let mut has_failed = false;
    for (number, line) in String::from_utf8_lossy(&text).lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let read = names(line).ok_or_else(|| anyhow!("there are not two names"));
        let read = read.and_then(|[before, after]| Pair::read(args, &before, &after, bound_as));
        match read {
            Ok(pair) => pairs.push(pair),
            Err(error) => {
                let list = name_of(list.as_os_str().as_encoded_bytes());
                screen::message("error", &format!("{}:{}: {error:#}", shown(&list), number + 1));
                has_failed = true;
            }
        }
    }
    let compared: Vec<Compared<'_>> = pairs.iter().map(|pair| pair.compared(args)).collect();
    (args.output_format.write_all)(&compared, &screen::style(args.color), out)?;
    let worst = pairs.iter().map(|pair| pair.status(args)).max_by_key(|status| *status as u8);
    Ok(if has_failed { Status::Trouble } else { worst.unwrap_or(Status::Clean) })
}

/// The two names on a line of a list.
fn names(line: &str) -> Option<[PathBuf; 2]> {
    let (before, after) = line.split_once('\t').or_else(|| line.trim().split_once(' '))?;
    let (before, after) = (before.trim(), after.trim());
    (!before.is_empty() && !after.is_empty()).then(|| [before.into(), after.into()])
}

/// Two files that were compared.
struct Pair {
    before: Side,
    after: Side,
    report: Report,
    allowed: usize,
    /// Whether something in the files could not be read.
    is_partial: bool,
}

struct Side {
    name: String,
    format: &'static str,
    bytes: Vec<u8>,
    /// What is in it, if it is a recording or an archive.
    opened: Option<Opened>,
}

impl Pair {
    fn read(args: &DiffArgs, before: &Path, after: &Path, bound_as: Option<&Format>) -> Result<Self> {
        let inputs = [before, after].map(Input::file);
        let texts = [inputs[0].read()?, inputs[1].read()?];
        let opened = [open(&texts[0], args.before_format), open(&texts[1], args.after_format)];
        let read = |number: usize, format: Option<FileFormat>, flag: &str| -> Result<File<'_>> {
            let file = match &opened[number] {
                Some(opened) => File::read_opened(&texts[number], opened),
                None => File::read(&texts[number], format.and_then(FileFormat::input)),
            };
            file.map_err(|error| {
                let is_open = format.is_none() && opened[number].is_none();
                let is_open = is_open && !error.to_string().starts_with("malformed");
                let hint = if is_open { format!("; {flag} names one") } else { String::new() };
                anyhow!("{}: {error}{hint}", shown(&inputs[number].name))
            })
        };
        let files =
            [read(0, args.before_format, "--before-format")?, read(1, args.after_format, "--after-format")?];
        for (input, opened) in inputs.iter().zip(&opened) {
            let left_out = opened.iter().flat_map(|opened| &opened.left_out).map(ToString::to_string);
            let left_out: Vec<String> = left_out.collect();
            if !left_out.is_empty() {
                let name = shown(&input.name);
                screen::message("note", &format!("{name}: not compared: {}", left_out.join(", ")));
            }
        }
        let mut is_partial = false;
        for (file, input) in files.iter().zip(&inputs) {
            if file.unread > 0 {
                let name = shown(&input.name);
                let parts = Counted(file.unread, "part");
                screen::message(
                    "error",
                    &format!("{name}: {parts} could not be read; `toolcheck lint` says more"),
                );
                is_partial = true;
            }
        }
        let mut report = compare(&files[0], &files[1], bound_as);
        let allowed = report.allow(&args.allow);
        let formats = files.map(|file| file.format);
        let [before, after] = inputs.map(|input| input.name);
        let [before_text, after_text] = texts;
        let [before_opened, after_opened] = opened;
        Ok(Self {
            before: Side { name: before, format: formats[0], bytes: before_text, opened: before_opened },
            after: Side { name: after, format: formats[1], bytes: after_text, opened: after_opened },
            report,
            allowed,
            is_partial,
        })
    }

    fn compared<'p>(&'p self, args: &DiffArgs) -> Compared<'p> {
        let compare = |side: &'p Side| Compare {
            name: &side.name,
            format: side.format,
            text: args.show_values.then(|| match &side.opened {
                Some(opened) => opened.source(&side.bytes),
                None => &side.bytes[..],
            }),
        };
        Compared {
            before: compare(&self.before),
            after: compare(&self.after),
            report: &self.report,
            allowed: self.allowed,
        }
    }

    fn status(&self, args: &DiffArgs) -> Status {
        match self.report.level() {
            _ if self.is_partial => Status::Trouble,
            Some(level) if level >= args.fail_on => Status::Findings,
            _ => Status::Clean,
        }
    }
}

/// Opens a recording or an archive, as the kind that the user named if there is one; `None` if the file is none.
fn open(text: &[u8], format: Option<FileFormat>) -> Option<Opened> {
    let container = match format {
        Some(FileFormat::Container(container)) => Some(container),
        Some(FileFormat::Input(_)) => return None,
        None => None,
    };
    toolcheck_project::open(text, container, Limits::default())
}
