//! What fixes faults of the shape.

use toolcheck_core::remedy::{Change, Remedy};
use toolcheck_core::shape::FaultKind;
use toolcheck_json::Document;

use super::Refused;

/// Finds what fixes each fault where it is.
pub(super) fn find(document: &Document<'_>, model: Option<&str>, refused: &mut [Refused<'_>]) {
    for refused in refused {
        refused.remedy = of(document, model, refused);
    }
}

fn of(document: &Document<'_>, model: Option<&str>, refused: &Refused<'_>) -> Option<Remedy> {
    let fault = &refused.fault;
    if refused.is_all_unknown() {
        return None;
    }
    if let Some(means) = &refused.means {
        return Some(Remedy::safe([Change::Rename(fault.node(), means.clone().into_owned())]));
    }
    if refused.unknown.is_empty() && refused.also_missing.is_empty() {
        return fault.remedy(document, model);
    }
    // One key that is missing, and one that is there instead.
    match (&refused.unknown[..], &refused.also_missing[..]) {
        ([other], []) if fault.kind == FaultKind::Missing => {
            let change = [Change::Rename(other.node, other.means.clone()?)];
            let is_known = fault.renamed(document).is_some_and(|member| member.id() == other.node);
            let guess = || format!("it is a guess that `{}` is meant", fault.key);
            Some(if is_known || other.is_near {
                Remedy::safe(change)
            } else {
                Remedy::lossy(guess(), change)
            })
        }
        _ => None,
    }
}
