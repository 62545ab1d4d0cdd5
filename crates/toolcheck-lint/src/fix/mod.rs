//! Fixes what is wrong in a conversation, on the bytes of its file.
//!
//! Each record is planned once, in a fixed order, from the findings in it and from which result answers which call. The
//! edits are made from the final order of its parts. Then the result is linted again: a record in which a fault that was
//! to be fixed is still there, or in which there is a new one, stays as it was. That goes on until nothing changes.

mod ahead;
mod check;
mod skipped;

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};
use toolcheck_core::formats::Format;
use toolcheck_core::ir::{Transcript, TranscriptKind};
use toolcheck_core::readers::Conversation;
use toolcheck_core::{RuleId, formats};
use toolcheck_json::origins::Opened;
use toolcheck_json::{Document, NodeId, Record};

use self::ahead::Left;
use self::skipped::{Reasons, Why};
use crate::compare_fix::contradicts;
use crate::engine::{lint_opened, lint_with};
use crate::finding::{Finding, LeftOut, Spot};
use crate::observe::{Context, Observer, Response};
use crate::options::{Marks, Options};
use crate::planner::{
    Planned, REPAIRED, Way, can_fix, is_whole, is_whole_or_lines, is_written, plan_conversations,
    plan_request,
};
use crate::report::FileReport;
use crate::rules;

pub(crate) use self::ahead::{MOST_AHEAD, Trials, halved, settled};
pub use self::skipped::Skipped;
pub use crate::finding::Fixable;
pub use crate::planner::{Action, Duplicates, FixOptions, FixPlace, Orphans, Unanswered};
pub use toolcheck_core::fix::Cost;
pub use toolcheck_core::missing_result::PLACEHOLDER;

/// A finding that was fixed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Applied {
    /// The id of its rule.
    pub rule: RuleId,
    /// Its place in the file as it was; if it showed only once others were fixed, its place then.
    pub spot: Spot,
    /// What was done.
    pub action: Action,
    /// What it costs; `None` if the fix is safe.
    pub cost: Option<Cost>,
    /// What it has lost, if the text as it was has something that the fixed one lacks.
    pub(crate) or_lost: Option<String>,
    /// Whether it is a copy of what another has fixed, which is not reported.
    pub(crate) is_copy: bool,
}

/// A file that was fixed, or came as it was.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fixed<'b> {
    /// The text, borrowed if nothing was changed.
    pub bytes: Cow<'b, [u8]>,
    /// What was done, in the order of the file.
    pub applied: Vec<Applied>,
    /// The findings that are left, each with why, in the order of the report.
    pub skipped: Vec<Skipped>,
    /// The report of the file as it was.
    pub before: FileReport,
    /// The report of the file as it is now; `None` if nothing was changed.
    pub after: Option<FileReport>,
}

impl Fixed<'_> {
    /// Whether nothing was changed.
    pub fn is_unchanged(&self) -> bool {
        matches!(self.bytes, Cow::Borrowed(_))
    }

    /// The report of the text that was returned.
    pub fn report(&self) -> &FileReport {
        self.after.as_ref().unwrap_or(&self.before)
    }

    /// The first byte that differs from the file as it was; what a provider cached up to there is still of use.
    pub fn first_changed_byte(&self, before: &[u8]) -> Option<usize> {
        if self.is_unchanged() {
            return None;
        }
        let same = before.iter().zip(&*self.bytes).take_while(|(old, new)| old == new).count();
        Some(same)
    }
}

/// Fixes the text of one file. `path` is the name for it in the reports.
///
/// ```
/// use toolcheck_lint::{FixOptions, Options, fix};
///
/// let body = br#"{"messages": [
///   {"role": "user", "content": "find Adam"},
///   {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]},
///   {"role": "user", "content": "well?"}
/// ]}"#;
/// let fixed = fix("request.json", body, &Options::default(), &FixOptions::default());
/// assert_eq!(fixed.applied[0].rule, "unanswered-tool-call");
/// assert!(fixed.report().findings.is_empty());
/// assert!(fix("fixed.json", &fixed.bytes, &Options::default(), &FixOptions::default()).is_unchanged());
/// ```
pub fn fix<'b>(path: &str, bytes: &'b [u8], options: &Options, how: &FixOptions) -> Fixed<'b> {
    // Whether what is planned is better is tried here.
    let options = &options.clone().marks(Marks::Planned);
    let Round { report: before, mut applied, mut after, mut reasons, mut left, changes } =
        Round::of(path, bytes, options, how);
    if after.is_none() {
        let mut skipped = reasons.left(&before, how, None);
        try_unsafe(path, bytes, options, how, &mut skipped);
        return Fixed { bytes: Cow::Borrowed(bytes), applied, skipped, before, after: None };
    }
    let mut requests = check::Requests::default();
    requests.add(|at| Cow::Borrowed(&bytes[at]), changes);
    let first = applied.len();
    // What shows only once something else is fixed is fixed then.
    // The places are others once the text is.
    let mut is_done = !how.only_places().is_empty();
    for _ in 1..if is_done { 1 } else { MOST_ROUNDS } {
        let Some((text, _)) = &after else { break };
        let mut round = Round::of(path, text, options, &how.leaving_out(left.clone()));
        if round.after.is_none() && !left.is_empty() {
            // What made it no better may do so now.
            left.clear();
            round = Round::of(path, text, options, how);
        }
        left.extend(round.left);
        reasons = round.reasons;
        is_done = round.after.is_none();
        if is_done {
            break;
        }
        applied.extend(round.applied);
        requests.add(|at| Cow::Owned(text[at].to_vec()), round.changes);
        after = round.after;
    }
    requests.weigh(&mut applied, first);
    applied.retain(|done| !done.is_copy);
    let place = |finding: &Finding| (finding.rule, finding.spot.record, finding.spot.pointer.clone());
    let places: HashMap<_, &Spot> =
        before.findings.iter().map(|finding| (place(finding), &finding.spot)).collect();
    for done in &mut applied {
        let place = (done.rule, done.spot.record, done.spot.pointer.clone());
        if let Some(spot) = places.get(&place) {
            done.spot = (*spot).clone();
        }
    }
    toolcheck_json::sort_by_position(&mut applied, |done| done.spot.bytes.start);
    let (text, after) = after.unzip();
    let report = after.as_ref().unwrap_or(&before);
    let mut skipped = reasons.left(report, how, Some((&before, &applied)));
    if is_done {
        try_unsafe(path, text.as_deref().unwrap_or(bytes), options, how, &mut skipped);
    } else {
        skipped.iter_mut().for_each(|left| left.reason = Cow::Borrowed(TOO_MANY_ROUNDS));
    }
    Fixed { bytes: text.map_or(Cow::Borrowed(bytes), Cow::Owned), applied, skipped, before, after }
}

/// What [`fix`] returns for a file that was opened, such as a recording: it is not changed, and all findings are left.
pub fn fix_opened<'b>(
    path: &str,
    bytes: &'b [u8],
    opened: &Opened,
    options: &Options,
    how: &FixOptions,
) -> Fixed<'b> {
    let before = lint_opened(path, bytes, opened, &options.clone().marks(Marks::Planned));
    let reason =
        format!("not in this kind of file ({}): write the request to a file of its own", opened.name);
    all_left(bytes, before, how, &reason)
}

/// What [`fix`] returns for a file that must not be changed, for a reason in one clause: all findings are left.
pub fn fix_nothing<'b>(
    path: &str,
    bytes: &'b [u8],
    options: &Options,
    how: &FixOptions,
    reason: &str,
) -> Fixed<'b> {
    let before = lint_with(path, bytes, &options.clone().marks(Marks::Planned), &mut ());
    all_left(bytes, before, how, reason)
}

/// A file that comes back as it was.
fn all_left<'b>(bytes: &'b [u8], before: FileReport, how: &FixOptions, reason: &str) -> Fixed<'b> {
    let mut reasons = Reasons::default();
    before.findings.iter().for_each(|finding| reasons.add_record(finding.spot.record, reason.to_owned()));
    let skipped = reasons.left(&before, how, None);
    Fixed { bytes: Cow::Borrowed(bytes), applied: Vec::new(), skipped, before, after: None }
}

/// How often a file is fixed and linted again, until nothing changes. What lasts longer shows more and more.
const MOST_ROUNDS: usize = 16;

/// Why findings are left then.
const TOO_MANY_ROUNDS: &str = "the fixes revealed too many other findings: run `fix` again";

/// Says of what is left by a safe fix why an unsafe one would leave it too, where it would.
fn try_unsafe(path: &str, bytes: &[u8], options: &Options, how: &FixOptions, skipped: &mut [Skipped]) {
    if how.unsafe_fixes || skipped.iter().all(|left| left.cost.is_none()) {
        return;
    }
    let round = Round::of(path, bytes, options, &how.clone().unsafe_fixes(true));
    let place = |rule: RuleId, spot: &Spot| (rule, spot.bytes.start);
    let done: HashSet<_> = round.applied.iter().map(|done| place(done.rule, &done.spot)).collect();
    for left in skipped.iter_mut().filter(|left| left.cost.is_some()) {
        let place = place(left.rule, &left.spot);
        if let Some(reason) = round.reasons.tried(place).filter(|_| !done.contains(&place)) {
            left.cost = None;
            left.reason = format!("with --unsafe-fixes, {reason}").into();
        }
    }
}

/// One time that a file is linted, planned, and changed.
struct Round {
    report: FileReport,
    applied: Vec<Applied>,
    /// The new text with its report; `None` if nothing is changed.
    after: Option<(Vec<u8>, FileReport)>,
    reasons: Reasons,
    /// What is left because its fix makes nothing better.
    left: Vec<LeftOut>,
    changes: Vec<Change>,
}

impl Round {
    fn of(path: &str, bytes: &[u8], options: &Options, how: &FixOptions) -> Self {
        let mut left = Some(Vec::new());
        let round = Self::leaving(path, bytes, options, how, &mut left);
        let Some(left) = left.filter(|left| !left.is_empty()) else { return round };
        let whats: Vec<LeftOut> = left.iter().map(|left| left.what.clone()).collect();
        let rest = how.leaving_out(whats.clone());
        let mut round = Self { left: whats, ..Self::leaving(path, bytes, options, &rest, &mut None) };
        for left in left {
            round.reasons.add_tried((left.what.0, left.at), left.worse);
        }
        round
    }

    /// A round, which notes the findings whose fixes alone make a record no better, where they may be `left`.
    fn leaving(
        path: &str,
        bytes: &[u8],
        options: &Options,
        how: &FixOptions,
        left: &mut Option<Vec<Left>>,
    ) -> Self {
        let mut collector = Collector::new(bytes, options, how);
        let report = lint_with(path, bytes, options, &mut collector);
        let Collector { mut changes, mut reasons, contradicted, .. } = collector;
        // What most of the records say of the format holds for all: what is only text says nothing.
        if let Some((reason, _)) = contradicted.filter(|(_, count)| *count > changes.len()) {
            for record in changes.drain(..).filter_map(|change| change.record) {
                reasons.add_record(record, reason.clone());
            }
        }
        let (mut applied, after) =
            settle(path, bytes, (options, how), &report, (&mut changes, left), &mut reasons);
        // In a file that is one document, the report has the places in its records.
        let places: HashMap<(RuleId, usize), &Spot> =
            report.findings.iter().map(|found| ((found.rule, found.spot.bytes.start), &found.spot)).collect();
        for done in &mut applied {
            if let Some(place) = places.get(&(done.rule, done.spot.bytes.start)) {
                done.spot = (*place).clone();
            }
        }
        Self { report, applied, after, reasons, left: Vec::new(), changes }
    }
}

/// Makes the changes that make the file better, and lints it again.
fn settle(
    path: &str,
    bytes: &[u8],
    (options, how): (&Options, &FixOptions),
    before: &FileReport,
    (changes, left): (&mut Vec<Change>, &mut Option<Vec<Left>>),
    reasons: &mut Reasons,
) -> (Vec<Applied>, Option<(Vec<u8>, FileReport)>) {
    // A record that is no better is fixed in another way, or comes back as it was.
    for _ in 0..MOST_WAYS {
        if changes.is_empty() {
            break;
        }
        let text = assemble(bytes, changes);
        let report = lint_with(path, &text, options, &mut ());
        let other = read_otherwise(before, &report, options);
        let because = other.map(|other| format!("the fixed file would be read as {other}").into());
        if because.is_some() {
            let all = changes.iter().map(|change| (change.record, RuleId::UnrecognisedFormat)).collect();
            if ahead::go_on(path, (bytes, text.clone()), (options, how), before, changes, &all) {
                continue;
            }
            if let Some(left) = left {
                ahead::find_left((bytes, options, how), changes, &all, left);
                if !left.is_empty() {
                    break;
                }
            }
        }
        let takes_more = || check::takes_more(before, &report, changes).then_some(TAKES_MORE.into());
        if let Some(reason) = because.or_else(takes_more) {
            for done in changes.iter_mut().flat_map(Change::fall_back) {
                reasons.add(done.rule, &done.spot, Why::Because(Cow::clone(&reason)));
            }
            changes.retain(|change| !change.applied.is_empty());
            continue;
        }
        let worse = check::not_better(before, &report, changes);
        if worse.is_empty() && report.left_out() == before.left_out() {
            let applied = changes.iter().flat_map(Change::done).cloned();
            return (applied.collect(), Some((text, report)));
        }
        if worse.is_empty() {
            break;
        }
        // What is worse at first may be better in the end.
        if ahead::go_on(path, (bytes, text), (options, how), before, changes, &worse) {
            continue;
        }
        if let Some(left) = left {
            ahead::find_left((bytes, options, how), changes, &worse, left);
            if !left.is_empty() {
                break;
            }
        }
        for change in changes.iter_mut() {
            if let Some(rule) = worse.get(&change.record) {
                for tried in change.fall_back() {
                    reasons.add_tried((tried.rule, tried.spot.bytes.start), *rule);
                }
            }
        }
        changes.retain(|change| !change.applied.is_empty());
    }
    (Vec::new(), None)
}

/// Why nothing is changed where calls or results would go that no finding is about.
const TAKES_MORE: &str = "it would remove more of the conversation than it reports";

/// The most ways in which a file is fixed: each one without what made it no better.
const MOST_WAYS: usize = 8;

/// What a file is read as once it is fixed, if it was not read so before, and it is not the target's own format.
fn read_otherwise(before: &FileReport, after: &FileReport, options: &Options) -> Option<&'static str> {
    let wanted = options.target.as_deref().and_then(|target| target.format.as_deref());
    let is_new = |format: &&'static str| {
        Some(*format) != wanted && !before.readings.iter().any(|reading| reading.format == *format)
    };
    after.readings.iter().map(|reading| reading.format).find(is_new)
}

/// The text with the changed records.
fn assemble(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    let mut at = 0;
    for change in changes {
        text.extend_from_slice(&bytes[at..change.start]);
        text.extend_from_slice(&change.bytes);
        at = change.end;
    }
    text.extend_from_slice(&bytes[at..]);
    text
}

/// A record that is changed.
#[derive(Clone)]
struct Change {
    /// Its number; `None` if it is the whole file.
    record: Option<usize>,
    /// Its bytes in the file.
    start: usize,
    end: usize,
    /// Its new bytes.
    bytes: Vec<u8>,
    applied: Vec<Applied>,
    /// Its format if it is a request, and not the conversations of a log.
    format: Option<&'static Format>,
    /// What was done to what showed then.
    later: Vec<Applied>,
    /// What is tried after it if that is no better.
    instead: Option<(Vec<u8>, Vec<Applied>)>,
}

impl Change {
    /// All that is done.
    fn done(&self) -> impl Iterator<Item = &Applied> {
        self.applied.iter().chain(&self.later)
    }

    /// Goes over to what is tried next, and returns what is not fixed then.
    fn fall_back(&mut self) -> Vec<Applied> {
        self.later.clear();
        let Some((bytes, applied)) = self.instead.take() else { return std::mem::take(&mut self.applied) };
        self.bytes = bytes;
        let tried = std::mem::replace(&mut self.applied, applied);
        let place = |done: &Applied| (done.rule, done.spot.bytes.clone());
        let kept: HashSet<_> = self.applied.iter().map(place).collect();
        tried.into_iter().filter(|done| !kept.contains(&place(done))).collect()
    }
}

/// Why a record is not changed that is broken.
const NOT_WHOLE: &str = "text that is not valid JSON is not changed";

/// Plans the changes of each record while a file is linted.
struct Collector<'o> {
    bytes: &'o [u8],
    options: &'o Options,
    how: &'o FixOptions,
    /// The format of the last transcript.
    format: Option<&'static str>,
    kind: TranscriptKind,
    /// The number of transcripts in the record so far.
    transcripts: usize,
    /// Whether the record is more than a request: an exchange, or a conversation of a log.
    is_more: bool,
    /// Whether it is an exchange, or a response.
    is_sent: bool,
    changes: Vec<Change>,
    reasons: Reasons,
    /// Why the first record is not of the format that was named which shows it, and how many do.
    contradicted: Option<(String, usize)>,
}

impl<'o> Collector<'o> {
    fn new(bytes: &'o [u8], options: &'o Options, how: &'o FixOptions) -> Self {
        Self {
            bytes,
            options,
            how,
            format: None,
            kind: options.kind,
            transcripts: 0,
            is_more: false,
            is_sent: false,
            changes: Vec::new(),
            reasons: Reasons::default(),
            contradicted: None,
        }
    }

    /// Whether a record is not a text that was made of the file.
    fn is_in_file(&self, record: &Record<'_>) -> bool {
        let own = self.bytes.get(record.start..record.start + record.bytes.len());
        own.is_some_and(|own| std::ptr::eq(own, record.bytes))
    }

    /// Plans the changes of a record that is a request.
    fn plan(&mut self, record: &Record<'_>, document: &Document<'_>, findings: &[Finding]) -> Option<()> {
        let format = formats::find(self.format?)?;
        if !is_whole(record, document) {
            self.reasons.add_record(record.index, NOT_WHOLE);
            return None;
        }
        // What is detected contradicts nothing.
        let is_forced = self.options.format.is_some();
        if let Some(other) = contradicts(document.root(), format).filter(|_| is_forced) {
            let reason = format!("not changed as {}: {other}", format.id);
            self.reasons.add_record(record.index, reason.clone());
            self.contradicted.get_or_insert((reason, 0)).1 += 1;
            return None;
        }
        let read = format.read(document.root());
        let mut transcript =
            read.unwrap_or_else(|| Transcript::without_messages(format.key(), document.root()));
        transcript.kind = self.kind;
        let plan = |way: &Way| plan_request(record, document, &transcript, self.options, way, findings);
        self.keep(record, document, findings, &plan, Some(record.index))
    }

    /// Plans the changes of conversations in a file that holds several.
    fn plan_conversations(
        &mut self,
        record: &Record<'_>,
        document: &Document<'_>,
        conversations: &[Conversation<'_>],
        findings: &[Finding],
    ) -> Option<()> {
        if !is_whole_or_lines(document) {
            self.reasons.add_record(record.index, NOT_WHOLE);
            return None;
        }
        let options = self.options;
        let plan = |way: &Way| plan_conversations(document, conversations, options, &way.how, findings);
        let is_all = record.bytes.len() == self.bytes.len();
        self.keep(record, document, findings, &plan, (!is_all).then_some(record.index))
    }

    /// Keeps what was planned for a record, if it changes something.
    fn keep(
        &mut self,
        record: &Record<'_>,
        document: &Document<'_>,
        findings: &[Finding],
        plan: &dyn Fn(&Way) -> Option<Planned>,
        number: Option<usize>,
    ) -> Option<()> {
        let spot = |finding: usize| findings[finding].spot.clone();
        let mut whole = plan(&Way::first(self.how))?;
        for (finding, cost) in std::mem::take(&mut whole.skipped) {
            self.reasons.add(findings[finding].rule, &findings[finding].spot, Why::Costs(cost));
        }
        for (finding, reason) in std::mem::take(&mut whole.left) {
            let Finding { rule, spot, .. } = &findings[finding];
            let reason = match reason {
                REPAIRED => format!("{REPAIRED}; {}", skipped::only(*rule)).into(),
                reason => reason.into(),
            };
            self.reasons.add(*rule, spot, Why::Because(reason));
        }
        let text_of = |planned: Planned| {
            let applied = planned.done.into_iter().map(|done| Applied {
                rule: findings[done.finding].rule,
                spot: spot(done.finding),
                action: done.action,
                cost: done.cost,
                or_lost: findings[done.finding].fix.as_ref().and_then(|fix| fix.or_lost.clone()),
                is_copy: findings[done.finding].copy_of.is_some(),
            });
            (planned.bytes, applied.collect::<Vec<_>>())
        };
        if whole.done.is_empty() || whole.bytes == document.bytes() {
            return None;
        }
        let safely = Way::safely(self.how, &whole).and_then(|way| plan(&way));
        let instead = safely.filter(|other| !other.done.is_empty()).map(text_of);
        let (bytes, applied) = text_of(whole);
        self.changes.push(Change {
            record: number,
            start: record.start,
            end: record.start + record.bytes.len(),
            bytes,
            applied,
            format: self.format.filter(|_| !self.is_more).and_then(formats::find),
            later: Vec::new(),
            instead,
        });
        Some(())
    }
}

impl Observer for Collector<'_> {
    fn conversation(&mut self, _conversation: &Conversation<'_>) {
        self.is_more = true;
    }

    fn transcript(&mut self, context: &Context<'_, '_>, _known: usize, _is_clean: bool) {
        self.transcripts += 1;
        self.format = context.transcript.format.map(|format| format.id);
        self.kind = context.transcript.kind;
        self.is_more |= context.transcript.place.node != NodeId::ROOT;
    }

    fn response(&mut self, _response: &Response<'_, '_>) {
        (self.is_more, self.is_sent) = (true, true);
    }

    fn conversations(
        &mut self,
        record: &Record<'_>,
        document: &Document<'_>,
        conversations: &[Conversation<'_>],
        findings: &[Finding],
    ) {
        if !conversations.is_empty() && !conversations.iter().any(is_written) {
            self.reasons.add_record(record.index, skipped::OWN_FORM);
        } else if self.is_in_file(record)
            && findings.iter().any(|finding| rules::get(finding.rule).fix.is_some())
        {
            self.plan_conversations(record, document, conversations, findings);
        }
    }

    fn record(&mut self, record: &Record<'_>, document: &Document<'_>, findings: &[Finding]) {
        let is_request = self.transcripts == 1 && !self.is_more;
        if is_request && findings.iter().any(|finding| can_fix(finding) && self.how.wants(finding)) {
            self.plan(record, document, findings);
        } else if self.is_sent {
            self.reasons
                .add_record(record.index, "an exchange is a record of what was sent, so it is not changed");
        } else if self.is_more && !self.is_in_file(record) {
            self.reasons.add_record(record.index, skipped::OWN_FORM);
        } else if !is_request && !self.is_more && self.transcripts == 0 {
            self.reasons.add_record(record.index, "it contains no conversation");
        }
        (self.transcripts, self.is_more, self.is_sent) = (0, false, false);
    }
}
