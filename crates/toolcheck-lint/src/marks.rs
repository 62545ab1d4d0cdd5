//! What findings say of how a fix fixes them: it is what a fix does.

use foldhash::HashSet;
use toolcheck_core::ir::Transcript;
use toolcheck_core::readers::{Conversation, Reader};
use toolcheck_core::{RuleId, formats};
use toolcheck_json::{Document, Record};

use crate::compare_fix::contradicts;
use crate::finding::{Finding, Fixable};
use crate::fix::{MOST_AHEAD, Trials, fix, halved, settled};
use crate::options::{Marks, Options};
use crate::planner::{
    FixOptions, Planned, Way, can_fix, is_whole, outcome, plan_conversations, plan_request,
};
use crate::report::{FileReport, Reading};
use crate::rules;

pub(crate) type Lint<'l> = dyn Fn(&[u8], &Options) -> FileReport + 'l;

/// How a plan is tried: the options, the formats that the text may be read as then, and whether it is that of a request.
type Trial<'t> = (&'t Options, &'t dyn Fn(&str) -> bool, bool);

/// Says of each finding in a request how it is fixed. The record is the whole file if `is_single`.
pub(crate) fn mark_request(
    findings: &mut [Finding],
    record: &Record<'_>,
    document: &Document<'_>,
    transcript: &Transcript<'_>,
    options: &Options,
    is_single: bool,
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
        let is_tried = is_tried.then_some((&again, may_be, true));
        first_better(how, &plan, document, findings, is_tried, lint)
    };
    let Some((safe, more)) = done(&safely) else { return };
    // What makes nothing better by itself may do so with a guess.
    let all = if more || safe.is_empty() { done(&safely.clone().unsafe_fixes(true)) } else { None };
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
    // Untried, it is all that is planned.
    let way = if tried.is_some() { Way::first(how) } else { Way::at_once(how) };
    let mut first = plan(&way)?;
    let more = first.waits || !first.skipped.is_empty();
    // The record is linted once more beside this one, so what is not needed goes.
    (first.skipped, first.left) = Default::default();
    let safely = Way::safely(how, &first);
    let Some(tried) = tried else { return Some((numbers(&first), more)) };
    let mut candidates = numbers(&first);
    let is_short = tried.2 && first.bytes.len() <= LONGEST_AHEAD;
    candidates.retain(|_| is_short);
    toolcheck_json::sort_by_position(&mut candidates, |number| {
        usize::from(first.done.iter().any(|done| done.finding == *number && done.cost.is_some()))
    });
    let try_way = |plan: Planned, how: &FixOptions| done_by(plan, how, document, findings, tried, lint);
    if let Some(done) = try_way(first, how) {
        return Some((done, more));
    }
    // All but those that make it worse, and what may be instead.
    let mut best = None;
    halved(candidates.len(), &mut |left| {
        let left = left.iter().map(|number| findings[candidates[*number]].left_out()).collect();
        let way = Way::first(&how.leaving_out(left));
        let done = plan(&way).and_then(|plan| try_way(plan, &way.how)).ok_or(());
        done.map(|done| best = Some(done))
    });
    let instead = || safely.and_then(|way| try_way(plan(&way)?, &way.how));
    Some((best.or_else(instead).unwrap_or_default(), more))
}

/// The findings that a plan fixes.
fn numbers(plan: &Planned) -> Vec<usize> {
    plan.done.iter().map(|done| done.finding).collect()
}

/// The rules of findings that are reported.
fn rules_of(findings: &[Finding], numbers: &[usize]) -> Vec<RuleId> {
    let all = numbers.iter().map(|number| &findings[*number]);
    all.filter(|finding| finding.copy_of.is_none()).map(|finding| finding.rule).collect()
}

/// The longest text for whose marks more is tried than its first fix: of a longer one, what only shows after it has no mark.
const LONGEST_AHEAD: usize = 32 << 10;

/// What a plan fixes, and what is fixed after it, if that makes a record better which is then read as a format that it may
/// have.
fn done_by(
    plan: Planned,
    how: &FixOptions,
    document: &Document<'_>,
    findings: &[Finding],
    (options, may_be, is_request): Trial<'_>,
    lint: &Lint<'_>,
) -> Option<Vec<usize>> {
    if plan.done.is_empty() || plan.bytes == document.bytes() {
        return None;
    }
    let mut done = numbers(&plan);
    let rules = rules_of(findings, &done);
    let is_short = plan.bytes.len() <= LONGEST_AHEAD;
    // Only requests are fixed on until they are better.
    let most_ahead = if is_short && is_request { MOST_AHEAD } else { 0 };
    let trials = Trials { most_ahead, may_be, lint };
    let (text, mut later) = settled(findings, (plan.bytes, &rules), (options, how), &trials).ok()?;
    let is_left = |(number, finding): (usize, &Finding)| {
        can_fix(finding) && how.wants(finding) && !done.contains(&number)
    };
    let may_go_on = is_short && (plan.waits || !later.is_empty() || !is_request);
    if may_go_on && findings.iter().enumerate().any(is_left) {
        later.extend(fix("", &text, options, how).applied);
    }
    let then: HashSet<_> = later.iter().map(|done| (done.rule, &done.spot.pointer)).collect();
    let is_fixed = |finding: &Finding| then.contains(&(finding.rule, &finding.spot.pointer));
    done.extend((0..findings.len()).filter(|number| is_fixed(&findings[*number])));
    Some(done)
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
        let planned = outcome(document, conversations, options, &safely, findings);
        let (safe, all) = planned.unwrap_or_default();
        return mark(findings, all, safe);
    }
    let mut again = options.clone().marks(Marks::Off).keeps_source(false);
    if again.format.is_none() {
        again.reader = again.reader.or(reader);
    }
    let may_be = |id: &str| formats.iter().any(|known| known.format == id);
    let done = |how: &FixOptions| -> Option<(Vec<usize>, bool)> {
        let plan = |way: &Way| plan_conversations(document, conversations, options, &way.how, findings);
        first_better(how, &plan, document, findings, Some((&again, &may_be, false)), lint)
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
