//! Requests that are worse at first, and better once what they show is fixed too.

use foldhash::HashMap;
use toolcheck_core::RuleId;

use super::{Applied, Change, Collector, assemble, check, read_otherwise};
use crate::compare_fix::worse;
use crate::engine::lint_with;
use crate::finding::{Finding, LeftOut};
use crate::marks::Lint;
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
        numbered.filter(|(record, number)| worse.contains_key(record) && changes[*number].format.is_some()),
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
        if check::takes_more(before, &report, &trial) {
            break;
        }
        if read_otherwise(before, &report, options).is_some() {
            continue;
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

/// How a text is judged after a fix.
pub(crate) struct Trials<'l> {
    /// How often what shows only then is fixed.
    pub(crate) most_ahead: usize,
    /// Whether it may be read as a format.
    pub(crate) may_be: &'l dyn Fn(&str) -> bool,
    pub(crate) lint: &'l Lint<'l>,
}

/// A text with its only record fixed and what is fixed after that, if it is better then; otherwise the rule that reports
/// more. `applied` are the rules of what is fixed.
pub(crate) fn settled(
    before: &[Finding],
    (mut text, applied): (Vec<u8>, &[RuleId]),
    (options, how): (&Options, &FixOptions),
    Trials { most_ahead, may_be, lint }: &Trials<'_>,
) -> Result<(Vec<u8>, Vec<Applied>), Option<RuleId>> {
    let mut later: Vec<Applied> = Vec::new();
    for ahead in 0..=*most_ahead {
        let report = lint(&text, options);
        let then: Vec<RuleId> = later.iter().map(|done| done.rule).collect();
        let rule = worse(before, &report.findings, applied, &then);
        let is_read = report.readings.iter().all(|reading| may_be(reading.format));
        if rule.is_none() && is_read {
            return Ok((text, later));
        }
        let next = if ahead < *most_ahead { step(&text, options, how) } else { None };
        let Some((next, more)) = next else { return Err(rule) };
        text = next;
        later.extend(more);
    }
    Err(None)
}

/// A finding that is left because its fix makes a record no better.
pub(super) struct Left {
    pub(super) what: LeftOut,
    /// Where it begins.
    pub(super) at: usize,
    /// What is reported then.
    pub(super) worse: RuleId,
}

/// Finds, in the requests that are worse, the fixes that make them so. Together they are tried on so many bytes that a file
/// of many records takes no longer than some times its own.
pub(super) fn find_left(
    (bytes, options, how): (&[u8], &Options, &FixOptions),
    changes: &[Change],
    worse: &HashMap<Option<usize>, RuleId>,
    left: &mut Vec<Left>,
) {
    let mut rest = MOST_BYTES_TRIED.max(bytes.len());
    for change in changes.iter().filter(|change| worse.contains_key(&change.record)) {
        let Some(format) = change.format else { continue };
        let text = &bytes[change.start..change.end];
        let Some(then) = rest.checked_sub(text.len()) else { return };
        rest = then;
        // A record of a file with several is read as it was.
        let of_record = options.clone().format(Some(format));
        let options = if text.len() == bytes.len() { options } else { &of_record };
        let found = worse_alone(text, options, how).into_iter();
        left.extend(found.map(|left| Left { at: left.at + change.start, ..left }));
    }
}

/// The most bytes of records in which the fixes are sought that make them worse, unless the file has more.
const MOST_BYTES_TRIED: usize = 1 << 20;

/// The most ways that are tried to find the fix that makes a record no better.
const MOST_TRIALS: usize = 40;

/// The findings of a record without whose fixes it gets better with all others: of what does not get better, each half is
/// tried by itself. None if there is nothing else.
pub(super) fn worse_alone(text: &[u8], options: &Options, how: &FixOptions) -> Vec<Left> {
    let lint: &Lint<'_> = &|text, options| lint_with("", text, options, &mut ());
    let before = lint(text, options);
    let places: HashMap<(RuleId, usize), &Finding> =
        before.findings.iter().map(|found| ((found.rule, found.spot.bytes.start), found)).collect();
    let Some((_, mut applied)) = step(text, options, how) else { return Vec::new() };
    toolcheck_json::sort_by_position(&mut applied, |done| usize::from(done.cost.is_some()));
    let found = |done: &Applied| places.get(&(done.rule, done.spot.bytes.start)).copied();
    let found: Vec<&Finding> = applied.iter().filter_map(found).collect();
    halved(found.len(), &mut |left| {
        let left = left.iter().map(|number| found[*number].left_out()).collect();
        let how = how.leaving_out(left);
        let (text, applied) = step(text, options, &how).ok_or(None)?;
        let rules: Vec<RuleId> = applied.iter().map(|done| done.rule).collect();
        let may_be = |format: &str| before.readings.iter().any(|reading| reading.format == format);
        let trials = Trials { most_ahead: MOST_AHEAD, may_be: &may_be, lint };
        settled(&before.findings, (text, &rules), (options, &how), &trials).map(|_| ())
    })
    .into_iter()
    .map(|(number, worse)| Left {
        what: found[number].left_out(),
        at: found[number].spot.bytes.start,
        worse: worse.unwrap_or(found[number].rule),
    })
    .collect()
}

/// Which of so many fixes are left out so that `is_better` holds, with what is worse with each; none if that is all of them.
pub(crate) fn halved<E: Copy + Default>(
    count: usize,
    is_better: &mut dyn FnMut(&[usize]) -> Result<(), E>,
) -> Vec<(usize, E)> {
    let mut left: Vec<usize> = (0..count).collect();
    let mut worse = vec![E::default(); count];
    let mut ranges = vec![(count / 2, count), (0, count / 2)];
    let mut trials = 0;
    while let Some((start, end)) = ranges.pop().filter(|_| count > 1 && trials < MOST_TRIALS) {
        let without: Vec<usize> = left.iter().copied().filter(|one| !(start..end).contains(one)).collect();
        trials += 1;
        match is_better(&without) {
            Ok(()) => left = without,
            Err(rule) if end - start == 1 => worse[start] = rule,
            Err(_) => {
                let middle = start.midpoint(end);
                ranges.extend([(middle, end), (start, middle)]);
            }
        }
    }
    if left.len() == count { Vec::new() } else { left.into_iter().map(|one| (one, worse[one])).collect() }
}
