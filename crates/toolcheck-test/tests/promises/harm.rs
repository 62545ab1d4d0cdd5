//! A fix never damages what it does not fix.

use std::collections::BTreeSet;

use toolcheck_core::{Level, formats, targets};
use toolcheck_lint::{Finding, FixOptions, Fixed, Options, fix, lint};

use crate::common::{Case, cases};

/// Both kinds of fixes of all that can be fixed.
fn ways() -> [FixOptions; 2] {
    [false, true].map(|is_unsafe| FixOptions::new().unsafe_fixes(is_unsafe).accepted(true))
}

/// The rules that have more findings after a fix than before it.
fn new_findings(name: &str, fixed: &Fixed<'_>) -> Vec<String> {
    let (before, after) = (&fixed.before.findings, &fixed.report().findings);
    // Arguments can only be checked once they are JSON.
    let were_broken = fixed.applied.iter().any(|done| done.rule == "invalid-arguments-json");
    // What leaves fewer errors may have a new warning.
    let is_error = |finding: &&Finding| finding.level == Level::Error;
    let has_fewer = after.iter().filter(is_error).count() < before.iter().filter(is_error).count();
    // Only a value of the right type is compared with what is allowed.
    let was_of_type = |finding: &&Finding| {
        let mut fixed = fixed.applied.iter().filter(|done| done.rule == "wrong-type");
        finding.rule == "invalid-value" && fixed.any(|done| done.spot.pointer == finding.spot.pointer)
    };
    let shown = after.iter().filter(|finding| !has_fewer || is_error(finding));
    let rules = shown.filter(|finding| !was_of_type(finding)).map(|finding| finding.rule.as_str());
    let count = |list: &[Finding], rule: &str| {
        list.iter().filter(|found| found.rule == rule && !was_of_type(found)).count()
    };
    let is_new = |rule: &&str| count(after, rule) > count(before, rule);
    let rules = rules.filter(|rule| !(were_broken && *rule == "arguments-schema-mismatch"));
    rules.filter(is_new).map(|rule| format!("{name}: {rule} is new")).collect()
}

#[test]
fn what_is_fixed_is_read_as_before_and_fixed_once() {
    let (mut count, mut new) = (0, BTreeSet::new());
    for Case { name, bytes, options } in cases() {
        for how in [FixOptions::new()].into_iter().chain(ways()) {
            // As its expectation says, and with everything detected.
            for options in [&options, &Options::new()] {
                let fixed = fix(&name, &bytes, options, &how);
                if fixed.is_unchanged() {
                    assert!(fixed.applied.is_empty() && *fixed.bytes == *bytes, "{name}");
                    continue;
                }
                count += 1;
                let formats = |text: &[u8]| {
                    let readings = lint(&name, text, options).readings;
                    readings.iter().map(|reading| reading.format).collect::<Vec<_>>()
                };
                let (before, after) = (formats(&bytes), formats(&fixed.bytes));
                // With a key of the target's, a body may be one of its format.
                let target = fixed.before.target.as_deref().and_then(targets::find);
                let wanted = target.and_then(|target| target.format.as_deref());
                let is_new = |format: &&&str| !before.contains(*format) && Some(**format) != wanted;
                assert_eq!(after.iter().find(is_new), None, "{name}: {before:?}");
                new.extend(new_findings(&name, &fixed));
                let again = fix(&name, &fixed.bytes, options, &how);
                assert!(again.is_unchanged(), "{name}: {:?}", again.applied);
            }
        }
    }
    assert!(new.is_empty(), "{new:#?}");
    assert!(count >= 2800, "{count}");
}

#[test]
fn what_is_outside_of_the_edits_of_a_plan_is_the_same() {
    for Case { name, bytes, options } in cases() {
        for how in ways() {
            let fixed = fix(&name, &bytes, &options, &how);
            let plan = toolcheck_report::fixed::plan_v1(&name, &bytes, &fixed);
            let number =
                |edit: &serde_json::Value, key: &str| usize::try_from(edit[key].as_u64().unwrap()).unwrap();
            let (mut old, mut new) = (0, 0);
            for edit in plan["edits"].as_array().unwrap() {
                let same = number(edit, "byte_start") - old;
                assert_eq!(bytes[old..old + same], fixed.bytes[new..new + same], "{name}");
                old = number(edit, "byte_end");
                new += same + number(edit, "new_length");
            }
            assert_eq!(bytes[old..], fixed.bytes[new..], "{name}");
        }
    }
}

#[test]
fn a_file_that_says_that_it_is_of_another_format_is_not_changed() {
    let mut count = 0;
    for Case { name, bytes, .. } in cases().filter(|case| case.name.starts_with("seeds/")) {
        let Some(own) = lint(&name, &bytes, &Options::new()).format.and_then(formats::find) else { continue };
        for other in formats::ALL.iter().filter(|other| other.family != own.family) {
            let options = Options::new().format(Some(*other));
            for how in ways() {
                let fixed = fix(&name, &bytes, &options, &how);
                assert!(fixed.is_unchanged(), "{name} as {}: {:?}", other.id, fixed.applied);
                count += 1;
            }
        }
    }
    assert!(count >= 460, "{count}");
}
