use toolcheck_core::Finding;
use toolcheck_core::ir::Place;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A blank line in a data set.
    ///
    /// ## Why is this bad?
    ///
    /// In JSON Lines every line is a JSON text, and an empty one is none. Scripts that parse a file line by line stop
    /// there, and services that check the file want an object on every line. The usual cause is a file that was put
    /// together from several, or one that ends with two line breaks.
    ///
    /// The first blank line of a file is reported, once for the whole file.
    ///
    /// Only data sets are checked (`--kind dataset`).
    ///
    /// ## Fails
    ///
    /// ```json openai-chat kind=dataset
    /// {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello."}]}
    ///   // flagged
    /// {"messages": [{"role": "user", "content": "Bye"}, {"role": "assistant", "content": "Bye."}]}
    /// ```
    ///
    /// ## Passes
    ///
    /// ```json openai-chat kind=dataset
    /// {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello."}]}
    /// {"messages": [{"role": "user", "content": "Bye"}, {"role": "assistant", "content": "Bye."}]}
    /// ```
    "blank-line" in DataSets, since "0.1.0", warning, check
}

/// A blank line belongs to no record: whoever splits the file into records finds it.
fn check(_: &Context<'_, '_>, _: &mut Sink<'_>) {}

/// The finding for the first blank line of a file.
pub(crate) fn finding(place: Place) -> Finding {
    let mut finding = Finding::new(RULE.id, place, "a line of this file is blank");
    finding.caption("here").help("remove the blank lines, also at the end of the file");
    finding
}

/// Whether a finding of a piece of a file is to be told, given whether an earlier piece has a blank line.
pub(crate) fn is_to_be_told(rule: &str, is_told: &mut bool) -> bool {
    rule != RULE.id || !std::mem::replace(is_told, true)
}
