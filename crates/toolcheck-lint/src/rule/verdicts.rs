//! What a target says of the cases of rules, remembered.

use std::cell::RefCell;

use foldhash::HashMap;
use toolcheck_core::targets::{Target, Verdict};

use super::Rule;

/// The cached verdicts of one target for one format. Many records need the same ones, and models are matched by regular
/// expressions.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    said: RefCell<Vec<RememberedVerdicts>>,
}

/// The maximum number of models that are cached: the log of a gateway alternates between several.
const MODELS_REMEMBERED: usize = 64;

#[derive(Debug, Default)]
struct RememberedVerdicts {
    model: Option<String>,
    rules: HashMap<usize, Cases>,
}

/// The verdicts on the cases of a rule that were needed so far.
type Cases = Vec<(Option<Box<str>>, EntryNumber)>;

/// A verdict, as the number of the target's entry.
#[derive(Debug, Clone, Copy)]
enum EntryNumber {
    Refusal(usize),
    Tolerance(usize),
    None,
}

impl EntryNumber {
    /// `None` if it is not the target's own, but that of one of those that it stands for.
    fn of(target: &Target, verdict: Verdict<'_>) -> Option<Self> {
        match verdict {
            Verdict::Refused(refusal) => {
                let number = target.refusals().iter().position(|entry| std::ptr::eq(entry, refusal));
                number.map(Self::Refusal)
            }
            Verdict::Tolerated(tolerance) => {
                let number = target.tolerances().iter().position(|entry| std::ptr::eq(entry, tolerance));
                number.map(Self::Tolerance)
            }
            Verdict::Unknown => Some(Self::None),
        }
    }

    fn verdict(self, target: &Target) -> Verdict<'_> {
        match self {
            Self::Refusal(number) => Verdict::Refused(&target.refusals()[number]),
            Self::Tolerance(number) => Verdict::Tolerated(&target.tolerances()[number]),
            Self::None => Verdict::Unknown,
        }
    }
}

impl Verdicts {
    pub(crate) fn turn_to(&self, model: Option<&str>) {
        let models = &mut *self.said.borrow_mut();
        let number = models.iter().position(|said| said.model.as_deref() == model).unwrap_or_else(|| {
            models.truncate(MODELS_REMEMBERED - 1);
            models.push(RememberedVerdicts {
                model: model.map(str::to_owned),
                ..RememberedVerdicts::default()
            });
            models.len() - 1
        });
        models.swap(0, number);
    }

    /// The target's verdict on a case for the selected model.
    pub(super) fn of<'t>(
        &self,
        target: &'t Target,
        rule: &Rule,
        case: Option<&str>,
        model: Option<&str>,
        wire: Option<&str>,
    ) -> Verdict<'t> {
        let models = &mut *self.said.borrow_mut();
        let Some(said) = models.first_mut() else { return target.verdict(rule.id, case, model, wire) };
        // A rule is a static value, so its address identifies it.
        let cases = said.rules.entry(std::ptr::from_ref(rule) as usize).or_default();
        if let Some((_, entry)) = cases.iter().find(|(known, _)| known.as_deref() == case) {
            return entry.verdict(target);
        }
        let verdict = target.verdict(rule.id, case, model, wire);
        cases.extend(EntryNumber::of(target, verdict).map(|entry| (case.map(Box::from), entry)));
        verdict
    }
}
