//! The format of a record by the shape of the request, where its messages do not tell.
//!
//! Formats are told by their messages. A mistake in a message may then hide the format, or look like another: one block
//! of a conversation that is written for another API. The other keys of the request know better.

use std::cmp::Reverse;

use toolcheck_core::detection::Candidate;
use toolcheck_core::formats::{self, Format};
use toolcheck_core::shape::{self, Rating, Shape};
use toolcheck_core::targets::{self, Target};
use toolcheck_core::unsupported;
use toolcheck_json::Value;

/// The format of a record that was detected as `format`; `is_sure` says that its messages show it.
pub(super) fn format_of(
    format: Option<&'static Format>,
    is_sure: bool,
    record: &Candidate<'_, '_>,
) -> Option<&'static Format> {
    let value = record.value();
    let Some(own) = format else {
        // A request has keys, and the tables of all formats are too dear to look for them in what has none.
        if !value.is_object() || value.members().next().is_none() {
            return None;
        }
        return by_body(None, record);
    };
    let likely = if is_sure { Vec::new() } else { record.likely_as(own) };
    if !is_sure && record.sure(own) == 0 {
        return match likely.first() {
            // The usual format says nothing of it, so that it is read as alone.
            Some((_, likely)) => format_of(Some(likely), false, record),
            None if value.is_object() => by_body(format, record).or(format),
            None => format,
        };
    }
    let fits = shape_of(own).is_none_or(|shape| shape.fits_keys(value));
    let by_keys = if fits { None } else { by_keys(Some(own), record) };
    Some(by_keys.unwrap_or_else(|| with_fewest_faults(own, &likely, value)))
}

/// The same for somebody who checks against a target: a mistake in a request to it must not make it one to another API,
/// and nothing else is of interest.
pub(super) fn format_for(
    wanted: Option<&'static Format>,
    format: Option<&'static Format>,
    is_sure: bool,
    record: &Candidate<'_, '_>,
) -> Option<&'static Format> {
    let is_wanted =
        |format: Option<&Format>| format.map(|format| format.id) == wanted.map(|wanted| wanted.id);
    let Some(wanted) = wanted.filter(|_| !is_wanted(format)) else { return format };
    let knows_keys = |format| shape_of(format).is_some_and(|shape| shape.knows_keys(record.value()));
    let is_by_keys = || format.is_some_and(|format| !knows_keys(format)) && knows_keys(wanted);
    // A key that its API refuses may have made another format a little surer.
    let is_likely = || record.is_likely(wanted) && !format.is_some_and(|format| record.is_certain(format));
    let is_meant = is_likely() || is_wanted(format_of(format, is_sure, record)) || is_by_keys();
    if is_meant { Some(wanted) } else { format }
}

/// The format of a record whose messages show none, in a file of the usual format.
fn by_body(usual: Option<&'static Format>, record: &Candidate<'_, '_>) -> Option<&'static Format> {
    let value = record.value();
    by_request(usual, value)
        .or_else(|| by_keys(None, record))
        .or_else(|| stored(value))
        .filter(|_| unsupported::find(value).is_none() && !record.is_stored())
}

/// The format with the fewest faults of those that know all keys of a request, if it has fewer than the detected one.
fn by_keys(own: Option<&'static Format>, record: &Candidate<'_, '_>) -> Option<&'static Format> {
    let (value, sure) = (record.value(), |format: &Format| record.sure(format));
    // One that knows the messages only faintly, as what another writes, has no word.
    let least = own.map_or(0, sure);
    let is_other =
        |format: &&Format| own.is_none_or(|own| own.id != format.id) && !(1..least).contains(&sure(format));
    let possible = shape::formats_with_keys(value);
    let known = formats::ALL.iter().copied().filter(|format| possible.contains(&format.id)).filter(is_other);
    let known = known.filter(|format| shape_of(format).is_some_and(|shape| shape.knows_keys(value)));
    let rated: Vec<(usize, &'static Format)> =
        known.filter_map(|format| Some((rate(format, value)?.mistakes, format))).collect();
    let (faults, best) = rated.iter().min_by_key(|(faults, format)| (*faults, Reverse(sure(format))))?;
    let is_sure = match own {
        Some(own) if sure(best) > sure(own) => true,
        Some(own) => rate(own, value).is_none_or(|own| *faults < own.mistakes),
        // Nothing but the keys speaks for it, so it may have few faults, and no other family may be as likely.
        None => {
            *faults <= MOST_FAULTS
                && !rated.iter().any(|(other, format)| other == faults && format.family != best.family)
        }
    };
    is_sure.then_some(best)
}

/// The format whose request a body is, as far as its keys, its model and its tools tell, although no message shows it or
/// a key is wrong.
fn by_request(usual: Option<&'static Format>, record: Value<'_, '_>) -> Option<&'static Format> {
    let list = unsupported::list_of(record)?;
    let says =
        |message: Value<'_, '_>| message.get_any(&["role", "type"]).is_some_and(|role| role.is_string());
    let is_conversation = list.is_array() && list.elements().all(says);
    let is_usual = |format: &Format| usual.is_some_and(|usual| usual.id == format.id);
    let rated = shape::formats().filter_map(|id| {
        let format = formats::find(id)?;
        let rating = rate(format, record).filter(|rating| rating.is_mostly_known)?;
        let is_likely = rating.has_structure || is_usual(format);
        let is_meant = is_likely && (is_conversation || !list.is_array());
        (is_meant || is_conversation && rating.mistakes <= 1).then_some((rating, format))
    });
    // What several write alike is in the usual format of the file, or has its messages where the format has them, or is
    // called by the name of the first.
    let order = |rating: &Rating, format: &Format| (rating.kinds, !is_usual(format), !rating.has_list);
    rated.min_by_key(|(rating, format)| order(rating, format)).map(|(_, format)| format)
}

/// The format of a record that the usual one of its file finds fault with: the one of the others, which are as likely,
/// that finds the least, if that is less. A gateway's log holds requests to many APIs.
fn with_fewest_faults(
    usual: &'static Format,
    likely: &[(u8, &'static Format)],
    record: Value<'_, '_>,
) -> &'static Format {
    let as_usual = if likely.is_empty() { 0 } else { faults_as(usual, record) };
    if as_usual == 0 {
        return usual;
    }
    // One that knows the messages only faintly, as what another writes, has no word.
    let surest = likely.first().map(|(sure, _)| *sure);
    let others = likely.iter().filter(|(sure, _)| Some(*sure) == surest);
    let rated = others.map(|(_, other)| (faults_as(other, record), *other));
    let (least, other) = rated.min_by_key(|(faults, _)| *faults).unwrap_or((as_usual, usual));
    // Of two with as many faults, the model decides.
    let is_of_other = || of_model(other, record) < of_model(usual, record);
    if least < as_usual || least == as_usual && is_of_other() { other } else { usual }
}

/// The most faults of a request whose messages do not show its format.
const MOST_FAULTS: usize = 2;

/// What a model that is another API's counts, in faults.
const FOREIGN_MODEL: usize = 3;

/// The format whose request a body without messages is.
fn stored(record: Value<'_, '_>) -> Option<&'static Format> {
    let knows = |format: &&'static Format| shape_of(format).is_some_and(|shape| shape.knows_stored(record));
    formats::ALL.iter().copied().find(knows)
}

/// How well a record fits as a request of a format.
fn rate(format: &Format, record: Value<'_, '_>) -> Option<Rating> {
    let mut rating = shape_of(format)?.rate(record)?;
    rating.mistakes += of_model(format, record);
    rating.kinds += of_model(format, record);
    Some(rating)
}

fn faults_as(format: &Format, record: Value<'_, '_>) -> usize {
    shape_of(format).map_or(0, |shape| shape.count_refused(record)) + of_model(format, record)
}

/// Whether a record has no more faults as a request of one format than as one of another.
pub(super) fn is_as_good(format: &Format, than: Option<&Format>, record: &Candidate<'_, '_>) -> bool {
    let faults = |format| shape_of(format).map_or(0, |shape| shape.count_refused(record.value()));
    than.is_none_or(|than| faults(format) <= faults(than))
}

/// What a record's model counts if it is another API's, or none of a format's own.
fn of_model(format: &Format, record: Value<'_, '_>) -> usize {
    let Some(model) = record.get_str("model") else { return 0 };
    let is_of = |format: &Format| format.marks.has_model(&model);
    if is_of(format) {
        0
    } else if formats::ALL.iter().any(|other| is_of(other)) {
        FOREIGN_MODEL
    } else {
        usize::from(format.marks.has_own_models_only())
    }
}

fn shape_of(format: &Format) -> Option<&'static Shape> {
    targets::find(format.id).and_then(Target::shape)
}
