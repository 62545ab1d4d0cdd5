//! `toolcheck test`: the results of a test corpus.

use std::collections::HashSet;
use std::io::Write;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use toolcheck_core::text::{line, reason};
use toolcheck_files::Identity;
use toolcheck_project::printable;
use toolcheck_test::corpus::{Bless, Corpus};

use crate::args::{BlessArg, TestArgs, TestOutputSpec};
use crate::{Status, screen};

pub(crate) fn run(args: &TestArgs, out: &mut dyn Write) -> Result<Status> {
    let directory = printable(&args.dir);
    let corpus = Corpus::open(&args.dir).with_context(|| format!("cannot read the directory {directory}"))?;
    check_outputs(&args.output_format, &corpus)?;
    let (cases, mut errors) = corpus.select(&args.filters);
    if corpus.cases.is_empty() && corpus.troubles.is_empty() {
        bail!("no cases in {directory}: it contains no .json, .jsonl, .ndjson, .traj or .af files");
    }
    let word = args.filters.iter().find(|filter| is_bless_value(args, filter));
    errors.extend(word.map(|word| format!("did you mean `--bless={word}`?")));
    if args.list {
        for case in &cases {
            writeln!(out, "{}", line(&case.name))?;
        }
        errors.extend(corpus.troubles.iter().cloned());
        return finish(&errors, Status::Clean, out);
    }
    let mut run = corpus.run(&cases, args.bless.map_or(Bless::Nothing, |bless| bless.0));
    errors.append(&mut run.troubles);
    let style = screen::style(args.color).is_quiet(args.quiet);
    for spec in &args.output_format {
        let Some(path) = &spec.file else {
            if !cases.is_empty() {
                (spec.output.write)(&run, &style, out)?;
            }
            continue;
        };
        let write = |out: &mut dyn Write| (spec.output.write)(&run, &style.color(false), out);
        if let Err(error) = toolcheck_files::write(path, write) {
            errors.push(format!("cannot write {}: {}", printable(path), reason(&error)));
        }
    }
    let status = match (run.unreadable(), run.failed()) {
        (0, 0) => Status::Clean,
        (0, _) => Status::Findings,
        _ => Status::Trouble,
    };
    // The text output reports this at each case.
    if !args.output_format.iter().any(|spec| spec.file.is_none() && spec.output.id == "text") {
        for written in run.written() {
            screen::message("note", &format!("wrote {written}"));
        }
    }
    finish(&errors, status, out)
}

/// Whether a filter was meant as the value of `--bless`, which must follow a `=`.
fn is_bless_value(args: &TestArgs, filter: &str) -> bool {
    let mut words = BlessArg::value_variants().iter().filter_map(BlessArg::to_possible_value);
    args.bless.is_some() && words.any(|word| word.matches(filter, false))
}

/// Checks that no two outputs go to the same place, and that none overwrites the corpus.
fn check_outputs(outputs: &[TestOutputSpec], corpus: &Corpus) -> Result<()> {
    if outputs.iter().filter(|spec| spec.file.is_none()).count() > 1 {
        bail!("only one output can go to standard output: write the others to files with OUTPUT=FILE");
    }
    let mut used = HashSet::new();
    for path in outputs.iter().filter_map(|spec| spec.file.as_deref()) {
        let name = printable(path);
        if corpus.holds(path) {
            bail!("{name} is part of the corpus, so no output can be written to it");
        }
        if !used.insert(Identity::of(path)) {
            bail!("two outputs can't be written to the same file: {name}");
        }
    }
    Ok(())
}

/// Prints the errors after all other output, and returns the final status.
fn finish(errors: &[String], status: Status, out: &mut dyn Write) -> Result<Status> {
    out.flush()?;
    screen::messages("error", errors);
    Ok(if errors.is_empty() { status } else { Status::Trouble })
}
