use crate::rule::declare_rule;

declare_rule! {
    /// Reasoning that was modified, or that belongs to another conversation.
    ///
    /// ## Why is this bad?
    ///
    /// Providers sign or encrypt the reasoning that they return, and accept it back only unchanged, in its original
    /// order, and for the model, account and conversation that it came from. A transcript does not show what the
    /// reasoning was originally.
    ///
    /// ## What to do
    ///
    /// Send the messages of the current turn back byte for byte. Remove all reasoning that comes from another
    /// provider, model or conversation.
    ModifiedReasoning in Reasoning, since "0.1.0", explained,
    values PART [
        "id": "the id of the reasoning",
    ]
}
