//! The fuzz targets without a fuzzer: over their seeds, unchanged and damaged, and over past regressions.
#![allow(clippy::disallowed_macros, reason = "a test prints to the terminal")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::testing::root;

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is also a separate crate")]
mod targets;

/// The maximum number of seeds tried per target, spread evenly over all seeds.
const SEEDS: usize = 60;
/// The number of damaged variants of each seed.
const DAMAGES: usize = 4;

/// Tries an input, and prints it if that fails.
fn try_input(target: &targets::Target, what: &str, bytes: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))) {
        eprintln!("{} fails on {what}: {}", target.name, bytes.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

/// What a terminal, a CI runner or a page would act on.
const HOSTILE: [&str; 8] = [
    "\u{1b}[31m",
    "\u{1b}]0;x\u{7}",
    "\n::error::x",
    "##vso[task.x]y",
    "\r\u{0}",
    "\u{202e}\u{e0041}",
    "<script>]]>&amp;",
    "](javascript:x)`|",
];

/// The bytes with a part cut off, repeated or removed, with flipped bits, or with a hostile text.
fn damaged(bytes: &[u8], how: usize) -> Vec<u8> {
    // Places that look random, but are the same in each run.
    let at = |salt: usize| (how + salt).wrapping_mul(0x9e37_79b9) % (bytes.len() + 1);
    let (from, to) = (at(1).min(at(2)), at(1).max(at(2)));
    let mut damaged = bytes.to_vec();
    match how % 5 {
        0 => damaged.truncate(to),
        1 => damaged.extend_from_within(from..),
        2 => drop(damaged.drain(from..to.min(from + 40))),
        3 => drop(damaged.splice(from..from, HOSTILE[how / 5 % HOSTILE.len()].bytes())),
        _ => damaged.iter_mut().skip(from).step_by(97).for_each(|byte| *byte ^= 1 << (how / 5 % 8)),
    }
    damaged
}

fn try_seeds(name: &str) {
    let target = targets::ALL.iter().find(|target| target.name == name).unwrap();
    let (_, make) = targets::seeds::ALL.into_iter().find(|(seeded, _)| *seeded == name).unwrap();
    let seeds = make(&root()).unwrap();
    assert!(seeds.len() > 10, "{name} has only {} seeds", seeds.len());
    for (number, seed) in seeds.iter().enumerate().step_by(seeds.len().div_ceil(SEEDS)) {
        try_input(target, &format!("seed {number}"), seed);
        for how in number * DAMAGES..(number + 1) * DAMAGES {
            try_input(target, &format!("seed {number}, damaged"), &damaged(seed, how));
        }
    }
}

/// A test for each target: they run beside each other.
macro_rules! tests {
    ($($target:ident)+) => {$(
        #[test]
        fn $target() {
            super::try_seeds(stringify!($target));
        }
    )+};
}

mod seeds_of {
    tests! { json lint exchanges explain config schemas target baseline expectation tools containers fix diff body archive }
}

#[test]
fn regressions_stay_fixed() {
    for folder in fs::read_dir(root().join("fuzz/regressions")).unwrap() {
        let folder = folder.unwrap().path();
        let target = targets::ALL.iter().find(|target| folder.ends_with(target.name));
        let target = target.unwrap_or_else(|| panic!("{} is not a fuzz target", folder.display()));
        for input in fs::read_dir(&folder).unwrap() {
            let input = input.unwrap().path();
            try_input(target, &input.display().to_string(), &fs::read(&input).unwrap());
        }
    }
}

#[test]
fn each_target_has_seeds_and_a_program() {
    let names = targets::ALL.iter().map(|target| target.name);
    assert!(names.eq(targets::seeds::ALL.iter().map(|(name, _)| *name)));
    let binaries = fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap().count();
    assert_eq!(binaries, targets::ALL.len());
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    assert_eq!(manifest.matches("[[bin]]").count(), targets::ALL.len());
}
