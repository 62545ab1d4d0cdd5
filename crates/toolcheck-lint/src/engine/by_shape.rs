//! The format of a record by the shape of the request, where its messages do not tell.
//!
//! Formats are told by their messages. A mistake in a message may then hide the format, or look like another: one block
//! of a conversation that is written for another API. The other keys of the request know better.

use toolcheck_core::detection::Detection;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::shape::Shape;
use toolcheck_core::target::{self, Target};
use toolcheck_core::unsupported;
use toolcheck_json::Value;

/// The format of a record that was detected as `format`; `is_sure` says that its messages show it.
pub(super) fn format_of(
    format: Option<&'static Format>,
    is_sure: bool,
    record: Value<'_, '_>,
) -> Option<&'static Format> {
    let Some(own) = format else {
        return by_keys(None, record).filter(|_| unsupported::find(record).is_none());
    };
    if shape_of(own).is_none_or(|shape| shape.fits_keys(record)) {
        return Some(if is_sure { own } else { with_fewest_faults(own, record) });
    }
    by_keys(Some(own), record).or(format)
}

/// The format with the fewest faults of those that know all keys of a request, if it has fewer than the detected one.
fn by_keys(own: Option<&'static Format>, record: Value<'_, '_>) -> Option<&'static Format> {
    let known = formats::ALL.iter().copied().filter(|format| own.is_none_or(|own| own.id != format.id));
    let known = known.filter(|format| shape_of(format).is_some_and(|shape| shape.knows_keys(record)));
    let rated: Vec<(usize, &'static Format)> =
        known.map(|format| (faults_as(format, record), format)).collect();
    let (faults, best) = rated.iter().min_by_key(|(faults, _)| *faults)?;
    let is_sure = match own {
        Some(own) => *faults < faults_as(own, record),
        // Nothing but the keys speaks for it, so it may have few faults, and no other family may be as likely.
        None => {
            *faults <= MOST_FAULTS
                && !rated.iter().any(|(other, format)| other == faults && format.family != best.family)
        }
    };
    is_sure.then_some(best)
}

/// The format of a record that the file's dialect finds fault with, if another of its family is as likely and finds less: a
/// gateway's log holds requests to many APIs.
fn with_fewest_faults(dialect: &'static Format, record: Value<'_, '_>) -> &'static Format {
    let Some(other) = Detection::likely_as(dialect, record) else { return dialect };
    let as_dialect = faults_as(dialect, record);
    if as_dialect > 0 && faults_as(other, record) < as_dialect { other } else { dialect }
}

/// The most faults of a request whose messages do not show its format.
const MOST_FAULTS: usize = 2;

/// What a model that is another API's counts, in faults.
const FOREIGN_MODEL: usize = 3;

fn faults_as(format: &Format, record: Value<'_, '_>) -> usize {
    let faults = shape_of(format).map_or(0, |shape| shape.count_refused(record));
    let model = record.get_str("model").unwrap_or_default();
    let is_of = |format: &Format| format.marks.models.iter().any(|name| model.starts_with(name));
    let is_of_another = !is_of(format) && formats::ALL.iter().any(|other| is_of(other));
    faults + if is_of_another { FOREIGN_MODEL } else { 0 }
}

fn shape_of(format: &Format) -> Option<&'static Shape> {
    target::find(format.id).and_then(Target::shape)
}
