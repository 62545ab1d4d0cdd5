//! What a fix says that it has lost is what `diff` finds.

use toolcheck_core::InputFormat;
use toolcheck_core::diff::Level;
use toolcheck_core::diff::files::{File, compare};
use toolcheck_lint::{FixOptions, fix};

use crate::common::{cases, fixtures};

#[test]
fn nothing_is_lost_if_and_only_if_diff_finds_no_loss() {
    let (mut wrong, mut counts) = (Vec::new(), [0, 0]);
    for (path, options) in cases() {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.strip_prefix(fixtures()).unwrap().to_string_lossy().into_owned();
        for is_unsafe in [false, true] {
            let how = FixOptions::new().unsafe_fixes(is_unsafe).accepted(true);
            let fixed = fix(&name, &bytes, &options, &how);
            if fixed.is_unchanged() {
                continue;
            }
            let format = fixed.before.format.and_then(InputFormat::named);
            let read = |bytes| File::read(bytes, format);
            let (Ok(before), Ok(after)) = (read(&bytes), read(&fixed.bytes)) else {
                wrong.push(format!("{name}: not read"));
                continue;
            };
            let report = compare(&before, &after, None);
            let losses: Vec<String> = report.changes.iter().filter(|change| change.level == Level::Loss)
                .map(|change| format!("{} {} {:?}", change.kind, change.about, change.before.as_ref().map(|spot| &spot.pointer))).collect();
            let lost: Vec<&String> = fixed.applied.iter().filter_map(|done| done.lost.as_ref()).filter(|lost| !lost.contains("guess") && !lost.contains("signed reasoning after")).collect();
            let all_lost = fixed.applied.iter().any(|done| done.lost.is_some());
            counts[usize::from(!losses.is_empty())] += 1;
            if !losses.is_empty() && !all_lost {
                wrong.push(format!("A {name}: {losses:?} {:?}", fixed.applied.iter().map(|d| (d.rule, d.action)).collect::<Vec<_>>()));
            } else if losses.is_empty() && !lost.is_empty() {
                wrong.push(format!("B {name}: {lost:?} {:?}", fixed.applied.iter().map(|d| (d.rule, d.action)).collect::<Vec<_>>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {counts:?}:\n{}", wrong.len(), wrong.join("\n"));
}
