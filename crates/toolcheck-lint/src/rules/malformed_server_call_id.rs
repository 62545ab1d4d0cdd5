use crate::rule::declare_rule;

declare_rule! {
    /// An id of the provider's own call that the provider did not make.
    ///
    /// ## Why is this bad?
    ///
    /// Calls that a provider carried out have ids of its own form.
    /// A history of another provider, or ids that a client made anew, are refused.
    ///
    /// ## What to do
    ///
    /// Keep the ids as they came.
    /// Replay what another provider ran as text.
    "malformed-server-call-id", since "0.1.0", explained
}
