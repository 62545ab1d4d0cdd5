use crate::rule::declare_rule;

declare_rule! {
    /// Reasoning that was changed, or that belongs to another conversation.
    ///
    /// ## Why is this bad?
    ///
    /// Providers sign or encrypt the reasoning that they hand out, and take it back only unchanged, in the order it came,
    /// and for the model, account and conversation that it was made in.
    /// A transcript does not show what the reasoning was before.
    ///
    /// ## What to do
    ///
    /// Send the messages of the current turn back byte for byte.
    /// Leave reasoning of another provider, model or conversation out, all of it.
    "modified-reasoning" in Reasoning, since "0.1.0", explained
}
