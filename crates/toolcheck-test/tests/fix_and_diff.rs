//! What `fix` says it has done is what `diff` finds.

use proptest::prelude::*;
use toolcheck_core::diff::files::{File, Report, compare};
use toolcheck_core::diff::{Kind, Level};
use toolcheck_core::{Format, RuleId, formats};
use toolcheck_lint::fix::Fixed;
use toolcheck_lint::fix::{Action, Applied};
use toolcheck_lint::{FixOptions, Options, fix};
use toolcheck_test::Feature;
use toolcheck_test::strategies::{conversations, faults};

use crate::plant::Plant;

fn format() -> impl Strategy<Value = &'static Format> {
    prop::sample::select(formats::ALL.to_vec())
}

fn compared(before: &[u8], after: &[u8], format: &'static Format) -> Report {
    let files = [before, after].map(|bytes| File::read(bytes, Some(format.into())).unwrap());
    compare(&files[0], &files[1], None)
}

/// Whether an action explains a change of this kind.
fn explains(done: &Applied, kind: Kind, has_ids: bool) -> bool {
    match done.action {
        Action::Inserted => matches!(kind, Kind::ResultAdded | Kind::TextAdded | Kind::IdAdded),
        Action::Moved => matches!(kind, Kind::ResultMoved | Kind::TextMoved),
        // Two results of one call become one that says both.
        Action::Merged => {
            matches!(kind, Kind::TurnMerged | Kind::ResultMoved)
                || done.cost.is_some() && matches!(kind, Kind::ResultLost | Kind::ResultChanged)
                || done.cost.is_some() && !has_ids && kind == Kind::ResultReattached
        }
        Action::Renamed => kind == Kind::IdRenamed,
        Action::Reattached => kind == Kind::ResultReattached,
        // An empty result says so, and half a character is another one.
        Action::Rewritten => match kind {
            Kind::CallChanged | Kind::RoleChanged | Kind::TextAdded => done.cost.is_some(),
            _ => matches!(kind, Kind::ResultChanged | Kind::TextChanged),
        },
        // Without ids, the results after one that is gone answer other calls.
        Action::Removed => kind == Kind::ResultLost || !has_ids && kind == Kind::ResultReattached,
        // The text has a title.
        Action::BecameText => {
            matches!(kind, Kind::ResultLost | Kind::TextAdded) || !has_ids && kind == Kind::ResultReattached
        }
        _ => false,
    }
}

/// The kind that there is exactly as often as an action.
const COUNTED: [(Action, Kind); 3] = [
    (Action::Inserted, Kind::ResultAdded),
    (Action::Reattached, Kind::ResultReattached),
    (Action::BecameText, Kind::ResultLost),
];

/// Checks that `diff` finds what was done and nothing else.
fn is_the_plan(
    format: &'static Format,
    before: &[u8],
    after: &[u8],
    applied: &[Applied],
) -> Result<(), TestCaseError> {
    let report = compared(before, after, format);
    let has_ids = format.can_hold(Feature::CallIds);
    let found: Vec<(Kind, Level)> = report.changes.iter().map(|change| (change.kind, change.level)).collect();
    for (kind, level) in &found {
        let is_explained = *level == Level::Form || applied.iter().any(|done| explains(done, *kind, has_ids));
        prop_assert!(
            is_explained,
            "{kind} in {} is not in the plan: {applied:?} {} {} {found:?}",
            format.id,
            String::from_utf8_lossy(before),
            String::from_utf8_lossy(after)
        );
        let is_safe = applied.iter().all(|done| done.cost.is_none());
        prop_assert!(!is_safe || *level < Level::Loss, "{kind} in {} is a loss: {applied:?}", format.id);
    }
    prop_assert!(!applied.is_empty() || found.is_empty(), "{found:?}");
    // An id and a message may be inserted, too.
    let is_result =
        |done: &&Applied| done.action != Action::Inserted || done.rule == RuleId::UnansweredToolCall;
    let count =
        |action: Action| applied.iter().filter(is_result).filter(|done| done.action == action).count();
    for (action, kind) in COUNTED {
        let is_alone = !applied.iter().any(|done| done.action != action && explains(done, kind, has_ids));
        if has_ids && is_alone {
            let changes = found.iter().filter(|(own, _)| *own == kind).count();
            prop_assert_eq!(changes, count(action), "{:?} in {}: {:?}", action, format.id, found);
        }
    }
    for (action, kind) in [
        (Action::Moved, Kind::ResultMoved),
        (Action::Renamed, Kind::IdRenamed),
        (Action::Removed, Kind::ResultLost),
    ] {
        let is_found = found.iter().any(|(own, _)| *own == kind);
        prop_assert!(count(action) == 0 || is_found, "{action:?} in {}: {found:?}", format.id);
    }
    // What is gone is at the place of the finding, and what became text is in that text.
    for change in report.changes.iter().filter(|change| change.kind == Kind::ResultLost && has_ids) {
        let bytes = &change.before.as_ref().unwrap().bytes;
        let done = applied.iter().find(|done| done.spot.bytes == *bytes);
        prop_assert!(done.is_some(), "{bytes:?} in {}: {applied:?}", format.id);
        let became_text = done.is_some_and(|done| done.action == Action::BecameText);
        prop_assert_eq!(change.after.is_some(), became_text, "{}", &change.about);
    }
    Ok(())
}

fn fixed_by_lint<'b>(format: &'static Format, broken: &'b [u8], is_unsafe: bool) -> Fixed<'b> {
    let how = FixOptions::new().unsafe_fixes(is_unsafe).accepted(true);
    fix("case", broken, &Options::new().format(Some(format)), &how)
}

/// What is left of a fault that was fixed, in comparison with the request as it was.
fn is_expected(plant: Plant, kind: Kind, level: Level) -> bool {
    level == Level::Form
        || match plant {
            // The text of the result is not known, and neither is whether the tool failed. Without the result, the
            // turns before and after it are one, in formats in which items are not in messages.
            Plant::LostResult => {
                matches!(
                    kind,
                    Kind::ResultChanged | Kind::ErrorFlagAdded | Kind::ErrorFlagLost | Kind::TurnMerged
                )
            }
            // Reasoning for which nothing is left goes with the call.
            Plant::LostCall => {
                matches!(kind, Kind::CallLost | Kind::ResultLost | Kind::TextAdded | Kind::ReasoningLost)
            }
            // The words of the user stay.
            Plant::LateResult => kind == Kind::TextAdded,
            Plant::BrokenArguments => kind == Kind::CallChanged,
            Plant::NullResult => kind == Kind::ResultChanged,
            // It becomes a message of the user, which may have to go after the results.
            Plant::SystemMessage | Plant::EmptyMessage => {
                matches!(kind, Kind::TextAdded | Kind::TextMoved)
            }
            Plant::ModelFirst => kind == Kind::TextAdded,
            // A text that was empty is a new one.
            Plant::LoneSurrogate => matches!(kind, Kind::TextChanged | Kind::TextAdded),
            _ => false,
        }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn diff_finds_what_fix_has_done(
        mut conversation in conversations(), fault in faults(), format in format(), at: prop::sample::Index, is_unsafe: bool,
    ) {
        prop_assume!(fault.plant(&mut conversation, at).is_some());
        let body = format.write_request(&conversation).body.to_string();
        let fixed = fixed_by_lint(format, body.as_bytes(), is_unsafe);
        is_the_plan(format, body.as_bytes(), &fixed.bytes, &fixed.applied)?;
    }

    #[test]
    fn a_planted_fault_that_is_fixed_is_as_it_was_but_for_the_placeholder(
        conversation in conversations(), plant in prop::sample::select(Plant::ALL.to_vec()), format in format(),
        at in 0..20_usize, is_unsafe: bool,
    ) {
        let body = format.write_request(&conversation).body.to_string();
        let Some(broken) = plant.plant(body.as_bytes(), format, at) else { return Ok(()) };
        let fixed = fixed_by_lint(format, &broken, is_unsafe);
        // What becomes of a message in which nothing was said is no change.
        if plant != Plant::EmptyMessage {
            is_the_plan(format, &broken, &fixed.bytes, &fixed.applied)?;
        }
        // What the API takes is not a fault. Without ids, which result is missing or was there before is a guess.
        let is_fixed = !fixed.is_unchanged() && fixed.report().findings.is_empty();
        if is_fixed && format.can_hold(Feature::CallIds) {
            let report = compared(body.as_bytes(), &fixed.bytes, format);
            // The placeholder may stand in another place than the result that it stands for.
            let placeholder = report.changes.iter().find(|change| change.kind == Kind::ResultChanged);
            let placeholder = placeholder.and_then(|change| change.after.clone());
            for change in &report.changes {
                let is_moved = change.kind == Kind::ResultMoved && change.after == placeholder;
                let is_expected = is_moved || is_expected(plant, change.kind, change.level);
                prop_assert!(is_expected, "{plant:?} in {}: {} {}", format.id, change.kind, change.about);
            }
        }
    }
}
