use crate::rule::declare_rule;

declare_rule! {
    /// A text that is longer than the target takes.
    ///
    /// ## Why is this bad?
    ///
    /// A message, an argument or a result has a greatest length, apart from what the model can read.
    ///
    /// ## What to do
    ///
    /// Cut the text, or bring it in parts.
    "oversized-content", since "0.1.0", explained
}
