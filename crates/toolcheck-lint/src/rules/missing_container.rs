use crate::rule::declare_rule;

declare_rule! {
    /// Calls that a program made, without the container that it runs in.
    ///
    /// ## Why is this bad?
    ///
    /// A program on the provider's side waits for the results of its calls, in a container that the request must name.
    ///
    /// ## What to do
    ///
    /// Send the id of the container that came with the response.
    "missing-container", since "0.1.0", explained
}
