use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use toolcheck_core::text::line;
use toolcheck_project::printable;
use toolcheck_test::corpus::{Bless, Corpus};

use crate::args::{BlessArg, TestArgs, WantedRun};
use crate::{Status, screen};

pub(crate) fn run(args: &TestArgs, out: &mut dyn Write) -> Result<Status> {
    let directory = printable(&args.dir);
    let corpus = Corpus::open(&args.dir).with_context(|| format!("cannot read the directory {directory}"))?;
    check_outputs(&args.output_format, &corpus)?;
    let (cases, mut troubles) = corpus.select(&args.filters);
    if corpus.cases.is_empty() && corpus.troubles.is_empty() {
        bail!("no cases in {directory}: it contains no .json, .jsonl or .ndjson files");
    }
    if let Some(word) = args.filters.iter().find(|filter| is_word_of_bless(args, filter)) {
        troubles.push(format!("did you mean `--bless={word}`?"));
    }
    if args.list {
        for case in &cases {
            writeln!(out, "{}", line(&case.name))?;
        }
        troubles.extend(corpus.troubles.iter().cloned());
        return told(&troubles, Status::Clean, out);
    }
    let mut run = corpus.run(&cases, args.bless.map_or(Bless::Nothing, |bless| bless.0));
    troubles.append(&mut run.troubles);
    let style = screen::style(args.color).is_quiet(args.quiet);
    for wanted in &args.output_format {
        let Some(path) = &wanted.file else {
            if !cases.is_empty() {
                (wanted.output.write)(&run, &style, out)?;
            }
            continue;
        };
        let write = || -> io::Result<()> {
            let mut file = io::BufWriter::new(fs::File::create(path)?);
            (wanted.output.write)(&run, &style.color(false), &mut file)?;
            file.flush()
        };
        if let Err(error) = write() {
            troubles.push(format!("cannot write {}: {error}", printable(path)));
        }
    }
    let status = match (run.unreadable(), run.failed()) {
        (0, 0) => Status::Clean,
        (0, _) => Status::Findings,
        _ => Status::Trouble,
    };
    // The output for people tells it where it stands.
    if !args.output_format.iter().any(|wanted| wanted.file.is_none() && wanted.output.id == "text") {
        for written in run.written() {
            screen::message("note", &format!("wrote {written}"));
        }
    }
    told(&troubles, status, out)
}

/// Whether a filter was to be the word of `--bless`, which takes one behind `=` only.
fn is_word_of_bless(args: &TestArgs, filter: &str) -> bool {
    let mut words = BlessArg::value_variants().iter().filter_map(BlessArg::to_possible_value);
    args.bless.is_some() && words.any(|word| word.matches(filter, false))
}

/// Whether each output has a place of its own, outside of what is tested.
fn check_outputs(outputs: &[WantedRun], corpus: &Corpus) -> Result<()> {
    if outputs.iter().filter(|wanted| wanted.file.is_none()).count() > 1 {
        bail!("only one output can go to standard output: write the others to files with OUTPUT=FILE");
    }
    let mut taken = HashSet::new();
    for path in outputs.iter().filter_map(|wanted| wanted.file.as_deref()) {
        let (real, name) = (fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), printable(path));
        if corpus.holds(&real) {
            bail!("{name} is part of the corpus, so no output can be written to it");
        }
        if !taken.insert(real) {
            bail!("two outputs can't be written to the same file: {name}");
        }
    }
    Ok(())
}

/// Tells the troubles, behind all else, and what the run comes to with them.
fn told(troubles: &[String], status: Status, out: &mut dyn Write) -> Result<Status> {
    out.flush()?;
    screen::messages("error", troubles);
    Ok(if troubles.is_empty() { status } else { Status::Trouble })
}
