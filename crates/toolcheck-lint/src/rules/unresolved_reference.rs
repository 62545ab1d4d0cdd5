use crate::rule::declare_rule;

declare_rule! {
    /// A reference to an item or a response that the server doesn't have.
    ///
    /// ## Why is this bad?
    ///
    /// Items that were not stored, have expired or belong to another account can't be referenced.
    ///
    /// ## What to do
    ///
    /// Send the items themselves, with their encrypted reasoning, or store the responses.
    UnresolvedReference in Ids, since "0.1.0", explained,
    values [
        "id": "the id of the item",
    ]
}
