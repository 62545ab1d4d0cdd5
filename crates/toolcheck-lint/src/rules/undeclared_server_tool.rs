use crate::rule::declare_rule;

declare_rule! {
    /// A result of a provider's own tool that the request does not declare.
    ///
    /// ## Why is this bad?
    ///
    /// Blocks of a provider's own tool are only taken while the request declares that tool.
    ///
    /// ## What to do
    ///
    /// Declare the tool, or leave its blocks out of the history.
    "undeclared-server-tool" in Tools, since "0.1.0", explained
}
