use std::io;

use anstyle::{AnsiColor, Style as Paint};
use toolcheck_core::text::{Counted, shown};
use toolcheck_report::Style;

use super::{Output, lines, path_shown};
use crate::corpus::discover::expectation_of;
use crate::corpus::{CorpusResults, Failure, Outcome};

pub(super) static OUTPUT: Output = Output {
    id: "text",
    summary: "for people: each failed case, with the missing and unexpected findings",
    write,
};

fn write(run: &CorpusResults, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let paint = |color: AnsiColor| if style.color { color.on_default() } else { Paint::new() };
    let (red, green, yellow) = (paint(AnsiColor::Red), paint(AnsiColor::Green), paint(AnsiColor::Yellow));
    let (mut written, mut to_be_described) = (0, 0);
    for result in &run.results {
        let name = shown(&result.name);
        to_be_described += usize::from(result.is_to_be_described);
        let failure = match &result.outcome {
            Outcome::Passed => continue,
            Outcome::Unreadable(why) => {
                writeln!(out, "{red}UNREADABLE{red:#} {name}\n  {why}")?;
                continue;
            }
            Outcome::Failed(failure) => {
                writeln!(out, "{red}FAILED{red:#} {name}")?;
                failure
            }
            Outcome::Blessed(failure) => {
                written += 1;
                let path = path_shown(&expectation_of(&result.path));
                writeln!(out, "{yellow}WROTE{yellow:#} {path}")?;
                failure
            }
        };
        for line in lines(result, failure) {
            let paint = match line.as_bytes()[..] {
                [b'-', b' ', ..] => red,
                [b'+', b' ', ..] => green,
                _ => Paint::new(),
            };
            writeln!(out, "  {paint}{line}{paint:#}")?;
        }
    }
    if style.is_quiet {
        return Ok(());
    }
    write!(out, "{}, {} failed", Counted(run.results.len(), "case"), run.failed())?;
    if run.unreadable() > 0 {
        write!(out, ", {} could not be run", run.unreadable())?;
    }
    if written > 0 {
        write!(out, ", {} written", Counted(written, "expectation"))?;
    }
    writeln!(out)?;
    let has = |is: fn(&Failure) -> bool| {
        run.results.iter().any(|result| matches!(&result.outcome, Outcome::Failed(failure) if is(failure)))
    };
    if has(|failure| matches!(failure, Failure::Findings(_))) {
        writeln!(out, "use `--bless` to update the expectations")?;
    }
    if has(|failure| matches!(failure, Failure::NoExpectation { .. })) {
        writeln!(out, "use `--bless=new` to write the missing expectations")?;
    }
    if to_be_described > 0 {
        let count = Counted(to_be_described, "expectation");
        writeln!(out, "TODO in {count}: describe what the case shows and where it comes from")?;
    }
    Ok(())
}
