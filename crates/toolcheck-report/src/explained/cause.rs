//! What in a request causes an error.
//!
//! A finding whose own answer is the error is the cause, whatever its rule. Then come those of the rule that the error is
//! known for, and at last any error at a place that the error names.

use std::collections::HashMap;

use toolcheck_core::Level;
use toolcheck_core::formats;
use toolcheck_core::ir::TranscriptKind;
use toolcheck_core::recognise::{Contained, Likeness, NamedPlace, Nearness, Pasted, Recognised, recognise};
use toolcheck_core::targets::{self, Pattern, Target};
use toolcheck_lint::{FileReport, Finding, Options, Report, TargetRef, rules};

use super::Places;

/// The minimum length at which the beginning of an id identifies it.
const MIN_CUT_ID: usize = 8;
/// The most APIs that a request is checked against.
const MOST_TARGETS: usize = 8;
/// The most models that a request is checked for which it does not name.
const MOST_MODELS: usize = 16;
/// The most different answers of findings that are recognised as a variant of the error.
const MOST_VARIANTS: usize = 64;

/// Placeholders of one call or tool, besides the paths: with another value, an answer is about something else.
const IDENTITIES: [&str; 4] = ["id", "ids", "name", "field"];

pub(super) struct Search<'e, L> {
    error: Pasted,
    places: Vec<NamedPlace>,
    matches: &'e [Recognised],
    options: &'e Options,
    lint: L,
}

struct Attempt {
    target: Option<TargetRef>,
    options: Options,
}

/// The findings that are the most likely cause so far.
type Best = Option<(Weight, FileReport)>;

/// Whether there is a cause, for a reason that is at least so good.
fn is_for(best: &Best, least: Reason) -> bool {
    best.as_ref().is_some_and(|(weight, _)| weight.reason >= least)
}

/// How likely a finding is the cause. The more, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    reason: Reason,
    text: Option<Contained>,
    /// The number of values in its answer that are also in the error.
    same_values: usize,
    nearness: Option<Nearness>,
}

impl Weight {
    /// Whether its whole answer is in the error.
    fn is_whole(&self) -> bool {
        self.text.is_some_and(|text| text.is_whole)
    }
}

/// Why a finding may be the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// It is an error at the place that the error names.
    Place,
    /// It is of a rule that the error is known for.
    Rule,
    /// The same, and it is about the call or the place that the error names.
    Named,
    Answer,
}

impl<'e, L: Fn(&Options) -> FileReport> Search<'e, L> {
    pub(super) fn new(error: &str, matches: &'e [Recognised], options: &'e Options, lint: L) -> Self {
        Self { error: Pasted::new(error), places: NamedPlace::all_in(error), matches, options, lint }
    }

    /// The places in the request that cause the error; if there are none, all findings.
    pub(super) fn places(&self) -> Places {
        let own = (self.lint)(self.options);
        let targets = self.targets(&own);
        let report = |file: FileReport| Report::new(vec![file]);
        let mut best: Best = None;
        self.try_all(self.usual(&targets, &own), Reason::Place, &mut best);
        if !is_for(&best, Reason::Named) {
            let hidden = targets.iter().find_map(|target| self.hidden(target));
            if let Some(cause @ Places::Cause(_)) = hidden {
                return cause;
            }
            let mut of_model: Best = None;
            self.try_all(self.of_models(&targets), Reason::Named, &mut of_model);
            if let Some((weight, file)) = of_model
                && self.says_the_same(&weight)
            {
                return Places::OfModel(report(without_answers(file)));
            }
            let least = if own.format.is_some() { Reason::Answer } else { Reason::Named };
            self.try_all(self.unusual(&targets, &own), least, &mut best);
            if !is_for(&best, Reason::Rule) {
                if let Some(hidden) = hidden {
                    return hidden;
                }
                self.try_all(self.of_others(), Reason::Answer, &mut best);
            }
        }
        match best {
            Some((weight, file)) if weight.reason == Reason::Place => Places::Probable(report(file)),
            Some((_, file)) => Places::Cause(report(file)),
            None => Places::Others(report(match targets.into_iter().next().flatten() {
                Some(target) => (self.lint)(&self.options.clone().target(Some(target))),
                None => own,
            })),
        }
    }

    /// Lints the request in different ways, and keeps what is most likely the cause, for a reason that is good enough.
    fn try_all(&self, ways: Vec<Attempt>, least: Reason, best: &mut Best) {
        for way in ways {
            if best.as_ref().is_some_and(|(weight, _)| weight.reason == Reason::Answer && weight.is_whole()) {
                return;
            }
            let Some((weight, file)) = self.heaviest((self.lint)(&way.options), &way.target) else {
                continue;
            };
            if weight.reason >= least && best.as_ref().is_none_or(|(known, _)| weight > *known) {
                *best = Some((weight, file));
            }
        }
    }

    /// The request as it is linted, against each target.
    fn usual(&self, targets: &[Option<TargetRef>], own: &FileReport) -> Vec<Attempt> {
        let way = |target: &Option<TargetRef>, is_over| {
            let kind = target.as_ref().and_then(|target| target.kind);
            let options = self.wanting(target).is_over(is_over);
            Attempt { target: target.clone(), options: kind.into_iter().fold(options, Options::kind) }
        };
        let mut ways: Vec<Attempt> = targets.iter().map(|target| way(target, false)).collect();
        // The error shows that a history went on after its last calls, which alone might still be running.
        if own.kind != TranscriptKind::Request || own.conversations_listed > 0 {
            ways.extend(targets.iter().map(|target| way(target, true)));
        }
        ways
    }

    /// The request as a training example, and as a request in the format of the API that answered. An API with the request's
    /// own format is the likelier one.
    fn unusual(&self, targets: &[Option<TargetRef>], own: &FileReport) -> Vec<Attempt> {
        let family = own.format.and_then(formats::find).map(|format| format.family);
        let is_own = |target: &Target| family.is_some() && target.family() == family;
        let has_own = self.matches.iter().filter_map(|found| found.origin.target()).any(is_own);
        let mut ways = Vec::new();
        for target in targets.iter().flatten() {
            let options = self.wanting(&Some(target.clone()));
            let mut add = |options| ways.push(Attempt { target: Some(target.clone()), options });
            add(options.clone().kind(TranscriptKind::Dataset));
            if let Some(format) = target.format.as_deref().and_then(formats::find)
                && (!has_own || is_own(target))
            {
                add(options.format(Some(format)));
            }
        }
        ways
    }

    /// The request as one to a model that the error is known for: its own may be a deployment or an alias, be named by the path
    /// alone, or be newer than what is known.
    fn of_models(&self, targets: &[Option<TargetRef>]) -> Vec<Attempt> {
        let mut ways: Vec<Attempt> = Vec::new();
        for target in targets.iter().flatten() {
            let is_named = self.options.named_target().is_some();
            let known = self.matches.iter().filter(|found| is_named || found.origin.id() == &*target.id);
            let models: Vec<_> = known.flat_map(Recognised::models).filter_map(Pattern::example).collect();
            let options = self.wanting(&Some(target.clone()));
            ways.extend(models.iter().map(|model| Attempt {
                target: Some(target.clone()),
                options: options.clone().as_model(Some(model)),
            }));
        }
        ways.truncate(MOST_MODELS);
        ways
    }

    /// The request against all APIs: they share texts, and what is left of a cut one may be that of another.
    fn of_others(&self) -> Vec<Attempt> {
        if self.options.named_target().is_some() {
            return Vec::new();
        }
        let others = targets::all().filter(|target| target.union.is_empty());
        others
            .map(|target| {
                let target = Some(TargetRef::from(target));
                Attempt { options: self.wanting(&target), target }
            })
            .collect()
    }

    /// The APIs to check against: the one that the user names; else those that answer with the error and read the format of
    /// the request, then its own provider, then those that a gateway may have sent it to.
    fn targets(&self, own: &FileReport) -> Vec<Option<TargetRef>> {
        if let Some(target) = self.options.named_target() {
            return vec![Some(target.clone())];
        }
        let family = own.format.and_then(formats::find).map(|format| format.family);
        let mut known: Vec<&'static Target> = Vec::new();
        for target in self.matches.iter().filter_map(|found| found.origin.target()) {
            if known.iter().all(|known| known.id != target.id) {
                known.push(target);
            }
        }
        let (same, others): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|target| family.is_some() && target.family() == family);
        let named = |target: &'static Target| Some(TargetRef::from(target));
        let is_own = |target: &&'static Target| own.target.as_deref() == Some(&*target.id);
        let has_own = same.iter().any(is_own);
        let mut targets: Vec<_> = same.into_iter().map(named).collect();
        if !has_own {
            targets.push(None);
        }
        targets.extend(others.into_iter().map(named));
        targets.truncate(MOST_TARGETS);
        targets
    }

    /// The options to check against a target, with the rules that the error is known for, even if they are opt-in.
    fn wanting(&self, target: &Option<TargetRef>) -> Options {
        let wanted = self.matches.iter().map(|found| rules::get(found.refusal.rule));
        let options = self.options.clone().target(target.clone());
        options.also_rules(wanted)
    }

    /// The findings of a file that are most likely the cause, if any may be.
    fn heaviest(&self, mut file: FileReport, target: &Option<TargetRef>) -> Option<(Weight, FileReport)> {
        let of_target: Vec<&Recognised> = match target {
            Some(target) => self.matches.iter().filter(|found| found.origin.id() == &*target.id).collect(),
            None => Vec::new(),
        };
        let known = if of_target.is_empty() { self.matches.iter().collect() } else { of_target };
        let mut variants = HashMap::new();
        let weights: Vec<Option<Weight>> =
            file.findings.iter().map(|finding| self.weight(finding, &known, &mut variants)).collect();
        let most = weights.iter().copied().flatten().max()?;
        let mut weights = weights.into_iter();
        file.findings.retain(|_| weights.next().flatten() == Some(most));
        Some((most, file))
    }

    fn weight(
        &self,
        finding: &Finding,
        known: &[&Recognised],
        variants: &mut HashMap<String, Option<usize>>,
    ) -> Option<Weight> {
        let nearness = self.nearness(finding);
        let answer = finding.provider_error.as_ref().and_then(|answer| answer.text.as_deref());
        let text = answer.and_then(|answer| self.error.contains(answer));
        let names_it =
            |found: &&&Recognised| finding.tool_call_id.as_ref().is_some_and(|id| names(found, id));
        let mut weight = Weight { reason: Reason::Answer, text, same_values: 0, nearness };
        if text.is_some() {
            return Some(weight);
        }
        let variant = answer.and_then(|answer| {
            if variants.len() >= MOST_VARIANTS && !variants.contains_key(answer) {
                return None;
            }
            *variants.entry(answer.to_owned()).or_insert_with(|| self.same_values(answer))
        });
        weight.same_values = variant.unwrap_or_default();
        let is_of_rule = known.iter().any(|found| found.refusal.rule == finding.rule);
        let names_call = known.iter().any(|found| found.refusal.rule == finding.rule && names_it(&found));
        let is_named = names_call || weight.same_values > 0 || is_of_rule && nearness.is_some();
        weight.reason = if is_named {
            Reason::Named
        } else if is_of_rule || variant.is_some() {
            Reason::Rule
        } else if finding.level == Level::Error && self.is_at_place(finding) {
            Reason::Place
        } else {
            return None;
        };
        Some(weight)
    }

    /// Whether the answer to a request to some model is the error, but for the name of the model: another one has other limits.
    fn says_the_same(&self, weight: &Weight) -> bool {
        let is_same = |found: &Recognised| {
            let values = found.captures.iter().filter(|(name, _)| name != "model").count();
            values < found.captures.len() && weight.same_values >= values
        };
        weight.text.is_some() || self.matches.iter().any(is_same)
    }

    /// Whether a finding is at a place that the error names, or near it.
    fn is_at_place(&self, finding: &Finding) -> bool {
        self.places.iter().any(|place| place.nearness(&finding.spot.pointer).is_some())
    }

    /// How near a finding is to a place that the error names. One finding may be about several places.
    fn nearness(&self, finding: &Finding) -> Option<Nearness> {
        let labels = finding.labels.iter().map(|label| &label.spot);
        let pointers = std::iter::once(&finding.spot).chain(labels).map(|spot| &*spot.pointer);
        pointers.flat_map(|pointer| self.places.iter().filter_map(|place| place.nearness(pointer))).max()
    }

    /// If an answer is the same sentence as the error, with some other values: the number of those that are the same.
    fn same_values(&self, answer: &str) -> Option<usize> {
        let of_answer = recognise(answer);
        let pairs = self.matches.iter().flat_map(|found| of_answer.iter().map(move |other| (found, other)));
        let same = pairs.filter(|(found, other)| found.refusal.text == other.refusal.text);
        same.filter_map(|(found, other)| {
            let mut count = 0;
            for (name, value) in &found.captures {
                let theirs = other.captures.iter().find(|(known, _)| known == name).map(|(_, value)| value);
                match theirs {
                    Some(theirs) if theirs == value => count += 1,
                    Some(_) if IDENTITIES.contains(&&**name) || name.ends_with("path") => return None,
                    _ => {}
                }
            }
            Some(count)
        })
        .max()
    }

    /// What causes the error although it is not reported: the target accepts it, or another finding says more.
    fn hidden(&self, target: &Option<TargetRef>) -> Option<Places> {
        if self.matches.is_empty() {
            return None;
        }
        let wanted = self.matches.iter().map(|found| rules::get(found.refusal.rule));
        let options = self.options.clone().target(target.clone()).rules([]).also_rules(wanted);
        let options = options.reports_hidden(true);
        let (_, mut hidden) = self.heaviest((self.lint)(&options), target)?;
        // What it is known to accept is what it may refuse all the same; of the others nothing is known.
        if hidden.findings.iter().any(|finding| finding.harm.is_some()) {
            hidden.findings.retain(|finding| finding.harm.is_some());
        }
        let mut shown = (self.lint)(&self.wanting(target));
        let holds = |finding: &Finding| {
            hidden.findings.iter().any(|other| holds(&finding.spot.pointer, &other.spot.pointer))
        };
        shown.findings.retain(|finding| finding.level == Level::Error && holds(finding));
        Some(if shown.findings.is_empty() {
            Places::Accepted(Report::new(vec![hidden]))
        } else {
            Places::Cause(Report::new(vec![shown]))
        })
    }
}

/// Findings that hold for a model which the request does not name: the error is what the user has, not this model's answer.
fn without_answers(mut file: FileReport) -> FileReport {
    for finding in &mut file.findings {
        finding.level = Level::Warning;
        finding.provider_error = None;
        finding.fixable = None;
    }
    file
}

/// Whether a value is inside another one, by their JSON Pointers.
fn holds(outer: &str, inner: &str) -> bool {
    !outer.is_empty()
        && inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether an error names the call with this id. If the error is cut short, it may contain only the beginning of the
/// id.
fn names(found: &Recognised, id: &str) -> bool {
    let value = |name: &str| found.captures.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let Some(named) = value("ids").or_else(|| value("id")) else { return false };
    let last = named.rsplit(", ").next().unwrap_or(named);
    let is_cut = found.likeness != Likeness::Whole && last.len() >= MIN_CUT_ID && id.starts_with(last);
    named == id || named.split(", ").any(|named| named == id) || is_cut
}
