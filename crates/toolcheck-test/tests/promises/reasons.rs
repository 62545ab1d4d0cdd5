//! Each finding that a fix leaves has a reason of its own, which the plan has too.

use std::collections::{BTreeMap, BTreeSet};

use toolcheck_core::Level;
use toolcheck_lint::{Finding, FixOptions, fix, rules};

use crate::common::{Case, cases};

#[test]
fn each_finding_that_is_left_has_a_reason() {
    let mut reasons: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    // Rules whose pages do not tell what is done, each with a case.
    let mut undeclared: BTreeMap<&'static str, String> = BTreeMap::new();
    let (mut count, mut new) = (0, 0);
    for Case { name, bytes, options } in cases() {
        for is_unsafe in [false, true] {
            let fixed = fix(&name, &bytes, &options, &FixOptions::new().unsafe_fixes(is_unsafe));
            for done in &fixed.applied {
                // What is safe elsewhere costs something before signed reasoning and in a data set.
                let declared = rules::get(done.rule).fix.as_ref();
                if declared.is_none_or(|fix| done.cost.is_none() && fix.safe.is_empty()) {
                    undeclared.insert(done.rule.as_str(), name.clone());
                }
            }
            let findings = &fixed.report().findings;
            assert_eq!(fixed.skipped.len(), findings.len(), "{name}");
            let plan = toolcheck_report::fixed::plan_v1(&name, &bytes, &fixed);
            let listed = plan["skipped"].as_array().unwrap();
            for ((left, finding), listed) in fixed.skipped.iter().zip(findings).zip(listed) {
                assert_eq!((left.rule, &left.spot), (finding.rule, &finding.spot), "{name}");
                assert!(!left.reason.is_empty() && !left.reason.ends_with('.'), "{name}: {}", left.reason);
                assert_eq!(listed["reason"], *left.reason, "{name}");
                assert_eq!(listed["unsafe"], left.cost.is_some(), "{name}");
                says_what_the_report_says(&left.reason, finding, &name);
                // Its place is in the file as it was, unless it is new.
                let is_same = |old: &&Finding| (old.rule, &old.spot) == (left.rule, &left.was);
                let was_there = fixed.before.findings.iter().any(|old| is_same(&old));
                assert!(was_there || left.was == left.spot, "{name}: {}", left.rule);
                new += usize::from(!was_there);
                assert!(!is_unsafe || left.cost.is_none(), "{name}: {}: {}", left.rule, left.reason);
                // What another fix would cost or tell is not the same for two findings.
                let cause = left.reason.split([':', '`']).next().unwrap().to_owned();
                reasons.entry(cause).or_default().insert(left.rule.as_str());
                count += 1;
            }
        }
    }
    assert!(undeclared.is_empty(), "{undeclared:#?}");
    assert!(count >= 3300, "{count}");
    assert!(new < count / 10, "{new} of {count} have no place in the file as it was");
    let listed: Vec<&str> = reasons.keys().map(String::as_str).collect();
    assert!(listed.len() >= LEAST_CAUSES, "{} causes:\n{}", listed.len(), listed.join("\n"));
}

/// What is no error is left because of that, in the words of the report.
fn says_what_the_report_says(reason: &str, finding: &Finding, name: &str) {
    let answer = finding.provider_error.as_ref();
    if reason.starts_with("the API accepts it") {
        let harm = finding.harm.as_deref().unwrap_or_default().trim_end_matches('.');
        assert!(answer.is_none() && !harm.is_empty() && reason.contains(harm), "{name}: {reason}");
    }
    if reason.starts_with("only a warning") {
        assert_eq!(finding.level, Level::Warning, "{name}: {reason}");
        let why = answer.and_then(|answer| answer.only_warns.as_deref()).unwrap_or_default();
        assert!(reason.contains(why.trim_end_matches('.')), "{name}: {reason}");
    }
    if reason.contains("--only") {
        assert!(reason.ends_with(&format!("`fix --only {}` tries it all the same", finding.rule)), "{name}");
        assert_ne!(finding.level, Level::Error, "{name}: {reason}");
    }
}

/// The number of causes that the corpus has: one sentence for several of them would be less.
const LEAST_CAUSES: usize = 33;
