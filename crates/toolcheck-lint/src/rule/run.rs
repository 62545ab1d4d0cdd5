//! Runs a rule, and decides with the target's data what becomes of its findings, one after the other.

use std::collections::BinaryHeap;
use std::fmt;

use toolcheck_core::Level;
use toolcheck_core::ir::{Place, TranscriptKind};
use toolcheck_core::readers::NextRequest;
use toolcheck_core::targets::{Refusal, Verdict};
use toolcheck_core::text::Line;

use super::{Context, InDataset, Rule};
use crate::finding::{Draft, DraftContent, ProviderError};

/// The destination of a rule's findings.
pub(crate) struct Sink<'c> {
    rule: &'static Rule,
    /// The rule whose findings the target answers like the last one.
    asked: &'static Rule,
    findings: &'c mut Vec<Draft>,
    /// What is done with the last finding, once the rule is done with it: the rule itself, and the one that is asked.
    finish: &'c mut dyn FnMut(&mut Vec<Draft>, [&'static Rule; 2]),
    /// Whether that is still to be done.
    is_open: bool,
}

impl fmt::Debug for Sink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").field("rule", &self.rule.id).finish_non_exhaustive()
    }
}

impl Sink<'_> {
    /// Reports a problem at a place. The message is one line in lower case that says what is wrong and names the id.
    pub(crate) fn report(&mut self, place: Place, message: impl Into<Line>) -> &mut Draft {
        self.finish();
        (self.is_open, self.asked) = (true, self.rule);
        let mut finding = Draft::new(self.rule.id, place, message);
        (finding.is_on_wire, finding.is_on_text) = (self.rule.on_wire, self.rule.on_text);
        self.findings.push(finding);
        self.findings.last_mut().expect("a finding has just been pushed")
    }

    /// Reports a problem that the target answers like those of another rule.
    pub(crate) fn report_as(&mut self, asked: &'static Rule, place: Place, message: String) -> &mut Draft {
        self.report(place, message);
        self.asked = asked;
        self.findings.last_mut().expect("a finding has just been pushed")
    }

    fn finish(&mut self) {
        if std::mem::take(&mut self.is_open) {
            (self.finish)(self.findings, [self.rule, self.asked]);
        }
    }
}

/// Whether a rule reports nothing, regardless of the target.
pub(crate) fn is_silent(rule: &'static Rule, context: &Context<'_, '_>) -> bool {
    let mut findings = Vec::new();
    if let Some(check) = rule.check {
        check(
            context,
            &mut Sink { rule, asked: rule, findings: &mut findings, finish: &mut |_, _| {}, is_open: false },
        );
    }
    findings.is_empty()
}

/// Runs rules, and sets the level of each of their findings by the target's data. Only the first `most` of a rule in the
/// text keep what they say.
pub(crate) fn run(
    rules: impl Iterator<Item = &'static Rule>,
    context: &Context<'_, '_>,
    findings: &mut Vec<Draft>,
    most: usize,
) {
    // The rule, and the places of those of its findings that keep what they say, with their numbers.
    let (mut of, mut said) = (None, BinaryHeap::<(u32, usize)>::new());
    let mut finish = |findings: &mut Vec<Draft>, [rule, asked]: [&'static Rule; 2]| {
        let Some(finding) = findings.last_mut() else { return };
        if !decide([rule, asked], context, finding) {
            findings.pop();
            return;
        }
        if most == usize::MAX {
            return;
        }
        if of.replace(rule.id) != Some(rule.id) {
            said.clear();
        }
        said.push((finding.place.span.start, findings.len() - 1));
        if said.len() > most
            && let Some((_, last)) = said.pop()
        {
            findings[last].only_count();
        }
    };
    for rule in rules {
        if let Some(check) = rule.check {
            let findings = &mut *findings;
            let mut sink = Sink { rule, asked: rule, findings, finish: &mut finish, is_open: false };
            check(context, &mut sink);
            sink.finish();
        }
    }
}

/// The values that say which message something is in.
const NUMBERS: [&str; 4] = ["index", "member", "part", "part-member"];

/// What follows on "accepts it, but" in a finding that is only reported because somebody has the API's error.
const HIDDEN: &str = "the error shows that it does not always";

/// Why what is before a record that is lost is only a warning.
const BEFORE_GAP: &str = "a record after this is lost, and nothing before that is sent";

/// Whether the agent does not find a place of its log any more.
fn is_before_gap(context: &Context<'_, '_>, place: Place) -> bool {
    let first = context.transcript.gaps.last().and_then(|gap| context.transcript.messages.get(gap.message));
    first.is_some_and(|first| place.span.start < first.place.span.start)
}

/// Sets the level of a finding of a rule by what the target's data says of the second one; `false` if it is not reported.
fn decide([rule, asked]: [&'static Rule; 2], context: &Context<'_, '_>, finding: &mut Draft) -> bool {
    rule.sort_cases(finding);
    let place = finding.place;
    let said = finding.say();
    let is_repaired = || context.next_request().is_some_and(|next| next.repairs_case(rule.id, &said.cases));
    let is_sent = context.policy.is_none() || context.is_sent_next(asked) && !said.stays && !is_repaired();
    if let Some(doubt) = context.doubt_of(rule).filter(|_| is_sent) {
        (said.doubt, said.at_most) = (Some(doubt), Some(Level::Warning));
    } else if asked.id == rule.id && is_before_gap(context, place) {
        (said.doubt, said.at_most) = (Some(BEFORE_GAP), Some(Level::Warning));
    }
    let answered = is_sent.then(|| context.verdict_of(asked.answered_as.unwrap_or(asked), &said.cases));
    let verdict = answered.unwrap_or(Verdict::Unknown);
    // What most templates do says nothing where the template was run.
    if verdict.is_of_template() && context.knows_prompt() {
        return false;
    }
    // What an agent puts before its messages is not known, so their numbers are not.
    said.values.retain(|(name, _)| context.policy.is_none() || !NUMBERS.contains(name));
    let of_next = context.next_request().filter(|_| context.known_target.is_none());
    let breaks = context.next_request().and_then(|next| Some(next.say(next.breaks.get(&asked.id)?)));
    let of_next = of_next.and_then(|next| next.level(asked.id)).or(breaks.as_ref().map(|_| Level::Warning));
    said.help = breaks.map(Into::into).or(said.help.take());
    // Agents may put more right than is known.
    let is_unsure = |refusal: &Refusal| refusal.level() < Level::Error && context.sends_as_written(rule);
    let level = match verdict {
        // Nobody sends the file as it is, so no API answers.
        _ if !is_sent => of_next.or_else(|| in_log(rule, context, said)),
        _ if said.answer.is_some() => known_to_rule(context, said),
        Verdict::Refused(refusal) if is_unsure(refusal) => in_log(rule, context, said),
        Verdict::Refused(refusal) => {
            if let Some(help) = &refusal.help {
                said.help = Some(help.as_str().to_owned().into());
            }
            let answer = said.provider_error.insert(answer(refusal, &said.values));
            Some(answer.grounds.level())
        }
        _ if context.policy.is_some() => in_log(rule, context, said),
        Verdict::Tolerated(tolerance) => {
            if let (Some(harm), None) = (&tolerance.harm, &said.harm) {
                said.harm = Some(harm.as_str().to_owned().into());
            }
            if tolerance.harm.is_none() && context.reports_hidden {
                said.harm = Some(HIDDEN.into());
            }
            tolerance.harm.is_some().then_some(Level::Warning)
        }
        Verdict::Unknown if rule.on_wire && !context.accepts_unmodified_bytes() => rewritten(rule, context),
        Verdict::Unknown => rule.default_level,
    };
    let level = match rule.in_dataset {
        _ if context.policy.is_some() => level,
        InDataset::AtLeast(least) if context.is_training_example() && level < Some(least) => {
            // It does not matter what the target accepts at inference: the model learns the mistake.
            said.harm = None;
            Some(least)
        }
        _ => level,
    };
    let is_of_next = of_next.is_some() || context.policy.is_some() && said.provider_error.is_some();
    if is_of_next && said.doubt != Some(BEFORE_GAP) {
        said.message = format!("in the next request, {}", said.message).into();
    }
    let at_least = said.at_least.filter(|_| context.policy.is_none());
    let hidden = context.reports_hidden.then_some(Level::Warning);
    let Some(level) = level.max(at_least).or(hidden) else { return false };
    let own = context.settings.levels.get(&rule.id).copied();
    let target_level = said.at_most.map_or(level, |most| level.min(most));
    let own_level = own.unwrap_or(target_level);
    if own_level == Level::Warning
        && let Some(answer) = &mut said.provider_error
    {
        answer.only_warns = Some(why_only_warning(answer.grounds.caution(), said.doubt, own));
    }
    said.target = context.known_target.filter(|_| is_sent).map(|target| target.id.clone());
    // They have done what they are for, and there may be many.
    said.values = Vec::new();
    (finding.level, finding.target_level) = (own_level, target_level);
    true
}

/// The level of a finding in a message that is rewritten for the target, of which nothing is known. Its address for this
/// format may take the message as it is.
fn rewritten(rule: &Rule, context: &Context<'_, '_>) -> Option<Level> {
    let format = context.transcript.format;
    let is_open = format.is_some_and(|format| context.target().leaves_open(rule.id, format));
    rule.default_level.filter(|_| is_open).min(Some(Level::Warning))
}

/// The level of a finding whose rule knows what the target answers.
fn known_to_rule(context: &Context<'_, '_>, said: &mut DraftContent) -> Option<Level> {
    let answer = said.answer.take()?;
    let level = answer.grounds.level();
    if let Some(harm) = answer.harm {
        said.harm = Some(String::from(harm).into());
        return Some(Level::Warning);
    }
    let target = context.target().id.clone();
    let (status, text, grounds) = (answer.status, answer.text, answer.grounds);
    said.provider_error = Some(ProviderError { target, case: None, status, text, grounds, only_warns: None });
    Some(level)
}

/// The level of a finding about what is no request, or of what no API is known to refuse.
fn in_log(rule: &'static Rule, context: &Context<'_, '_>, said: &mut DraftContent) -> Option<Level> {
    let details = &context.transcript.details;
    let is_learned = context.kind == TranscriptKind::Dataset || context.is_training_example();
    let Some(of_log) = context.policy?.level(rule.id) else {
        let next = context.next_request().filter(|_| !is_learned && !details.is_of_span)?;
        let discards = next.discards(rule.id, &said.cases)?;
        said.help = Some(next.say(&format!("{discards} when it continues the session")).into());
        return Some(Level::Warning);
    };
    // What a framework keeps is what it sends next, unless a model learns it, or it was sent already.
    let is_history = of_log == Level::Error && !(is_learned || details.is_expected || details.is_of_span);
    let of_history = || NextRequest::of(context.transcript.format?.id).filter(|_| is_history);
    let Some(next) = context.next_request().or_else(of_history) else { return Some(of_log) };
    if said.doubt == Some(BEFORE_GAP) {
        said.help = Some(format!("{BEFORE_GAP} by {}", next.name).into());
        return Some(of_log);
    }
    let how = next.repair_of(rule.id, &said.cases).map(|repair| format!(": it {repair}"));
    let Some(how) = how.or_else(|| next.repairs_case(rule.id, &said.cases).then(String::new)) else {
        return Some(of_log);
    };
    if let Some(words) = next.as_input.as_ref().filter(|_| context.transcript.details.may_be_input) {
        said.help = Some(next.say(words).into());
        return Some(of_log);
    }
    said.help = Some(next.say(&format!("repairs this itself when it continues the session{how}")).into());
    Some(of_log.min(Level::Warning))
}

/// What a target answers to what a finding is about.
pub(crate) fn answer(refusal: &Refusal, values: &[(&'static str, String)]) -> ProviderError {
    ProviderError {
        target: refusal.target.clone(),
        case: refusal.case.as_deref().map(str::to_owned),
        status: refusal.status,
        text: refusal.fill(values),
        grounds: refusal.grounds(),
        only_warns: None,
    }
}

/// The reason why a refusal is only a warning. Doubts about the refusal come first, then those of the rule, then the
/// configuration.
fn why_only_warning(caution: Option<&str>, of_rule: Option<&str>, own: Option<Level>) -> String {
    let of_user = own.map(|_| "the configuration says so");
    caution.or(of_rule).or(of_user).unwrap_or("in this case it may pass").to_owned()
}
