use crate::rule::declare_rule;

declare_rule! {
    /// Parameters of the request that exclude each other.
    ///
    /// ## Why is this bad?
    ///
    /// A choice of tools without tools, a forced call while the model shall think, and the like.
    ///
    /// ## What to do
    ///
    /// Leave one of the two out.
    "conflicting-parameters", since "0.1.0", explained
}
