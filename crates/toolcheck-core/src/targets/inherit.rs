//! What a target takes from the one that it extends.

use std::sync::Arc;

use toolcheck_toml::{Changes, Error, Table, Text, from_packed, overlay, read_in_place};

use super::shape::TargetShape;
use super::{Answers, Evidence, Refusal, Target, packed};
use crate::names::words;
use crate::rule_id::RuleId;
use crate::targets;

/// The doubt of a server that is not told which model is asked.
const OTHER_DEPLOYMENT: &str = "the deployment may be of another model";

impl Target {
    /// Takes from the parent what this file does not say of the shape.
    pub(super) fn inherit_shape(&mut self, parent: &Self) {
        if self.format == parent.format {
            let elsewhere = seen_elsewhere(&parent.name, &self.name);
            let doubt = self.is_compatible_only.then_some(&elsewhere);
            let of_models = self.names_deployments.then_some(OTHER_DEPLOYMENT);
            self.shape.change(|shape| Arc::make_mut(shape).inherit(&parent.shape, doubt, of_models));
        }
        // The same API of the same models, at another address, or a server like it: also in the other formats that it
        // speaks.
        let (is_compatible_only, name) = (self.is_compatible_only, self.name.clone());
        let of_models = self.names_deployments.then_some(OTHER_DEPLOYMENT);
        for (format, own) in &mut self.also {
            let Some(of_format) = targets::find(format) else { continue };
            let elsewhere = is_compatible_only.then(|| seen_elsewhere(&of_format.name, &name));
            *own = own.changed(
                &(Arc::new(move |shape: &mut Arc<TargetShape>| {
                    Arc::make_mut(shape).inherit(&of_format.shape, elsewhere.as_ref(), of_models);
                }) as Changes<_>),
            );
        }
    }

    /// Takes from the parent the entries that this file does not have.
    pub(super) fn inherit(&self, parent: &Self, answers: &mut Answers) {
        let is_compatible_only = self.is_compatible_only;
        let elsewhere = seen_elsewhere(&parent.name, &self.name);
        let doubt_here = |evidence: Evidence, doubt: &Option<Text>| {
            let is_seen = evidence != Evidence::Inferred;
            doubt.clone().or_else(|| (is_compatible_only && is_seen).then(|| elsewhere.clone()))
        };
        // What this file says of a case replaces what the parent says of it; a text that only serves to recognise an
        // error says nothing.
        let said: Vec<(RuleId, Option<Text>)> = answers
            .refusals
            .iter()
            .filter(|refusal| !refusal.legacy)
            .map(|refusal| (refusal.rule, refusal.case.clone()))
            .chain(answers.tolerances.iter().map(|tolerance| (tolerance.rule, tolerance.case.clone())))
            .collect();
        let is_new = |rule: RuleId, case: &Option<Text>| {
            !said
                .iter()
                .any(|(known, known_case)| *known == rule && (known_case.is_none() || known_case == case))
        };
        let inherited = parent.refusals().iter().filter(|refusal| is_new(refusal.rule, &refusal.case));
        answers.refusals.extend(inherited.map(|refusal| Refusal {
            is_inherited: true,
            evidence: if is_compatible_only { Evidence::Inferred } else { refusal.evidence },
            doubt: doubt_here(refusal.evidence, &refusal.doubt),
            ..refusal.clone()
        }));
        answers.tolerances.extend(
            parent.tolerances().iter().filter(|tolerance| is_new(tolerance.rule, &tolerance.case)).cloned(),
        );
    }
}

fn seen_elsewhere(parent: &str, own: &str) -> Text {
    format!("seen for {parent}, but not for {own}").into()
}

/// The keys of a file that are about this target alone, or that are put together with more care than facts are.
const NOT_FACTS: [&str; 17] = words(
    "id name aliases clients paths error-detail hosts extends is-compatible-only names-deployments by-model union notes \
    shape also refusal tolerance",
);

/// A packed target with the facts of those that it extends, as far as its own file does not state them.
pub(super) fn overlaid(own: &str, is_of_program: bool) -> Result<Target, Error> {
    let mut table = own.to_owned();
    let mut above = extended(own);
    while let Some(parent) = above {
        table = overlay(&table, parent, &NOT_FACTS)?;
        above = extended(parent);
    }
    if is_of_program {
        // It is read once, and lives as long as the program.
        let table = table.leak();
        return read_in_place(table, || from_packed(table));
    }
    from_packed(&table)
}

/// The packed target that one extends.
fn extended(target: &str) -> Option<&'static str> {
    packed(Table::of(target)?.text("extends")?)
}
