use crate::finding::Draft;
use toolcheck_core::ir::Place;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    /// A blank line in a JSON Lines data set.
    ///
    /// ## Why is this bad?
    ///
    /// In JSON Lines, every line is a JSON value, and a blank line is not. Scripts that parse the file line by line
    /// stop there, and services that validate the file expect an object on every line. The usual causes are a file that
    /// was concatenated from several, and one that ends with two line breaks.
    ///
    /// Only the first blank line of a file is reported.
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
