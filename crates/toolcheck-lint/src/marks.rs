//! What findings say of how a fix fixes them: it is what a fix does.

use toolcheck_core::formats;
use toolcheck_core::ir::Transcript;
use toolcheck_core::readers::{Conversation, Reader};
use toolcheck_json::{Document, Record};

use crate::compare_fix::{contradicts, worse};
use crate::finding::{Finding, Fixable};
use crate::options::{Marks, Options};
use crate::planner::{FixOptions, Planned, Planner, Way, can_fix, is_whole, on_conversations, plan_request};
use crate::report::{FileReport, Reading};
use crate::rules;

pub(crate) type Lint<'l> = dyn Fn(&[u8], &Options) -> FileReport + 'l;

/// How a plan is tried: the options, and the formats that the text may be read as then.
type Trial<'t> = (&'t Options, &'t dyn Fn(&str) -> bool);

/// Says of each finding in a request how it is fixed. The record is the whole file if `is_single`.
pub(crate) fn mark_request(
    findings: &mut [Finding],
    record: &Record<'_>,
    document: &Document<'_>,
    transcript: &Transcript<'_>,
    (options, is_single): (&Options, bool),
    lint: &Lint<'_>,
) {
    let safely = FixOptions::default();
    let is_wanted = |finding: &Finding| can_fix(finding) && safely.wants(finding);
    if options.marks == Marks::Off || !findings.iter().any(is_wanted) || !is_whole(record, document) {
        return;
    }
    let Some(format) = transcript.format.and_then(|format| formats::find(format.id)) else { return };
    if options.format.is_some() && contradicts(document.root(), format).is_some() {
        return;
    }
    // A record of a file with several is read as it was.
    let again = options.clone().marks(Marks::Off).keeps_source(false);
    let again = if is_single { again } else { again.format(Some(format)) };
    let is_tried = options.marks == Marks::Tried;
    let target = options.target.as_deref().and_then(|target| target.format.as_deref());
    let may_be: &dyn Fn(&str) -> bool = &|id: &str| id == format.id || Some(id) == target;
    let done = |how: &FixOptions| -> Option<(Vec<usize>, bool)> {
        let plan = |way: &Way| plan_request(record, document, transcript, options, way, findings);
        let is_tried = is_tried.then_some((&again, may_be));
        first_better(how, &plan, document, findings, is_tried, lint)
    };
    let Some((safe, more)) = done(&safely) else { return };
    let all = if more { done(&safely.clone().unsafe_fixes(true)) } else { None };
    mark(findings, all.unwrap_or_default().0, safe);
}

/// What the first plan fixes that makes a record better, and whether an unsafe one may fix more. Without a way to try it,
/// that is the first plan.
fn first_better(
    how: &FixOptions,
    plan: &dyn Fn(&Way) -> Option<Planned>,
    document: &Document<'_>,
    findings: &[Finding],
    tried: Option<Trial<'_>>,
    lint: &Lint<'_>,
) -> Option<(Vec<usize>, bool)> {
    let mut first = plan(&Way::first(how))?;
    let more = !first.skipped.is_empty();
    // The record is linted once more beside this one, so what is not needed goes.
    (first.skipped, first.left) = Default::default();
    let others = Way::others(how, &first);
    let mut plans = std::iter::once(first).chain(others.iter().filter_map(plan));
    let better =
        plans.find(|plan| tried.is_none_or(|tried| is_better(plan, document, findings, tried, lint)));
    let done = better.into_iter().flat_map(|plan| plan.done).map(|done| done.finding).collect();
    Some((done, more))
}

/// Whether a record is better once it is fixed, and read as a format that it may have.
fn is_better(
    plan: &Planned,
    document: &Document<'_>,
    findings: &[Finding],
    (options, may_be): (&Options, &dyn Fn(&str) -> bool),
    lint: &Lint<'_>,
) -> bool {
    if plan.done.is_empty() || plan.bytes == document.bytes() {
        return false;
    }
    let report = lint(&plan.bytes, options);
    let rules = plan.done.iter().map(|done| findings[done.finding].rule);
    report.readings.iter().all(|reading| may_be(reading.format))
        && worse(findings, &report.findings, rules).is_none()
}

/// The longest text with conversations in which fixes are tried. A longer one is a whole log, and to lint it again for its
/// marks would cost more than they tell: there, they are what is planned.
const MOST_TRIED: usize = 1 << 20;

/// Says of each finding in conversations how it is fixed. `reader` is that of a record that stands for itself, `formats`
/// are those that the file is read as, and `is_cut` says that there are more findings than these.
pub(crate) fn mark_conversations(
    findings: &mut [Finding],
    document: &Document<'_>,
    conversations: &[Conversation<'_>],
    (options, reader, formats, is_cut): (&Options, Option<&'static Reader>, &[Reading], bool),
    lint: &Lint<'_>,
) {
    if options.marks == Marks::Off || !findings.iter().any(|finding| rules::get(finding.rule).fix.is_some()) {
        return;
    }
    let safely = FixOptions::default();
    if options.marks == Marks::Planned || is_cut || document.bytes().len() > MOST_TRIED {
        let outcome = |planner: Planner<'_, '_>| planner.outcome();
        let planned = on_conversations(document, conversations, options, &safely, findings, outcome);
        let (safe, all) = planned.unwrap_or_default();
        return mark(findings, all, safe);
    }
    let mut again = options.clone().marks(Marks::Off).keeps_source(false);
    if again.format.is_none() {
        again.reader = again.reader.or(reader);
    }
    let may_be = |id: &str| formats.iter().any(|known| known.format == id);
    let done = |how: &FixOptions| -> Option<(Vec<usize>, bool)> {
        let finish = |planner: Planner<'_, '_>| planner.finish();
        let plan = |way: &Way| on_conversations(document, conversations, options, &way.how, findings, finish);
        first_better(how, &plan, document, findings, Some((&again, &may_be)), lint)
    };
    let Some((safe, more)) = done(&safely) else { return };
    let all = if more { done(&safely.clone().unsafe_fixes(true)) } else { None };
    mark(findings, all.unwrap_or_default().0, safe);
}

/// Marks what safe fixes fix, and what only unsafe ones do.
fn mark(findings: &mut [Finding], all: Vec<usize>, safe: Vec<usize>) {
    for number in all {
        findings[number].fixable = Some(Fixable::Unsafe);
    }
    for number in safe {
        findings[number].fixable = Some(Fixable::Safe);
    }
}
