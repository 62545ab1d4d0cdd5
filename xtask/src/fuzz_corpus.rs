//! What fuzzing begins with: `cargo xtask fuzz-corpus`.

use std::fs;

use anyhow::{Context, Result};

use crate::root;

#[path = "../../fuzz/src/seeds.rs"]
#[allow(unreachable_pub, reason = "it is a part of the fuzz crate, which has it in public")]
mod seeds;

/// Writes the seeds of each fuzz target to where `cargo fuzz run` begins. What is
/// there already stays.
pub(crate) fn write() -> Result<()> {
    for (target, make) in seeds::ALL {
        let folder = root().join("fuzz/corpus").join(target);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let seeds = make(&root()).with_context(|| format!("the seeds of {target}"))?;
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), seed)?;
        }
        println!("fuzz/corpus/{target}: {} seeds", seeds.len());
    }
    Ok(())
}
