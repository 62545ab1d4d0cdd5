//! `toolcheck man`: manual pages.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use toolcheck_core::text::guard;
use toolcheck_project::printable;

use crate::Status;
use crate::args::{Args, ManArgs};

pub(crate) fn run(args: &ManArgs, out: &mut dyn Write) -> Result<Status> {
    // Pages for `toolcheck help lint` and so on would repeat `toolcheck-lint`.
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    match &args.dir {
        None => out.write_all(&page(&program, None)?)?,
        Some(dir) => write_all(&program, dir, out)?,
    }
    Ok(Status::Clean)
}

/// Writes the program's page and one page per command to a directory, and their names to `out`.
fn write_all(program: &Command, dir: &Path, out: &mut dyn Write) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create the directory {}", printable(dir)))?;
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let pages = commands.map(|command| (command, Some(program)));
    for (command, parent) in std::iter::once((program, None)).chain(pages) {
        let path = dir.join(format!("{}.1", name(command)));
        let page = page(command, parent)?;
        toolcheck_files::write(&path, |out| out.write_all(&page))
            .with_context(|| format!("cannot write {}", printable(&path)))?;
        writeln!(out, "{}", guard(&printable(&path)))?;
    }
    Ok(())
}

/// A command's page. The text after the help is split into sections, so that examples keep their lines.
fn page(command: &Command, parent: Option<&Command>) -> Result<Vec<u8>> {
    let version = parent.unwrap_or(command).get_version().unwrap_or_default();
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    // Written by hand: the library omits an empty date, and the version would take its place.
    writeln!(page, ".TH {} 1 \"\" \"toolcheck {version}\" \"toolcheck\"", name(command))?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    if let Some(text) = command.get_after_help() {
        sections(&text.to_string(), &mut rest);
    }
    if let Some(parent) = parent {
        rest.control("SH", ["SEE ALSO"]);
        rest.text([bold(name(parent)), roman("(1)")]);
    }
    rest.to_writer(&mut page)?;
    Ok(page)
}

/// Writes the paragraphs of a help text, each `Title: text`, as sections; indented lines are kept as they are.
fn sections(text: &str, roff: &mut Roff) {
    for paragraph in text.split("\n\n") {
        let (title, body) = paragraph.split_once(':').unwrap_or(("Notes", paragraph));
        roff.control("SH", [title.to_uppercase().as_str()]);
        let mut is_verbatim = false;
        for line in body.trim_matches('\n').lines() {
            if line.starts_with("  ") != is_verbatim {
                is_verbatim = !is_verbatim;
                roff.control(if is_verbatim { "nf" } else { "fi" }, []);
            }
            roff.text([roman(line.trim())]);
        }
        if is_verbatim {
            roff.control("fi", []);
        }
    }
}

/// The name of a command's page: `toolcheck-lint`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}
