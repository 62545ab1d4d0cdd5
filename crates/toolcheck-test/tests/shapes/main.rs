//! The shapes of requests, tested by the mistakes that they describe.
//!
//! The bodies of `fixtures/shapes` have every object and every field. In each, the mistakes are made that the data name, one
//! at a time, and each must give one finding, at its place.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod bodies;
mod expected;
mod mutations;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolcheck_lint::{Finding, Options, lint};

use crate::bodies::{Bodies, FORMATS};
use crate::expected::Expected;
use crate::mutations::{Mutant, Samples, mutations};

/// How often the same mutation of the same object is made in the bodies of a format.
const MOST_OF_A_KIND: usize = 3;

#[test]
fn each_mistake_gives_one_finding() {
    let mut wrong = String::new();
    let mut total = 0;
    for format in FORMATS {
        let bodies = Bodies::of(format);
        let samples = samples(&bodies);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (name, body) in &bodies.all {
            let found = bodies.objects(body);
            let mutants: Vec<Mutant> = found
                .iter()
                .flat_map(|object| mutations(&bodies, &samples, body, object, &found))
                .filter(|mutant| {
                    let kind = format!("{:?} {} {:?} {}", mutant.object.bases().collect::<Vec<_>>(), mutant.demand.key, mutant.demand.fault, mutant.what);
                    let count = counts.entry(format!("{} {kind}", mutant.object.name())).or_default();
                    *count += 1;
                    *count <= MOST_OF_A_KIND
                })
                .collect();
            total += mutants.len();
            check(&bodies, name, &mutants, &mut wrong);
        }
    }
    std::fs::write("/tmp/s/mutations/wrong.txt", &wrong).unwrap();
    assert!(total > 5_000, "{total} mutations");
    assert!(wrong.is_empty(), "{} of {total}\n{wrong}", wrong.lines().count());
}

/// Values for keys, from all bodies.
fn samples(bodies: &Bodies) -> Samples {
    let mut samples = Samples::new();
    for (_, body) in &bodies.all {
        for found in bodies.objects(body) {
            for field in found.object.fields() {
                if let Some((_, value)) = bodies.member(body.pointer(&found.pointer).unwrap(), field.key()) {
                    samples.entry((found.object.name().to_owned(), field.key().to_owned())).or_insert_with(|| value.clone());
                }
            }
        }
    }
    samples
}

fn check(bodies: &Bodies, name: &str, mutants: &[Mutant], wrong: &mut String) {
    let mut lines = String::new();
    for mutant in mutants {
        writeln!(lines, "{}", mutant.body).unwrap();
    }
    let options = Options::new().format(Some(bodies.format)).target(Some(bodies.target));
    let report = lint("mutants.jsonl", lines.as_bytes(), &options);
    let mut by_record: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        by_record.entry(finding.spot.record).or_default().push(finding);
    }
    for (number, mutant) in mutants.iter().enumerate() {
        let findings = by_record.remove(&number).unwrap_or_default();
        if let Some(problem) = judge(mutant, &findings) {
            let found: Vec<String> =
                findings.iter().map(|finding| format!("{} {} {}", finding.level, finding.rule, finding.spot.pointer)).collect();
            writeln!(
                wrong,
                "{problem}\t{} {}\t{} `{}`\t{}\t{}\t{name} {}\t{}",
                bodies.format.id, mutant.object.name(), mutant.demand.fault.name(), mutant.demand.key, mutant.what, found.join(", "), mutant.place, mutant.body
            )
            .unwrap();
        }
    }
}

/// What is wrong with the findings of a mutant.
fn judge(mutant: &Mutant, findings: &[&Finding]) -> Option<&'static str> {
    let expected = Expected::of(mutant);
    if expected.levels.is_empty() {
        return None;
    }
    let may_be_silent = expected.levels.contains(&None);
    match findings {
        [] => (!may_be_silent).then_some("SILENT"),
        _ if expected.levels.iter().all(Option::is_none) => Some("FALSE"),
        [finding] => {
            let is_own = expected.rules.contains(finding.rule);
            let is_at = finding.spot.pointer == mutant.place;
            if is_own {
                if !is_at {
                    return Some("PLACE");
                }
                return (!expected.levels.contains(&Some(finding.level))).then_some("LEVEL");
            }
            if is_at || expected.checked_by.contains(finding.rule) { None } else { Some("OTHER") }
        }
        _ => Some("SEVERAL"),
    }
}
