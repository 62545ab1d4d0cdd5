use crate::rule::declare_rule;

declare_rule! {
    /// An item's own id that the provider did not make.
    ///
    /// ## Why is this bad?
    ///
    /// Items have ids of their own beside the id that pairs a call with its output, in the provider's form: a beginning for
    /// each type, certain characters, a length.
    ///
    /// ## What to do
    ///
    /// Leave the id out where the API does not ask for it; the pairing does not need it.
    "malformed-item-id", since "0.1.0", explained
}
