use crate::rule::declare_rule;

declare_rule! {
    /// An image that is of another type than it says.
    ///
    /// ## Why is this bad?
    ///
    /// The provider looks at the first bytes of an image and compares them with the type that the block names.
    ///
    /// ## What to do
    ///
    /// Name the type that the bytes are of.
    "media-type-mismatch", since "0.1.0", explained
}
