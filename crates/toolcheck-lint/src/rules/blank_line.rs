use crate::finding::Draft;
use toolcheck_core::ir::Place;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    BlankLine in DataSets, since "0.1.0", warning, check
}

/// A blank line belongs to no record, so it is found where the file is split into records.
fn check(_: &Context<'_, '_>, _: &mut Sink<'_>) {}

/// The finding for the first blank line of a file.
pub(crate) fn finding(place: Place) -> Draft {
    let mut finding = Draft::new(RULE.id, place, "the file contains a blank line");
    finding.caption("here").help("remove all blank lines, including those at the end of the file");
    finding
}
