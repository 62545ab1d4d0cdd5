//! What `fix` says is lost is what `diff` finds.

use toolcheck_core::diff::Level;
use toolcheck_core::diff::files::{File, compare};
use toolcheck_core::fix::Cost;

use super::Fixed;
use crate::options::Options;

/// The longest text of which `diff` is asked what is lost.
const LONGEST: usize = 4 << 20;

/// What is lost of a file: where it was, and what it is. `None` if the two can't be compared.
fn losses(before: &[u8], after: &[u8], options: &Options) -> Option<Vec<(usize, String)>> {
    if before.len() > LONGEST {
        return None;
    }
    let file = |bytes| File::read(bytes, options.format.map(Into::into));
    let (Ok(before), Ok(after)) = (file(before), file(after)) else { return None };
    let changes = compare(&before, &after, None).changes.into_iter();
    let lost = changes.filter(|change| change.level == Level::Loss);
    Some(
        lost.map(|lost| {
            (lost.before.map_or(0, |spot| spot.bytes.start), format!("{} ({})", lost.about, lost.kind))
        })
        .collect(),
    )
}

/// Gives what was done the costs that `diff` finds: one of the fixes near a loss has lost it, and where nothing is gone, it is
/// a guess that nobody misses it. Returns the records of which something would be lost by what is safe.
pub(super) fn agree(before: &[u8], fixed: &mut Fixed<'_>, options: &Options) -> Vec<usize> {
    let found = if fixed.is_unchanged() { None } else { losses(before, &fixed.bytes, options) };
    let Some(losses) = found else { return Vec::new() };
    let costs = fixed.applied.iter_mut().filter_map(|done| done.cost.as_mut());
    let known = costs.filter(|cost| cost.lost().is_some());
    if losses.is_empty() {
        known.for_each(|cost| *cost = Cost::Guess(format!("assumes that nobody needs {}", cost.as_str())));
        return Vec::new();
    }
    if known.count() > 0 {
        return Vec::new();
    }
    let is_safe = fixed.applied.iter().all(|done| done.cost.is_none());
    let mut records = Vec::new();
    for (at, what) in losses {
        let near = fixed.applied.iter_mut().filter(|done| is_safe || done.cost.is_some());
        let Some(near) = near.min_by_key(|done| done.spot.bytes.start.abs_diff(at)) else { continue };
        records.push(near.spot.record);
        near.cost = Some(Cost::Loss(what));
    }
    records
}
