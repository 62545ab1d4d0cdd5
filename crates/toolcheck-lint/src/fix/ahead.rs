//! Requests that are worse at first, and better once what they show is fixed too.

use foldhash::HashMap;
use toolcheck_core::RuleId;

use super::{Applied, Change, Collector, assemble, check, read_otherwise};
use crate::engine::lint_with;
use crate::options::Options;
use crate::planner::FixOptions;
use crate::report::FileReport;

/// How often what is worse at first is fixed again.
pub(crate) const MOST_AHEAD: usize = 4;

/// Plans the next changes of each record.
fn planned(path: &str, text: &[u8], options: &Options, how: &FixOptions) -> Vec<Change> {
    let mut collector = Collector::new(text, options, how);
    lint_with(path, text, options, &mut collector);
    collector.changes
}

/// A text with its only record fixed once, and what was done.
pub(crate) fn step(text: &[u8], options: &Options, how: &FixOptions) -> Option<(Vec<u8>, Vec<Applied>)> {
    let mut changes = planned("", text, options, how);
    let new = assemble(text, &changes);
    let only = changes.pop().filter(|_| changes.is_empty())?;
    Some((new, only.applied))
}

/// Goes on with the records that are worse in `text`, and keeps what makes one better. Returns whether any is.
pub(super) fn go_on(
    path: &str,
    (bytes, mut text): (&[u8], Vec<u8>),
    (options, how): (&Options, &FixOptions),
    before: &FileReport,
    changes: &mut [Change],
    worse: &HashMap<Option<usize>, RuleId>,
) -> bool {
    let mut open: HashMap<Option<usize>, usize> = HashMap::default();
    let numbered = changes.iter().enumerate().map(|(number, change)| (change.record, number));
    open.extend(
        numbered.filter(|(record, number)| worse.contains_key(record) && changes[*number].is_request),
    );
    let mut trial = changes.to_vec();
    let mut is_any_better = false;
    for _ in 0..MOST_AHEAD {
        let mut goes_on = false;
        for next in planned(path, &text, options, how) {
            let Some(number) = open.get(&next.record) else { continue };
            trial[*number].bytes = next.bytes;
            trial[*number].later.extend(next.applied);
            goes_on = true;
        }
        if !goes_on {
            break;
        }
        text = assemble(bytes, &trial);
        let report = lint_with(path, &text, options, &mut ());
        if read_otherwise(before, &report, options).is_some() || check::takes_more(before, &report, &trial) {
            break;
        }
        let worse = check::not_better(before, &report, &trial);
        for (_, number) in open.extract_if(|record, _| !worse.contains_key(record)) {
            changes[number] = trial[number].clone();
            is_any_better = true;
        }
        if open.is_empty() {
            break;
        }
    }
    is_any_better
}
