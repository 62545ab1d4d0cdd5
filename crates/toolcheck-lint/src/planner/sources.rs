//! What is planned: the conversation of a request, or the conversations of a log.

use foldhash::HashSet;
use toolcheck_core::fix_style::FixStyle;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::ir::{Body, Transcript, TranscriptKind};
use toolcheck_core::pairing::Pairing;
use toolcheck_core::readers::{self, Conversation, FileFixStyle};
use toolcheck_core::targets::{self, Target};
use toolcheck_json::{Document, Record};

use super::options::{FixOptions, is_of_template};
use super::plan::{Planned, Planner, Source};
use crate::finding::{Finding, Spot};
use crate::options::Options;
use crate::rules;

/// A way to fix a record.
pub(crate) struct Way {
    pub(crate) how: FixOptions,
    /// Whether what belongs together waits until all of it can be read.
    waits: bool,
}

impl Way {
    /// What is tried first.
    pub(crate) fn first(how: &FixOptions) -> Self {
        Self { how: how.clone(), waits: true }
    }

    /// All at once.
    pub(crate) fn at_once(how: &FixOptions) -> Self {
        Self { waits: false, ..Self::first(how) }
    }

    /// What is tried if what it plans makes nothing better: what is safe.
    pub(crate) fn safely(how: &FixOptions, plan: &Planned) -> Option<Self> {
        let is_unsafe = how.unsafe_fixes && plan.done.iter().any(|done| done.cost.is_some());
        is_unsafe.then(|| Self::first(&how.clone().unsafe_fixes(false)))
    }
}

/// Whether a record can be written as it was, because it was read as it is written.
pub(crate) fn is_whole(record: &Record<'_>, document: &Document<'_>) -> bool {
    document.faults().iter().all(|fault| fault.kind.is_harmless())
        && document.bytes().len() == record.bytes.len()
}

/// Whether a document is valid JSON, or consists of lines, of which one that is broken says nothing about the others.
pub(crate) fn is_whole_or_lines(document: &Document<'_>) -> bool {
    is_lines(document) || document.faults().iter().all(|fault| fault.kind.is_harmless())
}

fn is_lines(document: &Document<'_>) -> bool {
    let root = document.root();
    root.is_array() && root.raw().trim_ascii_start().first() != Some(&b'[')
}

/// Whether the user asks for a finding in a document, which may consist of the lines of a file: there, a pointer is one in
/// its line.
fn is_asked(how: &FixOptions, finding: &Finding, document: &Document<'_>) -> bool {
    let spot = &finding.spot;
    how.asks_for(finding.rule, spot)
        || !how.only_places().is_empty() && is_lines(document) && {
            let inside = spot.pointer.match_indices('/').nth(1);
            let pointer = inside.map_or("", |(at, _)| &spot.pointer[at..]).to_owned();
            how.asks_for(finding.rule, &Spot { pointer, ..spot.clone() })
        }
}

fn is_row(transcript: &Transcript<'_>, options: &Options) -> bool {
    let is_known = || transcript.format.is_some_and(readers::is_of_dataset);
    transcript.kind == TranscriptKind::Dataset && (options.kind == TranscriptKind::Dataset || is_known())
}

/// A planner that has planned a request.
fn on_request<R>(
    document: &Document<'_>,
    transcript: &Transcript<'_>,
    options: &Options,
    Way { how, waits }: &Way,
    findings: &[Finding],
    take: impl FnOnce(Planner<'_, '_>) -> R,
) -> Option<R> {
    let format = formats::find(transcript.format?.id)?;
    let own = || Some(targets::find(format.id)?.for_model(transcript.request.model.as_deref()));
    let target = options.target.as_deref().or_else(own);
    let target = target.unwrap_or_else(|| Target::unknown());
    let pairing = Pairing::new(transcript, target);
    let source = Source {
        transcript,
        pairing: &pairing,
        target,
        fix_style: format.fix_style,
        file_style: None,
        binds_signatures: target.binds_signatures(),
        is_row: is_row(transcript, options),
    };
    let wanted = findings.iter().enumerate().filter(|(_, finding)| how.wants(finding));
    let mut planner = Planner::new(document, how, wanted, source);
    planner.plan(*waits);
    Some(take(planner))
}

pub(crate) fn plan_request(
    record: &Record<'_>,
    document: &Document<'_>,
    transcript: &Transcript<'_>,
    options: &Options,
    way: &Way,
    findings: &[Finding],
) -> Option<Planned> {
    let finish = |planner: Planner<'_, '_>| planner.finish();
    is_whole(record, document)
        .then(|| on_request(document, transcript, options, way, findings, finish))
        .flatten()
}

/// The plan for the conversations of a log or a data set. A finding and what repeats it are fixed together, or not at all.
pub(crate) fn plan_conversations(
    document: &Document<'_>,
    conversations: &[Conversation<'_>],
    options: &Options,
    how: &FixOptions,
    findings: &[Finding],
) -> Option<Planned> {
    let plan = |without: &HashSet<usize>| {
        let finish = |planner: Planner<'_, '_>| planner.finish();
        on_conversations(document, conversations, (options, how), (findings, without), finish)
    };
    let first = plan(&HashSet::default())?;
    let apart = fixed_apart(findings, &first);
    if apart.is_empty() {
        return Some(first);
    }
    // The edits of copies that are not written alike are not the same.
    let second = plan(&apart)?;
    if fixed_apart(findings, &second).is_subset(&apart) {
        return Some(second);
    }
    let copies = (0..findings.len()).filter(|number| findings[*number].copy_of.is_some());
    plan(&copies.collect())
}

/// The findings that are planned for the conversations of a log, and those that only an unsafe fix fixes.
pub(crate) fn outcome(
    document: &Document<'_>,
    conversations: &[Conversation<'_>],
    options: &Options,
    how: &FixOptions,
    findings: &[Finding],
) -> Option<(Vec<usize>, Vec<usize>)> {
    let outcome = |planner: Planner<'_, '_>| planner.outcome();
    on_conversations(document, conversations, (options, how), (findings, &HashSet::default()), outcome)
}

/// The copies of findings of which a plan fixes some and not all.
fn fixed_apart(findings: &[Finding], plan: &Planned) -> HashSet<usize> {
    let copies = || findings.iter().enumerate().filter_map(|(number, one)| Some((number, one.copy_of?)));
    if copies().next().is_none() {
        return HashSet::default();
    }
    let done: HashSet<usize> = plan.done.iter().map(|done| done.finding).collect();
    let is_apart = |(number, original): &(usize, usize)| done.contains(number) != done.contains(original);
    let apart: HashSet<usize> = copies().filter(is_apart).map(|(_, original)| original).collect();
    copies().filter(|(_, original)| apart.contains(original)).map(|(number, _)| number).collect()
}

/// A planner that has planned the conversations of a log or a data set, but for some of the findings.
fn on_conversations<R>(
    document: &Document<'_>,
    conversations: &[Conversation<'_>],
    (options, how): (&Options, &FixOptions),
    (findings, without): (&[Finding], &HashSet<usize>),
    take: impl FnOnce(Planner<'_, '_>) -> R,
) -> Option<R> {
    if !is_whole_or_lines(document) {
        return None;
    }
    let target = options.target.as_deref().unwrap_or_else(|| Target::unknown());
    let mut usable = Vec::new();
    for conversation in conversations {
        let transcript = &conversation.transcript;
        let Some(writer) = writer_of(conversation) else { continue };
        usable.push((transcript, Pairing::new(transcript, target), writer));
    }
    let mut planner: Option<Planner<'_, '_>> = None;
    // What is fixed in its place depends on an API: that of a log answers what is sent next.
    let is_log = conversations.iter().any(|one| one.transcript.sent_next_by.is_some());
    let is_known = |finding: &Finding| {
        let is_answered = is_log && finding.provider_error.is_some();
        finding.fix.is_none() || is_of_template(finding) || is_answered
    };
    let is_wanted = |finding: &Finding| {
        let asked = finding.copy_of.map_or(finding, |number| &findings[number]);
        is_known(finding) && is_asked(how, asked, document) && !how.leaves_out(finding)
    };
    let numbered = || findings.iter().enumerate().filter(|(number, _)| !without.contains(number));
    let wanted = || numbered().filter(|(_, finding)| is_wanted(finding));
    for (transcript, pairing, writer) in &usable {
        // What signs the model's reasoning is the API that the messages are for.
        let judge = options.target.as_deref().or_else(|| targets::find(writer.format?.id));
        let source = Source {
            transcript,
            pairing,
            target,
            fix_style: writer.fix_style,
            file_style: writer.file_style,
            binds_signatures: judge.is_some_and(Target::binds_signatures),
            is_row: is_row(transcript, options),
        };
        let is_ready = match &mut planner {
            Some(planner) => planner.enter(source),
            none => {
                *none = Some(Planner::new(document, how, wanted(), source));
                true
            }
        };
        if let Some(planner) = planner.as_mut().filter(|_| is_ready) {
            planner.plan(false);
        }
    }
    if let Some(planner) = &mut planner {
        let unknown = findings.iter().enumerate().filter(|(_, finding)| is_log && !is_known(finding));
        unknown.for_each(|(number, _)| planner.leave(Some(number), NOT_REFUSED));
    }
    planner.map(take)
}

/// Why what could be written in another way is left in a log.
const NOT_REFUSED: &str = "nothing shows that an API refuses it in what the agent sends next";

/// Whether a finding may be fixed.
pub(crate) fn can_fix(finding: &Finding) -> bool {
    finding.fix.is_some() || rules::get(finding.rule).fix.is_some()
}

/// How a conversation is written.
#[derive(Clone, Copy)]
pub(super) struct Writer {
    pub(super) fix_style: &'static FixStyle,
    /// The wire format of its messages; `None` if they are those of a program.
    pub(super) format: Option<&'static Format>,
    /// How its file has them; `None` for requests.
    pub(super) file_style: Option<&'static FileFixStyle>,
}

/// Whether it is known how a conversation is written.
pub(crate) fn is_written(conversation: &Conversation<'_>) -> bool {
    writer_of(conversation).is_some()
}

/// How a conversation is written; `None` if it is only read.
pub(super) fn writer_of(conversation: &Conversation<'_>) -> Option<Writer> {
    let id = conversation.transcript.format?.id;
    if let Some(reader) = readers::find(id) {
        let file_style = reader.file_style.filter(|_| !conversation.transcript.details.is_wrapped)?;
        return Some(Writer {
            fix_style: file_style.fix_style,
            format: file_style.format,
            file_style: Some(file_style),
        });
    }
    let format = formats::find(id)?;
    let is_written = format.fix_style.blocks.is_some() || !holds_results(&conversation.transcript);
    is_written.then_some(Writer { fix_style: format.fix_style, format: Some(format), file_style: None })
}

/// Whether a message holds its results, as some frameworks keep them, where the format has a message for each.
fn holds_results(transcript: &Transcript<'_>) -> bool {
    transcript.messages.iter().any(|message| {
        let mut parts = transcript.parts_of(message).iter();
        parts.any(|part| matches!(part.body, Body::Result(_)) && part.place.node != message.place.node)
    })
}
