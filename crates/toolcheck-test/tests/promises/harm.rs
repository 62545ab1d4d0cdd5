//! A fix never damages what it does not fix.

use toolcheck_core::{formats, targets};
use toolcheck_lint::{FixOptions, Options, fix, lint};

use crate::common::{cases, fixtures};

/// Both kinds of fixes of all that can be fixed.
fn ways() -> [FixOptions; 2] {
    [false, true].map(|is_unsafe| FixOptions::new().unsafe_fixes(is_unsafe).accepted(true))
}

#[test]
fn what_is_fixed_is_read_as_before_and_fixed_once() {
    let mut count = 0;
    for (path, options) in cases() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.strip_prefix(fixtures()).unwrap().to_string_lossy().into_owned();
        for how in ways() {
            // As its expectation says, and with everything detected.
            for options in [&options, &Options::new()] {
                let fixed = fix(&name, &bytes, options, &how);
                if fixed.is_unchanged() {
                    assert_eq!(*fixed.bytes, *bytes, "{name}");
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
                let again = fix(&name, &fixed.bytes, options, &how);
                assert!(again.is_unchanged(), "{name}: {:?}", again.applied);
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn what_is_outside_of_the_edits_of_a_plan_is_the_same() {
    for (path, options) in cases() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.strip_prefix(fixtures()).unwrap().to_string_lossy().into_owned();
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
    for (path, _) in cases().into_iter().filter(|(path, _)| path.starts_with(fixtures().join("seeds"))) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.to_string_lossy();
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
    assert!(count > 50, "{count}");
}
