//! The shapes of requests, tested by the mistakes that they describe.
//!
//! The bodies of `fixtures/shapes` have every object and every field. In each, the mistakes are made that the data name, one
//! at a time, and each must give one finding, at its place.

mod bodies;
mod coverage;
mod exceptions;
mod expected;
mod losses;
mod mutations;
mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use toolcheck_lint::{Finding, Options, lint};

use bodies::{Bodies, FORMATS};
use exceptions::{Exception, KNOWN};
use expected::Expected;
use mutations::{Mutant, Samples, mutations};

/// How often the same mutation of the same object is made in the bodies of a format.
const MOST_OF_A_KIND: usize = 3;

#[test]
fn each_mistake_gives_one_finding() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for format in FORMATS {
        let bodies = Bodies::of(format);
        let samples = Samples::of(&bodies);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut total = 0;
        for (name, body) in &bodies.all {
            let found = bodies.objects(body);
            let mutants: Vec<Mutant> = found
                .iter()
                .flat_map(|object| mutations(&bodies, &samples, body, object, &found))
                .filter(|mutant| {
                    let count = counts.entry(mutant.kind()).or_default();
                    *count += 1;
                    *count <= MOST_OF_A_KIND
                })
                .collect();
            total += mutants.len();
            check(&bodies, name, &mutants, &mut wrong, &mut used);
        }
        assert!(total > 400, "{format}: {total} mutations");
    }
    let stale: Vec<&Exception> =
        KNOWN.exceptions.iter().filter(|exception| !used.contains(&std::ptr::from_ref(*exception))).collect();
    if let Ok(path) = std::env::var("SHAPES_WRONG") {
        std::fs::write(path, wrong.concat()).unwrap();
    }
    let shown: String =
        wrong.iter().take(40).map(|line| line.chars().take(1200).chain(['\n']).collect::<String>()).collect();
    assert!(wrong.is_empty(), "{} mutations:\n{shown}", wrong.len());
    assert!(stale.is_empty(), "these are as they should be: {stale:#?}");
}

/// Lints mutants, as the lines of one file. The body itself has no findings, which the corpus says.
fn check(
    bodies: &Bodies,
    name: &str,
    mutants: &[Mutant],
    wrong: &mut Vec<String>,
    used: &mut BTreeSet<*const Exception>,
) {
    let mut lines = String::new();
    for mutant in mutants {
        writeln!(lines, "{}", mutant.body).unwrap();
    }
    let options = Options::new().format(Some(bodies.format)).target(Some(bodies.target)).keeps_source(false);
    let report = lint("mutants.jsonl", lines.as_bytes(), &options);
    let mut by_record: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        by_record.entry(finding.spot.record).or_default().push(finding);
    }
    for (number, mutant) in mutants.iter().enumerate() {
        let findings = by_record.remove(&number).unwrap_or_default();
        let Some(problem) = judge(mutant, &findings) else { continue };
        let exception =
            KNOWN.exceptions.iter().find(|exception| exception.covers(bodies.format.id, mutant, &findings));
        if let Some(exception) = exception {
            used.insert(std::ptr::from_ref(exception));
            continue;
        }
        let found = findings
            .iter()
            .map(|finding| format!("{} {} {}", finding.level, finding.rule, finding.spot.pointer));
        let found: Vec<String> = found.collect();
        wrong.push(format!(
            "{problem}\t{} {}\t{} `{}`\t{}\t{}\t{name} {}\t{}\n",
            bodies.format.id,
            mutant.object.name(),
            mutant.demand.fault.name(),
            mutant.demand.key,
            mutant.what,
            found.join(", "),
            mutant.place,
            mutant.body
        ));
    }
}

fn judge(mutant: &Mutant, findings: &[&Finding]) -> Option<&'static str> {
    let expected = Expected::of(mutant);
    if expected.levels.is_empty() {
        return None;
    }
    let follows = |finding: &Finding| KNOWN.consequences.contains_key(finding.rule.as_str());
    let is_own = |finding: &&&Finding| expected.rules.contains(finding.rule.as_str()) || !follows(finding);
    let own: Vec<&&Finding> = findings.iter().filter(is_own).collect();
    if own.is_empty() && findings.iter().any(|finding| expected.checked_by.contains(finding.rule.as_str())) {
        return None;
    }
    match own.as_slice() {
        [] => (!expected.levels.contains(&None)).then_some("SILENT"),
        _ if expected.levels.iter().all(Option::is_none) => Some("FALSE"),
        [finding] if expected.rules.contains(finding.rule.as_str()) => {
            // Of a schema as a whole, another part of the rule says more.
            let is_around =
                finding.rule == "invalid-tool-schema" && mutant.place.starts_with(&finding.spot.pointer);
            if finding.spot.pointer != mutant.place && !is_around {
                return Some("PLACE");
            }
            (!expected.levels.contains(&Some(finding.level))).then_some("LEVEL")
        }
        [finding] => {
            let checks_it = expected.checked_by.contains(finding.rule.as_str());
            let is_at = finding.spot.pointer == mutant.place || checks_it;
            (!is_at).then_some("OTHER")
        }
        _ => Some("SEVERAL"),
    }
}
