//! `toolcheck diff`: what a change to a conversation lost.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use toolcheck_core::diff::Level;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::text::{Counted, name_of, shown};
use toolcheck_embed::{Comparison, Side};
use toolcheck_project::Input;
use toolcheck_report::diff::Compared;

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
                bail!("only one of the two files can be standard input");
            }
            let comparison = compare(args, before, after, bound_as)?;
            comparison.write(args.output_format, &screen::style(args.color), args.show_values, out)?;
            Ok(status(&comparison, args.fail_on))
        }
        _ => bail!("two files are needed"),
    }
}

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
        let read = names(line).ok_or_else(|| anyhow!("expected two names, separated by a tab or a space"));
        let read = read.and_then(|[before, after]| compare(args, &before, &after, bound_as));
        match read {
            Ok(pair) => pairs.push(pair),
            Err(error) => {
                let list = name_of(list.as_os_str().as_encoded_bytes());
                screen::message("error", &format!("{}:{}: {error:#}", shown(&list), number + 1));
                has_failed = true;
            }
        }
    }
    let compared: Vec<Compared<'_>> = pairs.iter().map(|pair| pair.compared(args.show_values)).collect();
    (args.output_format.write_all)(&compared, &screen::style(args.color), out)?;
    let worst = pairs.iter().map(|pair| status(pair, args.fail_on)).max_by_key(|status| *status as u8);
    Ok(if has_failed { Status::Trouble } else { worst.unwrap_or(Status::Clean) })
}

/// The two names on a line of a list.
fn names(line: &str) -> Option<[PathBuf; 2]> {
    let (before, after) = line.split_once('\t').or_else(|| line.trim().split_once(' '))?;
    let (before, after) = (before.trim(), after.trim());
    (!before.is_empty() && !after.is_empty()).then(|| [before.into(), after.into()])
}

/// Compares two files, and says what of them is not compared.
fn compare(args: &DiffArgs, before: &Path, after: &Path, bound_as: Option<&Format>) -> Result<Comparison> {
    let side = |path: &Path, format, option| -> Result<Side> {
        let input = Input::file(path);
        let bytes = input.read()?;
        Ok(Side::new(input.name, bytes).format(format).format_option(option))
    };
    let before = side(before, args.before_format, "--before-format")?;
    let after = side(after, args.after_format, "--after-format")?;
    let comparison = Comparison::new(before, after, bound_as)?;
    for (name, left_out) in comparison.left_out() {
        screen::message("note", &format!("{}: not compared: {left_out}", shown(name)));
    }
    for (name, unread) in comparison.unread() {
        let parts = Counted(unread, "part");
        let name = shown(name);
        screen::message("error", &format!("{name}: {parts} could not be read; see `toolcheck lint`"));
    }
    Ok(comparison.allow(&args.allow))
}

fn status(comparison: &Comparison, fail_on: Level) -> Status {
    match comparison.report().level() {
        _ if comparison.unread().next().is_some() => Status::Trouble,
        Some(level) if level >= fail_on => Status::Findings,
        _ => Status::Clean,
    }
}
