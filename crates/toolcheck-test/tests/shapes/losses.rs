//! What `fix` says is lost, compared with what `diff` finds.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toolcheck_core::diff::Level;
use toolcheck_core::diff::files::{File, compare};
use toolcheck_lint::{FixOptions, Options, fix};

use super::bodies::{Bodies, FORMATS};
use super::mutations::{Mutant, Samples, mutations};

/// What of a fixed body is lost by only one of the two.
fn differs(bodies: &Bodies, body: &Json, is_unsafe: bool) -> Option<Option<String>> {
    let text = body.to_string();
    // What a block says beside a text that is empty is still there, but `diff` finds no block then.
    if text.contains(r#""text":[]"#) {
        return None;
    }
    let options = Options::new().format(Some(bodies.format)).keeps_source(false);
    let fixed = fix("mutant", text.as_bytes(), &options, &FixOptions::new().unsafe_fixes(is_unsafe));
    if fixed.is_unchanged() {
        return None;
    }
    let read = |bytes| File::read(bytes, Some(bodies.format.into())).ok();
    let changes = compare(&read(text.as_bytes())?, &read(&fixed.bytes)?, None).changes;
    let lost = changes.iter().filter(|change| change.level == Level::Loss).map(|change| change.kind);
    let lost: Vec<_> = lost.collect();
    let costs = fixed.applied.iter().filter_map(|done| done.cost.as_ref());
    let says_so = costs.clone().any(|cost| cost.lost().is_some());
    let costs: Vec<&str> = costs.map(|cost| cost.as_str()).collect();
    Some((lost.is_empty() == says_so).then(|| format!("{lost:?} {costs:?} {text}")))
}

#[test]
fn fix_says_that_something_is_lost_where_diff_finds_that() {
    let (mut wrong, mut changed) = (Vec::new(), 0);
    for format in FORMATS {
        let bodies = Bodies::of(format);
        let samples = Samples::of(&bodies);
        let mut seen = BTreeSet::new();
        for (_, body) in &bodies.all {
            let found = bodies.objects(body);
            let all = found.iter().flat_map(|object| mutations(&bodies, &samples, body, object, &found));
            for Mutant { body, .. } in all.filter(|mutant| seen.insert(mutant.kind())) {
                let fixed =
                    [false, true].into_iter().filter_map(|is_unsafe| differs(&bodies, &body, is_unsafe));
                for said in fixed {
                    changed += 1;
                    wrong.extend(said.map(|said| format!("{format}: {said}")));
                }
            }
        }
    }
    let shown: Vec<String> = wrong.iter().take(20).map(|line| line.chars().take(900).collect()).collect();
    assert!(wrong.is_empty(), "{} of {changed}:\n{}", wrong.len(), shown.join("\n"));
    assert!(changed > 3000, "{changed}");
}
