//! Everything that a rule may look at besides the transcript itself.

pub(crate) mod arguments;
pub(crate) mod checks;
pub(crate) mod exchanges;
pub(crate) mod failure;
pub(crate) mod prompt;
pub(crate) mod roles;
mod rows;
pub(crate) mod server_pairs;
pub(crate) mod shape;
pub(crate) mod shell;
pub(crate) mod tools;
pub(crate) mod violations;

use toolcheck_core::ir::Named;

/// The maximum number of ids in an error text.
pub(crate) const MOST_IDS: usize = 20;

/// A list of ids, as in a provider's error text.
pub(crate) fn id_list<'i, 's: 'i>(ids: impl Iterator<Item = &'i Named<'s>>) -> String {
    ids.take(MOST_IDS).map(|id| &*id.text).collect::<Vec<_>>().join(", ")
}
