use std::io::Write;

use anyhow::{Result, bail};
use toolcheck_test::corpus::{self, Outcome};

use crate::Status;
use crate::args::TestArgs;

pub(crate) fn run(args: &TestArgs, out: &mut dyn Write) -> Result<Status> {
    let results = corpus::run(&args.dir)?;
    if results.is_empty() {
        bail!("no case in {}", args.dir.display());
    }
    let mut failed = 0;
    for result in &results {
        if let Outcome::Failed(why) = &result.outcome {
            failed += 1;
            writeln!(out, "FAILED {}\n{why}", result.name)?;
        }
    }
    writeln!(out, "{} cases, {failed} failed", results.len())?;
    Ok(if failed > 0 { Status::Findings } else { Status::Clean })
}
