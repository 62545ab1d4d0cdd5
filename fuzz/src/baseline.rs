//! Baselines: read, written, and made from the findings of a file.

use toolcheck_config::Baseline;
use toolcheck_lint::{FileReport, Options, Rule, lint, rules};

use super::config::check_error;
use super::seeds::UNCHANGED;

/// The path of the file in its baseline, which has to be escaped.
const PATH: &str = "logs/\"é\\\n.jsonl";

/// A baseline after [`UNCHANGED`]; otherwise a file that gets one.
pub fn run(data: &[u8]) {
    match data.strip_prefix(&[UNCHANGED]) {
        Some(text) => check_text(text),
        None => check_file(data),
    }
}

fn check_text(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let baseline = match Baseline::parse(text) {
        Ok(baseline) => baseline,
        Err(error) => return check_error(text, &error),
    };
    check_written(&baseline);
    let paths: Vec<&str> = baseline.paths().collect();
    let mut left = baseline.clone();
    for path in paths {
        // What matches no finding is stale if its rule has run, and is removed.
        let stale = baseline.of(path).stale(rules::ALL);
        left.drop(path, &stale);
        assert!(left.of(path).stale(rules::ALL).is_empty());
        left.forget(path);
    }
    assert_eq!((left.is_empty(), left.len()), (true, 0));
}

/// Asserts that a baseline hides the findings that it was made of, all of them, also after it was written.
fn check_file(bytes: &[u8]) {
    let options = Options::new().rules(rules::ALL.to_vec());
    let report = || lint("case.jsonl", bytes, &options);
    let (mut hidden, mut baseline) = (report(), Baseline::default());
    let (found, before) = (hidden.findings.len(), hidden.in_baseline);
    renew(&mut baseline, rules::ALL, report());
    assert_eq!(baseline.len(), found);
    let read = check_written(&baseline);

    let mut known = read.of(PATH);
    known.apply(&mut hidden);
    assert_eq!((hidden.findings.len(), hidden.in_baseline), (0, found + before));
    assert!(known.stale(rules::ALL).is_empty());

    // Made again, it is the same.
    let mut again = read;
    renew(&mut again, rules::ALL, report());
    assert_eq!(again, baseline);
}

fn renew(baseline: &mut Baseline, rules: &[&'static Rule], mut report: FileReport) {
    let found = baseline.of(PATH).take(&mut report);
    baseline.renew(PATH, rules, found);
}

fn check_written(baseline: &Baseline) -> Baseline {
    let written = baseline.to_text();
    let read = Baseline::parse(&written).expect("a written baseline can be read");
    assert_eq!((&read, read.len(), read.to_text()), (baseline, baseline.len(), written));
    read
}
