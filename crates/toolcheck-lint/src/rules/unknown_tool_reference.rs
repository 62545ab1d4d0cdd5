use crate::rule::declare_rule;

declare_rule! {
    /// A reference to a tool that the request does not declare.
    ///
    /// ## Why is this bad?
    ///
    /// A search for tools leaves references behind, and each must name a tool of this request.
    ///
    /// ## What to do
    ///
    /// Remove references to tools that are gone.
    "unknown-tool-reference", since "0.1.0", explained
}
