use crate::rule::declare_rule;

declare_rule! {
    /// An item that is sent twice.
    ///
    /// ## Why is this bad?
    ///
    /// An item may stand in the input once. Where the server keeps the conversation, it has the earlier items already.
    ///
    /// ## What to do
    ///
    /// Send only new items with a conversation that the server keeps, and each item once.
    "duplicate-item-id", since "0.1.0", explained
}
